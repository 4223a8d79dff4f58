"""Metrics that a collection names by their classes, which are called otherwise now or once they are told a task."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.rule import TextEdit
from codemods.rules.metrics.metric_attributes import method_of
from codemods.rules.metrics.table import is_of_torchmetrics

COLLECTION = "MetricCollection"
BY_CLASS = f"`{COLLECTION}` names it by its class, which is another one now: give it a dict with names"
IN_ORDER = "The collection has them in the order of their names now."
_BETWEEN = re.compile(r"(?:\s|,|#[^\n]*\n)*")


@dataclass(frozen=True)
class WrittenNames:
    """The edits after which a collection has the names that it gave by class written out, and whether it then has its
    metrics in another order: a dict is sorted by its names, where a list is not."""

    edits: tuple[TextEdit, ...] = ()
    sorted_now: bool = False

    def judged(self, level: Fix, reason: str) -> tuple[Fix, str]:
        """How surely a metric of the collection does the same, and why, where it would be of some level by itself."""
        if not self.sorted_now:
            return level, reason
        return "unsafe", f"{reason} {IN_ORDER}"


def named_as_before(file: PythonFile, call: CallNode) -> WrittenNames | None:
    """How the collection around a metric gets the names that it gave by class; no edits where there is no such
    collection, None where it cannot be told what it named."""
    collection = _around(file, call)
    if collection is None:
        return WrittenNames()
    metrics, listed = _members(collection)
    names, places = [_name(item, call) for item in metrics], [file.offsets(item) for item in metrics]
    start, end = file.offsets(listed or collection)
    start = start if listed else file.text.index("(", file.offsets(collection.func)[1])
    gaps = [file.text[first[1] : second[0]] for first, second in pairwise([(start, start + 1), *places])]
    unlike = all(names) and len({*names}) == len(names)
    if not unlike or not all(map(_BETWEEN.fullmatch, gaps)) or _is_by_name(collection):
        return None
    keys = [f'"{name}": ' for name in names]
    if listed:
        edits = [TextEdit(start, start + 1, "{"), TextEdit(end - 1, end, "}")]
    else:
        keys[0] = f"{{{keys[0]}"
        edits = [TextEdit(places[-1][1], places[-1][1], "}")]
    edits += [TextEdit(place[0], place[0], key) for place, key in zip(places, keys, strict=True)]
    return WrittenNames(tuple(edits), names != sorted(names))


def _around(file: PythonFile, call: CallNode) -> ast.Call | None:
    """The collection that is given a metric without a name."""
    method = method_of(file, call)
    for node in walk(method.node if method else file.tree):
        if isinstance(node, ast.Call) and (call.node in _members(node)[0] or call.node in _made_in_turn(node)):
            dotted = call.scope.resolve(node.func) or ""
            if dotted.endswith(f".{COLLECTION}") and is_of_torchmetrics(dotted):
                return node
    return None


def _members(collection: ast.Call) -> tuple[Sequence[ast.expr], ast.List | ast.Tuple | None]:
    """What a collection is given without names, and the list of it, where that is written."""
    given = [*collection.args, *(item.value for item in collection.keywords if item.arg == "metrics")]
    listed = given[0] if len(given) == 1 else None
    if isinstance(listed, ast.List | ast.Tuple):
        return listed.elts, listed
    return (given, None) if len(given) == 1 or len(given) == len(collection.args) else ((), None)


def _made_in_turn(collection: ast.Call) -> list[ast.expr]:
    """What a comprehension makes for a collection, by position or by name."""
    given = [*collection.args, *(item.value for item in collection.keywords if item.arg == "metrics")]
    return [item.elt for item in given if isinstance(item, ast.ListComp | ast.GeneratorExp)]


def _is_by_name(collection: ast.Call) -> bool:
    """Whether a collection is given a metric by `metrics=`, and no list of them."""
    return not collection.args and _members(collection)[1] is None


def _name(item: ast.expr, call: CallNode) -> str:
    dotted = (call.scope.resolve(item.func) or "") if isinstance(item, ast.Call) else ""
    return dotted.rpartition(".")[2] if is_of_torchmetrics(dotted) else ""
