"""What expressions of constants come to, and which part of an expression is all that it gives."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codemods.code.assigning import is_attribute
from codemods.code.conditions import compared, holds, negated
from codemods.code.formatting import formatted, is_unspellable
from codemods.code.imports import ModuleNames
from codemods.code.rows import row
from codemods.code.tree_copies import changed, made_from

LONG = 1000
"""No string that is put together is longer."""
PLACES = re.compile("%[sd%]")
"""What a string for `%` may say so that it is no longer than what is given."""
MANY = 64
LARGE = 10**15
"""No number that is worked out is larger."""
NAMESPACES = ("types.SimpleNamespace", "argparse.Namespace")
"""Objects that hold what they are given by name."""
NUMBERS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
KINDS: Mapping[str, type] = {"bool": bool, "float": float, "int": int, "str": str}
CHANGED = frozenset({
    "capitalize", "casefold", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rstrip", "strip",
    "swapcase", "title", "upper",
})  # fmt: skip
"""Methods of a string that give another one."""
ITERATORS = frozenset({"iter", "map", "zip", "enumerate", "reversed"})
"""Functions that give what is gone over once."""
ASKING = frozenset({"abs", "all", "any", "len", "max", "min", "next", "round"})
TESTED = (ast.If, ast.While, ast.IfExp, ast.Assert)
FOLDED = (*TESTED, ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.JoinedStr, ast.Subscript)


def folded(node: ast.AST, known: ModuleNames) -> ast.AST | None:
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
    if isinstance(node, ast.Attribute):
        return _held(node, known)
    return _called(node, known) if isinstance(node, ast.Call) else None


def _held(node: ast.Attribute, known: ModuleNames) -> ast.expr | None:
    """What a namespace holds that is made where it is asked for it alone."""
    made = node.value
    if not isinstance(made, ast.Call) or made.args or known.dotted(made.func) not in NAMESPACES:
        return None
    found = [item.value for item in made.keywords if item.arg == node.attr]
    named = all(item.arg for item in made.keywords) and len(found) == 1
    return (
        found[0]
        if named and all(item.value is found[0] or known.is_quiet(item.value) for item in made.keywords)
        else None
    )


def foldable(known: ModuleNames) -> list[ast.AST]:
    """The nodes of a module that are folded."""
    calls = [node for node in known.nodes[ast.Call] if _may_be_constant(node.func)]
    calls += [node for node in known.nodes[ast.Attribute] if isinstance(node.value, ast.Call)]
    every = (node for kind in FOLDED for node in known.nodes[kind])
    return [node for node in (*every, *calls) if folded(node, known) is not None]


def _may_be_constant(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in KINDS or function.id in ASKING
    if not isinstance(function, ast.Attribute):
        return False
    return isinstance(function.value, ast.Constant | ast.Dict) or (
        function.attr == "pop" and isinstance(function.value, ast.List)
    )


def _called(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What a call of a built-in function, or of a method of what is written there, comes to."""
    return _own_kind(node, known) or _said(node) or _got(node, known) or _first(node, known) or _popped(node)


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
    if ends and isinstance(rest[0], ast.Dict) and any(rest[0].keys):
        return rest[0]
    if len(rest) == len(node.values):
        return None
    return rest[0] if len(rest) == 1 else changed(node, values=rest)


def _joined(node: ast.JoinedStr) -> ast.expr | None:
    parts = []
    for item in node.values:
        if isinstance(item, ast.FormattedValue) and (item.format_spec or item.conversion not in (-1, ord("s"))):
            break
        parts.append(item.value if isinstance(item, ast.FormattedValue) else item)
    else:
        if (whole := _text(lambda given: "".join(map(str, given)), parts, node)) is not None:
            return whole
    return formatted(node) if is_unspellable(node) else None


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
    if function.attr in CHANGED:
        return _text(lambda given: str(getattr(text, function.attr)(*given)), node.args, node)
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


def _picked(node: ast.Subscript, known: ModuleNames) -> ast.expr | None:
    """What a list, dictionary or string gives that is written in front of its key, where nothing else in it does
    anything."""
    if (attribute := _of_instance(node, known)) is not None:
        return attribute
    of, index = node.value, _number(node.slice)
    if isinstance(of, ast.Constant) and isinstance(of.value, str):
        return _part(of.value, node)
    if isinstance(of, ast.Dict):
        return _under(of, node.slice, known)
    items = row(of, known) if index is not None and _is_row(of) else None
    if not items or index is None or not -len(items) <= index < len(items):
        return None
    found = items[index]
    return found if all(item is found or known.is_quiet(item) for item in items) else None


