"""LIT228: a ReduceLROnPlateau of which nothing says what it watches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.reaching import reaching
from codemods.code.scopes import Scope
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, entries_of, returns
from codemods.finding import Fix
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.optimization import optimization
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Example, Match, Rule, TextEdit

HOOK = "configure_optimizers"
PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
_BRACKET = re.compile(r"\s*\)")
"""The end of what a value stands in by itself, which is no part of it."""
MONITOR = '"monitor": "val_loss"'
MESSAGE = "`ReduceLROnPlateau` requires `monitor` since Lightning 0.10"


def _present(file: PythonFile) -> bool:
    return any(HOOK in item.methods for item in file.classes)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        method = item.methods.get(HOOK)
        fact = facts.of_class(file, item) if method else None
        if method is None or fact is None or facts.kind(fact) != MODULE:
            continue
        if optimization(facts, file, fact) != "automatic":
            continue
        scope = file.scope_within((item.node, method))
        seen: set[int] = set()
        for node in returns(method):
            for place in _unwatched(method, scope, node.value) if node.value else ():
                if id(place) not in seen:
                    seen.add(id(place))
                    yield _match(file, facts, place)


def _unwatched(method: Function, scope: Scope, value: ast.expr) -> Iterator[ast.expr]:
    """The schedulers, and the dictionaries of one, of what configure_optimizers returns, that watch nothing."""
    value = _meant(method, value)
    entries = _entries(value)
    if entries is not None:
        if "optimizer" in entries and "lr_scheduler" in entries and "monitor" not in entries:
            yield from _one(method, scope, entries["lr_scheduler"])
        return
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != 2:
        return
    several = _meant(method, value.elts[1])
    if isinstance(several, ast.Tuple | ast.List):
        for each in several.elts:
            yield from _one(method, scope, each)


def _one(method: Function, scope: Scope, value: ast.expr) -> Iterator[ast.expr]:
    entries = _entries(_meant(method, value))
    if entries is None:
        if _is_plateau(method, scope, value):
            yield value
    elif "monitor" not in entries and "scheduler" in entries and _is_plateau(method, scope, entries["scheduler"]):
        yield _meant(method, value)


def _meant(method: Function, value: ast.expr) -> ast.expr:
    """A value, or what a name has by one assignment and nothing else reads."""
    if not isinstance(value, ast.Name):
        return value
    found = reaching(method, value.id, value, surely=True)
    read = [node for node in walk(method) if isinstance(node, ast.Name) and node.id == value.id]
    only = next(iter(found)).value if len(found) == 1 and len(read) == 2 else None
    return only if isinstance(only, ast.Dict | ast.List | ast.Tuple) else value


def _entries(value: ast.expr) -> dict[object, ast.expr] | None:
    """What a dictionary holds, where it is written out."""
    if not isinstance(value, ast.Dict) or None in value.keys:
        return None
    return entries_of(value)


def _is_plateau(method: Function, scope: Scope, value: ast.expr) -> bool:
    """Whether all that a value may be is made as one."""
    made = [item.value for item in reaching(method, value.id, value)] if isinstance(value, ast.Name) else [value]
    return bool(made) and all(isinstance(item, ast.Call) and scope.resolve(item.func) == PLATEAU for item in made)


def _match(file: PythonFile, facts: Facts, place: ast.expr) -> Match:
    if isinstance(place, ast.Dict):
        _, end = file.offsets(place.values[-1])
        while behind := _BRACKET.match(file.text, end):
            end = behind.end()
        edit = TextEdit(end, end, f", {MONITOR}")
    else:
        edit = TextEdit(*file.offsets(place), f'{{"scheduler": {file.source_of(place)}, {MONITOR}}}')
    old = bool(facts.pins) and not admits_from(facts, LIGHTNING, "0.10.0")
    level: Fix = "safe" if old else "unsafe"
    doubt = "" if old else ", which fixer assumes to be meant"
    reason = f"Up to 0.9 it watched val_loss by default{doubt}."
    return Match(file.span(place), MESSAGE, level, reason, edits=(edit,))


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=4)
        return [optimizer], [scheduler]
"""
AFTER = BEFORE.replace("[scheduler]", '[{"scheduler": scheduler, "monitor": "val_loss"}]')
TOLD = AFTER.replace("val_loss", "loss")
PINS = ("pytorch-lightning==0.7.3",)

RULE = Rule(
    code="LIT228",
    name="plateau-monitor",
    summary="A ReduceLROnPlateau is told what it watches",
    why=(
        "Up to 0.9 a ReduceLROnPlateau that configure_optimizers returns by itself watched `val_loss`. Since 0.10 it "
        "watches nothing, which is a MisconfigurationException in later ones (read in 0.7.3, 0.8.5, 0.10.0, 1.5.9 and "
        "2.6.6)."
    ),
    fix="safe",
    versions="written for Lightning < 0.10",
    triggers=(b"ReduceLROnPlateau",),
    check=_check,
    present=_present,
    examples=(Example(BEFORE, AFTER, pins=PINS), Example(TOLD, TOLD)),
    breaks_in="0.10.0",
)
