"""Where a file speaks of Lightning's names: imports, attribute chains, names and strings, with their scopes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from codemods.code.nodes import CHILD_FIELDS
from codemods.code.scopes import Scope, absolute, bind
from codemods.code.source import PythonFile
from codemods.rules.names.table import NAMESPACES

Arms = tuple[tuple[ast.stmt, str], ...]


@dataclass
class Sites:
    """What one walk finds: imports and whole attribute chains, with the `try` and `if` statements around each and
    the part of it that each stands in, outermost first; names, strings and decorators."""

    imports: list[tuple[ast.ImportFrom | ast.Import, Scope, Arms]] = field(default_factory=list)
    chains: list[tuple[ast.Attribute, Scope, Arms]] = field(default_factory=list)
    names: list[tuple[ast.Name, Scope]] = field(default_factory=list)
    strings: list[tuple[ast.Constant, str]] = field(default_factory=list)
    decorators: set[ast.expr] = field(default_factory=set)


def read_sites(file: PythonFile) -> Sites:
    """The sites of a file."""
    if "sites" not in file.memo:
        file.memo["sites"] = found = Sites()
        _walk(file.tree.body, file.scope, (), found)
    known: Sites = file.memo["sites"]
    return known


def _walk(nodes: list[Any], scope: Scope, arms: Arms, found: Sites) -> None:
    stack: list[Any] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            found.names.append((node, scope))
        elif kind is ast.Constant:
            if type(node.value) is str:
                found.strings.append((node, node.value))
        elif kind is ast.Attribute and root_of(node):
            found.chains.append((node, scope, arms))
            stack.append(root_of(node))
        elif kind is ast.ImportFrom or kind is ast.Import:
            found.imports.append((node, scope, arms))
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef):
            _walk(node.body, bind(node, scope=scope), arms, found)
            found.decorators.update(node.decorator_list)
            stack += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        elif kind is ast.ClassDef:
            _walk(node.body, bind(node, scope=scope), arms, found)
            stack += [*node.bases, *node.keywords, *node.decorator_list]
        elif kind is ast.Try or kind is ast.If:
            for part in ("body", "handlers", "orelse", "finalbody"):
                inside = getattr(node, part, [])
                bodies = [handler.body for handler in inside] if part == "handlers" else [inside]
                for body in bodies:
                    _walk(body, scope, (*arms, (node, part)), found)
            stack += [node.test] if kind is ast.If else [item.type for item in node.handlers if item.type]
        else:
            for name in CHILD_FIELDS.get(kind, ()):
                value = getattr(node, name)
                stack.extend(reversed(value) if type(value) is list else [value])


def root_of(node: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def dotted_of(node: ast.expr, scope: Scope) -> str | None:
    """The dotted name of a name or chain as its imports spell it, None where it is no import's."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    base = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    return ".".join([base, *reversed(parts)]) if base else None


def source_module(node: ast.ImportFrom, path: str) -> str:
    """The dotted module that a statement imports from; relative ones counted from the file's folder."""
    return absolute(node, path)


def is_lightning(dotted: str) -> bool:
    """Whether a dotted name is Lightning's."""
    return any(dotted == name or dotted.startswith(name + ".") for name in NAMESPACES)


def serves_both(node: ast.ImportFrom | ast.Import, arms: Arms) -> bool:
    """Whether another arm of a `try` or version check around an import binds the same names."""
    bound = {alias.asname or alias.name for alias in node.names}
    for outer, part in arms:
        others = [name for name in ("body", "handlers", "orelse") if name != part]
        elsewhere = {
            alias.asname or alias.name
            for name in others
            for inner in getattr(outer, name, [])
            for item in ast.walk(inner)
            if isinstance(item, ast.Import | ast.ImportFrom)
            for alias in item.names
        }
        if bound & elsewhere:
            return True
    return False


def under_version_check(arms: Arms) -> bool:
    """Whether an `if` around an import asks about a version."""
    return any(isinstance(outer, ast.If) and "version" in ast.unparse(outer.test).lower() for outer, _ in arms)
