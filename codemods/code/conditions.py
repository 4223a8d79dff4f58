"""Conditions in their plain form: which way round they are said changes nothing of what they come to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.syntax import is_none
from codemods.code.tree_copies import changed, made_from

SWAPPED: Mapping[type, type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Is: ast.Is, ast.IsNot: ast.IsNot,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
"""What a comparison is called with its two sides in each other's place."""
OPPOSITE: Mapping[type, type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
"""What is the same as its negation, whatever is compared."""
EQUAL: Mapping[type, type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
"""The same where one side is a constant and all that is asked is whether it holds."""
IDENTITY: Mapping[type, bool] = {ast.Is: True, ast.IsNot: False}
ALWAYS = frozenset({
    "backward", "detach", "log", "log_dict", "manual_backward", "optimizers", "parameters", "state_dict", "step",
    "zero_grad",
})  # fmt: skip
"""Methods that what is asked for one of them has had in every release."""
GUARDS = frozenset({"hasattr", "callable", "getattr"})
"""Functions that ask whether an object has something."""
DECIDED: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: lambda one, other: one == other,
    ast.NotEq: lambda one, other: one != other,
    ast.Lt: lambda one, other: one < other,
    ast.LtE: lambda one, other: one <= other,
    ast.Gt: lambda one, other: one > other,
    ast.GtE: lambda one, other: one >= other,
}


ASKED = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Load, ast.Is, ast.IsNot, ast.Not, ast.And, ast.Or,
)  # fmt: skip
"""The parts of a test that does nothing but to ask names what they are."""
OLDEST = (3, 6)
"""No release of Lightning runs with an older Python."""


def compared(node: ast.Compare) -> ast.expr | None:
    """What a comparison of two constants comes to; one with a constant in front, the other way round."""
    if len(node.ops) > 1:
        return _chain(node)
    if not isinstance(node.left, ast.Constant):
        return None
    other, operator = node.comparators[0], type(node.ops[0])
    if operator in OPPOSITE and isinstance(other, ast.Tuple | ast.List | ast.Set):
        return _among(node, other.elts)
    if isinstance(other, ast.Constant):
        decide = DECIDED.get(operator)
        one, two = node.left.value, other.value
        if operator in IDENTITY and (one is None or two is None):
            return made_from(node, ast.Constant(value=(one is two) is IDENTITY[operator], kind=None))
        same = decide and type(one) is type(two) and isinstance(one, int | float | str)
        return made_from(node, ast.Constant(value=decide(one, two), kind=None)) if same and decide else None
    swapped = SWAPPED.get(operator)
    return changed(node, left=other, ops=[swapped()], comparators=[node.left]) if swapped else None


def _among(node: ast.Compare, items: list[ast.expr]) -> ast.expr | None:
    """Whether a constant is among others of its kind."""
    asked = node.left.value if isinstance(node.left, ast.Constant) else None
    values = [item.value for item in items if isinstance(item, ast.Constant) and type(item.value) is type(asked)]
    if len(values) < len(items) or not isinstance(asked, int | str) or not isinstance(node.ops[0], ast.In | ast.NotIn):
        return None
    return made_from(node, ast.Constant(value=(asked in values) is isinstance(node.ops[0], ast.In), kind=None))


def guarded(node: ast.AST) -> ast.Attribute | None:
    """The method that a statement calls where it finds that what it is called of has it, and does nothing else."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return None
    call = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    test = node.test
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and is_none(test.comparators[0]):
        test = test.left if getattr(getattr(test.left, "func", None), "id", "") == "getattr" else test
    name, given = (getattr(test.func, "id", ""), test.args) if isinstance(test, ast.Call) else ("", [])
    if not isinstance(function, ast.Attribute) or not given or name not in GUARDS:
        return None
    if not all(isinstance(item, ast.Name | ast.Attribute | ast.Load) for item in every_node(function)):
        return None
    if name == "callable" and isinstance(given[0], ast.Call) and getattr(given[0].func, "id", "") == "getattr":
        given = given[0].args
    if len(given) == 1:
        return function if name == "callable" and ast.dump(given[0]) == ast.dump(function) else None
    same = ast.dump(given[0]) == ast.dump(function.value)
    return (
        function
        if same and getattr(given[1], "value", None) == function.attr and all(map(is_none, given[2:]))
        else None
    )


def _chain(node: ast.Compare) -> ast.expr | None:
    """What several comparisons of constants come to."""
    sides = [node.left, *node.comparators]
    pairs = zip(sides, node.ops, sides[1:], strict=False)
    links = [compared(ast.copy_location(ast.Compare(one, [sign], [other]), node)) for one, sign, other in pairs]
    values = [item.value for item in links if isinstance(item, ast.Constant)]
    whole = len(values) == len(node.ops)
    return made_from(node, ast.Constant(value=all(values), kind=None)) if whole else None


def negated(node: ast.UnaryOp) -> ast.expr | None:
    """What a `not` in front of a constant, or of what has an opposite, comes to."""
    inner = node.operand
    if isinstance(inner, ast.Constant) or is_empty(inner):
        return made_from(node, ast.Constant(value=not getattr(inner, "value", None), kind=None))
    opposite = OPPOSITE.get(type(inner.ops[0])) if isinstance(inner, ast.Compare) and len(inner.ops) == 1 else None
    return changed(inner, ops=[opposite()]) if opposite else None


def is_empty(node: ast.expr) -> bool:
    """Whether it is a list, tuple or dictionary of nothing."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else getattr(node, "keys", None)
    return isinstance(node, ast.List | ast.Tuple | ast.Dict) and not items


