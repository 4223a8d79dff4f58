"""What the functions of a Sacred experiment state of a configuration."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

CONFIG = """\
from sacred import Experiment

ex = Experiment("own", save_git_info=False)


@ex.config
def config():
    num_gpus = 1
    rate = 0.1


@ex.named_config
def large():
    num_gpus = 8
"""
RUN = """\
import copy
import pytorch_lightning as pl
from config import ex


@ex.automain
def main(_config):
    _config = copy.deepcopy(_config)
    pl.Trainer(gpus=_config["num_gpus"])
"""
NOW = 'accelerator="gpu" if _config["num_gpus"] else "cpu", devices=_config["num_gpus"] or 1'
PAGE = "    python run.py with num_gpus={}\n"


def test_a_number_that_an_experiment_states() -> None:
    pages = {"README.md": PAGE.format("<YOUR GPUS>") + PAGE.format("4")}
    made = rewritten({"config.py": CONFIG, "run.py": RUN, **pages}, rule("LIT101"))["run.py"]
    assert made == RUN.replace('gpus=_config["num_gpus"]', NOW)
    plain = RUN.replace("    _config = copy.deepcopy(_config)\n", "").replace("automain", "main")
    made = rewritten({"config.py": CONFIG, "run.py": plain}, rule("LIT101"))["run.py"]
    assert made == plain.replace('gpus=_config["num_gpus"]', NOW)


@pytest.mark.parametrize(
    "change",
    [
        ("config.py", "num_gpus = 8", "num_gpus = '1'"),
        ("config.py", "num_gpus = 8", "num_gpus = count()"),
        ("config.py", "num_gpus = 8", "num_gpus = 8\n    num_gpus += 'x'"),
        ("config.py", "num_gpus = 8", "for num_gpus in 'ab':\n        pass"),
        ("config.py", "from sacred import", "from other import"),
        ("config.py", "@ex.named_config", "ex.add_config(num_gpus='1')\n\n\n@ex.named_config"),
        ("run.py", "copy.deepcopy(_config)", "changed(_config)"),
        ("run.py", "@ex.automain\n", ""),
        ("run.py", "    pl.", "    _config['num_gpus'] = input()\n    pl."),
    ],
)
def test_what_is_not_sure_to_be_a_number(change: tuple[str, str, str]) -> None:
    path, old, new = change
    files = {"config.py": CONFIG, "run.py": RUN}
    assert old in files[path]
    files[path] = files[path].replace(old, new)
    (finding,) = run_rules(files, rule("LIT101")).findings
    assert finding.fix == "unsafe"


def test_what_a_page_gives_on_the_command_line_counts() -> None:
    files = {"config.py": CONFIG, "run.py": RUN, "README.md": PAGE.format("two")}
    (finding,) = run_rules(files, rule("LIT101")).findings
    assert finding.fix == "unsafe"
