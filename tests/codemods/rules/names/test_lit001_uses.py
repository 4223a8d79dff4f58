"""LIT001: names without a successor whose uses say what is written instead, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.loggers import CSVLogger

from tests.codemods.support import refusals, rewritten, rule, run_rules

LOGGERS = """\
from lightning.pytorch import Trainer
from lightning.pytorch.loggers import CSVLogger, LoggerCollection


def names(trainer: Trainer):
    if isinstance(trainer.logger, LoggerCollection):
        return [logger.name for logger in trainer.logger]
    return trainer.logger.name
"""
REGISTRY = """\
import torch
from pytorch_lightning import LightningModule
from pytorch_lightning.cli import LightningCLI
from pytorch_lightning.utilities.cli import MODEL_REGISTRY, OPTIMIZER_REGISTRY


class Parsing(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_optimizer_args(OPTIMIZER_REGISTRY.classes, nested_key="other")


@MODEL_REGISTRY
class Model(LightningModule):
    pass


class Second(LightningModule):
    pass


MODEL_REGISTRY(Second)
"""


def test_loggers_are_told_apart_by_their_number(tmp_path: Path) -> None:
    space: dict[str, object] = {}
    exec(rewritten({"a.py": LOGGERS}, rule("LIT001"))["a.py"], space)
    loggers = [CSVLogger(tmp_path, name=name) for name in ("one", "two")]
    said = [
        space["names"](Trainer(accelerator="cpu", logger=given, enable_checkpointing=False))  # type: ignore[operator]
        for given in (loggers[:1], loggers)
    ]
    assert said == ["one", ["one", "two"]]


def test_loggers_of_what_may_be_no_trainer_are_unsafe() -> None:
    text = LOGGERS.replace("trainer: Trainer", "trainer")
    assert run_rules({"a.py": text}, rule("LIT001")).changes == ()
    [after] = run_rules({"a.py": text}, rule("LIT001"), unsafe=True).final().values()
    assert b"if len(trainer.loggers) > 1:\n        return [logger.name for logger in trainer.loggers]" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for logger in trainer.logger]", "for logger in given(trainer.logger)]"),
        ("return [logger.name for logger in trainer.logger]", "trainer.logger = None"),
        ("isinstance(trainer.logger, LoggerCollection)", "isinstance(trainer.logger, (list, LoggerCollection))"),
        ("isinstance(trainer.logger, LoggerCollection)", "not isinstance(trainer.logger, LoggerCollection)"),
        ("trainer: Trainer", "trainer: Trainer, kind=LoggerCollection"),
        ("def names", '__all__ = ["LoggerCollection"]\n\n\ndef names'),
        ("if isinstance(trainer.logger", "if isinstance(trainer.one"),
    ],
)
def test_a_collection_that_is_used_otherwise_stays(old: str, new: str) -> None:
    assert old in LOGGERS
    assert "list" in " ".join(refusals({"a.py": LOGGERS.replace(old, new)}, "LIT001"))


def test_a_collection_that_another_file_takes_from_here_stays() -> None:
    other = "from pkg.a import LoggerCollection\n\nprint(LoggerCollection)\n"
    assert refusals({"pkg/a.py": LOGGERS, "pkg/b.py": other, "pkg/__init__.py": ""}, "LIT001")


def test_classes_need_no_registry() -> None:
    assert rewritten({"a.py": REGISTRY}, rule("LIT001"))["a.py"] == (
        REGISTRY.replace("from pytorch_lightning.utilities.cli import MODEL_REGISTRY, OPTIMIZER_REGISTRY\n", "")
        .replace("OPTIMIZER_REGISTRY.classes", "(torch.optim.Optimizer,)")
        .replace("@MODEL_REGISTRY\n", "")
        .replace("MODEL_REGISTRY(Second)\n", "")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MODEL_REGISTRY(Second)", 'MODEL_REGISTRY(Second, "second")'),
        ("MODEL_REGISTRY(Second)", "print(MODEL_REGISTRY.names)"),
        ("@MODEL_REGISTRY", "@MODEL_REGISTRY  # known by name"),
        ("MODEL_REGISTRY(Second)", "MODEL_REGISTRY.register_classes(models, LightningModule)"),
        ("class Parsing", "class MODEL_REGISTRY:\n    pass\n\n\nclass Parsing"),
    ],
)
def test_a_registry_that_is_asked_stays(old: str, new: str) -> None:
    assert old in REGISTRY
    text = REGISTRY.replace(old, new).replace(", OPTIMIZER_REGISTRY", "").replace("OPTIMIZER_REGISTRY.classes", "")
    assert run_rules({"a.py": text}, rule("LIT001")).changes == ()


def test_optimizers_stay_where_torch_is_not_imported() -> None:
    text = REGISTRY.replace("import torch\n", "").replace("MODEL_REGISTRY, ", "").replace("@MODEL_REGISTRY\n", "")
    assert refusals({"a.py": text.replace("MODEL_REGISTRY(Second)\n", "")}, "LIT001")
