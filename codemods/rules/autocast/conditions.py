"""What is known of tests: constants that functions were given, and texts that can be compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codemods.code.literals import literal
from codemods.rules.autocast.cache_state import CacheState, Condition
from codemods.rules.autocast.values import state_text


@dataclass(frozen=True)
class ConstantParameter:
    """A literal that a parameter has: given in the call, or its default."""

    value: Any


def constant_of(node: ast.expr | None) -> ConstantParameter | None:
    """The literal that an expression is, where it is a plain one."""
    if isinstance(node, ast.Constant | ast.UnaryOp):
        known, value = literal(node)
        if known:
            return ConstantParameter(value)
    return None


def truth(test: ast.expr, state: CacheState) -> bool | None:
    """Whether a test holds, None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, state)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [truth(part, state) for part in test.values]
        ends = isinstance(test.op, ast.Or)
        if ends in parts:
            return ends
        return None if None in parts else not ends
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, state)
    found = _constant(test, state)
    return None if found is None else bool(found.value)


def _compared(test: ast.Compare, state: CacheState) -> bool | None:
    first, second = _constant(test.left, state), _constant(test.comparators[0], state)
    if first is None or second is None:
        return None
    if isinstance(test.ops[0], ast.Eq | ast.Is):
        return bool(first.value == second.value)
    if isinstance(test.ops[0], ast.NotEq | ast.IsNot):
        return bool(first.value != second.value)
    return None


def _constant(node: ast.expr, state: CacheState) -> ConstantParameter | None:
    if isinstance(node, ast.Name):
        found = state.env.get(node.id)
        return found if isinstance(found, ConstantParameter) else None
    return constant_of(node)


def conditions(test: ast.expr, holds: bool, state: CacheState, turn: int) -> Iterator[Condition]:
    """What holds where a test does, or does not: comparable texts. What is random is never the same twice."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from conditions(test.operand, not holds, state, turn)
        return
    if isinstance(test, ast.BoolOp):
        known = isinstance(test.op, ast.And)
        left = [part for part in test.values if truth(part, state) is not known]
        if known is holds or len(left) == 1:
            for part in left:
                yield from conditions(part, holds, state, turn)
            return
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq | ast.IsNot):
        op = ast.Eq() if isinstance(test.ops[0], ast.NotEq) else ast.Is()
        test, holds = ast.Compare(test.left, [op], test.comparators), not holds
    text = state_text(test, state)
    yield (f"{text}@{turn}" if "rand" in text else text), holds
