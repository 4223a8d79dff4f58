"""Which function of the project a call runs, and what it is given."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from codemods.autocast.casts import State
from codemods.autocast.members import Key, Members
from codemods.autocast.project import Defined
from codemods.autocast.truth import Constant, constant_of
from codemods.autocast.values import Local, Module, Reader
from codemods.scopes import Scope, bind
from codemods.source import PythonFile
from codemods.syntax import Function, is_super_call


@dataclass(frozen=True)
class Place:
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
    place: Place
    skip: int = 0


@dataclass(frozen=True)
class Caller:
    """A call that is about to be made: the state before it, and where it stands."""

    reader: Reader
    state: State
    place: Place

    def value(self, node: ast.expr) -> Any:
        return self.reader.value(node, self.state, self.place.scope, self.place.members)

    def callee(self, node: ast.expr) -> Callee | None:
        """The project's function that a call of an expression runs."""
        place = self.place
        if isinstance(node, ast.Name):
            local = self.state.env.get(node.id)
            if isinstance(local, Local):
                scope = bind(local.node, scope=place.scope)
                return Callee(local.node, replace(place, scope=scope, owner=None, closure=True))
            if node.id not in self.state.env and (found := self._module_function(node)):
                return Callee(found, Place(place.file, bind(found, scope=place.file.scope)))
        value = self.value(node)
        if isinstance(value, Module) and (built := self.reader.classes.get(value.key[0])) and len(value.key) < 3:
            name = value.key[1] if len(value.key) > 1 else "forward"
            if method := method_of(built, name, value.key[:1]):
                return method
        return self._of_self(node, value, place.members) if place.members else None

    def _of_self(self, node: ast.expr, value: Any, members: Members) -> Callee | None:
        """A method of the instance, of what it is built on, or of something that it holds."""
        prefix = self.place.prefix
        if isinstance(node, ast.Attribute) and is_super_call(ast.Call(node, [], []), node.attr):
            return method_of(members, node.attr, prefix, self.place.owner)
        if not isinstance(value, Module) or value.key[: len(prefix)] != prefix:
            return None
        rest = value.key[len(prefix) :]
        if not rest:
            return method_of(members, "forward", prefix)
        if len(rest) == 1 and (found := method_of(members, rest[0], prefix)):
            return found
        inner = members.inner(rest[0])
        name = "forward" if len(rest) == 1 else rest[1]
        return method_of(inner, name, (*prefix, rest[0])) if inner and len(rest) < 3 else None

    def _module_function(self, node: ast.Name) -> Function | None:
        file = self.place.file
        if self.place.scope.lookup(node.id) != f"{file.module}.{node.id}":
            return None
        found = [
            item
            for item in file.tree.body
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == node.id
        ]
        return found[0] if len(found) == 1 else None

    def arguments(self, callee: Callee, node: ast.Call) -> dict[str, Any]:
        """What the parameters of a function get in a call."""
        function = callee.function
        names = [item.arg for item in [*function.args.posonlyargs, *function.args.args]][callee.skip :]
        given = _defaults(function) if not any(isinstance(item, ast.Starred) for item in node.args) else {}
        given |= {name: self._given(item) for name, item in zip(names, node.args, strict=False)}
        given |= {item.arg: self._given(item.value) for item in node.keywords if item.arg}
        if any(item.arg is None for item in node.keywords):
            given = {name: value for name, value in given.items() if not isinstance(value, Constant)}
        return given

    def _given(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and isinstance(known := self.state.env.get(node.id), Constant):
            return known
        return constant_of(node) or self.value(node)


def method_of(members: Members, name: str, prefix: Key, after: Defined | None = None) -> Callee | None:
    """A method of a class, or of its bases, whose `self` is known by a key."""
    found = members.method(name, after)
    if found is None:
        return None
    (file, item), function = found
    scope = bind(function, scope=bind(item.node, scope=item.scope))
    return Callee(function, Place(file, scope, members, found[0], prefix), 0 if is_static(function) else 1)


def is_static(function: Function) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in function.decorator_list)


def _defaults(function: Function) -> dict[str, Any]:
    """The parameters of a function that have a literal for a default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {item.arg: found for item, value in pairs if (found := constant_of(value)) is not None}
