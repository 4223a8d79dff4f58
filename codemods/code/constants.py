"""Constants of classes, objects, dictionaries and functions, and what functions give back as it is, where they are
read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemods.code.imports import Known
from codemods.code.nodes import every_node
from codemods.code.trees import at, changed, replaced

SPACES = ("types.SimpleNamespace", "argparse.Namespace")
DATA = ("dataclasses.dataclass", "attr.s", "attrs.define")
Held = dict[tuple[str, str], ast.Constant]


def plain_constants(tree: ast.Module, known: Known) -> ast.Module:
    """The module with constants where they are read."""
    named = _class_constants(tree, known)
    named.update(_held(tree, known, named))
    own = _own_constants(known)
    functions = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef) and _gives(item, known)}
    if not (named or own or functions):
        return tree
    nodes = known.nodes[ast.Attribute] if named or own else ()
    stored = {item.attr for item in nodes if not isinstance(item.ctx, ast.Load)}

    def read(node: ast.Attribute | ast.Subscript) -> ast.AST | None:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
        if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load) or type(name) is not str:
            return None
        value = named.get((node.value.id, name))
        return at(value, node) if value is not None and name not in stored else None

    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Attribute | ast.Subscript):
            return read(node)
        if isinstance(node, ast.keyword) and own:
            value = _of_self(node.value, own)
            return changed(node, value=value) if value is not None else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            return _given_back(functions[node.func.id], node)
        return None

    return replaced(tree, swap)


def _gives(node: ast.FunctionDef, known: Known) -> bool:
    """Whether a function gives back a constant or its one argument, and does nothing else."""
    last = node.body[-1]
    documented = len(node.body) == 2 and isinstance(node.body[0], ast.Expr)
    documented = documented and isinstance(getattr(node.body[0], "value", None), ast.Constant)
    if not isinstance(last, ast.Return) or node.decorator_list or not (len(node.body) == 1 or documented):
        return False
    given = [item.arg for item in every_node(node.args) if isinstance(item, ast.arg)]
    if known.names.stores[node.name] != 1:
        return False
    if isinstance(last.value, ast.Constant):
        return not given
    one = [item.arg for item in node.args.args] == given and len(given) == 1
    return one and isinstance(last.value, ast.Name) and last.value.id == given[0]


def _given_back(function: ast.FunctionDef, call: ast.Call) -> ast.AST | None:
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if isinstance(value, ast.Constant):
        return None if call.args or call.keywords else at(value, call)
    plain = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    return call.args[0] if plain else None


def _class_constants(tree: ast.Module, known: Known) -> Held:
    """The constants that plain classes of the module hold, by the names of class and constant."""
    found: Held = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.bases or node.keywords or not _is_plain(node, known):
            continue
        if known.names.stores[node.name] != 1:
            continue
        found |= {(node.name, name): value for name, value in _constants_in(node)}
    return found


def _is_plain(node: ast.ClassDef, known: Known) -> bool:
    """Whether nothing but `dataclass` decorates a class."""
    return all(known.dotted(getattr(item, "func", item)) in DATA for item in node.decorator_list)


def _constants_in(node: ast.ClassDef) -> Iterator[tuple[str, ast.Constant]]:
    bound = [name for item in node.body for name in _bound(item)]
    for item in node.body:
        value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Constant) and len(names := list(_bound(item))) == 1 == bound.count(names[0]):
            yield names[0], value


def _held(tree: ast.Module, known: Known, classes: Held) -> Held:
    """The constants that objects and dictionaries of the module hold which are bound once and asked for nothing else,
    by their names and those of the constants."""
    kept: dict[str, Mapping[str, ast.expr]] = {}
    asked: dict[str, type] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not isinstance(target, ast.Name) or known.names.stores[target.id] != 1 or value is None:
            continue
        if items := _items(value, known, classes):
            kept[target.id] = items
            asked[target.id] = ast.Subscript if isinstance(value, ast.Dict) else ast.Attribute
    if not kept:
        return {}
    reads = {
        id(item.value)
        for kind in (ast.Attribute, ast.Subscript)
        for item in known.nodes[kind]
        if isinstance(item.value, ast.Name) and asked.get(item.value.id) is kind and isinstance(item.ctx, ast.Load)
        if kind is ast.Attribute or isinstance(item.slice, ast.Constant)
    }
    return {
        (name, key): value
        for name, items in kept.items()
        if all(id(load) in reads for load, _ in known.names.loads.get(name, ()))
        for key, value in items.items()
        if isinstance(value, ast.Constant)
    }


def _items(value: ast.expr, known: Known, classes: Held) -> Mapping[str, ast.expr]:
    """What a namespace, an object of a class of constants or a dictionary holds by name, if it holds nothing else."""
    if isinstance(value, ast.Dict):
        keys = [item.value if isinstance(item, ast.Constant) else None for item in value.keys]
        plain = all(isinstance(item, str) for item in keys) and len(set(keys)) == len(keys)
        return dict(zip(map(str, keys), value.values, strict=True)) if plain else {}
    if not isinstance(value, ast.Call) or value.args:
        return {}
    if known.dotted(value.func) in SPACES:
        return {item.arg: item.value for item in value.keywords if item.arg}
    name = value.func.id if isinstance(value.func, ast.Name) and not value.keywords else None
    return {key: constant for (owner, key), constant in classes.items() if owner == name}


def _own_constants(known: Known) -> Mapping[str, ast.Constant]:
    """The constants of classes whose names say that nobody else sets them, and which nothing here does, by name: those
    in capitals, and properties and attributes with one underscore in front."""
    found: dict[str, ast.Constant] = {}
    for node in known.nodes[ast.ClassDef]:
        for name, value in (*_constants_in(node), *_properties(node)):
            if name.isupper() or (name.startswith("_") and not name.startswith("__")):
                found[name] = value
    if not found:
        return found
    bound = [name for node in known.nodes[ast.ClassDef] for item in node.body for name in _bound(item)]
    set_here = {item.attr for item in known.nodes[ast.Attribute] if not isinstance(item.ctx, ast.Load)}
    set_here |= {item.value for item in known.nodes[ast.Constant] if isinstance(item.value, str)}
    return {name: value for name, value in found.items() if bound.count(name) == 1 and name not in set_here}


def _properties(node: ast.ClassDef) -> Iterator[tuple[str, ast.Constant]]:
    for item in node.body:
        last = item.body[0] if isinstance(item, ast.FunctionDef) and len(item.body) == 1 else None
        value = last.value if isinstance(last, ast.Return) else None
        if not isinstance(item, ast.FunctionDef) or not isinstance(value, ast.Constant):
            continue
        if [getattr(each, "id", "") for each in item.decorator_list] == ["property"]:
            yield item.name, value


def _of_self(node: ast.expr, own: Mapping[str, ast.Constant]) -> ast.expr | None:
    asked = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    value = own.get(node.attr) if isinstance(node, ast.Attribute) and asked else None
    return None if value is None else at(value, node)


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for item in every_node(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            yield item.id
        elif isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield item.name
