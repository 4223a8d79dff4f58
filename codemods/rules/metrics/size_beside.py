"""How many classes a metric has where another one says so, which is made beside it and given the same predictions."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.calls import space_of
from codemods.lightning.facts import Facts
from codemods.lightning.invariant_expressions import is_steady
from codemods.rules.metrics.arguments import read_arguments
from codemods.rules.metrics.metric_attributes import feeds
from codemods.rules.metrics.prediction_kind import origin
from codemods.rules.metrics.table import classes, metric_of

_BLOCKS = ("body", "orelse", "finalbody")


def said_beside(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """The number that another metric of the same block is told, which has the same value where a metric is made; None
    where there is none that is given all that the metric is given."""
    space = space_of(file, call)
    own = _predictions(file, facts, call)
    for other in file.calls_near(classes()) if own else ():
        metric = metric_of(other.scope.resolve(other.node.func) or "")
        if other.node is call.node or metric is None or metric[1] or _block(space, other) is not _block(space, call):
            continue
        stated = read_arguments(file, other.node, *metric).named("num_classes")
        first, last = sorted((call, other), key=lambda each: file.offsets(each.node))
        told = stated is not None and not (isinstance(stated, ast.Constant) and stated.value in (1, None))
        if (
            stated
            and told
            and own <= _predictions(file, facts, other)
            and is_steady(file, first, stated, [last], facts)
        ):
            return file.source_of(stated)
    return None


def _predictions(file: PythonFile, facts: Facts, call: CallNode) -> frozenset[tuple[object, ...]]:
    """What tells the values apart that a metric is given; nothing where one of them cannot be told."""
    given = [
        origin(each.call.args[0], each.method) if each.call.args else None for each in feeds(file, facts, call).found
    ]
    return frozenset(each.key for each in given if each) if all(given) else frozenset()


def _block(space: ast.AST, call: CallNode) -> list[ast.stmt] | None:
    """The innermost statements that a call is made among."""
    found = None
    for node in walk(space):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and any(part is call.node for each in block for part in walk(each)):
                found = block
    return found
