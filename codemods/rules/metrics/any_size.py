"""Metrics that count over all classes at once, where fixer cannot tell how many there are: the metric for classes,
which need not be told.

`Accuracy(task="multiclass")` asks for a number, which the mean over all predictions never reads;
`MulticlassAccuracy(average="micro")` does without since torchmetrics 1.6.2.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import bound_by
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rewrite.import_statement import ImportTarget, moved, why_not
from codemods.rule import Match, TextEdit
from codemods.rules.metrics.arguments import Arguments
from codemods.rules.metrics.table import metric_of

SINCE = "1.6.2"
PACKAGE = "torchmetrics"
MODULE = "torchmetrics.classification"
OF_CLASSES = {name: f"Multiclass{name}" for name in ("Accuracy", "Precision", "Recall")}
TAKEN = frozenset({"average", "ignore_index", "threshold"})
REASON = "Its input is multiclass, and the mean over all predictions need not know of how many classes."

Import = ast.Import | ast.ImportFrom
Found = Sequence[tuple[CallNode, Match]]


def of_any_size(file: PythonFile, call: CallNode, metric: str, given: Arguments) -> tuple[TextEdit, ...]:
    """The edits after which a call makes the metric that need not be told its classes, without those of an import; none
    where it has to be."""
    average = given.named("average")
    at_once = average is None or (isinstance(average, ast.Constant) and average.value == "micro")
    new, text = OF_CLASSES.get(metric, ""), given.at_once()
    if not new or not at_once or text is None or given.names() - given.handled - TAKEN:
        return ()
    func = call.node.func
    start, end = file.offsets(func)
    module = _module(call)
    if isinstance(func, ast.Attribute) and module:
        written = new if module.startswith(MODULE) else f"classification.{new}"
        return TextEdit(end - len(func.attr), end, written), TextEdit(*given.extent, text)
    if _importing(file, call) is None or _means_another(file, new):
        return ()
    return TextEdit(start, end, new), TextEdit(*given.extent, text)


def _module(call: CallNode) -> str:
    """The module of torchmetrics that a metric is an attribute of where it is called."""
    func = call.node.func
    dotted = (call.scope.resolve(func.value) or "") if isinstance(func, ast.Attribute) else ""
    return dotted if dotted == PACKAGE or dotted.startswith(MODULE) else ""


def _importing(file: PythonFile, call: CallNode) -> Import | None:
    """The import in the body of the module behind which another one can stand: the one that binds what is called."""
    bound = _bound_by(call)
    binding = [node for node in file.imports if any(bound_by(node, alias) == bound for alias in node.names)]
    found = binding[0] if len(binding) == 1 and binding[0] in file.tree.body else None
    return found if found and not why_not(file, found) else None


def _means_another(file: PythonFile, name: str) -> bool:
    """Whether a file says a name already, and not for the class of torchmetrics alone."""
    return bool(re.search(rf"\b{name}\b", file.text)) and file.scope.lookup(name) != f"{MODULE}.{name}"


def with_imports(file: PythonFile, facts: Facts, found: Found) -> Iterator[Match]:
    """The matches, with the imports of the metrics that need not be told their classes. Where there is one, all of the
    file are rewritten together."""
    named: dict[Import, list[tuple[CallNode, Match]]] = {}
    for call, match in found:
        if match.torchmetrics and match.fix != "manual" and not _module(call):
            statement = _importing(file, call)
            assert statement
            named.setdefault(statement, []).append((call, match))
    edits: dict[ast.Call, tuple[TextEdit, ...]] = {}
    for node, every in named.items():
        edits |= dict.fromkeys((call.node for call, _ in every), _imports(file, facts, node, every))
    for call, match in found:
        if named and match.fix != "manual":
            match = replace(match, edits=(*match.edits, *edits.get(call.node, ())), unit=file.path)
        yield match


def _imports(file: PythonFile, facts: Facts, node: Import, every: Found) -> tuple[TextEdit, ...]:
    """The edits that import what some calls make now: in the place of what they made where nothing else reads that,
    and on a line of its own else."""
    news = {_bound_by(call): _new(call) for call, _ in every}
    present = frozenset((MODULE, new) for new in news.values() if new in file.scope.bindings)
    unread = {
        alias: ImportTarget(MODULE, news[bound], news[bound])
        for alias in node.names
        if (bound := alias.asname or alias.name) in news
        and len(re.findall(rf"\b{bound}\b", file.text)) == 1 + sum(_bound_by(call) == bound for call, _ in every)
        and not is_read_elsewhere(facts, file, bound)
    }
    if isinstance(node, ast.ImportFrom) and len(unread) == len(news) and len({match.fix for _, match in every}) == 1:
        return moved(file, node, unread, present)
    added = sorted({*news.values()} - {new for _, new in present})
    start, end = file.offsets(node)
    indent = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    end += len(file.text[end:].split("\n", 1)[0].rstrip("\r"))
    line = f"{newline}{indent}from {MODULE} import {', '.join(added)}"
    return (TextEdit(end, end, line),) if added else ()


def _bound_by(call: CallNode) -> str:
    """The name by which a call reaches what was imported."""
    func = call.node.func
    while isinstance(func, ast.Attribute):
        func = func.value
    return func.id if isinstance(func, ast.Name) else ""


def _new(call: CallNode) -> str:
    metric = metric_of(call.scope.resolve(call.node.func) or "")
    assert metric
    return OF_CLASSES[metric[0]]
