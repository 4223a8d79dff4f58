"""The files that a trace goes through: the one that is looked at, and those of the classes above and below its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.file_memo import memo_of

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
OUTSIDE = frozenset({"?", "torch", "numpy", "lightning", "pytorch_lightning"})
"""The first parts of dotted names that stand for nothing of a project, or for Lightning's own, which is known."""


class Defined(NamedTuple):
    """A class, and the file that it stands in."""

    file: PythonFile
    item: ClassNode


@dataclass(frozen=True)
class ProjectFiles:
    """The files of a tree, of which one is looked at and may have been rewritten since."""

    facts: Facts
    current: PythonFile

    @property
    def known(self) -> dict[tuple[ast.AST, str], Any]:
        """What was worked out of classes for the file that is looked at, by the node and what was asked."""
        known: dict[tuple[ast.AST, str], Any] = memo_of(self.current, self.facts).setdefault("autocast.known", {})
        return known

    def class_of(self, dotted: str | None, near: PythonFile) -> Defined | None:
        """The project's class of that dotted name, as a file sees it."""
        own = own_class(dotted, near)
        known = self.facts.find_class(dotted, near.path) if dotted and not own else None
        return own or (self._class_at(known.path, known.name) if known else None)

    def definition(self, dotted: str, near: PythonFile) -> tuple[PythonFile, Function | ast.ClassDef] | None:
        """The project's class or function of that dotted name, as a file sees it."""
        own = near if dotted == f"{near.module}.{dotted.rpartition('.')[2]}" else None
        if own is None:
            if dotted.partition(".")[0] in OUTSIDE:
                return None
            if (found := self.facts.find_definition(dotted, near.path)) is None:
                return None
            if found[0].path != self.current.path:
                return found
            own, dotted = self.current, f"{self.current.module}.{found[1].name}"
        name = dotted.rpartition(".")[2]
        return next(
            ((own, node) for node in own.scope.statements if isinstance(node, DEFINITIONS) and node.name == name), None
        )

    def opened(self, dotted: str | None, near: PythonFile) -> Defined | None:
        """The project's class of that dotted name, in a file that may not have been read."""
        found = own_class(dotted, near)
        if found is None and dotted and (opened := self.definition(dotted, near)):
            file, node = opened
            found = next((Defined(file, item) for item in file.classes if item.node is node), None)
        return found

    def fact(self, item: ClassNode) -> ClassFact | None:
        """What is known of a class of the file that is looked at."""
        return self.facts.of_class(self.current, item)

    def below(self, fact: ClassFact | None) -> Iterable[ClassFact]:
        """The classes in other files that derive from one of the file that is looked at."""
        for other in self.facts.subclasses(fact) if fact else ():
            if other.path != self.current.path:
                yield other

    def defined(self, fact: ClassFact) -> Defined | None:
        """A class in its file."""
        return self._class_at(fact.path, fact.name)

    def _class_at(self, path: str, name: str) -> Defined | None:
        file = self.current if path == self.current.path else self.facts.open(path)
        return next((Defined(file, item) for item in file.classes if item.qualname == name), None) if file else None


def own_class(dotted: str | None, file: PythonFile) -> Defined | None:
    """The class of that dotted name, where it stands in the file itself."""
    return next((Defined(file, item) for item in file.classes if f"{file.module}.{item.qualname}" == dotted), None)
