"""AMP003: a GradScaler by hand in a LightningModule."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import class_around
from codemods.code.source import PythonFile
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule
from codemods.rules.autocast.members import Members
from codemods.rules.autocast.project import Defined, ProjectFiles
from codemods.rules.autocast.regions import MENTIONS, collect, mixed_precision

CODE = "AMP003"
SCALERS = frozenset(
    {
        "torch.GradScaler",
        "torch.amp.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
        "torch.cuda.amp.GradScaler",
        "torch.cuda.amp.grad_scaler.GradScaler",
        "torch.cpu.amp.GradScaler",
    }
)
ADVICE = (
    "remove `{}`: return the plain loss, or give it to `self.manual_backward(...)` and step with `opt.step()`; "
    'for mixed precision write `Trainer(precision="16-mixed")`'
)


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every GradScaler that a LightningModule builds."""
    for call in file.calls:
        if call.scope.resolve(call.node.func) not in SCALERS:
            continue
        found = class_around(file, call.within)
        known = facts.of_class(file, found)
        if found and known and facts.kind(known) == MODULE and not _is_off(call.node):
            why = _harm(facts, known, Members.of(ProjectFiles(facts, file), Defined(file, found)))
            if why:
                message = f"`{found.qualname}` is a LightningModule and builds a GradScaler of its own"
                yield Match(file.span(call.node), message, "manual", f"{why}; {ADVICE.format(brief(file, call.node))}")


def _is_off(call: ast.Call) -> bool:
    return any(
        word.arg == "enabled" and isinstance(word.value, ast.Constant) and word.value.value is False
        for word in call.keywords
    )


def _harm(facts: Facts, known: ClassFact, members: Members) -> str | None:
    """What the scaler does there, None where it does no harm: manual optimization in full precision."""
    values = [value for value, _, _ in members.assigned.get("automatic_optimization", [])]
    manual = any(isinstance(value, ast.Constant) and value.value is False for value in values)
    mixed = mixed_precision(facts, CODE, known)
    if mixed is None:
        return None if manual else "a scaled loss that `training_step` returns is never unscaled, and training diverges"
    why = "mixed precision" if mixed == "certain" else "mixed precision, should the Trainer be given it,"
    if manual:
        return f"the Trainer's {why} scales the loss too: scaled twice it overflows, and step after step is skipped"
    return f"the Trainer's {why} scales the loss too, and the scaling done here is never undone"


def present(file: PythonFile) -> bool:
    return "GradScaler" in file.text and bool(file.classes)


_MODULE = """import lightning.pytorch as pl
import torch


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.scaler = torch.amp.GradScaler("cuda")
"""
_MANUAL = _MODULE.replace("        self.scaler", "        self.automatic_optimization = False\n        self.scaler")
_PLAIN = """import torch


class Runner:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")
"""

RULE = Rule(
    code=CODE,
    name="hand-made-grad-scaler",
    summary="a LightningModule does not scale its loss itself",
    why=(
        'Under Trainer(precision="16-mixed") Lightning scales the loss, unscales the gradients before the '
        "optimizer's hooks and skips steps that overflow. A GradScaler of the module's own scales a second time. "
        "Run on 2.6.6, both from their default scale: manual optimization skips the first 17 of 29 steps, "
        "automatic optimization, where nothing undoes the second scaling, 28 of 29; in full precision, automatic "
        "optimization with a scaled loss moves the weights by 927 in the first step instead of 0.014. With manual "
        "optimization in full precision a scaler does no harm and is not reported. Taking it out touches the "
        "backward pass, clipping and the step, so the place is left to you."
    ),
    fix="manual",
    versions="every Lightning",
    triggers=(b"GradScaler", b"precision="),
    check=check,
    collect=collect,
    present=present,
    mentions=MENTIONS,
    examples=(Example(_MODULE, _MODULE), Example(_MANUAL, _MANUAL), Example(_PLAIN, _PLAIN)),
    references=("https://lightning.ai/docs/pytorch/stable/common/precision_intermediate.html",),
)
