"""How many classes a metric has where another one says so, which is made beside it and given the same predictions."""

from __future__ import annotations

import ast

from codemods.code.calls import space_of
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.tree_copies import blocks
from codemods.lightning.facts import Facts
from codemods.lightning.invariant_expressions import is_steady
from codemods.rules.metrics.arguments import read_arguments
from codemods.rules.metrics.metric_attributes import feeds
from codemods.rules.metrics.prediction_kind import origin
from codemods.rules.metrics.table import classes, metric_of


def said_beside(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """The number that another metric of the same block is told, which has the same value where a metric is made; None
    where there is none that is given all that the metric is given."""
    space = space_of(file, call)
    own = _predictions(file, facts, call)
    for other in file.calls_near(classes()) if own else ():
        stated = _stated(file, other) if _block(space, other) is _block(space, call) else None
        first, last = sorted((call, other), key=lambda each: file.offsets(each.node))
        if stated and own <= _predictions(file, facts, other) and is_steady(file, first, stated, [last], facts):
            return file.source_of(stated)
    return None


def _stated(file: PythonFile, call: CallNode) -> ast.expr | None:
    """The number of classes that a call of a metric's class says, other than one."""
    metric = metric_of(call.scope.resolve(call.node.func) or "")
    stated = read_arguments(file, call.node, *metric).named("num_classes") if metric and not metric[1] else None
    return None if isinstance(stated, ast.Constant) and stated.value in (1, None) else stated


def _predictions(file: PythonFile, facts: Facts, call: CallNode) -> frozenset[tuple[object, ...]]:
    """What tells the values apart that a metric is given; nothing where one of them cannot be told."""
    given = [
        origin(each.call.args[0], each.method) if each.call.args else None for each in feeds(file, facts, call).found
    ]
    return frozenset(each.key for each in given if each) if all(given) else frozenset()


def _block(space: ast.AST, call: CallNode) -> list[ast.stmt] | None:
    """The innermost statements that a call is made among."""
    holding = [block for block in blocks(space) if any(part is call.node for each in block for part in walk(each))]
    return holding[-1] if holding else None  # a block comes before those inside it
