"""Which function of the project a call runs, and what it is given."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from codemods.code.nodes import walk
from codemods.code.scopes import Scope, bind
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, is_super_call, self_name
from codemods.rules.autocast.cache_state import CacheState
from codemods.rules.autocast.conditions import ConstantParameter, constant_of
from codemods.rules.autocast.members import Key, Members, chain_of
from codemods.rules.autocast.project import DEFINITIONS, Defined
from codemods.rules.autocast.values import Local, ModuleValue, ValueReader


@dataclass(frozen=True)
class TracePosition:
    """Where a trace is: the file, the scope, the class of `self`, the class that defines the method, and its `self`."""

    file: PythonFile
    scope: Scope
    members: Members | None = None
    owner: Defined | None = None
    prefix: Key = ("self",)
    closure: bool = False


class Callee(NamedTuple):
    """A function, where it runs, and how many parameters `self` takes up."""

    function: Function
    place: TracePosition
    skip: int = 0


@dataclass(frozen=True)
class PendingCall:
    """A call that is about to be made: the state before it, where it stands, and the classes whose methods run,
    outermost first, with what their `self` is."""

    reader: ValueReader
    state: CacheState
    place: TracePosition
    owners: tuple[tuple[Members, Key], ...]

    def value(self, node: ast.expr) -> Any:
        return self.reader.value(node, self.state, self.place.scope, self.place.members)

    def callee(self, node: ast.expr) -> Callee | None:
        """The project's function that a call of an expression runs."""
        place = self.place
        if isinstance(node, ast.Name) and node.id not in self.state.env and (found := self._function(node)):
            return found
        value = self.value(node)
        if isinstance(value, Local):
            scope = bind(value.node, scope=place.scope)
            return Callee(value.node, replace(place, scope=scope, owner=None, closure=True))
        if isinstance(value, ModuleValue) and (built := self.reader.classes.get(value.key[0])) and len(value.key) < 3:
            name = value.key[1] if len(value.key) > 1 else "forward"
            if method := method_of(built, name, value.key[:1]):
                return method
        inherited = isinstance(node, ast.Attribute) and is_super_call(ast.Call(node, [], []), node.attr)
        if place.members and inherited and isinstance(node, ast.Attribute):
            return method_of(place.members, node.attr, place.prefix, place.owner)
        if isinstance(value, ModuleValue):
            return next(filter(None, (_held(value, *owner) for owner in reversed(self.owners))), None)
        return self._function(node) if value is None and isinstance(node, ast.Attribute) else None

    def _function(self, node: ast.expr) -> Callee | None:
        """The function of the project that a name stands for, where one statement defines it."""
        dotted = self.place.scope.resolve(node)
        found = self.reader.project.definition(dotted, self.place.file) if dotted else None
        file, function = found or (self.place.file, None)
        if function is None or isinstance(function, ast.ClassDef):
            return None
        if sum(isinstance(item, DEFINITIONS) and item.name == function.name for item in file.scope.statements) > 1:
            return None
        return Callee(function, TracePosition(file, bind(function, scope=file.scope)))

    def arguments(self, callee: Callee, node: ast.Call) -> dict[str, Any]:
        """What the parameters of a function get in a call."""
        function = callee.function
        names = [item.arg for item in [*function.args.posonlyargs, *function.args.args]][callee.skip :]
        given = _defaults(function) if not any(isinstance(item, ast.Starred) for item in node.args) else {}
        given |= {name: self._given(item) for name, item in zip(names, node.args, strict=False)}
        given |= {item.arg: self._given(item.value) for item in node.keywords if item.arg}
        if any(item.arg is None for item in node.keywords):
            given = {name: value for name, value in given.items() if not isinstance(value, ConstantParameter)}
        return given

    def _given(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and isinstance(known := self.state.env.get(node.id), ConstantParameter):
            return known
        return constant_of(node) or self.value(node)


def _held(value: ModuleValue, members: Members, prefix: Key) -> Callee | None:
    """The method that a call of something runs which an instance, of a known class, is or holds."""
    if value.key[: len(prefix)] != prefix:
        return None
    rest, current = value.key[len(prefix) :], members
    for index, name in enumerate(rest):
        if index == len(rest) - 1 and (found := method_of(current, name, prefix)):
            return found
        inner = current.inner(name)
        if inner is None:
            return None
        current, prefix = inner, (*prefix, name)
    return method_of(current, "forward", prefix)


def method_of(members: Members, name: str, prefix: Key, after: Defined | None = None) -> Callee | None:
    """A method of a class, or of its bases, whose `self` is known by a key."""
    found = members.method(name, after)
    if found is None:
        return None
    (file, item), function = found
    scope = bind(function, scope=bind(item.node, scope=item.scope))
    return Callee(function, TracePosition(file, scope, members, found[0], prefix), 0 if is_static(function) else 1)


def is_static(function: Function) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in function.decorator_list)


def calls_itself(callee: Callee) -> bool:
    """Whether a function may call itself: its parameters are then not what the first call gives them."""
    function, known = callee.function, callee.place.file.memo.setdefault("autocast.recursive", {})
    if function not in known:
        own = ((function.name,), (self_name(function), function.name))
        calls = (node for node in walk(function) if isinstance(node, ast.Call))
        known[function] = any(chain_of(node.func) in own for node in calls)
    found: bool = known[function]
    return found


def _defaults(function: Function) -> dict[str, Any]:
    """The parameters of a function that have a literal for a default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {item.arg: found for item, value in pairs if (found := constant_of(value)) is not None}
