"""LIT127: a model and a checkpoint given to Trainer.test together, which loads it since 1.5."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import keyword
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import Facts
from codemods.lightning.trainer_variables import is_trainer
from codemods.lightning.versions import LIGHTNING, admits_from, is_open
from codemods.rule import Example, Match, Rule

METHODS = ("test", "validate", "predict")
MESSAGE = "`ckpt_path=` of Trainer.{} is loaded since Lightning 1.5 where a model is given too"
REASON = (
    "Not rewritten: up to 1.4 the model was {}ed as it is, and the checkpoint not looked at: remove `ckpt_path=` to "
    "keep that, or leave it for the numbers of the checkpoint."
)
BEST = ' "best" is an error where no ModelCheckpoint has kept one.'


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if is_open(facts, LIGHTNING) or admits_from(facts, LIGHTNING, "1.5"):
        return
    for call in file.calls_near(["ckpt_path"]):
        name = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
        given = keyword(call.node, "ckpt_path")
        if name not in METHODS or given is None or is_none(given.value) or not _gives_model(call):
            continue
        if is_trainer(file, facts, call) is not False:
            best = BEST if isinstance(given.value, ast.Constant) and given.value.value == "best" else ""
            reason = REASON.format(name.removesuffix("e")) + best
            yield Match(file.span(given), MESSAGE.format(name), "manual", reason)


def _gives_model(call: CallNode) -> bool:
    """Whether a call is given a model, which None is not."""
    named = keyword(call.node, "model")
    first = named.value if named else call.node.args[0] if call.node.args else None
    return first is not None and not isinstance(first, ast.Starred) and not is_none(first)


BEFORE = """\
from pytorch_lightning import Trainer


def main(model, data):
    trainer = Trainer(max_epochs=3)
    trainer.fit(model, data)
    trainer.test(model, data.test_dataloader(), ckpt_path="best")
"""
PINNED = ("pytorch-lightning==1.4.9",)

RULE = Rule(
    code="LIT127",
    name="checkpoint-beside-model",
    summary="`Trainer.test(model, ckpt_path=...)` loads the checkpoint since 1.5",
    why=(
        "Up to 1.4 `test`, `validate` and `predict` looked at `ckpt_path` only where they were given no model: with "
        "one, its weights were used as they are (read in 1.1.2, 1.3.8 and 1.4.9). Since 1.5 the checkpoint is loaded "
        "into it, so that the same line tells other numbers, or ends with an error where there is no such checkpoint."
    ),
    fix="manual",
    versions="written for Lightning < 1.5",
    triggers=(b"ckpt_path",),
    check=_check,
    examples=(Example(BEFORE, BEFORE, pins=PINNED),),
    needs="1.5.0",
)
