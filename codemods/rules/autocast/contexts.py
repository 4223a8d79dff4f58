"""Gradient modes and regions while a trace runs: what an expression that is entered sets, and how it is left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.syntax import Function, own_nodes, returns
from codemods.rules.autocast.cache_state import CacheState
from codemods.rules.autocast.callees import PendingCall
from codemods.rules.autocast.names import STACKS, Grad, Region, grad_of, region_of
from codemods.rules.autocast.values import Context, Optimizer, state_text

_GENERATES = "contextlib.contextmanager"


@dataclass(frozen=True)
class ContextEffects:
    """What contexts do to a state, as the code that runs sees them."""

    state: CacheState
    caller: PendingCall

    @property
    def _scope(self) -> Scope:
        return self.caller.place.scope

    def of(self, node: ast.expr) -> Grad | Region | None:
        """What an expression sets that is entered."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "toggle_model":
            owner = self.caller.value(node.func.value)
            if isinstance(owner, Optimizer):
                self.state.toggled = frozenset(owner.keys or ())
            return None
        if isinstance(node, ast.BoolOp):
            return self._joined(node)
        if found := grad_of(node, self._scope) or region_of(node, self._scope):
            return found
        value = self.caller.value(node)
        if isinstance(value, Context):
            return value.means
        return self._handed_out(node) if isinstance(node, ast.Call) else None

    def _joined(self, node: ast.BoolOp) -> Grad | Region | None:
        """What is entered of contexts between `and` or `or`, all of which count as true."""
        found = [self.of(value) for value in node.values]
        if isinstance(node.op, ast.Or):
            return found[0]
        return found[-1] if None not in found[:-1] else None

    def _handed_out(self, node: ast.Call) -> Grad | Region | None:
        """What a function of the project gives back, or enters around its `yield`."""
        callee = self.caller.callee(node.func)
        if callee is None:
            return None
        scope = callee.place.scope
        for item in _entered(callee.function, scope):
            if means := grad_of(item, scope) or region_of(item, scope):
                return means
        return None

    def turns_off(self, node: ast.With | ast.AsyncWith) -> bool:
        """Whether a block switches gradients off, certainly or under a condition."""
        if not self.state.grad.on and self.state.grad.test is None:
            return False
        found = [self.of(item.context_expr) for item in node.items]
        return any(isinstance(item, Grad) and (not item.on or item.test is not None) for item in found)

    def decorate(self, function: Function, scope: Scope) -> bool:
        """Sets what the decorators of a function set; returns whether one sets the gradient mode."""
        found = False
        for item in function.decorator_list:
            if means := grad_of(item, scope):
                self.set(means)
                found = True
            elif region := region_of(item, scope):
                self.open(replace(region, opened=function))
        return found

    def is_stack(self, node: ast.expr) -> bool:
        """Whether an expression is a stack of contexts, which are left with it."""
        return isinstance(node, ast.Call) and self._scope.resolve(node.func) in STACKS

    def enter(self, node: ast.expr, opened: ast.AST) -> Grad | Region | None:
        """Sets what an expression sets that is entered, and returns it."""
        means = self.of(node)
        if isinstance(means, Grad):
            self.set(means)
        elif means:
            self.open(replace(means, opened=opened))
        return means

    def set(self, grad: Grad) -> None:
        self.state.grad = grad
        self.state.grad_text = state_text(grad.test, self.state) if grad.test is not None else ""

    def open(self, region: Region) -> None:
        if not self.state.regions:
            self.state.casts = ()
        self.state.regions = (*self.state.regions, region)


def _entered(function: Function, scope: Scope) -> Iterator[ast.expr]:
    """The contexts that a function gives back, or, where `contextmanager` makes one of it, those around its `yield`."""
    if any(scope.resolve(item) == _GENERATES for item in function.decorator_list):
        for node in own_nodes(function):
            if isinstance(node, ast.With) and any(isinstance(inner, ast.Yield) for inner in walk(node)):
                yield from (item.context_expr for item in node.items)
    else:
        yield from (node.value for node in returns(function) if node.value is not None)


def leave(state: CacheState, regions: tuple[Region, ...]) -> None:
    """Leaves the regions opened since; with the outermost one the cache goes."""
    state.regions = regions
    if not regions:
        state.casts = ()
