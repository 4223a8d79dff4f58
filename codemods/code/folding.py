"""What expressions of constants come to, and which part of an expression is all that it gives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from codemods.code.imports import Known
from codemods.code.trees import changed

LONG = 1000
"""No string that is put together is longer."""
NUMBERS: Mapping[type, Callable[[Any, Any], Any]] = {ast.Add: operator.add, ast.Sub: operator.sub}
KINDS: Mapping[str, type] = {"bool": bool, "float": float, "int": int, "str": str}
TESTED = (ast.If, ast.While, ast.IfExp, ast.Assert)
FOLDED = (*TESTED, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.JoinedStr, ast.Subscript)


def folded(node: ast.AST, known: Known) -> ast.AST | None:
    """What an expression comes to, where a constant or one part of it says that; a statement with its test so."""
    if isinstance(node, ast.BinOp):
        return _counted(node)
    if isinstance(node, ast.BoolOp):
        return _chosen(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _constant(not node.operand.value, node) if isinstance(node.operand, ast.Constant) else None
    if isinstance(node, ast.JoinedStr):
        return None if id(node) in known.formats else _joined(node)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return _picked(node, known)
    if isinstance(node, TESTED):
        test = _truth(node.test, known)
        return None if test is node.test else changed(node, test=test)
    return _own_kind(node, known) if isinstance(node, ast.Call) else None


def foldable(known: Known) -> list[ast.AST]:
    """The nodes of a module that are folded."""
    calls = [node for node in known.nodes[ast.Call] if isinstance(node.func, ast.Name) and node.func.id in KINDS]
    every = (node for kind in FOLDED for node in known.nodes[kind])
    return [node for node in (*every, *calls) if folded(node, known) is not None]


def _constant(value: bool | int | float | str, place: ast.expr) -> ast.Constant:
    made = ast.copy_location(ast.Constant(value=value, kind=None), place)
    vars(made).update(made_of=place)
    return made


def _counted(node: ast.BinOp) -> ast.expr | None:
    """A sum or difference of numbers, or two strings in one."""
    one, other = node.left, node.right
    if not isinstance(one, ast.Constant) or not isinstance(other, ast.Constant):
        return None
    if isinstance(one.value, str) and isinstance(other.value, str) and isinstance(node.op, ast.Add):
        text = one.value + other.value
        return _constant(text, node) if len(text) <= LONG else None
    work = NUMBERS.get(type(node.op))
    if work is None or not all(type(item.value) in (int, float) for item in (one, other)):
        return None
    return _constant(work(one.value, other.value), node)


def _chosen(node: ast.BoolOp) -> ast.expr | None:
    """What `and` and `or` give whose first values are constants."""
    rest = list(node.values)
    ends = isinstance(node.op, ast.Or)
    while len(rest) > 1 and isinstance(rest[0], ast.Constant):
        if bool(rest[0].value) is ends:
            return rest[0]
        del rest[0]
    if len(rest) == len(node.values):
        return None
    return rest[0] if len(rest) == 1 else changed(node, values=rest)


def _joined(node: ast.JoinedStr) -> ast.expr | None:
    parts = [item.value for item in node.values if isinstance(item, ast.Constant)]
    return _constant("".join(map(str, parts)), node) if len(parts) == len(node.values) else None


def _picked(node: ast.Subscript, known: Known) -> ast.expr | None:
    """What a list or dictionary gives that is written in front of its key, where nothing else in it does anything."""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node.value, ast.List | ast.Tuple) and type(key) is int and 0 <= key < len(node.value.elts):
        items = node.value.elts
        found = None if any(isinstance(item, ast.Starred) for item in items) else items[key]
    elif isinstance(node.value, ast.Dict) and isinstance(key, str):
        items = node.value.values
        keys = [item.value if isinstance(item, ast.Constant) else None for item in node.value.keys]
        plain = keys.count(key) == 1 and all(isinstance(item, str) for item in keys)
        found = items[keys.index(key)] if plain else None
    else:
        return None
    return found if all(item is found or known.is_quiet(item) for item in items) else None


def _own_kind(node: ast.Call, known: Known) -> ast.expr | None:
    """A constant that is made what it is already."""
    kind = KINDS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if kind is None or not isinstance(given, ast.Constant) or type(given.value) is not kind:
        return None
    return None if isinstance(node.func, ast.Name) and node.func.id in known.taken else given


def _truth(test: ast.expr, known: Known) -> ast.expr:
    """A test without what changes nothing of its truth."""
    while True:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = test.operand
            if not (isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not)):
                return test
            test = inner.operand
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and _is_true(test.values[-1]):
            rest = test.values[:-1]
            test = rest[0] if len(rest) == 1 else changed(test, values=rest)
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool":
            if len(test.args) != 1 or test.keywords or isinstance(test.args[0], ast.Starred) or "bool" in known.taken:
                return test
            test = test.args[0]
        else:
            return test


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)
