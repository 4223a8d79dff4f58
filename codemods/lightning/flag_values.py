"""What may be known of automatic optimization at a place, and the statements that say it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.code.nodes import every_node
from codemods.code.syntax import is_super_call, targets_of

FLAG = "automatic_optimization"
NAMES = (FLAG, f"_{FLAG}")
ON, OFF, UNKNOWN, SAME = "on", "off", "?", ""
"""What the flag is: one of these, where SAME is what it was before, or the value of a parameter of the constructor
(`=name`), or its opposite (`!name`)."""
THEN, MAYBE = ">", "?"
"""`>name` behind a value is what a method of the instance then makes of it, `>?name` the same where it may be called or
not, and whose it is may not be told."""
Values = frozenset[str]
NOTHING: Values = frozenset({SAME})
UNSURE: Values = frozenset({UNKNOWN})
_OPPOSITE = {ON: OFF, OFF: ON, UNKNOWN: UNKNOWN}
_SETTING = ("setattr", "__setattr__")
_READING = ("getattr", "hasattr", "get")
_MOST = 24
"""So many values are told apart."""


def opposite(value: str) -> str:
    """The opposite of a value of the flag."""
    if value[:1] in ("=", "!"):
        return f"{'!' if value[0] == '=' else '='}{value[1:]}"
    return _OPPOSITE.get(value, UNKNOWN)


def says(values: Values) -> bool:
    """Whether any of some values says more than that methods are called."""
    return any(value.partition(THEN)[0] != SAME for value in values)


def perhaps(values: Values, names: Iterable[str]) -> Values:
    """Values behind some methods that may be called or not, in any order."""
    more = sorted({f"{THEN}{MAYBE}{name}" for name in names})
    return frozenset("".join([value, *(each for each in more if each not in value)]) for value in values)


def called_in(values: Iterable[str]) -> set[str]:
    """The methods that some values are behind."""
    return {name.lstrip(MAYBE) for value in values for name in value.split(THEN)[1:]}


def joined(*every: Values | None) -> Values | None:
    """The values behind several ways; None where there is no way."""
    found = [each for each in every if each is not None]
    if not found:
        return None
    made: Values = frozenset[str]().union(*found)
    if len(made) <= _MOST:
        return made
    return perhaps(frozenset(value.partition(THEN)[0] for value in made), called_in(made))


def set_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The owners on which a statement sets the flag, with its value; None stands for what is not seen."""
    for target, value in pairs(node):
        if isinstance(target, ast.Attribute) and target.attr in NAMES:
            yield target.value, value
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    given = _setting(call) if call is not None and not call.keywords else None
    if given is not None and _is_named(given[1]):
        yield given[0], given[2]


def pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What an assignment sets to what, side by side in tuples."""
    for target in targets_of(node):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
        elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield from ((each, None) for each in target.elts)


def _setting(call: ast.Call) -> list[ast.expr] | None:
    """The owner, the name and the value that a call of `setattr` or `__setattr__` has."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    given: list[ast.expr] = list(call.args)
    if name == "__setattr__" and isinstance(function, ast.Attribute) and len(given) == 2:
        owner: ast.expr = function.value
        given.insert(0, ast.Name("self", ast.Load()) if is_super_call(call, "__setattr__") else owner)
    return given if name in _SETTING and len(given) == 3 else None


def _is_named(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def owners_set(root: ast.AST) -> Iterator[tuple[ast.expr | None, ast.AST]]:
    """The owners on which anything in a node may set the flag, in whatever spelling, each with the place; None is an
    owner that is not seen, as where the name of the flag stands by itself and may be used to set it."""
    plain = set[int]()
    nodes = list(every_node(root))
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in NAMES and not isinstance(node.ctx, ast.Load):
            yield node.value, node
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            plain.add(id(node.slice))
        elif isinstance(node, ast.Compare):
            plain |= {id(item) for item in (node.left, *node.comparators)}
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            given = _setting(node)
            if given is not None and _is_named(given[1]):
                yield given[0], node
            if name == "update" and any(item.arg in NAMES for item in node.keywords):
                yield None, node
            plain |= {id(item) for item in node.args if name in _READING} | ({id(given[1])} if given else set())
    for node in nodes:
        if _is_named(node) and id(node) not in plain:
            yield None, node