def _is_row(node: ast.expr) -> bool:
    """Whether an expression gives a list or tuple."""
    made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("list", "sorted", "tuple")
    return made or isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def _of_instance(node: ast.Subscript, known: ModuleNames) -> ast.Attribute | None:
    """The attribute of `self`, unless the file may define it in a class, or of a module that is asked for by its own
    dictionary."""
    row, key = node.value, node.slice
    owner = row.value if isinstance(row, ast.Attribute) and row.attr == "__dict__" else None
    if isinstance(row, ast.Call) and getattr(row.func, "id", "") == "vars" and "vars" not in known.taken:
        owner = row.args[0] if len(row.args) == 1 and not row.keywords else None
    name = key.value if isinstance(key, ast.Constant) else None
    if owner is None or not is_attribute(name) or name.startswith("__"):
        return None
    if not (getattr(owner, "id", "") == "self" and name not in known.taken) and not known.is_module(owner):
        return None
    return made_from(node, ast.Attribute(value=owner, attr=name, ctx=ast.Load()))


def _under(node: ast.Dict, key: ast.expr, known: ModuleNames) -> ast.expr | None:
    """What a dictionary has under a key, where nothing else in it does anything."""
    keys = [item.value if isinstance(item, ast.Constant) else None for item in node.keys]
    name = key.value if isinstance(key, ast.Constant) else None
    if not isinstance(name, str) or keys.count(name) != 1 or not all(isinstance(item, str) for item in keys):
        return None
    found = node.values[keys.index(name)]
    return found if all(item is found or known.is_quiet(item) for item in node.values) else None


def _got(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What `{...}.get(key)` gives, with a default that does nothing."""
    function, given = node.func, node.args
    made = function.value if isinstance(function, ast.Attribute) and function.attr == "get" else None
    if not isinstance(made, ast.Dict) or node.keywords or not 1 <= len(given) <= 2:
        return None
    if not all(isinstance(item, ast.Constant) for item in (*made.keys, given[0])) or not known.is_quiet(given[-1]):
        return None
    if any(item.value == given[0].value for item in made.keys):  # type: ignore[union-attr, attr-defined]
        return _under(made, given[0], known)
    if not all(map(known.is_quiet, made.values)):
        return None
    return given[1] if len(given) == 2 else made_from(node, ast.Constant(value=None, kind=None))


def _popped(node: ast.Call) -> ast.expr | None:
    """The one item of a list that is written where it is taken out."""
    function = node.func
    of = function.value if isinstance(function, ast.Attribute) and function.attr == "pop" else None
    single = isinstance(of, ast.List) and len(of.elts) == 1 and not (node.args or node.keywords)
    return of.elts[0] if single and isinstance(of, ast.List) and not isinstance(of.elts[0], ast.Starred) else None


def _first(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """The one item of what `next(iter(...))` is given; of a number what `abs` makes."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if name not in ASKING or name in known.taken or given is None:
        return None
    if name in ("all", "any", "len"):
        return _of_row(name, row(given, known), node)
    if name in ("abs", "round"):
        number = _number(given)
        return None if number is None else _constant(abs(number) if name == "abs" else number, node)
    if name in ("max", "min"):
        items = row(given, known)
        return items[0] if items and len(items) == 1 and isinstance(items[0], ast.Constant) else None
    iterates = isinstance(given, ast.Call) and getattr(given.func, "id", "") in ITERATORS
    items = row(given, known) if iterates or isinstance(given, ast.GeneratorExp) else None
    return items[0] if items and len(items) == 1 else None


def _of_row(name: str, items: list[ast.expr] | None, node: ast.Call) -> ast.expr | None:
    """How many constants a row has, and whether all or any of them hold."""
    values = [item.value for item in items or () if isinstance(item, ast.Constant)]
    if items is None or len(values) < len(items):
        return None
    return _constant(len(values) if name == "len" else (all if name == "all" else any)(values), node)


def _number(node: ast.expr) -> int | None:
    """The whole number that is written, with its sign."""
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    value = inner.value if isinstance(inner, ast.Constant) and type(inner.value) is int else None
    return value if value is None or inner is node else -value


def _part(text: str, node: ast.Subscript) -> ast.expr | None:
    """A letter of a string, or what stands between two of them."""
    asked = node.slice
    if isinstance(asked, ast.Slice):
        ends = [None if item is None else _number(item) for item in (asked.lower, asked.upper)]
        plain = asked.step is None and ends.count(None) == (asked.lower, asked.upper).count(None)
        return _constant(text[slice(*ends)], node) if plain else None
    index = _number(asked)
    return _constant(text[index], node) if index is not None and -len(text) <= index < len(text) else None


def _own_kind(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """A constant that is made what it is already, or a number that is made another kind of one."""
    kind = KINDS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if kind is None or not isinstance(given, ast.Constant) or kind.__name__ in known.taken:
        return None
    if type(given.value) is kind:
        return given
    if kind is str:
        return None
    number = type(given.value) in (bool, int) and kind in (bool, int, float)
    told = isinstance(given.value, str) and len(given.value) < MANY and kind in (int, float)
    try:
        made = kind(given.value) if number or told else None
    except (OverflowError, ValueError):
        return None
    return None if made is None or abs(made) > LARGE or made != made else _constant(made, node)
