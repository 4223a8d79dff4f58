"""What the plain names of a method are bound to."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from codemods.code.nodes import every_node, walk
from codemods.code.syntax import Function, self_name

OPTIMIZERS = "optimizers"


@dataclass(frozen=True)
class Bound:
    """A value that a name is given: the whole of it, or a part (unpacked, iterated over, updated)."""

    value: ast.expr
    whole: bool
    node: ast.AST


@dataclass(frozen=True)
class MethodNames:
    """The names of one method, functions inside it included."""

    method: Function

    @cached_property
    def bound(self) -> dict[str, list[Bound]]:
        """Every value that each name gets."""
        found: dict[str, list[Bound]] = {}
        for node in every_node(self.method):
            for target, value in _pairs(node):
                for name in every_node(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        found.setdefault(name.id, []).append(Bound(value, name is target, node))
        return found

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of parameters, those of functions inside the method included."""
        return frozenset(node.arg for node in walk(self.method) if isinstance(node, ast.arg))

    @property
    def instance_is_hidden(self) -> bool:
        """Whether the name of the instance may stand for something else in a part of the method."""
        own = self_name(self.method)
        given = sum(isinstance(node, ast.arg) and node.arg == own for node in walk(self.method))
        return given > 1 or own in self.bound

    def is_optimizer(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is what `self.optimizers()` gave, or one of several that it gave."""
        if isinstance(node, ast.Call):
            function = node.func
            return (
                isinstance(function, ast.Attribute)
                and function.attr == OPTIMIZERS
                and isinstance(function.value, ast.Name)
                and function.value.id == self_name(self.method)
            )
        if isinstance(node, ast.Subscript):
            return self.is_optimizer(node.value, depth)
        if isinstance(node, ast.Attribute):
            return node.attr == "optimizer" and self.is_optimizer(node.value, depth)
        if not isinstance(node, ast.Name) or depth > 4:
            return False
        values = self.bound.get(node.id, [])
        return bool(values) and all(self.is_optimizer(item.value, depth + 1) for item in values)


def _pairs(node: ast.AST) -> list[tuple[ast.AST, ast.expr]]:
    if isinstance(node, ast.Assign):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            several, values = node.targets[0].elts, node.value.elts
            if len(several) == len(values) and not any(isinstance(item, ast.Starred) for item in [*several, *values]):
                return list(zip(several, values, strict=True))
        return [(target, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
        return [(node.target, node.value)]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [(ast.Tuple([node.target]), node.iter)]
    if isinstance(node, ast.withitem) and node.optional_vars:
        return [(ast.Tuple([node.optional_vars]), node.context_expr)]
    return []


def path_of(node: ast.expr) -> tuple[str, ...]:
    """The parts of a name or a chain of attributes: `("self", "generator", "head")`; nothing for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()
