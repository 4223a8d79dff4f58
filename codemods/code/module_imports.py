"""Imports in their plain form: of what a call imports by its name."""

from __future__ import annotations

import ast

from codemods.code.assigning import is_attribute
from codemods.code.imports import ModuleNames
from codemods.code.tree_copies import changed, made_from

IMPORTING = "importlib.import_module"
BY_NAME = "__import__"


def plain_imports(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with imports in the place of the calls that do the same."""
    asked = any(name.partition(".")[0] == "importlib" for name in known.imported.values())
    if not asked and BY_NAME not in known.names.loads:
        return tree
    body = [_imported(item, known) or item for item in tree.body]
    same = all(one is other for one, other in zip(body, tree.body, strict=True))
    return tree if same else changed(tree, body=body)


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
