"""What expressions of constants come to, and which part of an expression is all that it gives."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codemods.code.conditions import compared, holds, negated
from codemods.code.imports import Known
from codemods.code.tree_copies import changed, made_from

LONG = 1000
"""No string that is put together is longer."""
PLACES = re.compile("%[sd%]")
"""What a string for `%` may say so that it is no longer than what is given."""
MANY = 64
LARGE = 10**15
"""No number that is worked out is larger."""
NUMBERS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
KINDS: Mapping[str, type] = {"bool": bool, "float": float, "int": int, "str": str}
TESTED = (ast.If, ast.While, ast.IfExp, ast.Assert)
FOLDED = (*TESTED, ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.JoinedStr, ast.Subscript)


def folded(node: ast.AST, known: Known) -> ast.AST | None:
    """What an expression comes to, where a constant or one part of it says that; a statement with its test so."""
    if isinstance(node, ast.BinOp):
        return _counted(node)
    if isinstance(node, ast.BoolOp):
        return _chosen(node)
    if isinstance(node, ast.UnaryOp):
        return negated(node) if isinstance(node.op, ast.Not) else _positive(node)
    if isinstance(node, ast.Compare):
        return compared(node)
    if isinstance(node, ast.JoinedStr):
        return None if id(node) in known.formats else _joined(node)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return _picked(node, known)
    if isinstance(node, TESTED):
        test = holds(node.test, known)
        return None if test is node.test else changed(node, test=test)
    return (_own_kind(node, known) or _said(node)) if isinstance(node, ast.Call) else None


def foldable(known: Known) -> list[ast.AST]:
    """The nodes of a module that are folded."""
    calls = [node for node in known.nodes[ast.Call] if _may_be_constant(node.func)]
    every = (node for kind in FOLDED for node in known.nodes[kind])
    return [node for node in (*every, *calls) if folded(node, known) is not None]


def _may_be_constant(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in KINDS
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)


def _constant(value: bool | int | float | str, place: ast.expr) -> ast.Constant:
    return made_from(place, ast.Constant(value=value, kind=None))


def _counted(node: ast.BinOp) -> ast.expr | None:
    """What two numbers come to, two strings in one, or a string with what stands in it."""
    one, other = node.left, node.right
    if not isinstance(one, ast.Constant):
        return None
    if isinstance(one.value, str) and isinstance(node.op, ast.Mod):
        items = other.elts if isinstance(other, ast.Tuple) else [other]
        return _text(one.value.__mod__, items, node) if not PLACES.sub("", one.value).count("%") else None
    if isinstance(one.value, str) and isinstance(node.op, ast.Add):
        return _text("".join, [one, other], node)
    if not isinstance(other, ast.Constant) or (work := NUMBERS.get(type(node.op))) is None:
        return None
    first, second = one.value, other.value
    if not isinstance(first, int | float) or not isinstance(second, int | float) or bool in (type(first), type(second)):
        return None
    if isinstance(node.op, ast.Pow) and not 0 <= second < MANY:
        return None
    try:
        made = work(first, second)
    except ArithmeticError:
        return None
    return _constant(made, node) if abs(made) <= LARGE else None


def _positive(node: ast.UnaryOp) -> ast.expr | None:
    """The number that two signs leave as it is."""
    inner = node.operand
    twice = isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.USub) and isinstance(node.op, ast.USub)
    number = inner.operand if twice and isinstance(inner, ast.UnaryOp) else inner
    plain = isinstance(number, ast.Constant) and type(number.value) in (int, float)
    return number if plain and (twice or isinstance(node.op, ast.UAdd)) else None


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
    parts = []
    for item in node.values:
        if isinstance(item, ast.FormattedValue) and (item.format_spec or item.conversion not in (-1, ord("s"))):
            return None
        parts.append(item.value if isinstance(item, ast.FormattedValue) else item)
    return _text(lambda given: "".join(map(str, given)), parts, node)


def _said(node: ast.Call) -> ast.expr | None:
    """The string that a method of a constant one makes of constants."""
    function = node.func
    inner = function.value if isinstance(function, ast.Attribute) else None
    text = inner.value if isinstance(inner, ast.Constant) else None
    if not isinstance(text, str) or len(text) > LONG or not isinstance(function, ast.Attribute) or node.keywords:
        return None
    if function.attr == "format":
        plain = not set("{}") & set(text.replace("{}", ""))
        return _text(lambda given: text.format(*given), node.args, node) if plain else None
    parts = node.args[0] if len(node.args) == 1 else None
    if function.attr == "join" and isinstance(parts, ast.List | ast.Tuple):
        return _text(text.join, parts.elts, node)
    return None


def _text(make: Callable[[tuple[Any, ...]], str], nodes: Sequence[ast.expr], place: ast.expr) -> ast.expr | None:
    """A string that is put together of constants; None where it cannot be, or would be long."""
    values = [item.value for item in nodes if isinstance(item, ast.Constant) and type(item.value) in (str, int)]
    if len(values) < len(nodes):
        return None
    try:
        text = make(tuple(values)) if sum(len(str(item)) for item in values) <= LONG else None
    except (ValueError, TypeError, LookupError):
        return None
    return _constant(text, place) if text is not None and len(text) <= LONG else None


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
    """A constant that is made what it is already, or a number that is made another kind of one."""
    kind = KINDS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if kind is None or not isinstance(given, ast.Constant) or kind.__name__ in known.taken:
        return None
    if type(given.value) is kind:
        return given
    number = type(given.value) in (bool, int) and kind in (bool, int, float)
    try:
        return _constant(kind(given.value), node) if number else None
    except OverflowError:
        return None
