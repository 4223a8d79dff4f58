"""What a call may give back: a default or a choice that it is given, or what a function of the project returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from codemods.code.calls import last_name
from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, own_nodes, self_name
from codemods.lightning.click_options import options_of
from codemods.lightning.facts import Facts
from codemods.lightning.fixtures import fixtures_of
from codemods.lightning.iterated_values import parametrized

ASKING = frozenset({"get", "pop", "setdefault", "getenv", "getattr"})
"""What gives back the last thing that it is given where nothing else is found."""
DECLARING = frozenset({"field", "Field", "ib", "attrib", "Option", "Argument", "mutable_field"})
"""What declares a field, or a parameter of a command, by its default."""
_CHOOSING = frozenset({"suggest_categorical", "choice", "grid_search"})
"""What gives back one of several things that it is given."""
Within = tuple[ast.AST, ...]
Place = tuple[PythonFile, Within, ast.expr]


def handed_out(call: ast.Call) -> list[ast.expr]:
    """What a call that asks for something, declares or chooses may give back of what it is given."""
    name, given = last_name(call.func), {item.arg: item.value for item in call.keywords}
    if name in ASKING:
        start = 2 if name == "getattr" else 1
        return [*call.args[start : start + 1], *(given[word] for word in ("default",) if word in given)]
    if name in DECLARING:
        found = [given[word] for word in ("default", "value") if word in given] or call.args[:1]
        return [item for item in found if literal(item)[1] is not ...]
    several = [*call.args[-1:], *given.values()] if name in _CHOOSING else []
    return [item for each in several if isinstance(each, ast.List | ast.Tuple) for item in each.elts]


def made_by(call: ast.Call) -> Iterator[ast.expr]:
    """What the function that a declared field is given makes, where that is written there."""
    given = (item.value for item in call.keywords if item.arg in ("default_factory", "factory"))
    yield from (item.body for item in given if isinstance(item, ast.Lambda))


def asked_of(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The object, and the name, that `x.get("name")`, `x.pop("name")` and `getattr(x, "name")` ask for."""
    function = call.func
    if isinstance(function, ast.Name) and function.id == "getattr" and len(call.args) > 1:
        return call.args[0], call.args[1]
    if isinstance(function, ast.Attribute) and function.attr in ("get", "pop") and call.args:
        return function.value, call.args[0]
    return None


def returned(facts: Facts, file: PythonFile, within: Within, call: ast.Call) -> Iterator[Place]:
    """What the function of the project, or the method of the class around, that a call names may give back."""
    found = _method(file, within, call.func) or _function(facts, file, within, call.func)
    for home, around, function in (found,) if found else ():
        yield from given_back(home, around, function)


def given_back(file: PythonFile, within: Within, function: Function) -> Iterator[Place]:
    """What a function returns, or yields, with the place where that is read."""
    for node in own_nodes(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield file, (*within, function), node.value


def _method(file: PythonFile, within: Within, node: ast.expr) -> tuple[PythonFile, Within, Function] | None:
    """The method `self.name` of the class around."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    for owner, function in pairwise(within):
        if isinstance(owner, ast.ClassDef) and isinstance(function, Function) and node.value.id == self_name(function):
            item = next((each for each in file.classes if each.node is owner), None)
            method = item.methods.get(node.attr) if item else None
            return (file, (owner,), method) if method else None
    return None


def _function(
    facts: Facts, file: PythonFile, within: Within, node: ast.expr
) -> tuple[PythonFile, Within, Function] | None:
    """The function of a module that a name stands for."""
    dotted = file.scope_within(within).resolve(node)
    module, _, name = (dotted or "").rpartition(".")
    if dotted is not None and module == file.module:
        found = [each for each in file.tree.body if isinstance(each, Function) and each.name == name]
        return (file, (), found[0]) if len(found) == 1 else None
    definition = facts.find_definition(dotted, file.path) if dotted else None
    if definition is None or not isinstance(definition[1], Function):
        return None
    return definition[0], (), definition[1]


def offered_to(facts: Facts, file: PythonFile, within: Within, name: str) -> Iterator[Place]:
    """What pytest and click give a parameter of the innermost function."""
    function = within[-1]
    assert isinstance(function, Function)
    yield from ((file, (), value) for value in parametrized(function, file.tree, name))
    for option, default in options_of(file, function):
        if option.value == name and default is not None:
            yield file, (), default
    for home, fixture in fixtures_of(file, facts, function, name):
        yield from given_back(home, (), fixture)
