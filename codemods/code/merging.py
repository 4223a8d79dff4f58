"""Classes whose statements stand elsewhere, in one place: in a base of their own, or under another name."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from codemods.code.imports import Known
from codemods.code.nodes import every_node
from codemods.code.trees import changed, with_statements

SPECIAL = frozenset({"__init__", "__repr__", "__len__", "__getitem__", "__call__", "__str__", "__iter__", "__next__"})
"""Names with two underscores that mean nothing more in a class than in one below it."""


def plain_members(tree: ast.Module, known: Known) -> ast.Module:
    """The module with methods under the names that they are asked for by, and classes with what a base has that is
    theirs alone."""
    classes = known.nodes[ast.ClassDef]
    named = [item for item in classes if any(_alias(statement) for statement in item.body)]
    if named:
        said = Counter(item.attr for item in known.nodes[ast.Attribute])

        def swap(node: ast.AST) -> ast.AST | None:
            body = _renamed(node, known, said) if isinstance(node, ast.ClassDef) else None
            return changed(node, body=body) if body else None

        tree = with_statements(tree, swap)
    return _merged(tree, known)


def _alias(node: ast.stmt) -> tuple[str, str] | None:
    """The two names of `name = other`."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
        return None
    return target.id, node.value.id


def _renamed(node: ast.ClassDef, known: Known, said: Counter[str]) -> list[ast.stmt] | None:
    """The body of a class with a method under the one name that it is asked for by; None where there is none."""
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    for index, statement in enumerate(node.body):
        name, own = _alias(statement) or ("", "")
        if own not in methods or not own.startswith("_") or own.startswith("__") or name in methods:
            continue
        asked = said[own] or own in known.said or known.names.stores[own] != 1 or len(known.names.loads[own]) != 1
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


def _merged(tree: ast.Module, known: Known) -> ast.Module:
    """The module with each class that has one other below it, and is spoken of nowhere else, in this."""
    classes = {item.name: item for item in tree.body if isinstance(item, ast.ClassDef)}
    below = {
        base.id: item
        for item in classes.values()
        if len(item.bases) == 1 and isinstance(base := item.bases[0], ast.Name) and base.id in classes
    }
    for name, item in below.items():
        above = classes[name]
        if (
            above.lineno > item.lineno
            or len(known.names.loads.get(name, ())) != 1
            or not known.is_fixed(above)
            or not _is_part(above, item)
        ):
            continue
        both = [*_without_docstring(above), *item.body]
        made = changed(item, bases=above.bases, body=both)
        body: list[ast.stmt] = [made if each is item else each for each in tree.body if each is not above]
        return changed(tree, body=body)
    return tree


def _is_part(base: ast.ClassDef, below: ast.ClassDef) -> bool:
    """Whether a class does the same as a part of the one below it: they have no name in common, and nothing asks for
    the one above."""
    if base.keywords or below.keywords or base.decorator_list or below.decorator_list or not base.bases:
        return False
    if not all(isinstance(item, ast.FunctionDef) or _is_said(item) for item in (*base.body, *below.body)):
        return False
    mine, own = ({item.name for item in each.body if isinstance(item, ast.FunctionDef)} for each in (base, below))
    if not mine or mine & own or any(name.startswith("__") and name not in SPECIAL for name in mine | own):
        return False
    every: list[Any] = [*every_node(base), *every_node(below)]
    if any(_is_private(getattr(item, "attr", getattr(item, "id", ""))) for item in every):
        return False
    return not any(_asks_above(item, mine) for item in every_node(below))


def _asks_above(node: ast.AST, names: set[str]) -> bool:
    """Whether a node asks what is above for one of some names, or for all of it."""
    if isinstance(node, ast.Name) and node.id == "__class__":
        return True
    inner = node.value if isinstance(node, ast.Attribute) else None
    above = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"
    return above and isinstance(node, ast.Attribute) and node.attr in names


def _is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")


def _is_said(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _without_docstring(node: ast.ClassDef) -> list[ast.stmt]:
    return [item for item in node.body if not _is_said(item)]
