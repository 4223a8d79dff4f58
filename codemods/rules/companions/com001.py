"""COM001: schedulers that are told to be verbose."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from codemods.code.calls import innermost, keyword
from codemods.code.nodes import walk
from codemods.code.outline import CallNode
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.versions import TORCH, admits_from
from codemods.rewrite.keywords import is_commented, replaced
from codemods.rule import Example, Match, NodeEdit, Rule, touches

if TYPE_CHECKING:
    import libcst as cst

GONE = "2.7"
MODULE = "torch.optim.lr_scheduler"
NAME = "verbose"
BEFORE_IT: Mapping[str, int] = {
    "LRScheduler": 2,
    "_LRScheduler": 2,
    "LambdaLR": 3,
    "MultiplicativeLR": 3,
    "ExponentialLR": 3,
    "StepLR": 4,
    "MultiStepLR": 4,
    "ConstantLR": 4,
    "SequentialLR": 4,
    "PolynomialLR": 4,
    "CosineAnnealingLR": 4,
    "LinearLR": 5,
    "CosineAnnealingWarmRestarts": 5,
    "ReduceLROnPlateau": 9,
    "CyclicLR": 13,
    "OneCycleLR": 14,
}
"""How many positional arguments stood before it, in torch 2.6."""
MESSAGE = "`verbose=` of schedulers was removed in torch 2.7"
REASON = "It only printed the rate, until torch 2.2; LearningRateMonitor logs rates."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not admits_from(facts, TORCH, GONE):
        return
    built = {word for name in BEFORE_IT if name in file.text for word in (*file.spellings(name), name)}
    for call in file.calls_near([NAME, *built]):
        name = _made(call, call.node.func) or _base_called(call)
        item = keyword(call.node, NAME)
        if item and (name or _is_filled(call)):
            yield _match(file, call, item)
        elif name and len(call.node.args) - 1 == BEFORE_IT.get(name) and not _is_unpacked(call.node):
            yield _found(file, call, call.node.args[-1], NodeEdit(call.node, _without_last))


def _made(call: CallNode, function: ast.expr) -> str:
    """Which of torch's own schedulers is called; "" for none."""
    module, _, name = (call.scope.resolve(function) or "").rpartition(".")
    return name if module == MODULE else ""


def _is_filled(call: CallNode) -> bool:
    """Whether `functools.partial` fills in arguments of one of them."""
    given = call.node.args
    return call.scope.resolve(call.node.func) == "functools.partial" and bool(given and _made(call, given[0]))


def _base_called(call: CallNode) -> str:
    """Which scheduler of torch's is the first base of the class in which `super().__init__` is called; "" for none."""
    function = call.node.func
    owner = innermost(call.within, ast.ClassDef)
    if owner is None or not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return ""
    above = function.value
    is_super = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "super"
    bases = [(call.scope.resolve(base) or "").rpartition(".") for base in owner.bases]
    return bases[0][2] if is_super and bases and bases[0][0] == MODULE else ""


def _match(file: PythonFile, call: CallNode, item: ast.keyword) -> Match:
    if is_commented(file, call.node, item):
        reason = "Not rewritten: there is a comment next to it; delete both by hand."
        return Match(file.span(item), MESSAGE, "manual", reason)
    return _found(file, call, item, NodeEdit(call.node, touches("arguments")(partial(replaced, name=NAME, new=()))))


def _found(file: PythonFile, call: CallNode, item: ast.keyword | ast.expr, edit: NodeEdit) -> Match:
    if not _does_nothing(item.value if isinstance(item, ast.keyword) else item):
        reason = "Not rewritten: the expression of its value may do more than that; delete it by hand."
        return Match(file.span(item), MESSAGE, "manual", reason)
    if line := _read_behind(call):
        reason = (
            f"Not rewritten: line {line} reads self.{NAME}, which torch set; set it there, and remove the argument."
        )
        return Match(file.span(item), MESSAGE, "manual", reason)
    return Match(file.span(item), MESSAGE, "safe", REASON, edits=(edit,))


def _read_behind(call: CallNode) -> int:
    """The line in which a class that calls its base's constructor reads what that set; 0 where none does, or where
    the class sets it itself."""
    owner = innermost(call.within, ast.ClassDef)
    if owner is None or not _base_called(call):
        return 0
    own = [node for node in walk(owner) if _is_its(node)]
    read = [node.lineno for node in own if isinstance(node.ctx, ast.Load)]
    return min(read) if read and len(read) == len(own) else 0


def _is_its(node: ast.AST) -> TypeGuard[ast.Attribute | ast.Name]:
    """Whether a node is `self.verbose`, or a `verbose` that a class sets for its instances."""
    if isinstance(node, ast.Name):
        return node.id == NAME and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Attribute) and node.attr == NAME and isinstance(node.value, ast.Name)


def _is_unpacked(call: ast.Call) -> bool:
    return any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords)


def _does_nothing(node: ast.expr) -> bool:
    """Whether a value is read from names alone."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Constant | ast.Name)


def _without_last(call: cst.Call) -> cst.Call:
    count = sum(item.keyword is None for item in call.args)
    *rest, last = call.args[:count]
    behind = call.args[count:]
    rest[-1] = rest[-1] if behind else rest[-1].with_changes(comma=last.comma)
    return call.with_changes(args=[*rest, *behind])


BEFORE = """\
from pytorch_lightning import LightningModule
from torch.optim import SGD
from torch.optim.lr_scheduler import ReduceLROnPlateau


class Model(LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        scheduler = ReduceLROnPlateau(optimizer, patience=3, verbose=True)
        return {"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"}
"""
AFTER = BEFORE.replace(", verbose=True", "")
OWN = """\
from torch.optim.lr_scheduler import _LRScheduler


class Warmup(_LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1, verbose=False):
        self.steps = steps
        super().__init__(optimizer, last_epoch=last_epoch, verbose=verbose)

    def get_lr(self):
        share = min(1.0, (self.last_epoch + 1) / self.steps)
        return [rate * share for rate in self.base_lrs]
"""
CALLBACK = "from pytorch_lightning.callbacks import EarlyStopping\n\nstop = EarlyStopping('loss', verbose=True)\n"

RULE = Rule(
    code="COM001",
    name="verbose-schedulers",
    summary="`verbose=` of torch's schedulers goes",
    why=(
        "torch 2.2 stopped to print for `verbose=` (pull request 111302), and torch 2.7 took it out of every scheduler "
        "(pull request 147301): a project that moves to a current Lightning, and with it to a current torch, ends with "
        "a TypeError where it builds one."
    ),
    fix="safe",
    versions="torch 2.7 and later",
    triggers=(b"lr_scheduler",),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(OWN, OWN.replace(", verbose=verbose)", ")")),
        Example(BEFORE, BEFORE, pins=("torch<2.7",)),
        Example(CALLBACK, CALLBACK),
    ),
    stops=True,
    references=("https://github.com/pytorch/pytorch/pull/147301", "https://github.com/pytorch/pytorch/pull/111302"),
)
