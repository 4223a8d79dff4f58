"""LIT123: the checkpoint that a Trainer keeps where none is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import Facts, is_trainer_call
from codemods.rule import Example, Match, Rule
from codemods.rules.keywords.kept_best import kept_best
from codemods.rules.keywords.monitors import is_open, is_spoken

CLASS = b"ModelCheckpoint"
MESSAGE = "a Trainer without ModelCheckpoint keeps the newest checkpoint since Lightning 1.4, and not the best"
REASON = (
    "Not rewritten: up to 1.3 it kept the one with the lowest val_loss, where that was logged; to keep that one, write "
    '`callbacks=[ModelCheckpoint(monitor="val_loss")]`.'
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    evaluates = ".fit(" not in file.text and any(f".{name}(" in file.text for name in ("test", "validate", "predict"))
    if evaluates or not is_spoken(facts, "val_loss") or not kept_best(facts, file, None):
        return
    for call in trainer_calls(file):
        if is_trainer_call(call) and _is_default(call, facts):
            yield Match(file.span(call.node.func), MESSAGE, "manual", REASON, stops=False)


def _is_default(call: CallNode, facts: Facts) -> bool:
    """Whether a Trainer surely makes the ModelCheckpoint that is made where none is given."""
    given = keywords(call.node)
    if call.node.args or is_open(call.node):
        return False
    if not all(_is_true(given.get(name)) for name in ("checkpoint_callback", "enable_checkpointing")):
        return False
    if "fast_dev_run" in given and literal(given["fast_dev_run"]) != (True, False):
        return False
    spoken = any(facts.kinds.get(path) != "docs" for path in facts.mentions.get(CLASS, ()))
    return "callbacks" not in given or literal(given["callbacks"])[0] or not spoken


def _is_true(node: ast.expr | None) -> bool:
    return node is None or literal(node) == (True, True)


NET = """\
import pytorch_lightning as pl


class Net(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))


trainer = pl.Trainer(max_epochs=3)
"""
LAST = NET.replace("val_loss", "val_acc")

RULE = Rule(
    code="LIT123",
    name="default-checkpoint",
    summary="The checkpoint that a Trainer keeps where none is asked for",
    why=(
        "Up to 0.9 a Trainer that was given no ModelCheckpoint kept the checkpoint with the lowest `val_loss`, and up "
        "to 1.3 it did so where `val_loss` was logged. Since 1.4 it keeps the newest one, without an error: what "
        "`trainer.test()` and `best_model_path` load is another model then."
    ),
    fix="manual",
    versions="written for Lightning < 1.4",
    triggers=(b"Trainer(",),
    mentions=(CLASS, b'"val_loss"', b"'val_loss'"),
    check=_check,
    examples=(
        Example(NET, NET, pins=("pytorch-lightning==1.2.8",)),
        Example(LAST, LAST, pins=("pytorch-lightning==1.2.8",)),
    ),
)
