"""The classes of a project as losses are followed through them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from codemods.code.scopes import Scope
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rules.gradients.names import attributes_of

NN = "torch.nn.Module"


@dataclass(frozen=True)
class Class:
    """A class as it is followed: its file and text, the methods that a subclass may replace, which dotted names are
    classes of modules, and the classes of the project: of a dotted name, and those that it derives from."""

    file: PythonFile
    item: ClassNode
    open: frozenset[str]
    is_module: Callable[[str], bool]
    other: Callable[[str], Class | None]
    above: Callable[[], tuple[Class, ...]]
    function: Callable[[str], tuple[PlainFile, Function] | None]

    @property
    def scope(self) -> Scope:
        return self.item.scope

    @cached_property
    def attributes(self) -> Mapping[str, list[tuple[Function, ast.expr]]]:
        """What its methods assign to attributes."""
        return attributes_of(self.item)

    def method(self, name: str) -> tuple[Class, Function] | None:
        """A method that an instance certainly has, with the class that defines it."""
        if name in self.open:
            return None
        if name in self.item.methods:
            return self, self.item.methods[name]
        found = [item for item in self.above() if name in item.item.methods]
        return (found[0], found[0].item.methods[name]) if len(found) == 1 else None


@dataclass(frozen=True)
class PlainFile:
    """A file whose functions are followed: what a class is to its methods."""

    file: PythonFile
    other: Callable[[str], Class | None]
    function: Callable[[str], tuple[PlainFile, Function] | None]
    attributes: Mapping[str, list[tuple[Function, ast.expr]]] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        return self.file.scope


def is_module(facts: Facts, dotted: str, near: str) -> bool:
    """Whether a dotted name is a class of the project that derives from torch's Module, or Lightning's."""
    fact = facts.find_class(dotted, near)
    return fact is not None and any(
        base is not None and (base in (NN, MODULE) or base.startswith("torch.nn."))
        for member in facts.ancestry(fact)
        for base in member.bases
    )


def known_class(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact) -> Class:
    """The class as it is followed."""
    replaced = frozenset(name for other in facts.subclasses(fact) for name in other.methods)
    return _class(file, file, facts, item, replaced)


def _other(current: PythonFile, file: PythonFile, facts: Facts, dotted: str) -> Class | None:
    """The project's class of a dotted name, as a file sees it."""
    own = next((known for known in file.classes if f"{file.module}.{known.qualname}" == dotted), None)
    home, found = (file, own) if own else facts.find_opened(dotted, file.path) or (file, None)
    if found is None:
        return None
    if home.path == current.path and home is not current:
        home, name = current, found.qualname
        found = next((known for known in current.classes if known.qualname == name), found)
    return _class(current, home, facts, found, frozenset())


def _function(current: PythonFile, file: PythonFile, facts: Facts, dotted: str) -> tuple[PlainFile, Function] | None:
    """The project's function of a dotted name, as a file sees it, where one statement defines it."""
    module, _, name = dotted.rpartition(".")
    home = file if module == file.module else None
    if home is None:
        found = facts.find_definition(dotted, file.path)
        if found is None:
            return None
        home, name = (current if found[0].path == current.path else found[0]), found[1].name
    nodes = [node for node in home.scope.statements if getattr(node, "name", "") == name]
    if len(nodes) != 1 or not isinstance(nodes[0], Function):
        return None
    plain = PlainFile(home, partial(_other, current, home, facts), partial(_function, current, home, facts))
    return plain, nodes[0]


def _class(current: PythonFile, file: PythonFile, facts: Facts, item: ClassNode, replaced: frozenset[str]) -> Class:
    """A class of a file, while `current` is looked at, which may have been rewritten since."""

    other = partial(_other, current, file, facts)

    def above() -> tuple[Class, ...]:
        waiting, found = [item.scope.resolve(base) for base in item.node.bases], list[Class]()
        while waiting:
            base = waiting.pop(0)
            known = other(base) if base and base not in (MODULE, NN) else None
            if known and all(known.item is not seen.item for seen in found):
                found.append(known)
                waiting += [known.item.scope.resolve(node) for node in known.item.node.bases]
        return tuple(found)

    return Class(
        file,
        item,
        replaced,
        lambda dotted: is_module(facts, dotted, file.path),
        other,
        above,
        partial(_function, current, file, facts),
    )
