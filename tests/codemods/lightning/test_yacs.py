"""What code states of a yacs configuration, whose values keep their types."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

CONFIG = """\
from yacs.config import CfgNode as CN

_C = CN()
_C.TRAINER = CN()
_C.TRAINER.NUM_GPUS = 1


def get_cfg(path):
    cfg = _C.clone()
    cfg.merge_from_file(path)
    return cfg
"""
RUN = """\
import pytorch_lightning as pl
from config import get_cfg


def main(args):
    cfg = get_cfg(args.config)
    pl.Trainer(gpus=cfg.TRAINER.NUM_GPUS)
"""
NOW = 'accelerator="gpu" if cfg.TRAINER.NUM_GPUS else "cpu", devices=cfg.TRAINER.NUM_GPUS or 1'
BASE = "TRAINER:\n  NUM_GPUS: 8\n"
OWN = "from yacs.config import CfgNode as Base\n\n\nclass CfgNode(Base):\n    pass\n\n\nCN = CfgNode\n"


@pytest.mark.parametrize("head", ["from fvcore.common.config import CfgNode as CN\n", OWN])
def test_a_number_that_code_states(head: str) -> None:
    config = CONFIG.replace("from yacs.config import CfgNode as CN\n", head)
    made = rewritten({"config.py": config, "run.py": RUN, "base.yaml": BASE}, rule("LIT101"))["run.py"]
    assert made == RUN.replace("gpus=cfg.TRAINER.NUM_GPUS", NOW)
    assert run_rules({"config.py": config, "run.py": made}, rule("LIT101")).changes == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NUM_GPUS = 1", "NUM_GPUS = '1'"),
        ("NUM_GPUS = 1", "NUM_GPUS = count()"),
        ("NUM_GPUS = 1", "NUM_GPUS = None"),
        ("    cfg.merge_from_file(path)\n", "    cfg.TRAINER.NUM_GPUS = path\n"),
        ("_C = CN()", "_C = dict()"),
        ("_C.TRAINER.NUM_GPUS", "_C.TESTER.NUM_GPUS"),
        ("from yacs.config", "from own.nodes"),
    ],
)
def test_what_may_be_something_else_is_assumed(old: str, new: str) -> None:
    files = {"config.py": CONFIG.replace(old, new), "run.py": RUN}
    assert files["config.py"] != CONFIG
    assert [finding.fix for finding in run_rules(files, rule("LIT101")).findings] == ["unsafe"]


def test_one_name_behind_the_first_may_be_an_attribute_of_anything() -> None:
    config, run = CONFIG.replace(".TRAINER.NUM_GPUS", ".GPUS"), RUN.replace(".TRAINER.NUM_GPUS", ".GPUS")
    assert [finding.fix for finding in run_rules({"config.py": config, "run.py": run}, rule("LIT101")).findings] == [
        "unsafe"
    ]


def test_a_file_that_says_text_is_believed() -> None:
    files = {"config.py": CONFIG, "run.py": RUN, "base.yaml": "TRAINER:\n  NUM_GPUS: '1'\n"}
    assert [finding.fix for finding in run_rules(files, rule("LIT101")).findings] == ["unsafe"]
