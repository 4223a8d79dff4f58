"""Objects that are handed a configuration when they are made, and keep it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from codemods.code.calls import value_of
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_super_call, self_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts

Reads = Callable[[PythonFile, CallNode, ast.expr | None], bool]
"""Whether a value is a configuration where a call stands."""
Making = tuple[PythonFile, CallNode]
_INIT = "__init__"


def is_handed_one(facts: Facts, file: PythonFile, function: Function, name: str, reads: Reads) -> bool:
    """Whether a parameter of a constructor is a configuration wherever an object of the class, or of one below it, is
    made; nothing but such calls may speak of the class."""
    fact = _fact_of(facts, file, function) if function.name == _INIT else None
    arguments = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][1:]
    made = [*_makings(facts, fact)] if fact and name in arguments else []
    return bool(made) and all(
        making is not None and reads(*making, _given(making[1].node, arguments.index(name), name)) for making in made
    )


def keeps_one(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, reads: Reads) -> bool:
    """Whether `self.name` is a configuration wherever a method runs: all that its class, and those above and below it,
    set it to is one that a constructor was handed, and nothing else sets it."""
    method = next((each for each in reversed(call.within) if isinstance(each, Function)), None)
    fact = _fact_of(facts, file, method) if method else None
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and method and fact):
        return False
    if node.value.id != self_name(method) or _is_set_from_outside(facts, node.attr):
        return False
    every = [store for each in (fact, *family(facts, fact)) for store in _stores(facts, each, node.attr)]
    return bool(every) and all(store is not None and reads(*store) for store in every)


def _fact_of(facts: Facts, file: PythonFile, method: Function) -> ClassFact | None:
    item = next((each for each in file.classes if each.methods.get(method.name) is method), None)
    return facts.of_class(file, item)


def _given(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call gives a parameter."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    named = value_of(call, name)
    return call.args[place] if place < len(call.args) else named


def _makings(facts: Facts, fact: ClassFact) -> Iterator[Making | None]:
    """The calls that make an object of a class or of one below it, as far as they reach its own constructor; None for
    whatever else speaks of it."""
    name = fact.name.rpartition(".")[2]
    for path, source in facts.holding(name):
        home = facts.open(path) if source.kind in ("python", "notebook") else None
        if home is None and source.kind in ("python", "notebook", "yaml", "json", "toml"):
            yield None
        elif home is not None:
            yield from _makings_in(home, name)
    for child in facts.subclasses(fact):
        yield from _handings_on(facts, child) if _INIT in child.methods else _makings(facts, child)


def _makings_in(home: PythonFile, name: str) -> Iterator[Making | None]:
    calls = {id(call.node.func): call for call in home.calls_near([name])}
    bases = {id(base) for item in home.classes for base in item.node.bases}
    for node in walk(home.tree):
        spoken = (isinstance(node, ast.Name) and node.id == name) or (
            isinstance(node, ast.Attribute) and node.attr == name
        )
        if spoken and id(node) not in bases:
            yield (home, calls[id(node)]) if id(node) in calls else None
        elif isinstance(node, ast.alias) and node.name == name and node.asname not in (None, name):
            yield None


def _handings_on(facts: Facts, child: ClassFact) -> Iterator[Making | None]:
    """What the constructor of a class below hands to that of the class above."""
    home = facts.open(child.path)
    item = next((each for each in home.classes if each.qualname == child.name), None) if home else None
    method = item.methods[_INIT] if item else None
    calls = [
        call
        for call in (home.calls_near([_INIT]) if home else ())
        if is_super_call(call.node, _INIT) and method in call.within
    ]
    yield from ((home, call) for call in calls if home)
    if not calls:
        yield None


def _stores(facts: Facts, fact: ClassFact, name: str) -> Iterator[tuple[PythonFile, CallNode, ast.expr | None] | None]:
    """What the methods of a class set an attribute of the instance to, each where it does; None for another way to."""
    home = facts.open(fact.path)
    item = next((each for each in home.classes if each.qualname == fact.name), None) if home else None
    for method in item.methods.values() if home and item else ():
        own = self_name(method)
        for node in walk(method):
            if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
                value = next(
                    (each.value for each in walk(method) if isinstance(each, ast.Assign) and node in each.targets), None
                )
                owned = isinstance(node.value, ast.Name) and node.value.id == own
                place = CallNode(ast.Call(node, [], []), home.scope_within((method,)), (method,)) if home else None
                yield (home, place, value) if home and place and owned and value is not None else None


def _is_set_from_outside(facts: Facts, name: str) -> bool:
    """Whether code of the project may set such an attribute of an object that it does not call self."""
    for path, source in facts.holding(name):
        home = facts.open(path) if source.kind in ("python", "notebook") else None
        for node in home.attributes(name) if home else ():
            if not isinstance(node.ctx, ast.Load) and not (
                isinstance(node.value, ast.Name) and node.value.id == "self"
            ):
                return True
    return False
