"""Which statements of a module are not in normal form."""

from __future__ import annotations

import ast

from codemods.code.names import Function
from codemods.code.nodes import every_node


def statements_unlike(tree: ast.Module, normal: ast.Module) -> list[ast.stmt] | None:
    """The statements of a module that its normal form has not, with those that bind what they read, but for
    definitions; None where one of them is no definition, which speaks of the others' names."""
    kept = set(map(id, normal.body))
    gone = [node for node in tree.body if id(node) not in kept]
    if not all(map(_defines, gone)):
        return None
    read = {name for node in gone for name in _read(node)}
    for node in reversed(tree.body):
        if not _defines(node) and not read.isdisjoint(_bound(node)):
            gone.append(node)
            read |= _read(node)
    return gone


def _defines(node: ast.stmt) -> bool:
    return isinstance(node, Function | ast.ClassDef)


def _read(node: ast.stmt) -> set[str]:
    return {item.id for item in every_node(node) if isinstance(item, ast.Name)}


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement imports or binds."""
    every = list(every_node(node))
    stored = {item.id for item in every if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return stored | {item.asname or item.name.partition(".")[0] for item in every if isinstance(item, ast.alias)}
