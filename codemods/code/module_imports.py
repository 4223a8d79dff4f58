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
MODULES = "sys.modules"


def plain_imports(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with imports in the place of the calls that do the same."""
    asked = any(name.partition(".")[0] == "importlib" for name in known.imported.values())
    functions = (item for item in tree.body if isinstance(item, ast.FunctionDef))
    getters = {item.name: found for item in functions if (found := _gotten(item, known))}
    tree = _without_loaders(tree, known)
    if not asked and not getters and BY_NAME not in known.names.reads and "sys" not in known.imported.values():
        return tree
    body = [_imported(item, known) or _called(item, getters) or item for item in tree.body]
    same = all(one is other for one, other in zip(body, tree.body, strict=True))
    return tree if same else changed(tree, body=body)


def _without_loaders(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with the imports that a function does for all of it, and nothing else, where it is called, once."""
    loaders = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef) and _loads(item, known)}
    calls = {index: name for index, item in enumerate(tree.body) if (name := _name_called(item)) in loaders}
    if not calls:
        return tree
    body: list[ast.stmt] = []
    for index, item in enumerate(tree.body):
        if index in calls:
            body += loaders[calls[index]].body[1:]
        elif getattr(item, "name", "") not in calls.values():
            body.append(item)
    return changed(tree, body=body)


def _loads(node: ast.FunctionDef, known: ModuleNames) -> bool:
    """Whether a function that is called once imports names of the module, and does nothing else."""
    if node.decorator_list or takes_something(node.args) or not isinstance(node.body[0], ast.Global):
        return False
    imports = [item for item in node.body[1:] if isinstance(item, ast.Import | ast.ImportFrom)]
    names = [item.asname or item.name.partition(".")[0] for each in imports for item in each.names]
    plain = imports == node.body[1:] and {*names} == {*node.body[0].names}
    return plain and known.names.reads[node.name] == 1 and known.is_fixed(node)


def _name_called(node: ast.stmt) -> str:
    """The name that a statement calls without arguments."""
    call = node.value if isinstance(node, ast.Expr) else None
    plain = isinstance(call, ast.Call) and not (call.args or call.keywords)
    return getattr(call.func, "id", "") if plain and isinstance(call, ast.Call) else ""


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
    module = _module(value.value if isinstance(value, ast.Attribute) else value, known)
    if not isinstance(module, str) or not all(map(is_attribute, module.split("."))):
        return None
    name = value.attr if isinstance(value, ast.Attribute) else module
    alias = ast.copy_location(ast.alias(name=name, asname=None if name == target.id else target.id), node)
    if isinstance(value, ast.Attribute):
        return made_from(node, ast.ImportFrom(module=module, names=[alias], level=0))
    return made_from(node, ast.Import(names=[alias]))


def _module(node: ast.expr, known: ModuleNames) -> object:
    """The name by which an expression asks for a module."""
    if isinstance(node, ast.Subscript):
        asked = node.slice if known.dotted(node.value) == MODULES else None
        return asked.value if isinstance(asked, ast.Constant) else None
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    first = getattr(node.func, "id", "") == BY_NAME and BY_NAME not in known.taken and "." not in str(name)
    return name if known.dotted(node.func) == IMPORTING or first else None
