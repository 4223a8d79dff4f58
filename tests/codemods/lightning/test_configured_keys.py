"""What a configuration that a Trainer is given by `**` may hold."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.codemods.support import rule, run_rules

MAIN = """\
import hydra
from omegaconf import DictConfig, OmegaConf
from pytorch_lightning import Trainer


@hydra.main(config_path="conf")
def main(cfg: DictConfig):
    Trainer(gpus=2, checkpoint_callback=False, **cfg.trainer)
"""
PROJECT = {"main.py": MAIN, "conf/config.yaml": "trainer:\n  max_epochs: 1\n"}


def levels(files: Mapping[str, str]) -> dict[str, str]:
    made = run_rules(files, rule("LIT101"), rule("LIT110"))
    return {item.code: item.fix for item in made.findings if item.path == "main.py"}


@pytest.mark.parametrize(
    "given",
    [
        "cfg.trainer",
        'cfg["trainer"]',
        'cfg.train["the-trainer"]',
        "OmegaConf.to_container(cfg.trainer)",
        "dict(**cfg.trainer)",
    ],
)
def test_a_configuration_holds_what_files_say(given: str) -> None:
    found = levels({**PROJECT, "main.py": MAIN.replace("cfg.trainer", given)})
    assert found == {"LIT101": "safe", "LIT110": "safe"}


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("conf/other.yaml", "some:\n  accelerator: gpu\n", "LIT101"),
        ("conf/other.yaml", "devices: 3\n", "LIT101"),
        ("conf/other.json", '{"a": {"enable_checkpointing": true}}', "LIT110"),
        ("run.sh", "python main.py +trainer.accelerator=gpu\n", "LIT101"),
        ("other.py", "def change(cfg):\n    cfg.accelerator = 1\n", "LIT101"),
        ("other.py", "def change(cfg):\n    cfg['accelerator'] = 1\n", "LIT101"),
        ("other.py", "def change(cfg):\n    cfg.update(accelerator=1)\n", "LIT101"),
        ("other.py", "def change(cfg):\n    cfg.update(dict(enable_checkpointing=find()))\n", "LIT110"),
        ("other.py", "def change(cfg):\n    cfg.update({'devices': 1})\n", "LIT101"),
    ],
)
def test_a_key_that_may_be_there(path: str, text: str, code: str) -> None:
    found = levels({**PROJECT, path: text})
    assert found == {"LIT101": "safe", "LIT110": "safe", code: "unsafe"}


@pytest.mark.parametrize(
    "text",
    [
        MAIN.replace("**cfg.trainer", "**find()"),
        MAIN.replace("**cfg.trainer", "**cfg.trainer, **more"),
        MAIN.replace("    Trainer", "    cfg = find()\n    Trainer"),
        MAIN.replace('@hydra.main(config_path="conf")\n', "").replace(": DictConfig", ""),
    ],
)
def test_what_is_no_configuration_may_hold_anything(text: str) -> None:
    assert levels({**PROJECT, "main.py": text}) == {"LIT101": "unsafe", "LIT110": "unsafe"}
