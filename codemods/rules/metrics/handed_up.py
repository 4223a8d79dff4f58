"""`compute_on_step=` that a metric of the project gives its base."""

from __future__ import annotations

import ast

from codemods.code.calls import class_around, innermost, last_name
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call, own_nodes
from codemods.lightning.facts import Facts
from codemods.rule import Match, TextEdit
from codemods.rules.metrics.arguments import read_arguments
from codemods.rules.metrics.table import is_of_torchmetrics

OPTION = "compute_on_step"
MESSAGE = f"`{OPTION}=` was removed in torchmetrics 0.11"
ALWAYS_NOW = "It only said whether a call returns the value of its batch, which it always does now."
COMPUTES = f"{ALWAYS_NOW[:-1]}: the metric computes it at each call, too."


def handed_up(file: PythonFile, facts: Facts, call: CallNode, row: str) -> Match | None:
    """What is to be done with it where a constructor gives it to `super().__init__`; None for any other call."""
    if not is_super_call(call.node, "__init__"):
        return None
    keyword = next((item for item in call.node.keywords if item.arg == OPTION), None)
    owner = innermost(call.within, ast.ClassDef)
    if keyword is None or owner is None or not any(map(is_of_torchmetrics, bases_around(file, call))):
        return None
    given = read_arguments(file, call.node, "", False)
    read = [node for node in file.attributes(OPTION) if node is not keyword.value]
    if read or given.reason or not given.plain:
        why = f"line {read[0].lineno} reads it" if read else "remove it"
        return Match(file.span(keyword), MESSAGE, "manual", f"Not rewritten: {why}.", row)
    kept = [text for name, text in given.items if name != OPTION]
    text = f"{given.lead}{given.between.join(kept)}{given.tail}" if kept else ""
    edit = TextEdit(*given.extent, text)
    computed = _is_true(facts, call, owner, keyword.value)
    reason = ALWAYS_NOW if computed else COMPUTES
    return Match(file.span(keyword), MESSAGE, "safe" if computed else "unsafe", reason, row, (edit,))


def bases_around(file: PythonFile, call: CallNode) -> tuple[str, ...]:
    """The dotted names of the bases of the class around a call."""
    owner = class_around(file, call.within)
    bases = [owner.scope.resolve(base) for base in owner.node.bases] if owner else []
    return tuple(base for base in bases if base)


def _is_true(facts: Facts, call: CallNode, owner: ast.ClassDef, value: ast.expr) -> bool:
    """Whether a value is True, or a parameter that is True by default and that nobody gives."""
    if isinstance(value, ast.Constant):
        return value.value is True
    method = innermost(call.within, ast.FunctionDef)
    if method is None or not isinstance(value, ast.Name) or not _is_true_by_default(method, value.id):
        return False
    stored = (node.id for node in own_nodes(method) if isinstance(node, ast.Name) and type(node.ctx) is ast.Store)
    places = [item.arg for item in method.args.args]
    place = places.index(value.id) - 1 if value.id in places else None
    return value.id not in stored and not _is_given(facts, owner.name, value.id, place)


def _is_true_by_default(method: ast.FunctionDef, name: str) -> bool:
    arguments = method.args
    named = zip(arguments.args[::-1], arguments.defaults[::-1], strict=False)
    only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return any(
        item.arg == name and isinstance(default, ast.Constant) and default.value is True
        for item, default in (*named, *only)
    )


def _is_given(facts: Facts, owner: str, name: str, place: int | None) -> bool:
    """Whether anything in the project may give a class a value for a parameter: by a call, or a use of the class that
    is none."""
    for path, source in facts.sources.items():
        if source.kind not in ("python", "notebook") or owner.encode() not in source.unescaped:
            continue
        file = facts.open(path)
        if file is None:
            return True
        calls = [node for node in every_node(file.tree) if isinstance(node, ast.Call) and last_name(node.func) == owner]
        called = {id(node.func) for node in calls}
        if any(_gives(node, name, place) for node in calls):
            return True
        uses = (node for node in every_node(file.tree) if isinstance(node, ast.Name | ast.Attribute))
        if any(last_name(node) == owner and id(node) not in called for node in uses):
            return True
    return False


def _gives(call: ast.Call, name: str, place: int | None) -> bool:
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    return (
        starred
        or (place is not None and len(call.args) > place)
        or any(item.arg is None or item.arg == name for item in call.keywords)
    )
