"""Methods under the name that they are asked for by."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.tree_copies import changed, with_statements


def plain_members(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with methods of their own alone, which a class has by another name, under that, and with methods in
    the place of the lambdas that are some."""
    tree = _defined(tree, known)
    known = known.of(tree)
    if not any(alias(statement) for item in known.nodes[ast.ClassDef] for statement in item.body):
        return tree
    said = Counter(item.attr for item in known.nodes[ast.Attribute])

    def swap(node: ast.AST) -> ast.AST | None:
        body = _renamed(node, known, said) if isinstance(node, ast.ClassDef) else None
        return changed(node, body=body) if body else None

    return with_statements(tree, swap, of=(ast.ClassDef,))


def _defined(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with methods that return what lambdas of its classes give."""

    def swap(node: ast.AST) -> ast.AST | None:
        body = [as_method(item) or item for item in node.body] if isinstance(node, ast.ClassDef) else []
        same = not isinstance(node, ast.ClassDef) or all(map(operator.is_, body, node.body))
        return None if same else changed(node, body=body)

    lambdas = any(as_method(item) for node in known.nodes[ast.ClassDef] for item in node.body)
    return with_statements(tree, swap, of=(ast.ClassDef,)) if lambdas else tree


def as_method(node: ast.stmt) -> ast.FunctionDef | None:
    """The method, or function, that a lambda under a name is."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Lambda):
        return None
    body: list[ast.stmt] = [ast.copy_location(ast.Return(value=node.value.body), node.value.body)]
    words: dict[str, Any] = {"decorator_list": [], "returns": None, "type_comment": None}
    if "type_params" in ast.FunctionDef._fields:
        words["type_params"] = []
    return ast.copy_location(ast.FunctionDef(name=target.id, args=node.value.args, body=body, **words), node)


def alias(node: ast.stmt) -> tuple[str, str] | None:
    """The two names of `name = other`."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
        return None
    return target.id, node.value.id


def _renamed(node: ast.ClassDef, known: ModuleNames, said: Counter[str]) -> list[ast.stmt] | None:
    """The body of a class with a method under the one name that it is asked for by; None where there is none."""
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    for index, statement in enumerate(node.body):
        name, own = alias(statement) or ("", "")
        if own not in methods or not own.startswith("_") or own.startswith("__") or name in methods:
            continue
        asked = said[own] or own in known.said or known.names.stores[own] != 1 or known.names.reads[own] != 1
        bound = sum(
            isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load) and item.id == name
            for each in node.body
            if not isinstance(each, ast.FunctionDef)
            for item in every_node(each)
        )
        if asked or bound != 1 or node.body.index(methods[own]) > index:
            continue
        made = changed(methods[own], name=name)
        return [made if item is methods[own] else item for item in node.body if item is not statement]
    return None
