"""Constants of classes, replaced by what they are where they are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.imports import Known
from codemods.code.nodes import every_node
from codemods.code.trees import at, replaced


def plain_constants(tree: ast.Module, known: Known) -> ast.Module:
    """The module with constants of classes where they are read."""
    named = _class_constants(tree, known)
    stored = {
        item.attr
        for item in (every_node(tree) if named else ())
        if isinstance(item, ast.Attribute) and not isinstance(item.ctx, ast.Load)
    }

    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr not in stored:
            value = named.get((node.value.id, node.attr))
            return at(value, node) if value is not None and isinstance(node.ctx, ast.Load) else None
        return None

    return replaced(tree, swap) if named else tree


def _class_constants(tree: ast.Module, known: Known) -> dict[tuple[str, str], ast.Constant]:
    """The constants that plain classes of the module hold, by the names of class and constant."""
    found: dict[tuple[str, str], ast.Constant] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.bases or node.keywords or node.decorator_list:
            continue
        if known.names.stores[node.name] != 1:
            continue
        bound = [name for item in node.body for name in _bound(item)]
        for item in node.body:
            value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.Constant) and len(names := list(_bound(item))) == 1 == bound.count(names[0]):
                found[node.name, names[0]] = value
    return found


def _bound(node: ast.stmt) -> Iterator[str]:
    for item in every_node(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            yield item.id
        elif isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield item.name
