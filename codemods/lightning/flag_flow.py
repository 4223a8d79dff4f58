"""What the ways through a method leave of automatic optimization.

A method is followed through plain statements, `if`, and blocks that every exception leaves with the method itself. In
loops, behind handlers and in what runs later, a word on the flag makes all that is known of it unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from codemods.code.nodes import every_node
from codemods.code.syntax import Function, is_super_call, self_name
from codemods.lightning.flag_values import NOTHING, THEN, UNSURE, Values, joined, owners_set, perhaps, set_by
from codemods.lightning.stages import in_fit

_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_OPAQUE = ("For", "AsyncFor", "While", "With", "AsyncWith", "Try", "TryStar", "Match")
_TRANSPARENT = frozenset({
    "nullcontext", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "device", "open",
    "catch_warnings", "record_function",
})  # fmt: skip
"""Contexts that let every exception pass."""


@dataclass
class FlagFlow:
    """Goes through a method of a class. `value` says what an expression makes of the flag, `spoken` whether the file
    has its name at all. `ends` are the values with which the method is left early, `above` the calls of a constructor
    above, with the values in front of each; `calls` says how those are found."""

    function: Function
    owner: ast.ClassDef
    value: Callable[[ast.expr | None], Values]
    spoken: bool
    ends: list[Values] = field(default_factory=list)
    above: list[tuple[Values, ast.Call]] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)

    @property
    def this(self) -> str:
        """What the method calls its instance."""
        return self_name(self.function)

    def run(self) -> Values:
        """What the flag is behind the method, whatever calls it."""
        end = self.block(self.function.body, NOTHING)
        later = [node for node in every_node(self.function) if isinstance(node, _LATER) and node is not self.function]
        waits = any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in every_node(self.function))
        if any(map(self._speaks, [*later, *([self.function] if waits or _of_class(self.function) else [])])):
            return UNSURE
        return joined(*self.ends, end) or NOTHING

    def block(self, body: Sequence[ast.stmt], env: Values | None) -> Values | None:
        """What the flag is behind some statements; None where nothing gets there."""
        for node in body:
            if env is None:
                return None
            env = self.statement(node, env)
        return env

    def statement(self, node: Any, env: Values) -> Values | None:
        if isinstance(node, ast.Raise):
            return None
        if isinstance(node, ast.If):
            env = self._within(node.test, env)
            holds = in_fit(self.function, node.test)
            arms = [arm for arm, taken in ((node.body, True), (node.orelse, False)) if holds in (None, taken)]
            return joined(*(self.block(arm, env) for arm in arms))
        if isinstance(node, ast.With | ast.AsyncWith) and all(map(_lets_pass, node.items)):
            for item in node.items:
                env = self._within(item, env)
            return self.block(node.body, env)
        if isinstance(node, ast.Try) and not node.handlers and not _jumps(node):
            return self.block([*node.body, *node.finalbody], env)
        if type(node).__name__ in _OPAQUE:
            env = self._within(node, env)
            self.ends += [env] if _jumps(node) else []
            return env
        if isinstance(node, ast.Return):
            self.ends.append(self._simple(node, env))
            return None
        return self._simple(node, env)

    def _within(self, node: ast.AST, env: Values) -> Values:
        """What the flag is behind a node of which any part may run, any number of times."""
        if self._speaks(node):
            return UNSURE
        for call in self._constructors(node):
            self.above.append((env, call))
            env |= NOTHING
        return perhaps(env, self._named(node))

    def _simple(self, node: ast.stmt, env: Values) -> Values:
        found = [value for owner, value in set_by(node) if self._is_this(owner)] if self.spoken else []
        if found:
            return self.value(found[-1])
        top = getattr(node, "value", None)
        for call in self._constructors(node):
            if call is top:
                self.above.append((env, call))
                return NOTHING
        env = self._within(node, env)
        function = top.func if isinstance(top, ast.Call) and isinstance(top.func, ast.Attribute) else None
        if function is None or not self._is_this(function.value):
            return env
        return frozenset(f"{value}{THEN}{function.attr}" for value in env)

    def _speaks(self, node: ast.AST) -> bool:
        """Whether anything in a node sets the flag, or may."""
        return self.spoken and any(True for _ in owners_set(node))

    def _named(self, node: ast.AST) -> Iterator[str]:
        """The methods that a node may call of the instance, other than as the whole of a statement."""
        top = getattr(node, "value", None) if isinstance(node, ast.stmt) else None
        sure = top.func if isinstance(top, ast.Call) else None
        for item in every_node(node):
            if not isinstance(item, ast.Attribute) or not isinstance(item.ctx, ast.Load) or item is sure:
                continue
            if self._is_this(item.value):
                yield item.attr
        for item in every_node(node):
            function = item.func if isinstance(item, ast.Call) else None
            if not isinstance(item, ast.Call) or not isinstance(function, ast.Attribute):
                continue
            given = bool(item.args) and self._is_this(item.args[0])
            if function.attr not in ("__init__", "__setattr__") and (given or is_super_call(item, function.attr)):
                yield function.attr

    def _constructors(self, node: ast.AST) -> Iterator[ast.Call]:
        """The calls of the constructor above, by `super()` or by the name of a class."""
        for call in every_node(node):
            function = call.func if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or not isinstance(function, ast.Attribute) or function.attr != "__init__":
                continue
            if is_super_call(call, "__init__"):
                named = function.value.args if isinstance(function.value, ast.Call) else []
                own = not named or ast.unparse(named[0]) in (self.owner.name, "__class__")
                self.calls.add("super" if own else "other")
                yield call
            elif call.args and self._is_this(call.args[0]):
                bases = [ast.unparse(base) for base in self.owner.bases]
                self.calls.add("base" if bases == [ast.unparse(function.value)] else "other")
                yield call

    def _is_this(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self.this


def _jumps(node: ast.AST) -> bool:
    """Whether a statement may leave its method, or a loop around it."""
    return any(isinstance(item, ast.Return | ast.Break | ast.Continue) for item in every_node(node))


def _of_class(function: Function) -> bool:
    """Whether a method is not of the instance."""
    return any(ast.unparse(item) in ("classmethod", "staticmethod") for item in function.decorator_list)


def _lets_pass(item: ast.withitem) -> bool:
    function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
    return ast.unparse(function).rpartition(".")[2] in _TRANSPARENT
