"""Configurations that reach an object when it is made, and that it keeps."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.codemods.support import rule, run_rules

RUN = """\
from pytorch_lightning import Trainer


class Run:
    def __init__(self, cfg, name="run"):
        self.cfg = cfg
        self.name = name

    def start(self):
        return Trainer(gpus=self.cfg.train.gpus)
"""
MAIN = """\
import hydra

from run import Run


@hydra.main(config_path="conf")
def main(cfg):
    Run(cfg, name="first").start()
"""
PROJECT = {"run.py": RUN, "main.py": MAIN, "conf/config.yaml": "train:\n  gpus: 1\n"}
AT_ONCE = RUN.replace("        self.name = name\n", "        Trainer(gpus=cfg.train.gpus)\n").split("\n    def start")[
    0
]
CHILD = """\
from run import Run


class Child(Run):
    def __init__(self, config):
        super().__init__(config)
"""


def level(files: Mapping[str, str]) -> str:
    [found] = [item for item in run_rules(files, rule("LIT101")).findings if item.path == "run.py"]
    return found.fix


@pytest.mark.parametrize("run", [RUN, AT_ONCE, RUN.replace("(self, cfg, ", "(self, cfg: DictConfig, ")])
def test_what_each_maker_hands_over_is_read(run: str) -> None:
    run = f"from omegaconf import DictConfig\n{run}" if "DictConfig" in run else run
    files = {**PROJECT, "run.py": run}
    assert level(files) == "safe"
    assert level({**files, "conf/config.yaml": 'train:\n  gpus: "1"\n'}) == "unsafe"
    assert level({**files, "conf/config.yaml": 'train:\n  gpus: "0,1"\n'}) == "safe"
    assert level({**files, "other.py": "def change(some):\n    some.gpus = '1'\n"}) == "unsafe"


def test_by_name_and_by_a_class_below() -> None:
    named = MAIN.replace('Run(cfg, name="first")', 'Run(name="first", cfg=cfg)')
    assert level({**PROJECT, "named.py": named}) == "safe"
    below = MAIN.replace("from run import Run", "from child import Child").replace(
        'Run(cfg, name="first")', "Child(cfg)"
    )
    assert level({**PROJECT, "child.py": CHILD, "below.py": below}) == "safe"
    assert level({**PROJECT, "child.py": CHILD, "below.py": below.replace("Child(cfg)", "Child(find())")}) == "unsafe"
    assert level({**PROJECT, "child.py": CHILD}) == "unsafe"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b.py", "from run import Run\n\nRun(find())\n"),
        ("b.py", "from run import Run\n\nRun(*find())\n"),
        ("b.py", "from run import Run\n\nRun(**find())\n"),
        ("b.py", "from run import Run\n\nRun()\n"),
        ("b.py", "from run import Run\n\nRUNS = {'run': Run}\n"),
        ("b.py", "from run import Run as Other\n\nOther(find())\n"),
        ("b.py", "import run\n\nrun.Run(find())\n"),
        ("b.py", "from run import Run\n\n\nclass B(Run):\n    pass\n\n\nB(find())\n"),
        ("b.py", "from run import Run\n\n\nclass B(Run):\n    def __init__(self):\n        super().__init__(find())\n"),
        (
            "b.py",
            "from run import Run\n\n\nclass B(Run):\n    def __init__(self):\n        Run.__init__(self, find())\n",
        ),
        ("b.py", "from run import Run\n\n\nclass B(Run):\n    def other(self):\n        self.cfg = find()\n"),
        ("b.py", "def change(run):\n    run.cfg = find()\n"),
        ("conf/run.yaml", "_target_: run.Run\n"),
    ],
)
def test_what_else_may_be_kept_is_not_known(path: str, text: str) -> None:
    assert level({**PROJECT, path: text}) == "unsafe"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        self.name = name", "        cfg = find()\n        self.cfg = cfg"),
        ("        self.name = name", "        self.cfg = find()"),
        ("        self.name = name", "        self.cfg, self.name = find()"),
        ("    def start", "    def again(self):\n        del self.cfg\n\n    def start"),
        ("    def start(self)", "    def start(self, other)"),
        ("self.cfg.train", "self.other.train"),
    ],
)
def test_a_class_that_keeps_something_else(old: str, new: str) -> None:
    run = RUN.replace(old, new)
    run = run.replace("self.cfg.train", "other.cfg.train") if "other)" in new else run
    assert level({**PROJECT, "run.py": run}) == "unsafe"


def test_nobody_makes_one() -> None:
    assert level({key: value for key, value in PROJECT.items() if key != "main.py"}) == "unsafe"
