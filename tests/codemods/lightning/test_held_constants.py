"""What dictionaries, objects and modules of settings hold reaches a Trainer: it is told, and rewritten where sure."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n"
STRATEGY = "Trainer(devices=2, strategy={0})\n"
READ = STRATEGY.format("cfg.strategy")
KEY = STRATEGY.format("cfg['strategy']")
GIVEN = STRATEGY.format("given['strategy']")
CLASS = "class Config:\n    def __init__(self):\n        self.strategy = 'dp'\n"
TAKING = CLASS.replace("self)", "self, kind)").replace("'dp'", "kind")
HELD = {
    "a part of a dictionary": {
        "train.py": f"{HEAD}ALL = {{'trainer': {{'strategy': 'dp'}}}}\n\n\ndef run():\n    given = ALL['trainer']\n"
        f"    {GIVEN}"
    },
    "an object of another library": {
        "train.py": f"from omegaconf import OmegaConf\n{HEAD}cfg = OmegaConf.create({{'strategy': 'dp'}})\n{READ}"
    },
    "what a constructor puts on itself": {"train.py": f"{HEAD}{CLASS}\n\ncfg = Config()\n{READ}"},
    "what a constructor is given": {"train.py": f"{HEAD}{TAKING}\n\ncfg = Config(kind='dp')\n{READ}"},
    "an object of another file": {
        "train.py": f"from config import cfg\n{HEAD}{READ}",
        "config.py": f"{CLASS}\n\ncfg = Config()\n",
    },
    "a class that a function is given": {
        "train.py": "from build import build\n\n\nclass Config:\n    strategy = 'dp'\n\n\nbuild(Config)\n",
        "build.py": f"{HEAD}\n\ndef build(cfg):\n    {READ}",
    },
    "a dictionary that a function is given": {
        "train.py": "from build import build\n\nbuild({'strategy': 'dp'})\n",
        "build.py": f"{HEAD}\n\ndef build(cfg):\n    {KEY}",
    },
}
OTHERS = {
    "another key": {"train.py": f"{HEAD}cfg = {{'kind': 'dp'}}\n{KEY}"},
    "another class": {"train.py": f"{HEAD}{CLASS}\n\nclass Own:\n    strategy = 'ddp'\n\n\ncfg = Own()\n{READ}"},
    "another parameter": {
        "train.py": "from build import build\n\nbuild({'strategy': 'dp'}, {'strategy': 'ddp'})\n",
        "build.py": f"{HEAD}\n\ndef build(first, cfg):\n    {KEY}",
    },
    "another function of that name": {
        "train.py": "def build(cfg):\n    return cfg\n\n\nbuild({'strategy': 'dp'})\n",
        "build.py": f"{HEAD}\n\ndef build(cfg):\n    {KEY}",
    },
    "itself": {"train.py": f"{HEAD}\n\ndef run(cfg):\n    cfg = cfg['cfg']\n    run(cfg)\n    {READ}"},
}
MAIN = f"{HEAD}from config import *\n\n\ndef main():\n    {STRATEGY.format('KIND')}\n\nmain()\n"
CONFIG = "KIND = 'dp'\n"
UNSURE = {
    "bound by a function": {"train.py": MAIN.replace("def main():", "def main():\n    global KIND\n    KIND = read()")},
    "bound behind": {"train.py": MAIN.replace("\n\ndef main", "\nKIND = read()\n\n\ndef main")},
    "bound by another file": {"train.py": MAIN, "other.py": "import config\n\nconfig.KIND = read()\n"},
    "brought by a later star": {
        "train.py": MAIN.replace("config import *", "config import *\nfrom more import *"),
        "more.py": "KIND = read()\n",
    },
    "brought by a star of a stranger": {
        "train.py": MAIN.replace("config import *", "config import *\nfrom x import *")
    },
    "left out of what the star brings": {"train.py": MAIN, "config.py": f"__all__ = ['run']\n{CONFIG}"},
    "bound twice": {"train.py": MAIN, "config.py": f"{CONFIG}if read():\n    KIND = read()\n"},
    "bound by a text that is run": {"train.py": f"{MAIN}exec(read())\n"},
}
RUN = f"    def run(self):\n        {STRATEGY.format('self.strategy')}        self.strategy = 'dp'\n"
OPEN = {
    "a base of another library": f"from runs import Base\n{HEAD}\n\nclass Run(Base):\n{RUN}",
    "fields of a dataclass": (
        f"import dataclasses\n{HEAD}\n\n@dataclasses.dataclass\nclass Run:\n    strategy: str = 'dp'\n\n{RUN}"
    ),
    "a dictionary of an object": (
        f"{HEAD}\n\nclass Run:\n    def __init__(self, **given):\n        self.__dict__.update(given)\n\n{RUN}"
    ),
    "names that are computed": (
        f"{HEAD}\n\nclass Run:\n    def __init__(self, given):\n        for key in given:\n"
        f"            self.__setattr__(key, given[key])\n\n{RUN}"
    ),
    "what answers for it": f"{HEAD}\n\nclass Run:\n    def __getattr__(self, name):\n        return c[name]\n\n{RUN}",
    "a parser": f"{HEAD}\n\nclass Run:\n{RUN}\n\nparser.parse_args(namespace=Run())\n",
    "another name of the class": (
        f"{HEAD}\n\nclass Run:\n    strategy = 'dp'\n\n    @classmethod\n    def load(cls, given):\n"
        f"        for key in given:\n            setattr(cls, key, given[key])\n\n\nRun.load(read())\n"
        f"{STRATEGY.format('Run.strategy')}"
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_an_attribute_that_may_be_set_out_of_sight_is_not_rewritten(name: str) -> None:
    files = {"train.py": OPEN[name]}
    assert rewritten(files, rule("LIT111"), unsafe=True) == files
    closed = {"train.py": f"{HEAD}\n\nclass Run:\n{RUN}"}
    assert rewritten(closed, rule("LIT111"), unsafe=True) != closed


def test_a_function_that_a_configuration_names_may_be_given_anything() -> None:
    run = f"class Run:\n    def __init__(self, kind='dp'):\n        {STRATEGY.format('kind')}\n\nRun()\n"
    files = {"train.py": f"{HEAD}\n\n{run}"}
    assert rewritten(files, rule("LIT111"), unsafe=True) != files
    files["conf/run.yaml"] = "run:\n  _target_: train.Run\n  kind: ddp\n"
    assert rewritten(files, rule("LIT111"), unsafe=True) == files


@pytest.mark.parametrize("name", HELD)
def test_what_is_held_is_told(name: str) -> None:
    made = run_rules(HELD[name], rule("LIT111"), unsafe=True)
    assert [item.fix for item in made.findings] == ["manual"] and made.bugs == ()
    assert "'dp'" in made.findings[0].reason


@pytest.mark.parametrize("name", OTHERS)
def test_what_others_hold_is_not(name: str) -> None:
    assert not [item for item in run_rules(OTHERS[name], rule("LIT111")).findings if "'dp'" in item.reason]


def test_a_constant_that_a_star_brings_is_rewritten() -> None:
    new = rewritten({"train.py": MAIN, "config.py": CONFIG}, rule("LIT111"), unsafe=True)
    assert "strategy='ddp'" in new["train.py"].replace('"', "'")


@pytest.mark.parametrize("name", UNSURE)
def test_a_name_that_may_stand_for_something_else_is_not_rewritten(name: str) -> None:
    files = {"config.py": CONFIG, **UNSURE[name]}
    assert rewritten(files, rule("LIT111"), unsafe=True) == files
