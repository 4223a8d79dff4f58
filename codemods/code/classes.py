"""Classes in their plain form: without bases and decorators that add nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from codemods.code.decorators import Idle
from codemods.code.imports import ModuleNames
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.syntax import taken
from codemods.code.tree_copies import DEFINING, at, changed, replaced, with_statements


def plain_classes(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with its classes and functions in their plain form."""
    defined = [item for item in tree.body if isinstance(item, ast.ClassDef)]
    empty = {item.name: item for item in defined if _is_empty(item) and known.is_fixed(item)}
    above = Counter(base.id for item in known.nodes[ast.ClassDef] for base in item.bases if isinstance(base, ast.Name))
    for name, item in [*empty.items()]:
        if not item.bases and len(known.names.loads.get(name, ())) != above[name]:
            del empty[name]  # what is of such a class may be asked for by it
    idle = Idle(known)
    functions = [*known.nodes[ast.FunctionDef], *known.nodes[ast.AsyncFunctionDef]]
    marked = bool(idle) and any(idle.has(mark) for item in functions for mark in item.decorator_list)
    later = _made_later(functions) if marked else set()

    def swap(node: ast.AST) -> ast.AST | None:
        fields: dict[str, Any] = {}
        if isinstance(node, Function):
            kept = [item for item in node.decorator_list if not idle.has(item)] if marked else node.decorator_list
            if len(kept) < len(node.decorator_list) and (node.lineno, node.col_offset) not in later:
                fields["decorator_list"] = kept
            if told and any(id(item) in told for item in taken(node)):
                fields["args"] = replaced(node.args, lambda item: _untold(item, told))
        if isinstance(node, ast.ClassDef):
            alone = len(node.bases) == 1
            bases = [new for item in node.bases for new in _above(item, empty, alone)]
            if len(bases) != len(node.bases) or any(
                one is not other for one, other in zip(bases, node.bases, strict=True)
            ):
                fields["bases"] = bases
        return changed(node, **fields) if fields else None

    every = known.nodes[ast.arg]
    told = {id(item) for item in every if item.annotation and _says_nothing(item.annotation, known)}
    return with_statements(tree, swap, of=DEFINING) if empty or marked or told else tree


def _made_later(functions: Iterable[Function]) -> set[tuple[int, int]]:
    """The places of functions inside others, whose decorators may be something else by then."""
    return {
        (item.lineno, item.col_offset)
        for each in functions
        for item in every_node(each)
        if isinstance(item, Function) and item is not each
    }


def _untold(node: ast.AST, told: Container[int]) -> ast.AST | None:
    return changed(node, annotation=None) if id(node) in told else None


def _says_nothing(annotation: ast.expr, known: ModuleNames) -> bool:
    """Whether an annotation admits anything."""
    if isinstance(annotation, ast.Constant):
        return annotation.value in ("object", "Any")
    if isinstance(annotation, ast.Name) and annotation.id == "object":
        return "object" not in known.taken
    return known.dotted(annotation) == "typing.Any"


def _is_empty(node: ast.ClassDef) -> bool:
    """Whether a class adds nothing to its base."""
    idle = all(
        isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in node.body
    )
    return idle and len(node.bases) <= 1 and not node.keywords and not node.decorator_list


def _above(base: ast.expr, empty: dict[str, ast.ClassDef], alone: bool) -> list[ast.expr]:
    """The bases of a class that adds nothing, instead of it; of one that has some where it is the only base."""
    if isinstance(base, ast.Name) and base.id in empty and (alone or not empty[base.id].bases):
        return [at(item, base) for item in empty[base.id].bases]
    return [base]
