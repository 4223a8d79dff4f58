"""Dictionaries of arguments that a Trainer gets by `**`: what they hold, and entries put in and taken out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.rule import NodeEdit
from codemods.source import CallNode, PythonFile
from codemods.trainer.calls import replaced
from codemods.trainer.values import bound_once, is_stored

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class Entry:
    """A key of a dictionary, the place that spells it, and its value."""

    name: str
    place: ast.expr | ast.keyword
    value: ast.expr


@dataclass(frozen=True)
class Held:
    """The dictionary behind a `**`. `anchor` is the node that an edit goes to, None where it cannot be edited: it is
    used elsewhere too, or commented."""

    entries: tuple[Entry, ...]
    anchor: ast.Call | ast.Assign | None

    def edit(self, name: str, new: tuple[tuple[str, str | None], ...]) -> NodeEdit:
        """Other entries in the place of one."""
        assert self.anchor is not None
        change: Callable[..., Any] = replaced if isinstance(self.anchor, ast.Call) else _exchanged
        return NodeEdit(self.anchor, partial(change, name=name, new=new))

    def names(self) -> frozenset[str]:
        return frozenset(entry.name for entry in self.entries)


def held(file: PythonFile, call: CallNode, value: ast.expr) -> Held:
    """What is known of the dictionary that a call gets by `**`."""
    node = bound_once(file, call, value.id) if isinstance(value, ast.Name) else value
    statement = None
    if isinstance(value, ast.Name) and node is not None:
        functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
        space = next((item for item in reversed(functions) if is_stored(item, value.id)), file.tree)
        loads = [
            item
            for item, _ in file.nodes_near([value.id], space)
            if isinstance(item, ast.Name) and item.id == value.id and isinstance(item.ctx, ast.Load)
        ]
        found = [item.node for item in file.assignments_to(value.id) if item.node.value is node]
        statement = found[0] if len(loads) == 1 and found and isinstance(found[0], ast.Assign) else None
    if isinstance(node, ast.Dict):
        entries = tuple(
            Entry(key.value, key, item)
            for key, item in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        )
        whole = len(entries) == len(node.keys) and not _commented(file, node)
        return Held(entries, statement if whole and isinstance(statement, ast.Assign) else None)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"):
        return Held((), None)
    if call.scope.lookup("dict") is not None:
        return Held((), None)
    entries = tuple(Entry(item.arg, item, item.value) for item in node.keywords if item.arg)
    alone = statement is not None or node is value
    whole = alone and len(entries) == len(node.keywords) and not node.args and not _commented(file, node)
    return Held(entries, node if whole else None)


def _commented(file: PythonFile, node: ast.expr) -> bool:
    return any("#" in line for line in file.lines[node.lineno - 1 : node.end_lineno])


def _exchanged(node: cst.Assign, *, name: str, new: tuple[tuple[str, str | None], ...]) -> cst.Assign:
    """The assignment of a dictionary with other entries in the place of one."""
    import libcst as cst

    old = cst.ensure_type(node.value, cst.Dict)
    elements = list(old.elements)
    index = next(
        number
        for number, item in enumerate(elements)
        if isinstance(item, cst.DictElement)
        and isinstance(item.key, cst.SimpleString)
        and item.key.evaluated_value == name
    )
    item = cst.ensure_type(elements[index], cst.DictElement)
    quote = cst.ensure_type(item.key, cst.SimpleString).quote
    between = next((other.comma for other in elements if isinstance(other.comma, cst.Comma)), None)
    made = [
        item.with_changes(
            key=cst.SimpleString(f"{quote}{word}{quote}"),
            value=item.value if text is None else cst.parse_expression(text),
            comma=between or cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
        )
        for word, text in new
    ]
    if made:
        made[-1] = made[-1].with_changes(comma=item.comma)
    elif index == len(elements) - 1 and index:
        elements[index - 1] = elements[index - 1].with_changes(comma=item.comma)
    return node.with_changes(value=old.with_changes(elements=[*elements[:index], *made, *elements[index + 1 :]]))
