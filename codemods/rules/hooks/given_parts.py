"""Whether a method may change a part of what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, parameters

METRICS = frozenset({"callback_metrics", "logged_metrics"})
LOGGERS = frozenset({"experiment", "logger", "loggers"})
READS = frozenset({
    "broadcast", "cpu", "detach", "format", "get", "item", "items", "keys", "mean", "numpy", "size", "sum", "tolist",
    "values",
})  # fmt: skip
"""Methods of dictionaries, tensors, texts and strategies that change nothing."""
NEW = frozenset({"format", "item", "keys", "mean", "size", "sum", "tolist"})
"""Those of them whose result shares nothing with what they are called on."""
PURE = frozenset({
    "abs", "bool", "dict", "float", "format", "hasattr", "int", "isinstance", "len", "list", "max", "min", "print",
    "range", "repr", "round", "set", "str", "sum", "tuple", "type",
})  # fmt: skip
PASSING = frozenset({"dict", "enumerate", "iter", "list", "map", "filter", "max", "min", "next", "reversed", "set",
                     "sorted", "tuple", "zip"})  # fmt: skip
"""Builtins whose result has what they are given in it."""


def may_change(item: ClassNode, method: Function, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a method may change something of what it is given: by a store, or by a method of an attribute of it that
    is not known to read. So may the methods of the class that it calls."""
    if method.name in seen:
        return False
    given = _parts(method)
    return any(_changes(node, item, method, given, seen | {method.name}) for node in walk(method))


def _changes(node: ast.AST, item: ClassNode, method: Function, given: set[str], seen: frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load) and _is_part(node.value, given)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id in given
    if not isinstance(node, ast.Call):
        return False
    if not isinstance(node.func, ast.Attribute):
        pure = isinstance(node.func, ast.Name) and node.func.id in PURE | PASSING
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return not pure and any(_is_whole(value) and _is_part(value, given) for value in values)
    receiver = node.func.value
    if isinstance(receiver, ast.Name) and receiver.id == "self":
        followed = item.methods.get(node.func.attr)
        return followed is not None and may_change(item, followed, seen)
    within = {part.attr for part in walk(receiver) if isinstance(part, ast.Attribute)}
    direct = isinstance(receiver, ast.Name) and receiver.id in parameters(method)
    return _is_part(receiver, given) and not direct and node.func.attr not in READS and not within & LOGGERS


def _is_whole(node: ast.expr) -> bool:
    """Whether an argument is something that can be changed as a whole: what is given, or the metrics of it."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in METRICS)


def _parts(method: Function) -> set[str]:
    """The names of a method that may stand for a part of what it is given."""
    given = {*parameters(method)}
    pairs = [pair for node in walk(method) for pair in _bound(node)]
    size = 0
    while size < len(given):
        size = len(given)
        given |= {name for names, value in pairs if _is_part(value, given) for name in names}
    return given


def _bound(node: Any) -> Iterator[tuple[set[str], ast.expr]]:
    """The names that a node binds, and what their values come from."""
    target: Any = getattr(node, "target", None)
    value: Any = getattr(node, "iter", getattr(node, "value", None))
    if isinstance(node, ast.withitem):
        target, value = node.optional_vars, node.context_expr
    for each in node.targets if isinstance(node, ast.Assign) else [target]:
        if each is not None and value is not None:
            stored = (name for name in walk(each) if isinstance(name, ast.Name))
            yield {name.id for name in stored if isinstance(name.ctx, ast.Store)}, value


def _is_part(node: ast.AST, given: set[str]) -> bool:
    """Whether a value may be a part of what is given, or have one in it."""
    if isinstance(node, ast.Name):
        return node.id in given
    if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        return _is_part(node.value, given)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not _is_own(node.func):
            return node.func.attr not in NEW and _is_part(node.func.value, given)
        if isinstance(node.func, ast.Name) and node.func.id not in PASSING:
            return False
        return any(_is_part(value, given) for value in (*node.args, *(item.value for item in node.keywords)))
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return _is_part(node.elt, given)
    if isinstance(node, ast.DictComp):
        return _is_part(node.value, given)
    if isinstance(node, ast.BinOp | ast.Compare | ast.JoinedStr | ast.UnaryOp):
        return False
    return any(_is_part(child, given) for child in ast.iter_child_nodes(node))


def _is_own(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Name) and function.value.id == "self"
