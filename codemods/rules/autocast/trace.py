"""Follows a region statement by statement, through the project's own functions, and notes what forwards meet.

Branches are followed apart, loops run twice, contexts nest. A forward is a call of something that may be a
module; which of them are, and which of the meetings are reported, is for the caller to judge.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from codemods.code.nodes import CHILD_FIELDS
from codemods.code.scopes import Scope
from codemods.code.syntax import Function
from codemods.rules.autocast.bindings import TraceBindings
from codemods.rules.autocast.cache_state import (
    CacheState,
    ExecutedStatement,
    Frame,
    Meeting,
    TraceSite,
    exclusive,
    merged,
)
from codemods.rules.autocast.callees import Callee, PendingCall, TracePosition, calls_itself, is_static
from codemods.rules.autocast.conditions import ConstantParameter, conditions, truth
from codemods.rules.autocast.contexts import ContextEffects, leave
from codemods.rules.autocast.members import Key, Members, freezes
from codemods.rules.autocast.names import CHECKPOINT, CLEAR, STEPS, Grad, Region, grad_of
from codemods.rules.autocast.project import ProjectFiles
from codemods.rules.autocast.values import Local, ModuleValue, ValueReader, forward_of
from codemods.rules.autocast.weights import Weights

DEEPEST = 8
LONGEST = 20_000
CLOSURES = ("closure", "optimizer_closure")
_INNER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


class TooLong(Exception):
    """A trace that takes too many steps."""


class Trace:
    """One walk through a function, a method or a module, from its first statement to its last. `deep` holds where it
    met a call of a method of the class it began in that it did not go through, nor takes for the use of a module."""

    def __init__(self, project: ProjectFiles) -> None:
        self.reader = ValueReader(project)
        self.state = CacheState()
        self.poisoned: list[Meeting] = []
        self.stale: list[Meeting] = []
        self._frames: list[Frame] = []
        self._places: list[TracePosition] = []
        self._turn = self._uses = 0
        self._exits: list[list[CacheState]] = []
        self._breaks: list[list[CacheState]] = []
        self._running: list[ast.AST] = []
        self.deep = False

    @property
    def place(self) -> TracePosition:
        return self._places[-1]

    def run(self, function: Function | None, place: TracePosition, region: Region | None = None) -> None:
        """Traces a function, or the file's own statements, inside a region that others open."""
        if region:
            self.state.regions = (region,)
        if place.members:
            self.state.frozen = place.members.frozen
        if function is None:
            self._enter(None, place.file.tree.body, place)
        else:
            self._call_function(function, place, {})

    # functions

    def _call_function(self, function: Function, place: TracePosition, given: dict[str, Any]) -> None:
        arguments = function.args
        names = [item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        if place.owner and names and not is_static(function):
            given = {**given, names[0]: ModuleValue(place.prefix)}
        outer = self.state.copy()
        if self._frames:
            given = {**(outer.env if place.closure else {}), **dict.fromkeys(names), **given}
        self.state.env = given
        caller = PendingCall(self.reader, self.state, place, self._owners)
        decorated = ContextEffects(self.state, caller).decorate(function, place.scope)
        self._enter(function, function.body, place)
        self.state.env = outer.env
        if decorated:
            self.state.grad, self.state.grad_text = outer.grad, outer.grad_text
        leave(self.state, outer.regions)

    def _enter(self, function: Function | None, body: Sequence[ast.stmt], place: TracePosition) -> None:
        self._turn += 1
        outer = (self.state.frame, self.state.prefix, self.state.conditions)
        self.state.frame, self.state.prefix = self._turn, place.prefix
        self._frames.append(Frame(self._turn, place.file.path, function, ()))
        self._places.append(place)
        self.reader.file = place.file
        self._exits.append([])
        self._running.append(function or place.file.tree)
        alive = self._block(body)
        states = [*self._exits.pop(), *([self.state] if alive else [])]
        if states:
            self.state = merged(states)
        self.state.frame, self.state.prefix, self.state.conditions = outer
        self._running.pop()
        self._places.pop()
        self._frames.pop()
        self.reader.file = self.place.file if self._places else place.file

    # statements

    def _block(self, body: Sequence[ast.stmt]) -> bool:
        """Executes statements; False where the last one is never left at its end."""
        return all(self._statement(item) for item in body)

    def _statement(self, node: ast.stmt) -> bool:
        self._turn += 1
        if self._turn > LONGEST:
            raise TooLong
        frame = self._frames[-1]
        off = isinstance(node, ast.With | ast.AsyncWith) and self._contexts.turns_off(node)
        self._frames[-1] = replace(frame, steps=(*frame.steps, ExecutedStatement(node, self._turn, off)))
        handler: Callable[[Any], bool | None] = getattr(self, f"_on_{type(node).__name__.lower()}", self._on_simple)
        alive = handler(node)
        self._frames[-1] = frame
        return alive is not False

    def _on_simple(self, node: ast.stmt) -> None:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.expr):
                self._visit(inner)
        if isinstance(node, ast.AugAssign):
            self._weights.change(node.target)
        if isinstance(node, ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            for target in targets:
                self._names.bind(target, None)
        if key := freezes(node):
            self._weights.freeze(key, True)

    def _on_functiondef(self, node: Function) -> None:
        self.state.env[node.name] = Local(node)

    _on_asyncfunctiondef = _on_functiondef

    def _on_classdef(self, node: ast.ClassDef) -> None:
        return None

    def _on_assign(self, node: ast.Assign) -> None:
        self._visit(node.value)
        value = self._value(node.value)
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                self._weights.require(target, node.value)
            elif isinstance(target, ast.Attribute) and target.attr == "data":
                self._weights.change(target)
            else:
                self._names.bind(target, value)

    def _on_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._visit(node.value)
            self._names.bind(node.target, self._value(node.value))

    def _on_return(self, node: ast.Return) -> bool:
        if node.value is not None:
            self._visit(node.value)
        self._exits[-1].append(self.state.copy())
        return False

    def _on_raise(self, node: ast.Raise) -> bool:
        return False

    def _on_break(self, node: ast.Break) -> bool:
        if self._breaks:
            self._breaks[-1].append(self.state.copy())
        return False

    _on_continue = _on_break

    def _on_if(self, node: ast.If) -> bool:
        self._visit(node.test)
        return self._branch([(node.test, True, node.body), (node.test, False, node.orelse)])

    def _branch(self, arms: Sequence[tuple[ast.expr | None, bool, Sequence[ast.stmt]]]) -> bool:
        start, states = self.state, []
        for test, holds, body in arms:
            state = start.copy()
            known = truth(test, state) if test is not None else holds
            if test is not None and known is None:
                found = frozenset(conditions(test, holds, state, self._turn))
                if exclusive(found, state.conditions):
                    continue
                state.conditions |= found
            elif known is not holds:
                continue
            self.state = state
            if self._block(body):
                states.append(self.state)
        self.state = merged(states) if states else start
        return bool(states)

    def _on_match(self, node: ast.Match) -> bool:
        self._visit(node.subject)
        return self._branch([(None, True, case.body) for case in node.cases] + [(None, True, ())])

    def _on_for(self, node: ast.For) -> None:
        self._visit(node.iter)
        if key := freezes(node):
            self._weights.freeze(key, True)
        self._loop(node, lambda: self._names.bind_loop(node.target, node.iter))

    _on_asyncfor = _on_for

    def _on_while(self, node: ast.While) -> None:
        self._loop(node, lambda: self._visit(node.test))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, before: Callable[[], None]) -> None:
        for _ in range(2):
            self._breaks.append([])
            start = self.state.copy()
            before()
            alive = self._block(node.body)
            states = [*self._breaks.pop(), *([self.state] if alive else [])]
            self.state = merged(states) if states else start
        self._block(node.orelse)

    def _on_try(self, node: ast.Try) -> bool:
        start = self.state.copy()
        states = []
        if self._block(node.body) and self._block(node.orelse):
            states.append(self.state)
        for handler in node.handlers:
            self.state = start.copy()
            if self._block(handler.body):
                states.append(self.state)
        self.state = merged(states) if states else self.state
        return self._block(node.finalbody) and bool(states)

    def _on_with(self, node: ast.With | ast.AsyncWith) -> bool:
        state = self.state
        grad, text, regions, toggled = state.grad, state.grad_text, state.regions, state.toggled
        changed = False
        for item in node.items:
            means = self._contexts.enter(item.context_expr, node)
            changed = changed or isinstance(means, Grad) or self._contexts.is_stack(item.context_expr)
            if means is None:
                self._visit(item.context_expr)
            if item.optional_vars is not None:
                self._names.bind(item.optional_vars, None)
        exits, breaks = len(self._exits[-1]), len(self._breaks[-1]) if self._breaks else 0
        alive = self._block(node.body)
        left = self._exits[-1][exits:] + (self._breaks[-1][breaks:] if self._breaks else [])
        for end in [*left, *([self.state] if alive else [])]:
            end.toggled = toggled
            if changed:
                end.grad, end.grad_text = grad, text
            leave(end, regions)
        return alive

    _on_asyncwith = _on_with

    # expressions

    def _visit(self, node: ast.AST) -> None:
        """Executes the calls of an expression, arguments first."""
        if isinstance(node, _INNER):
            return
        if isinstance(node, ast.IfExp):
            self._visit(node.test)
            self._either(node)
            return
        if isinstance(node, ast.NamedExpr):
            self._visit(node.value)
            self._names.bind(node.target, self._value(node.value))
            return
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            self._comprehension(node)
            return
        for name in reversed(CHILD_FIELDS.get(type(node), ())):
            value = getattr(node, name)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._visit(child)
        if isinstance(node, ast.Call):
            self._call(node)

    def _either(self, node: ast.IfExp) -> None:
        start, states = self.state, []
        for holds, value in ((True, node.body), (False, node.orelse)):
            known = truth(node.test, start)
            if known is not None and known is not holds:
                continue
            self.state = start.copy()
            if known is None:
                self.state.conditions |= frozenset(conditions(node.test, holds, self.state, self._turn))
            self._visit(value)
            states.append(self.state)
        self.state = merged(states)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        env = dict(self.state.env)
        for generator in node.generators:
            self._visit(generator.iter)
            self._names.bind_loop(generator.target, generator.iter)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._visit(part)
        self.state.env = env

    def _call(self, node: ast.Call) -> None:
        function = node.func
        dotted = self._scope().resolve(function)
        if dotted == CLEAR:
            self.state.casts, self.state.clears = (), self.state.clears + 1
        elif dotted in CHECKPOINT and node.args:
            self._forward(node.args[0], node)
        elif means := grad_of(node, self._scope()):
            if dotted and dotted.endswith("set_grad_enabled"):
                self._contexts.set(means)
        elif dotted == "torch.nn.utils.vector_to_parameters" and len(node.args) > 1:
            self._weights.changed(self._value(node.args[1]))
        elif isinstance(function, ast.Attribute) and function.attr == "enter_context" and node.args:
            self._contexts.enter(node.args[0], node)
        elif isinstance(function, ast.Attribute):
            closures = (item.value for item in node.keywords if item.arg in CLOSURES)
            for closure in (*node.args[:1], *closures) if function.attr in STEPS else ():
                if isinstance(self._value(closure), Local):
                    self._forward(closure, node)
            if not self._weights.changes(node, function):
                self._forward(function, node)
        else:
            self._forward(function, node)

    def _forward(self, function: ast.expr, node: ast.Call) -> None:
        """A call of a function of the project is followed; one of something that may be a module is a forward."""
        callee = self._caller.callee(function)
        if callee is not None and self._follow(callee, node):
            return
        value = self._value(function)
        key = forward_of(value) if isinstance(value, ModuleValue) else None
        if key is None or (callee is not None and callee.place.prefix != key):
            own = (
                callee is not None
                and callee.place.members is not None
                and callee.place.prefix == self._places[0].prefix
            )
            self.deep |= own and callee is not None and self._is_left(callee)
            return
        self._uses += 1
        for cast, on in self.state.forward(key, site := self._site(node)):
            meeting = Meeting(cast, site, key, self.state.regions, self._owners)
            if cast.changed is not None:
                self.stale.append(meeting)
            elif cast.off and on:
                self.poisoned.append(meeting)

    def _follow(self, callee: Callee, node: ast.Call) -> bool:
        """Goes through a function that is called; False where that says nothing of the weights that it uses, since it
        is not gone through, or since a module uses its parameters itself."""
        if callee.function in self._running or self._is_left(callee):
            return False
        members, prefix, before = callee.place.members, callee.place.prefix, self._uses
        if members and prefix != self.place.prefix:
            self.state.frozen |= {(*prefix, *key[1:]) for key in members.frozen}
        given = self._caller.arguments(callee, node)
        if calls_itself(callee):
            given = {name: value for name, value in given.items() if not isinstance(value, ConstantParameter)}
        self._call_function(callee.function, callee.place, given)
        return self._uses > before or not members or members.weights() == "nothing"

    def _is_left(self, callee: Callee) -> bool:
        """Whether a function is not gone through since it is called too deep, or too late."""
        if callee.function in self._running:
            return False
        return len(self._frames) >= DEEPEST or self._turn > LONGEST // 2

    @property
    def _caller(self) -> PendingCall:
        return PendingCall(self.reader, self.state, self.place, self._owners)

    @property
    def _owners(self) -> tuple[tuple[Members, Key], ...]:
        return tuple((place.members, place.prefix) for place in self._places if place.members)

    # names, contexts, sites

    def _scope(self) -> Scope:
        return self.place.scope

    def _value(self, node: ast.expr) -> Any:
        return self._caller.value(node)

    @property
    def _contexts(self) -> ContextEffects:
        return ContextEffects(self.state, self._caller)

    @property
    def _weights(self) -> Weights:
        return Weights(self.state, self._value, self._site)

    @property
    def _names(self) -> TraceBindings:
        return TraceBindings(self.state, self.reader, self._value, self._next_turn)

    def _next_turn(self) -> int:
        self._turn += 1
        return self._turn

    def _site(self, node: ast.AST | None = None) -> TraceSite:
        """The place of a node, or of the statement that is executed."""
        return TraceSite(node or self._frames[-1].steps[-1].statement, self._turn, tuple(self._frames))