def of_version(test: ast.expr, known: ModuleNames) -> bool | None:
    """Whether Python is as new as a test asks it to be, where every one is that has been in question."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return None
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    first = isinstance(left, ast.Subscript) and getattr(left.slice, "value", None) == 0
    first = first or (isinstance(left, ast.Attribute) and left.attr == "major")
    numbers = right.elts if isinstance(right, ast.Tuple) and not first else [right] if first else []
    values = [item.value for item in numbers if isinstance(item, ast.Constant) and type(item.value) is int]
    asked = left.value if first and isinstance(left, ast.Subscript | ast.Attribute) else left
    if known.dotted(asked) != "sys.version_info" or not values or len(values) < len(numbers):
        return None
    if isinstance(operator, ast.GtE | ast.Lt) and tuple(values) <= OLDEST[: 1 if first else None]:
        return isinstance(operator, ast.GtE)
    return None


def told_before(before: ast.stmt, node: ast.stmt) -> ast.stmt:
    """A statement with what its test comes to, where the one in front of it binds the name that is asked for to a
    constant; a loop that asks for another one behind its first turn is left there."""
    name, value = _bound_to(before)
    if not isinstance(node, ast.If | ast.While) or not name or not _only_asks(node.test):
        return node
    way = decided(node.test, lambda test: _told(test, name, value))
    test = made_from(node.test, ast.Constant(value=way, kind=None))
    if isinstance(node, ast.If):
        return node if way is None else changed(node, test=test)
    again, ended = _bound_to(node.body[-1])
    inside = [item for each in node.body for item in every_node(each)]
    if not way or again != name or node.orelse or any(isinstance(item, ast.Continue) for item in inside):
        return node
    if decided(node.test, lambda test: _told(test, name, ended)) is not False:
        return node
    return changed(node, test=test, body=[*node.body, ast.copy_location(ast.Break(), node.body[-1])])


def _bound_to(node: ast.stmt) -> tuple[str, object]:
    """The one name that a statement binds to a constant, with this."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    plain = isinstance(target, ast.Name) and isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    return (target.id, node.value.value) if plain else ("", None)  # type: ignore[union-attr, attr-defined]


def _only_asks(test: ast.expr) -> bool:
    return all(isinstance(item, ASKED) for item in every_node(test))


def _told(test: ast.expr, name: str, value: object) -> bool | None:
    """Whether a test of one name holds, by the constant that this stands for."""
    if getattr(test, "id", "") == name:
        return bool(value)
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or getattr(test.left, "id", "") != name:
        return None
    sign = IDENTITY.get(type(test.ops[0])) if is_none(test.comparators[0]) else None
    return None if sign is None else (value is None) is sign


def decided(test: ast.expr, told: Callable[[ast.expr], bool | None]) -> bool | None:
    """Whether a condition holds, by what is told of the parts that `not`, `and` and `or` put together; None where that
    does not tell."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand, told)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        every = [decided(item, told) for item in test.values]
        decides = isinstance(test.op, ast.Or)
        return decides if decides in every else None if None in every else not decides
    return told(test)


def holds(test: ast.expr, known: ModuleNames) -> ast.expr:
    """A test without what changes nothing of whether it holds."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = holds(test.operand, known)
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return holds(inner.operand, known)
        return _opposite(test, inner) or (test if inner is test.operand else changed(test, operand=inner))
    if isinstance(test, ast.BoolOp):
        values = [holds(item, known) for item in test.values]
        if isinstance(test.op, ast.And) and _is_true(values[-1]):
            return values[0] if len(values) == 2 else changed(test, values=values[:-1])
        either = isinstance(test.op, ast.Or)
        settled = isinstance(values[-1], ast.Constant) and bool(values[-1].value) is either
        if settled and not any(known.may_fail(item) or not known.is_quiet(item) for item in values):
            return made_from(test, ast.Constant(value=either, kind=None))
        if isinstance(test.op, ast.Or) and isinstance(values[-1], ast.Constant) and not values[-1].value:
            return values[0] if len(values) == 2 else changed(test, values=values[:-1])
        same = all(one is other for one, other in zip(values, test.values, strict=True))
        return test if same else changed(test, values=values)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool":
        plain = len(test.args) == 1 and not test.keywords and not isinstance(test.args[0], ast.Starred)
        return holds(test.args[0], known) if plain and "bool" not in known.taken else test
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _of_one(test) or test
    return test


def _opposite(place: ast.UnaryOp, inner: ast.expr) -> ast.expr | None:
    """What is so where another test is not; a remainder is none where it is 0."""
    if isinstance(inner, ast.Compare) and len(inner.ops) == 1:
        opposite = EQUAL.get(type(inner.ops[0])) if isinstance(inner.comparators[0], ast.Constant) else None
        return changed(inner, ops=[opposite()]) if opposite else None
    if not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mod)) or not _is_number(inner.right):
        return None
    zero = ast.copy_location(ast.Constant(value=0, kind=None), inner)
    return made_from(place, ast.Compare(left=inner, ops=[ast.Eq()], comparators=[zero]))


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _of_one(test: ast.Compare) -> ast.expr | None:
    """A comparison with the one constant in which something is looked for."""
    among, operator = test.comparators[0], type(test.ops[0])
    if operator not in (ast.In, ast.NotIn) or not isinstance(among, ast.Tuple | ast.List | ast.Set):
        return None
    if len(among.elts) != 1 or not isinstance(among.elts[0], ast.Constant):
        return None
    return changed(test, ops=[ast.Eq() if operator is ast.In else ast.NotEq()], comparators=[among.elts[0]])


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)
