"""Properties that give back one attribute of the instance, where a method of the class reads them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_instance, may_go
from codemods.code.nodes import every_node
from codemods.code.tree_copies import at, changed, replaced, with_statements


def plain_properties(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what its properties give where these are read."""
    if "property" in known.taken:
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        kept = _kept(node, known) if isinstance(node, ast.ClassDef) else {}
        body = [_read(item, kept) for item in node.body] if kept and isinstance(node, ast.ClassDef) else []
        same = not body or all(one is other for one, other in zip(body, node.body, strict=True))  # type: ignore[attr-defined]
        return None if same else changed(node, body=body)

    marked = any(
        getattr(mark, "id", "") == "property" for item in known.nodes[ast.FunctionDef] for mark in item.decorator_list
    )
    return with_statements(tree, swap, of=(ast.ClassDef,)) if marked else tree


def _kept(node: ast.ClassDef, known: ModuleNames) -> dict[str, str]:
    """The attributes that properties of a class give back, by the names of these, which nothing in the file sets or
    defines besides."""
    found = {}
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or len(item.decorator_list) != 1 or not may_go(item.name):
            continue
        if getattr(item.decorator_list[0], "id", "") != "property" or known.names.stores[item.name] != 1:
            continue
        body = [each for each in item.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        owner = value.value if isinstance(value, ast.Attribute) else None
        own = isinstance(owner, ast.Name) and [owner.id] == [each.arg for each in item.args.args]
        if own and isinstance(value, ast.Attribute) and value.attr != item.name:
            found[item.name] = value.attr
    return {name: attr for name, attr in found.items() if name not in known.said | known.set_attributes}


def _read(method: ast.stmt, kept: Mapping[str, str]) -> ast.stmt:
    """A method with the attributes that it reads by properties."""
    if not isinstance(method, ast.FunctionDef) or not has_instance(method):
        return method
    if not any(isinstance(item, ast.Attribute) and item.attr in kept for item in every_node(method)):
        return method
    this = method.args.args[0].arg

    def swap(node: ast.AST) -> ast.AST | None:
        own = isinstance(node, ast.Attribute) and node.attr in kept and getattr(node.value, "id", "") == this
        return at(changed(node, attr=kept[node.attr]), node) if own and isinstance(node, ast.Attribute) else None

    return replaced(method, swap)
