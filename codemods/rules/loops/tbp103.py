"""TBP103: self.optimizer, which nobody ever sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.loops.classes import NAMES, TRIGGERS, OptimizedModule, collect, loops
from codemods.rules.loops.insertion_points import optimizers
from codemods.rules.loops.optimization_intent import ASKED, is_meant, missing_optimizers

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP103"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if not is_meant(file, loop) or not any(flow.of("backward") for flow in loop.flows):
            continue
        for name, nodes in missing_optimizers(file, loop).items():
            yield from (_match(file, loop, name, node) for node in nodes)


def _match(file: PythonFile, loop: OptimizedModule, name: str, node: ast.Attribute) -> Match:
    message = f"`{name}` is never set: not by the class, its bases or Lightning"
    known = optimizers(loop)
    if isinstance(known, str) and ("several" in known or "no configure_optimizers" in known):
        reason = f"Not rewritten: {known}. Write `self.optimizers()` with the index of the one that you need."
        return Match(file.span(node), message, "manual", reason)
    this = getattr(node.value, "id", "self")
    reason = "As it is, it is an AttributeError; `self.optimizers()` returns the optimizer."
    return Match(
        file.span(node), message, "safe", reason, edits=(NodeEdit(node, partial(asked_of_lightning, this=this)),)
    )


def asked_of_lightning(node: cst.Attribute, this: str) -> cst.BaseExpression:
    """`self.optimizers()` in place of an attribute."""
    import libcst as cst

    return cst.parse_expression(f"{this}.optimizers()")


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        for part in batch.split(4):
            self.optimizer.zero_grad()
            self.manual_backward(self.layer(part).mean())
            self.optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
AFTER = BEFORE.replace("self.optimizer.", "self.optimizers().")
RETURN = "        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
KEPT = BEFORE.replace(RETURN, f"{RETURN.replace('return', 'self.optimizer =')}        return self.optimizer\n")

RULE = Rule(
    code=CODE,
    name="missing-optimizer",
    summary="`self.optimizer` that is never set becomes `self.optimizers()`",
    why=(
        "Lightning keeps optimizers with the Trainer and returns them by `self.optimizers()`; there is no "
        "`self.optimizer`, though Lightning's own release notes and documentation once showed one."
    ),
    fix="safe",
    stops=True,
    versions="any Lightning",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=lambda file: "backward" in file.text and any(name in file.text for name in NAMES),
    mentions=ASKED,
    examples=(Example(BEFORE, AFTER), Example(KEPT, KEPT)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/issues/20517",),
)
