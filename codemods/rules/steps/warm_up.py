"""What a schedule takes beside its total that is counted by hand as well: it fits the old total, and not the new."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import parents_of, walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.rules.steps.modules import assigned
from codemods.rules.steps.step_count_terms import TermReader
from codemods.rules.steps.totals import StepTotal, outermost_function, schedule_around, uses


def counted_apart(file: PythonFile, place: StepTotal) -> int | None:
    """The line of another number of the same schedule that is made of the loader's length, and not of the total; None
    where there is none."""
    parents = parents_of(file.tree)
    for use in uses(file, place, parents):
        call = schedule_around(use, parents)
        function = outermost_function(use, parents) or place.function
        for value in _others(call, use) if call else ():
            if _counts_batches(place, function, value):
                return value.lineno
    return None


def _others(call: ast.Call, use: ast.AST) -> Iterator[ast.expr]:
    """The arguments of a call that do not hold a node."""
    for value in (*call.args, *(item.value for item in call.keywords)):
        if not any(node is use for node in walk(value)):
            yield value


def _counts_batches(place: StepTotal, function: Function, value: ast.expr) -> bool:
    """Whether a value is made of batches, where the name of the total stands for nothing."""
    values = assigned(function)
    total = {name for name, given in values.items() if any(node is place.node for item in given for node in walk(item))}
    reader = TermReader(
        lambda name: [] if name in total else values.get(name, []), place.reader.is_trainer, place.reader.resolve
    )
    pending, seen = [value], set[str]()
    while pending:
        for node in walk(pending.pop()):
            if isinstance(node, ast.Name) and node.id not in total and node.id not in seen:
                seen.add(node.id)
                pending += values.get(node.id, [])
            count = reader.read(node) if isinstance(node, ast.Call | ast.Attribute | ast.Name) else None
            if count and any(leaf.role in ("batches", "samples") for leaf in count.over):
                return not _is_total(reader, value)
    return False


def _is_total(reader: TermReader, value: ast.expr) -> bool:
    count = reader.read(value)
    return count is not None and count.is_total
