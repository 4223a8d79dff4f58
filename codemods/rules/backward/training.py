"""Which methods of which classes run while a module trains, and by which kind of optimization."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from codemods.code.calls import method_around
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, self_name
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.optimization import FLAG as FLAG
from codemods.lightning.optimization import FlagSummary, Optimization, answer, answer_of, set_elsewhere, told

ROOTS = frozenset(
    {"training_step", "on_train_batch_start", "on_train_batch_end", "on_train_epoch_start", "on_train_epoch_end"}
)
STEPS = frozenset({"training_step"})


@dataclass(frozen=True)
class TrainingFacts:
    """What one class says itself: of the kind of optimization, and which of its instance's methods each of its methods
    names."""

    name: str
    told: FlagSummary | None
    names: Mapping[str, frozenset[str]]

    @property
    def mode(self) -> Optimization | None:
        """The kind of optimization that it says by itself, None where it says nothing."""
        return answer([self.told]).kind if self.told and self.told.says else None


@lru_cache(maxsize=1)
def collect(file: PythonFile) -> tuple[TrainingFacts, ...] | None:
    """What the classes of a file say of the way they train; the last file's answer serves each rule that asks."""
    said = {item.node: found for item in file.classes if (found := told(file, item))}
    named: dict[ast.AST, dict[str, set[str]]] = {}
    for call in file.calls if file.classes else ():
        if not call.within or not _names_anything(call.node):
            continue
        place = method_around(call)
        if place:
            named.setdefault(place[0], {}).setdefault(place[1].name, set()).update(_own_names(call.node, place[1]))
    return (
        tuple(
            TrainingFacts(
                item.qualname,
                said.get(item.node),
                {name: frozenset(found) for name, found in named.get(item.node, {}).items()},
            )
            for item in file.classes
            if item.node in said or item.node in named
        )
        or None
    )


def _names_anything(call: ast.Call) -> bool:
    """Whether a call, or what it is given, is an attribute of a plain name: perhaps of the instance."""
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        for node in (call.func, *call.args, *(keyword.value for keyword in call.keywords))
    )


def _own_names(call: ast.Call, method: Function) -> Iterator[str]:
    name = self_name(method)
    for node in (call.func, *call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node.attr


@dataclass(frozen=True)
class ProjectTraining:
    """What the classes of the tree say, as the rule of that code collected it."""

    facts: Facts
    code: str

    def noted(self, item: ClassFact) -> TrainingFacts | None:
        """What a class says, the last of several of its name."""
        classes = reversed(self.facts.collected(self.code).get(item.path, ()))
        return next((noted for noted in classes if isinstance(noted, TrainingFacts) and noted.name == item.name), None)

    def fact(self, file: PythonFile, item: ClassNode) -> ClassFact | None:
        """The class as the facts have it."""
        return self.facts.of_class(file, item)

    def mode(self, item: ClassFact) -> Optimization:
        """How a class trains, as it and its bases say; automatic where none does."""
        if set_elsewhere(self.facts):
            return "unknown"
        return answer_of(self.facts, item, self._told).kind

    def _told(self, item: ClassFact) -> FlagSummary | None:
        noted = self.noted(item)
        return noted.told if noted else None

    def modes(self, item: ClassFact) -> set[Optimization]:
        """How the class, and those that inherit from it, train."""
        return {self.mode(item), *(self.mode(other) for other in self.facts.subclasses(item))}

    def reached(self, item: ClassFact, roots: frozenset[str] = ROOTS) -> frozenset[str]:
        """The methods that run from `roots`, as far as `self.method` shows it in the class and its relatives."""
        relatives = {*(self.facts.ancestry(item) or (item,))}
        for other in self.facts.subclasses(item):
            relatives |= {other, *(self.facts.ancestry(other) or ())}
        names: dict[str, set[str]] = {}
        for member in relatives:
            noted = self.noted(member)
            for method, found in noted.names.items() if noted else ():
                names.setdefault(method, set()).update(found)
        done: set[str] = set()
        todo = set(roots)
        while todo:
            method = todo.pop()
            done.add(method)
            todo |= names.get(method, set()) - done
        return frozenset(done)
