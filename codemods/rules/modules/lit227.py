"""LIT227: schedulers of the project's own, which Lightning refuses unless the module says how they step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import entries_of
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule

STEPS = "lr_scheduler_step"
STATE = ("state_dict", "load_state_dict")
SETTINGS = frozenset({"interval", "frequency", "monitor", "reduce_on_plateau", "strict", "name", "opt_idx"})
_DEEPEST = 8


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not facts.uses_lightning or any(STEPS in item.methods for item in facts.classes()):
        return
    named = {id(node) for node in _configured(file)}
    for call in file.calls:
        if id(call.node) in named or _is_within_module(file, facts, call):
            chain = _chain(file, facts, call)
            if chain is not None and any("step" in item.methods for item in chain):
                yield _match(file, call, chain)


def _configured(file: PythonFile) -> Iterator[ast.expr]:
    """What is the scheduler of a dictionary that sets one up: `{"scheduler": ..., "interval": "step"}`."""
    for node in walk(file.tree):
        if isinstance(node, ast.Dict):
            entries = entries_of(node)
            if "scheduler" in entries and SETTINGS & entries.keys():
                yield entries["scheduler"]


def _is_within_module(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a call stands in configure_optimizers of a module that leaves the optimization to Lightning."""
    names = [item.name for item in call.within if isinstance(item, ast.FunctionDef)]
    owner = next((item for item in file.classes if item.node in call.within), None)
    if owner is None or names[:1] != ["configure_optimizers"] or "automatic_optimization" in file.text:
        return False
    fact = facts.of_class(file, owner)
    return fact is not None and facts.kind(fact) == MODULE


def _chain(file: PythonFile, facts: Facts, call: CallNode) -> list[ClassNode] | None:
    """The class that a call makes an instance of with its bases, where all of them are the project's own."""
    found: list[ClassNode] = []
    open_ends = [(call.scope.resolve(call.node.func), file.path)]
    while open_ends and len(found) < _DEEPEST:
        dotted, near = open_ends.pop()
        where = facts.find_opened(dotted, near) if dotted and "." in dotted else None
        if where is None:
            return None
        owner, item = where
        found.append(item)
        if item.node.keywords:
            return None
        for base in item.node.bases:
            if not (isinstance(base, ast.Name) and base.id == "object" and item.scope.lookup("object") is None):
                open_ends.append((item.scope.resolve(base), owner.path))
    return found if found and not open_ends else None


def _match(file: PythonFile, call: CallNode, chain: list[ClassNode]) -> Match:
    name = chain[0].node.name
    missing = [method for method in STATE if not any(method in item.methods for item in chain)]
    message = f"{name} is not a scheduler of torch, which Lightning refuses since 1.6"
    advice = (
        f"write `class {name}(torch.optim.lr_scheduler.LRScheduler)`, or step it "
        f"in the module by `def {STEPS}(self, scheduler, metric)`"
    )
    if missing:
        advice += f"; it needs {' and '.join(missing)} too"
    return Match(file.span(call.node.func), message, "manual", f"Not rewritten: {advice}.")


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Warmup:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        self.optimizer.param_groups[0]["lr"] *= 1.1


class Model(LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [{"scheduler": Warmup(optimizer), "interval": "step"}]
"""
TORCH = BEFORE.replace("class Warmup:", "class Warmup(torch.optim.lr_scheduler.LambdaLR):")

RULE = Rule(
    code="LIT227",
    name="own-schedulers",
    summary="Schedulers that are none of torch's",
    why=(
        "1.5 and older called `step` of whatever was given as a scheduler. Since 1.6 one that is not derived from "
        "torch's is a MisconfigurationException, unless the module defines lr_scheduler_step, and one without "
        "state_dict and load_state_dict a TypeError (read in 1.5.10, 1.6.5 and 2.6.6)."
    ),
    fix="manual",
    versions="Lightning < 1.6 -> 1.6 and later",
    triggers=(b"scheduler", b"configure_optimizers"),
    words=(b"scheduler", b"configure_optimizers"),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(TORCH, TORCH)),
    breaks_in="1.6.0",
)
