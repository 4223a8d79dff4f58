"""What is known of a value on its way to the loss: whether a gradient can flow back through it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum


class GradientFlow(IntEnum):
    """PLAIN holds no gradient history by nature (data, numbers), CUT lost it, MAYBE may hold one, SURE does."""

    PLAIN = 0
    CUT = 1
    MAYBE = 2
    SURE = 3


@dataclass(frozen=True)
class Cut:
    """Where a history was lost: the node, how, whether there certainly was one, the file, and the call that leads
    there from the file of the training step, where that is another one."""

    node: ast.AST
    how: str
    sure: bool
    path: str = ""
    via: ast.AST | None = None


@dataclass(frozen=True)
class Value:
    """A value; `parts` are those of a tuple (by position) or a dict (by key), `filled` marks a container that
    other code can put values into, and `cuts` are the places at which it lost its history."""

    flow: GradientFlow
    cuts: frozenset[Cut] = frozenset()
    parts: tuple[tuple[object, Value], ...] = ()
    filled: bool = False

    def part(self, key: object) -> Value:
        """What stands at a position or under a key."""
        return next((value for name, value in self.parts if name == key), replace(self, parts=()))

    def whole(self) -> Value:
        """The value, not told apart by its parts."""
        return join([replace(self, parts=()), *(value.whole() for _, value in self.parts)]) if self.parts else self


PLAIN = Value(GradientFlow.PLAIN)
MAYBE = Value(GradientFlow.MAYBE)
SURE = Value(GradientFlow.SURE)


def join(values: Iterable[Value]) -> Value:
    """What is computed from some values, or is one of them: it keeps a history if one of them has one."""
    every = list(values)
    flow = max((value.flow for value in every), default=GradientFlow.PLAIN)
    cuts = frozenset[Cut]().union(*(value.cuts for value in every)) if flow is GradientFlow.CUT else frozenset[Cut]()
    return Value(flow, cuts, filled=any(value.filled for value in every))


def merged(first: Value, second: Value) -> Value:
    """What a name holds after two branches."""
    if first == second:
        return first
    if first.parts and second.parts and {key for key, _ in first.parts} == {key for key, _ in second.parts}:
        parts = tuple((key, merged(value, second.part(key))) for key, value in first.parts)
        return replace(join([replace(first, parts=()), replace(second, parts=())]), parts=parts)
    return join([first.whole(), second.whole()])


def cut(value: Value, node: ast.AST, how: str, path: str) -> Value:
    """The value after an operation through which no gradient flows."""
    whole = value.whole()
    if whole.flow is GradientFlow.PLAIN:
        return PLAIN
    sure = whole.flow is GradientFlow.SURE or (whole.flow is GradientFlow.CUT and all(item.sure for item in whole.cuts))
    return Value(GradientFlow.CUT, whole.cuts | {Cut(node, how, sure, path)})


def seen_from(value: Value, call: ast.AST, path: str) -> Value:
    """What a call into another file gives back, as the caller's file has it."""
    cuts = frozenset(item if item.path == path else replace(item, via=call) for item in value.cuts)
    return replace(value, cuts=cuts, parts=tuple((key, seen_from(part, call, path)) for key, part in value.parts))


def of_module(value: Value) -> Value:
    """What a module computes, which has a history wherever nothing takes it away."""
    parts = tuple((key, of_module(part)) for key, part in value.parts)
    return replace(value, parts=parts) if parts or value.flow is GradientFlow.CUT else SURE


def key_of(node: ast.expr) -> object:
    """The key that a subscript names, None where it is computed."""
    return node.value if isinstance(node, ast.Constant) else None


def merged_names(ends: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """What names hold after one of several ways through the code."""
    result = dict(ends[0])
    for other in ends[1:]:
        for name, value in other.items():
            result[name] = merged(result[name], value) if name in result else value
    return result
