"""Helpers that the normal form of a file has where they are called: what else may call them, and which names there
are other ones here."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from codemods.code.external_bindings import is_bound_elsewhere
from codemods.code.held_values import holds_values
from codemods.code.makers import given_back
from codemods.code.names import Function, Names
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile, Source
from codemods.code.tree_copies import blocks

Helper = ast.FunctionDef | ast.AsyncFunctionDef


class InlinedHelpers:
    """The functions of a file that its normal form does not have: `helpers`, and the one that each of its nodes is
    `inside`. `moved` are the names of functions and classes that the module does not define there."""

    def __init__(
        self,
        file: PythonFile,
        left: Container[int],
        hidden: Container[str],
        sources: Mapping[str, Source],
        moved: Iterable[str] = (),
    ) -> None:
        self.file, self.sources, self.moved = file, sources, frozenset(moved)
        self.constants = {name for name in _constants(file.tree) if name in hidden}
        self.settings = {name for name in _bound(filter(holds_values, file.tree.body)) if name in hidden}
        self.functions = [node for node in every_node(file.tree) if isinstance(node, Function)]
        self.helpers = [node for node in self.functions if id(node) in left]
        self.inside = {id(inner): node for node in self.helpers for inner in every_node(node)}

    @cached_property
    def shared(self) -> frozenset[int]:
        """The nodes of helpers and of what stands elsewhere that other files speak of, and may call or put something
        else in the place of, and of what calls these; and of what reads constants of the module that other files
        bind, or settings that they speak of. So are functions of the module that give back what they make of what
        they are given: what that is, only the project's own calls say."""
        if not (self.helpers or self.constants or self.settings or self.moved):
            return frozenset()
        inner = {id(item) for each in self.functions for item in every_node(each) if item is not each}
        outer = [node for node in self.helpers if id(node) not in inner]
        made = [node for node in outer if node in self.file.tree.body and _is_given(node)]
        said = {*self.moved, *self.settings, *(node.name for node in outer)}
        names = {name for name in said if self._is_said_elsewhere(name)}
        names |= {name for name in self.constants if is_bound_elsewhere(self.sources, self.file.path, name)}
        own = frozenset(id(item) for node in made for item in every_node(node))
        if not names:
            return own
        speaking = [node for node in self.file.tree.body if any(name in names for name in _said(node))]
        return own | {id(item) for node in speaking for item in every_node(node)}

    def _is_said_elsewhere(self, name: str) -> bool:
        said, word = re.compile(rf"\b{name}\b".encode()), name.encode()
        others = (item.unescaped for path, item in self.sources.items() if path != self.file.path)
        return any(word in text and said.search(text) for text in others)

    def is_at_home(self, words: set[str], nodes: Iterable[ast.AST]) -> bool:
        """Whether words say in each of some helpers' nodes what they say where these are called."""
        places = {id(helper): node for node in nodes if (helper := self.inside.get(id(node))) is not None}
        return all(self._says_the_same(words, node) for node in places.values())

    def _says_the_same(self, words: set[str], node: ast.AST) -> bool:
        around = [item for item in self.functions if any(inner is node for inner in every_node(item))]
        inside = {name for item in around for name in self._locals[id(item)]}
        elsewhere = {name for every in self._locals.values() for name in every}
        if words & (elsewhere - inside - self.file.scope.bindings.keys()):
            return False
        helper = self.inside[id(node)]
        calls = [item for item in every_node(self.file.tree) if _calls(item, helper.name)]
        if len(calls) != 1:
            return False
        callers = [item for item in self.functions if any(inner is calls[0] for inner in every_node(item))]
        foreign = {name for item in callers for name in self._locals[id(item)]} - inside
        return not words & (foreign | set(_called_otherwise(helper, calls[0])))

    @cached_property
    def _locals(self) -> dict[int, set[str]]:
        return {id(item): set(Names(item).stores) for item in self.functions}


def _is_given(node: Helper) -> bool:
    """Whether a function gives back one expression, and has parameters."""
    own = isinstance(node, ast.FunctionDef) and given_back(node) is not None
    return own and any(isinstance(item, ast.arg) for item in every_node(node.args))


def _constants(tree: ast.Module) -> Iterator[str]:
    return _bound(item for block in blocks(tree) for item in block)


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that assignments and classes bind."""
    for node in statements:
        if isinstance(node, ast.ClassDef):
            yield node.name
        for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
            if isinstance(target, ast.Name):
                yield target.id


def _said(node: ast.AST) -> Iterator[str]:
    for item in every_node(node):
        for field in ("name", "id", "attr"):
            if isinstance(name := getattr(item, field, None), str):
                yield name


def _calls(node: ast.AST, name: str) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "id", getattr(function, "attr", None)) == name


def _called_otherwise(helper: Helper, call: Any) -> Iterator[str]:
    """The parameters of a helper that are given something else than a name which is the same."""
    names = [item.arg for item in (*helper.args.posonlyargs, *helper.args.args)]
    given = [call.func.value, *call.args] if isinstance(call.func, ast.Attribute) else call.args
    for index, name in enumerate(names):
        value = given[index] if index < len(given) else None
        if not (isinstance(value, ast.Name) and value.id == name):
            yield name
