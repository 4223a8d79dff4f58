"""Counts of all steps of which a part is not followed, though a reader sees what is meant: they are named alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, own_nodes
from codemods.rules.steps.call_context import copy_of
from codemods.rules.steps.modules import reader_of
from codemods.rules.steps.plain import PlainExpression
from codemods.rules.steps.step_count_terms import Count, TermReader
from codemods.rules.steps.totals import BUILDS, TOTALS, StepTotal, places, reaches_scheduler


@dataclass(frozen=True)
class UnreadTotal:
    """A total that a scheduler takes: where it stands, what is shown, and why it is not rewritten."""

    place: StepTotal
    shown: ast.expr | ast.stmt
    why: str


def unread(file: PythonFile) -> tuple[UnreadTotal, ...]:
    """The totals of a file that schedulers take and that are no places of their own, worked out once."""
    if "unread" not in file.memo:
        known = {place.function for place in places(file)}
        file.memo["unread"] = tuple(
            found
            for item in file.classes
            for function in item.methods.values()
            if function not in known and (function.name == "__init__" or BUILDS.fullmatch(function.name))
            for found in _unread(item, function)
            if reaches_scheduler(file, found.place)
        )
    found: tuple[UnreadTotal, ...] = file.memo["unread"]
    return found


def _unread(item: ClassNode, function: Function) -> Iterator[UnreadTotal]:
    reader = reader_of(item, function)
    body = list(own_nodes(function))
    inner = {
        node.name: node.body[0].value
        for node in body
        if isinstance(node, ast.FunctionDef) and len(node.body) == 1 and isinstance(node.body[0], ast.Return)
    }
    for node in body:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult) and isinstance(node.target, ast.Name):
            yield from _grown(item, function, reader, node, body)
            continue
        given = node.value if isinstance(node, ast.Assign | ast.keyword) and _may(node) else None
        if not isinstance(given, ast.BinOp | ast.BoolOp | ast.Call | ast.IfExp):
            continue
        plain = PlainExpression(reader, {name: value for name, value in inner.items() if value is not None})
        count = reader.read(plain.visit(copy_of(given)))
        if function.name == "__init__":
            plain.why.append("`__init__` runs before there is a Trainer")
        if _total(count) and plain.why and count is not None:
            yield UnreadTotal(StepTotal(item, function, given, count, reader), given, plain.why[0])


def _may(node: ast.Assign | ast.keyword) -> bool:
    return isinstance(node, ast.Assign) or node.arg in TOTALS


def _total(count: Count | None) -> bool:
    return count is not None and count.is_total


def _grown(
    item: ClassNode, function: Function, reader: TermReader, grown: ast.AugAssign, body: list[ast.AST]
) -> Iterator[UnreadTotal]:
    """A name that is assigned once and multiplied once."""
    assert isinstance(grown.target, ast.Name)
    name = grown.target.id
    stored = [
        node for node in body if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    first = [node for node in body if isinstance(node, ast.Assign) and node.targets[0] in stored]
    if len(stored) == 2 and len(first) == 1:
        count = reader.read(ast.BinOp(first[0].value, ast.Mult(), grown.value))
        if count is not None and count.is_total:
            place = StepTotal(item, function, first[0].value, count, reader)
            yield UnreadTotal(place, grown, f"`{name}` is multiplied in place")
