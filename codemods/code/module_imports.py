"""Imports in their plain form: of what a call imports by its name."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.assigning import is_attribute
from codemods.code.expressions import takes_something
from codemods.code.imports import ModuleNames
from codemods.code.tree_copies import changed, made_from

IMPORTING = "importlib.import_module"
BY_NAME = "__import__"


def plain_imports(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with imports in the place of the calls that do the same."""
    asked = any(name.partition(".")[0] == "importlib" for name in known.imported.values())
    functions = (item for item in tree.body if isinstance(item, ast.FunctionDef))
    getters = {item.name: found for item in functions if (found := _gotten(item, known))}
    if not asked and not getters and BY_NAME not in known.names.reads:
        return tree
    body = [_imported(item, known) or _called(item, getters) or item for item in tree.body]
    same = all(one is other for one, other in zip(body, tree.body, strict=True))
    return tree if same else changed(tree, body=body)


def _gotten(node: ast.FunctionDef, known: ModuleNames) -> ast.Import | ast.ImportFrom | None:
    """The import that a function of the module does, to give back what it brings, and nothing else."""
    if node.decorator_list or takes_something(node.args):
        return None
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    if len(body) != 2 or not isinstance(body[0], ast.Import | ast.ImportFrom) or not isinstance(body[1], ast.Return):
        return None
    only = body[0].names[0]
    name = only.asname or only.name
    plain = len(body[0].names) == 1 and "." not in name and known.is_fixed(node)
    return body[0] if plain and getattr(body[1].value, "id", "") == name else None


def _called(node: ast.stmt, getters: Mapping[str, ast.Import | ast.ImportFrom]) -> ast.stmt | None:
    """The import in the place of a statement that binds a name to what such a function gives."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    call = node.value if isinstance(node, ast.Assign) else None
    found = getters.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
    if (
        found is None
        or not isinstance(target, ast.Name)
        or not isinstance(call, ast.Call)
        or call.args
        or call.keywords
    ):
        return None
    only = found.names[0]
    return changed(found, names=[changed(only, asname=None if only.name == target.id else target.id)])


def _imported(node: ast.stmt, known: ModuleNames) -> ast.stmt | None:
    """The import that an assignment to a name does."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
        return None
    value = node.value
    call = value.value if isinstance(value, ast.Attribute) else value
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    module = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    first = getattr(call.func, "id", "") == BY_NAME and BY_NAME not in known.taken and "." not in str(module)
    if known.dotted(call.func) != IMPORTING and not first:
        return None
    if not isinstance(module, str) or not all(map(is_attribute, module.split("."))):
        return None
    name = value.attr if isinstance(value, ast.Attribute) else module
    alias = ast.copy_location(ast.alias(name=name, asname=None if name == target.id else target.id), node)
    if isinstance(value, ast.Attribute):
        return made_from(node, ast.ImportFrom(module=module, names=[alias], level=0))
    return made_from(node, ast.Import(names=[alias]))
