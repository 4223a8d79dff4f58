"""The statements of a Python file with the scopes that they stand in, and what is said in some of them."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from codemods.code.nodes import CHILD_FIELDS
from codemods.code.scopes import Scope, bind

Within = tuple[ast.AST, ...]
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_HEADS = {
    kind: tuple(name for name in reversed(fields) if name not in _BODIES)
    for kind, fields in CHILD_FIELDS.items()
    if issubclass(kind, ast.stmt) and not _BODIES.isdisjoint(fields)
}
"""The fields of a statement with others inside that belong to itself."""
_DEFINING = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_SPREAD = frozenset({ast.Try, ast.Match, getattr(ast, "TryStar", ast.Try)})
"""Statements of which expressions stand between the statements inside them."""
_NESTED = _DEFINING | _HEADS.keys() - _SPREAD


@dataclass(frozen=True)
class ClassNode:
    """A class, the scope that its bases are read in, and its own methods by name (the last one wins)."""

    node: ast.ClassDef
    scope: Scope
    qualname: str

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        return {
            child.name: child for child in self.node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        }


class CallNode(NamedTuple):
    """A call, the scope of its names, and the functions and classes around it, outermost first."""

    node: ast.Call
    scope: Scope
    within: Within


class AssignNode(NamedTuple):
    """An assignment statement, and the functions and classes around it, outermost first."""

    node: ast.Assign | ast.AnnAssign
    within: Within


@dataclass(slots=True)
class Expressions:
    """The calls, attributes and items (`x[...]`) of some statements, in the order of the text."""

    calls: list[CallNode] = field(default_factory=list)
    attributes: list[ast.Attribute] = field(default_factory=list)
    items: list[ast.Subscript] = field(default_factory=list)

    def add(self, nodes: list[Any], scope: Scope, within: Within) -> None:
        """Takes up what is below some nodes, none of which is a statement."""
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            kind = type(node)
            fields = CHILD_FIELDS.get(kind)
            if fields is None:
                continue
            if kind is ast.Call:
                self.calls.append(CallNode(node, scope, within))
            elif kind is ast.Attribute:
                self.attributes.append(node)
            elif kind is ast.Subscript:
                self.items.append(node)
            for name in fields:
                value = getattr(node, name)
                if type(value) is list:
                    stack.extend(reversed(value))
                else:
                    stack.append(value)


_NOTHING = Expressions()
"""What most statements hold, once for all of them; nothing is added to it."""


class Outline:
    """What statements alone tell of a file, and the scope that each class and function opens. What they say is read
    when it is first asked for, of the statements on some lines alone."""

    def __init__(self, module: Scope) -> None:
        self.classes: list[ClassNode] = []
        self.assignments: list[AssignNode] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.scopes: dict[ast.AST, Scope] = {}
        self.statements: list[tuple[ast.stmt, Scope, Within]] = []
        self._read: dict[int, Expressions] = {}
        self._add(module, (), "")

    def _add(self, scope: Scope, within: Within, prefix: str) -> None:
        node: Any
        for node in scope.statements:
            self.statements.append((node, scope, within))
            kind = type(node)
            if kind is ast.Assign or kind is ast.AnnAssign:
                self.assignments.append(AssignNode(node, within))
            elif kind is ast.Import or kind is ast.ImportFrom:
                self.imports.append(node)
            elif kind is ast.ClassDef:
                self.classes.append(ClassNode(node, scope, prefix + node.name))
                self._add(self._open(node, scope), (*within, node), f"{prefix}{node.name}.")
            elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self._add(self._open(node, scope), (*within, node), prefix)

    def _open(self, node: ast.stmt, scope: Scope) -> Scope:
        self.scopes[node] = opened = bind(node, scope=scope)
        return opened

    def all_expressions(self) -> Expressions:
        """What all statements say."""
        return self._said(range(len(self.statements)))

    def expressions_on(self, lines: Sequence[int]) -> Expressions:
        """What the statements on some lines say."""
        starts, ends = self._lines
        wanted = {index for index in self._spread for line in lines if starts[index] <= line <= ends[index]}
        for line in lines:
            index = bisect_right(starts, line) - 1
            while index >= 0 and (starts[index] == line or ends[index] >= line):
                wanted.add(index)
                index -= 1
        return self._said(sorted(wanted))

    def expressions_of(self, statements: Iterable[ast.AST]) -> Expressions:
        """What some statements say."""
        wanted = {index for node in statements for index in self._places.get(node, ())}
        return self._said(sorted(wanted))

    @cached_property
    def _places(self) -> dict[ast.AST, list[int]]:
        """Where each statement is, which may be in several places of a tree that is not that of a text."""
        found: dict[ast.AST, list[int]] = {}
        for index, (node, _, _) in enumerate(self.statements):
            found.setdefault(node, []).append(index)
        return found

    def _said(self, places: Iterable[int]) -> Expressions:
        """What the statements at some places say themselves, each of which is read once."""
        found = Expressions()
        for index in places:
            one = self._read.get(index)
            if one is None:
                one = self._of(*self.statements[index])
                one = self._read[index] = one if one.calls or one.attributes or one.items else _NOTHING
            found.calls += one.calls
            found.attributes += one.attributes
            found.items += one.items
        return found

    def _of(self, node: Any, scope: Scope, within: Within) -> Expressions:
        """What a statement says itself: a class or function by its bases, decorators and defaults."""
        found = Expressions()
        kind = type(node)
        if kind is ast.ClassDef:
            inside = [*node.decorator_list, *node.bases, *node.keywords]
            found.add(inside, self.scopes[node], (*within, node))
        elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            found.add([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults], scope, within)
        elif kind in _HEADS:
            heads = [getattr(node, name) for name in _HEADS[kind]]
            heads += [item.type for item in getattr(node, "handlers", ())]
            heads += [part for item in getattr(node, "cases", ()) for part in (item.pattern, item.guard)]
            found.add([part for head in heads for part in (head if type(head) is list else (head,))], scope, within)
        elif kind in CHILD_FIELDS:
            found.add([node], scope, within)
        return found

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """The first and last line of each statement, of those with others inside up to the first of these."""
        starts = [node.lineno for node, _, _ in self.statements]
        ends: list[Any] = [node.end_lineno for node, _, _ in self.statements]
        node: Any
        for index, (node, _, _) in enumerate(self.statements):
            kind = type(node)
            if kind in _NESTED:
                ends[index] = node.body[0].lineno
                if kind in _DEFINING and node.decorator_list:
                    starts[index] = node.decorator_list[0].lineno
        return starts, ends

    @cached_property
    def _spread(self) -> list[int]:
        return [index for index, (node, _, _) in enumerate(self.statements) if type(node) in _SPREAD]
