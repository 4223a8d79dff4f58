"""COM004: the AdamW of transformers, which is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from codemods.code.nodes import every_node, walk
from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.lightning.versions import admits_from
from codemods.rewrite import adamw
from codemods.rule import Example, Match, NodeEdit, Rule

GONE = "4.50"
PACKAGE = ("transformers",)
MODULES = ("transformers", "transformers.optimization")
TORCHS = "torch's own takes its place, with the same arguments"
MESSAGE = "`AdamW` was removed in transformers 4.50: importing it is an ImportError"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if adamw.NAME not in file.text or not admits_from(facts, PACKAGE, GONE):
        return
    places = [place for place in _places(file) if id(place) not in _with_fallback(file)]
    if not places:
        return
    if edits := _edits(file, facts, places):
        calls = [edit for edit in edits if isinstance(edit.node, ast.Call)]
        fix: Fix = "unsafe" if calls else "safe"
        reason = f"{TORCHS}; {adamw.CHANGED}." if calls else "Nothing uses it."
        imports = (("torch", None),) if calls else ()
        for place in places:
            own = tuple(edit for edit in edits if edit not in calls and place in getattr(edit.node, "names", ()))
            own += tuple(edit for edit in calls if _comes_by(edit.node, place, places))
            yield Match(file.span(place), MESSAGE, fix, reason, edits=own, imports=imports, unit=file.path)
        return
    advice = " ".join(_advice(file))
    for place in places:
        name = f"{adamw.NAME} as {place.asname}" if isinstance(place, ast.alias) and place.asname else adamw.NAME
        reason = f"Not rewritten: torch's own has other defaults. Write `from torch.optim import {name}`. {advice}"
        yield Match(file.span(place), MESSAGE, "manual", reason.rstrip())


def _places(file: PythonFile) -> list[ast.alias | ast.Attribute]:
    """Where a file imports the class, or reads it of its module."""
    found: list[ast.alias | ast.Attribute] = [
        alias
        for node in file.imports
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in MODULES
        for alias in node.names
        if alias.name == adamw.NAME
    ]
    return found + [node for node in file.attributes(adamw.NAME) if _is_its(file.scope.resolve(node))]


def _edits(file: PythonFile, facts: Facts, places: list[ast.alias | ast.Attribute]) -> tuple[NodeEdit, ...]:
    """What puts torch's class in its place; nothing where a use of it is no call, or none that torch takes."""
    calls = [call.node for call in adamw.built(file)]
    functions = {id(call.func) for call in calls}
    aliases = [place for place in places if isinstance(place, ast.alias)]
    names = dict.fromkeys(alias.asname or alias.name for alias in aliases)
    plain = {id(alias) for node in file.tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    if (
        len(places) < len(_places(file))
        or any(map(adamw.refused, calls))
        or any(id(place) not in functions for place in places if isinstance(place, ast.Attribute))
        or any(id(alias) not in plain for alias in aliases)
        or (aliases and _is_handed_on(file, facts, names))
    ):
        return ()
    edits = [adamw.as_torch(call) for call in calls]
    for name in names:
        gone = adamw.without_imports(file, name)
        if gone is None:
            return ()
        edits += gone
    return tuple(edits)


def _comes_by(call: ast.AST, place: ast.alias | ast.Attribute, places: list[ast.alias | ast.Attribute]) -> bool:
    """Whether a call goes with a place: with the attribute that it calls, or with the first import."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return call.func is place
    return place is next(each for each in places if isinstance(each, ast.alias))


def _is_handed_on(file: PythonFile, facts: Facts, names: Iterable[str]) -> bool:
    """Whether the file offers the class by one of its names, or another file may take it from this one."""
    spelled = {node.value for node in walk(file.tree) if isinstance(node, ast.Constant)}
    is_package = PurePosixPath(file.path).stem == "__init__"
    return is_package or any(name in spelled or is_read_elsewhere(facts, file, name) for name in names)


def _is_its(dotted: str | None) -> bool:
    module, _, name = (dotted or "").rpartition(".")
    return name == adamw.NAME and module in MODULES


def _with_fallback(file: PythonFile) -> frozenset[int]:
    """What is tried where a handler has something else for it."""
    tries = [node for node in every_node(file.tree) if isinstance(node, ast.Try)]
    return frozenset(
        id(node)
        for each in tries
        if any(_speaks(node) for handler in each.handlers for node in every_node(handler))
        for statement in each.body
        for node in every_node(statement)
    )


def _speaks(node: ast.AST) -> bool:
    return adamw.NAME in (getattr(node, name, None) for name in ("id", "attr", "name", "asname"))


def _advice(file: PythonFile) -> Iterator[str]:
    """What to change besides in each call of the file that builds one."""
    for call in adamw.built(file):
        given = {item.arg for item in call.node.keywords} | set(adamw.NAMES[: len(call.node.args)])
        if None in given or any(isinstance(item, ast.Starred) for item in call.node.args):
            yield f"In line {call.node.lineno} add eps=1e-6 and weight_decay=0.0 unless others are given."
            continue
        new = [f"{name}={value}" for name, value in adamw.DEFAULTS if name not in given]
        gone = [name for name in adamw.ITS_OWN if name in given]
        if new:
            yield f"In line {call.node.lineno} add {' and '.join(new)}, its defaults so far."
        if gone:
            why = ": it always corrects the bias" if adamw.refused(call.node) else ""
            yield f"In line {call.node.lineno} remove {' and '.join(gone)}, which torch does not take{why}."


IMPORTED = """\
from pytorch_lightning import LightningModule
from transformers import AdamW, AutoModel


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=2e-5, correct_bias=False)
"""
PLAIN = IMPORTED.replace(", correct_bias=False", "")
IN_TORCH = """\
from pytorch_lightning import LightningModule
from transformers import AutoModel
import torch


class Model(LightningModule):
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5, eps=1e-6, weight_decay=0.0)
"""
FALLBACK = """\
try:
    from transformers import AdamW
except ImportError:
    from torch.optim import AdamW
"""
TORCHS_ALREADY = PLAIN.replace("transformers import AdamW, AutoModel", "torch.optim import AdamW")

RULE = Rule(
    code="COM004",
    name="adamw-of-transformers",
    summary="`transformers.AdamW` becomes `torch.optim.AdamW`, with the defaults of the other spelled out",
    why=(
        "transformers 4.50 took out its AdamW, which had been deprecated for years: a project that moves to a current "
        "Lightning gets a current transformers with it, and ends where it imports the class. torch's own applies eps "
        "after the correction of the bias and the decay before the step, so that losses differ a little, and has other "
        "defaults (weight_decay 0.01 and eps 1e-8 against 0.0 and 1e-6), which are spelled out. It has no "
        "correct_bias=False."
    ),
    fix="unsafe",
    versions="transformers 4.50 and later",
    triggers=(b"AdamW",),
    check=_check,
    examples=(
        Example(PLAIN, IN_TORCH),
        Example(IMPORTED, IMPORTED),
        Example(PLAIN, PLAIN, pins=("transformers<4.50",)),
        Example(FALLBACK, FALLBACK),
        Example(TORCHS_ALREADY, TORCHS_ALREADY),
    ),
    stops=True,
    references=("https://github.com/huggingface/transformers/pull/36177",),
)
