"""What a training step returns for each optimizer: a tensor or a dict, or nothing at all."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from codemods.code.source import ClassNode
from codemods.code.syntax import (
    Function,
    always_leaves,
    is_none,
    is_of_self,
    is_super_call,
    may_return_none,
    own_nodes,
    results,
    uses,
)
from codemods.rules.hooks.results import train_result

COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda index, other: index in other,
    ast.NotIn: lambda index, other: index not in other,
}
STEP = "training_step"
FALLS, NOTHING, SOMETHING, LEAVES = "falls", "nothing", "something", "leaves"


def result_kind(item: ClassNode, step: Function) -> str:
    """`tensor` or `dict` where every return plainly gives that, `same` where each is what the base class returns,
    else an empty text."""
    kinds = {_kind(item, step, value, 0) for value in results(step)}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(item: ClassNode, step: Function, value: ast.expr, depth: int) -> str:
    plain = train_result(item, step, value)
    if plain or depth > 4:
        return plain or ""
    if isinstance(value, ast.IfExp):
        kinds = {_kind(item, step, arm, depth + 1) for arm in (value.body, value.orelse) if not is_none(arm)}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(value, ast.Name):
        bound = _bound(step, value.id)
        kinds = {_kind(item, step, each, depth + 1) for each in bound or [] if not is_none(each)}
        return kinds.pop() if len(kinds) == 1 else ""
    if is_super_call(value, step.name):
        return "same"
    method = item.methods.get(value.func.attr) if isinstance(value, ast.Call) and is_of_self(value.func) else None
    if method is None or not results(method):
        return ""
    kinds = {_kind(item, method, each, depth + 1) for each in results(method)}
    return kinds.pop() if len(kinds) == 1 else ""


def _bound(step: Function, name: str) -> list[ast.expr] | None:
    """What a name is bound to, None where something else than `name = value` binds it too."""
    values = [
        value
        for node in own_nodes(step)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name
        for value in [node.value]
    ]
    stored = [use for use in uses(step, name) if not isinstance(use.ctx, ast.Load)]
    return values if len(stored) == len(values) else None


def may_skip(item: ClassNode, step: Function, name: str, index: int | None) -> bool:
    """Whether a step may return None for a value of its parameter `name` (for any where `index` is None), as far as
    its own statements and the class's own methods show."""
    return NOTHING in _StepWalk(item, name, index).run(step)


@dataclass
class _StepWalk:
    """A walk over all ways through a step for one value of the index; `empty` are the names that may be None, `asked`
    holds where the step itself asks for the index."""

    item: ClassNode
    name: str
    index: int | None
    empty: set[str] = field(default_factory=set)
    asked: bool = False

    def run(self, step: Function) -> set[str]:
        """How the step may end."""
        ends = self.block(step.body)
        return {NOTHING if end == FALLS else end for end in ends}

    def block(self, body: Iterable[ast.stmt]) -> set[str]:
        ends: set[str] = set()
        for statement in body:
            found = self.statement(statement)
            ends |= found - {FALLS}
            if FALLS not in found:
                return ends
        return ends | {FALLS}

    def statement(self, node: ast.stmt) -> set[str]:
        if isinstance(node, ast.Return):
            return {NOTHING if self.is_empty(node.value) else SOMETHING}
        if isinstance(node, ast.Raise | ast.Break | ast.Continue):
            return {LEAVES if isinstance(node, ast.Raise) else FALLS}
        if isinstance(node, ast.If):
            return self.choice(node)
        if isinstance(node, ast.With | ast.AsyncWith):
            return self.block(node.body)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self.either([[*node.body, *node.orelse], node.orelse])
        if isinstance(node, ast.Try):
            tried = self.either([[*node.body, *node.orelse], *(handler.body for handler in node.handlers)])
            last = self.block(node.finalbody)
            return tried if FALLS in last else last
        if isinstance(node, ast.Match):
            return self.either([*(case.body for case in node.cases), []])
        for name, value, place in _assigned(node):
            if self.is_empty(value, place):
                self.empty.add(name)
            else:
                self.empty.discard(name)
        return {FALLS}

    def choice(self, node: ast.If) -> set[str]:
        known, before = self.truth(node.test), self.asked
        self.asked = asks = before or bool(uses(node.test, self.name))
        found = self.either([node.body] if known else [node.orelse] if known is False else [node.body, node.orelse])
        self.asked = asks if any(arm and always_leaves(arm) for arm in (node.body, node.orelse)) else before
        return found

    def either(self, blocks: list[list[ast.stmt]]) -> set[str]:
        """All ends of some blocks of which one runs; what is None after one of them may be None after all."""
        before, after, ends = set(self.empty), set[str](), set[str]()
        for body in blocks:
            self.empty = set(before)
            found = self.block(body)
            ends |= found
            if FALLS in found:
                after |= self.empty
        self.empty = after
        return ends

    def is_empty(self, value: ast.expr | None, place: int | None = None) -> bool:
        """Whether an expression, or what it holds at a place, may be None. A function that is handed the index, of
        which the step has not asked itself, is taken to give nothing for some optimizers."""
        if value is None or is_none(value):
            return True
        if isinstance(value, ast.Name):
            return value.id in self.empty
        if isinstance(value, ast.IfExp):
            return self.is_empty(value.body) or self.is_empty(value.orelse)
        if isinstance(value, ast.Call):
            method = self.item.methods.get(value.func.attr) if is_of_self(value.func) else None
            if method is None and is_super_call(value, STEP):
                return False
            if method is None:
                given = [*value.args, *(keyword.value for keyword in value.keywords)]
                return not self.asked and any(isinstance(item, ast.Name) and item.id == self.name for item in given)
            return may_return_none(method) if place is None else _is_none_at(method, place)
        return False

    def truth(self, test: ast.expr) -> bool | None:
        """The value of a test on the index, None where it depends on something else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.truth(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            values = [self.truth(value) for value in test.values]
            stops = isinstance(test.op, ast.Or)
            return stops if stops in values else None if None in values else not stops
        if isinstance(test, ast.Name) and test.id == self.name and self.index is not None:
            return bool(self.index)
        return self.compared(test) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None

    def compared(self, test: ast.Compare) -> bool | None:
        if self.index is None or not (isinstance(test.left, ast.Name) and test.left.id == self.name):
            return None
        try:
            other = ast.literal_eval(test.comparators[0])
        except (ValueError, TypeError, SyntaxError):
            return None
        try:
            return _holds(test.ops[0], self.index, other)
        except TypeError:
            return None


def _holds(sign: ast.cmpop, index: int, other: Any) -> bool | None:
    if isinstance(sign, ast.Is | ast.IsNot):
        return isinstance(sign, ast.IsNot) if other is None else None
    return bool(COMPARED[type(sign)](index, other))


def _is_none_at(method: Function, place: int) -> bool:
    """Whether a method gives back a tuple with None at a place."""
    tuples = [value.elts for value in results(method) if isinstance(value, ast.Tuple)]
    return any(place < len(elements) and is_none(elements[place]) for elements in tuples)


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr, int | None]]:
    """The plain names that a statement binds, each with its value, and the place in it where that is unpacked."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value, None
            elif isinstance(target, ast.Tuple | ast.List):
                yield from _unpacked(target.elts, node.value)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value and isinstance(node.target, ast.Name):
        yield node.target.id, node.value, None


def _unpacked(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[str, ast.expr, int | None]]:
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets) else None
    for place, target in enumerate(targets):
        if isinstance(target, ast.Name):
            yield (target.id, parts[place], None) if parts else (target.id, value, place)
