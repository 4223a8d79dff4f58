"""What a check of the project's asks of a batch that did not hold: an assertion, or the condition under which an error
is raised. Numbers and shapes that are compared there are asked for.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .alone_batches import Spec
from .alone_changes import Trouble, changed, dimensions, is_tensor, memory, parts, swapped

_MORE = {ast.Gt: 1, ast.Lt: -1}
_OPPOSITE: dict[type, type] = {ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt,
                               ast.NotIn: ast.In}  # fmt: skip
_SIZES = ("shape", "size")


def checked(trouble: Trouble) -> Iterator[Spec]:
    """The batches with which the innermost check of the project would hold."""
    for frame, number in trouble.own()[:1]:
        for test, is_right in _tests(frame, number):
            for left, operator, right in _compared(test, is_right):
                yield from _asked(left, operator, right, frame, trouble)


def _tests(frame: FrameType, number: int) -> Iterator[tuple[ast.expr, bool]]:
    """What was tested at a line, and whether it should have been true."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= number <= (node.end_lineno or number):
            yield node.test, True
        elif isinstance(node, ast.If):
            raising = (each for each in node.body if isinstance(each, ast.Raise))
            if any(each.lineno <= number <= (each.end_lineno or number) for each in raising):
                yield node.test, False


def _compared(test: ast.expr, is_right: bool) -> Iterator[tuple[ast.expr, type, ast.expr]]:
    """The comparisons that should hold, each with what it compares."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _compared(test.operand, not is_right)
    elif isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _compared(each, is_right)
    elif isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        for left, operator, right in zip(sides, test.ops, sides[1:], strict=False):
            kind = type(operator) if is_right else _OPPOSITE.get(type(operator))
            if kind is not None:
                yield left, kind, right


def _asked(left: ast.expr, operator: type, right: ast.expr, frame: FrameType, trouble: Trouble) -> Iterator[Spec]:
    have, want = _value(left, frame), _value(right, frame)
    if operator is ast.In and isinstance(want, list | tuple | set):
        for each in want:
            yield from _sized(left, have, each, frame, trouble)
    elif operator is ast.Eq and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and want == 0:
        size, step = _value(left.left, frame), _value(left.right, frame)
        if isinstance(size, int) and isinstance(step, int) and step > 0:
            yield from _sized(left.left, size, -(-size // step) * step, frame, trouble)
    elif operator in (ast.Eq, ast.Gt, ast.GtE, ast.Lt, ast.LtE):
        if operator is not ast.Eq and not (isinstance(have, int) and isinstance(want, int)):
            return
        more = _MORE.get(operator, 0)
        yield from _sized(left, have, want + more if more else want, frame, trouble)
        yield from _sized(right, want, have - more if more else have, frame, trouble)


def _sized(node: ast.expr, have: Any, want: Any, frame: FrameType, trouble: Trouble) -> Iterator[Spec]:
    """The batches in which what an expression says of a tensor, `have`, is what is wanted."""
    if type(have) is int and type(want) is int and want > 0:
        tensor, dimension = _measured(node, frame)
        places = [place for place, part in trouble.suspects() if _is_it(place, tensor, trouble)]
        if tensor is not None and dimension is None and have == tensor.ndim:
            yield from dimensions(want, trouble, have)
            return
        for place in places:
            shape = list(tensor.shape)
            if dimension is not None and -len(shape) <= dimension < len(shape):
                shape[dimension] = want
                yield changed(trouble, place, shape=shape)
        yield from swapped(have, want, trouble)
    elif _is_shape(have) and _is_shape(want) and len(have) != len(want):
        for place, part in trouble.suspects():
            if part["shape"] == list(have):
                yield changed(trouble, place, shape=list(want))
    elif _is_shape(have) and _is_shape(want):
        for place, part in trouble.suspects():
            for start in range(len(part["shape"]) - len(have) + 1):
                if part["shape"][start : start + len(have)] == list(have):
                    new = [*part["shape"][:start], *want, *part["shape"][start + len(have) :]]
                    yield changed(trouble, place, shape=new)


def _is_it(place: Any, tensor: Any, trouble: Trouble) -> bool:
    """Whether a part of the batch is that tensor, and not one that was made of it."""
    held = dict(parts(trouble.made)).get(place)
    return is_tensor(held) and is_tensor(tensor) and held.shape == tensor.shape and memory(held) == memory(tensor)


def _is_shape(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(type(each) is int and each > 0 for each in value)


def _measured(node: ast.expr, frame: FrameType) -> tuple[Any, int | None]:
    """The tensor of which an expression says a size, and in which dimension; without one where it says how many there
    are."""
    held: ast.expr | None = None
    at: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr in _SIZES:
        held, at = node.value.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "dim"):
        held, at = node.func.value, node.args[0] if node.args else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        inner = node.args[0]
        of_shape = isinstance(inner, ast.Attribute) and inner.attr == "shape"
        held, at = (inner.value, None) if isinstance(inner, ast.Attribute) and of_shape else (inner, ast.Constant(0))
    elif isinstance(node, ast.Attribute) and node.attr == "ndim":
        held = node.value
    tensor = _value(held, frame) if held is not None else None
    number = _value(at, frame) if at is not None else None
    return (tensor if is_tensor(tensor) else None), (number if isinstance(number, int) else None)


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What an expression is where an error was raised; None where that cannot be told."""
    with contextlib.suppress(Exception):
        code = compile(ast.Expression(node), "<check>", "eval")
        return eval(code, frame.f_globals, dict(frame.f_locals))
    return None
