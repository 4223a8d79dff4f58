"""Containers of modules that a constructor keeps: lists, tuples and dicts, and what is put into them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, results, self_name, uses
from codemods.lightning.layers import TRAINED

NESTED = (ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.DictComp)
Container = ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp


@dataclass(frozen=True)
class ModuleContainer:
    """An attribute that a constructor gives a container of modules: the method, the container as it is written,
    and the class's name of each module that is put into it."""

    item: ClassNode
    method: Function
    name: str
    node: ast.expr
    dotted: tuple[str, ...]
    nested: bool

    @property
    def is_dict(self) -> bool:
        return isinstance(self.node, ast.Dict | ast.DictComp)


def candidates(file: PythonFile) -> list[ClassNode]:
    """The classes whose constructor keeps a container, or a local that may be one."""
    owners = {
        assigned.within[-2]
        for assigned in file.assignments
        if len(assigned.within) > 1
        and getattr(assigned.within[-1], "name", "") == "__init__"
        and (
            _is_container(assigned.node.value)
            or (isinstance(assigned.node.value, ast.Name) and file.assignments_to(assigned.node.value.id))
        )
    }
    return [item for item in file.classes if item.node in owners]


def containers(item: ClassNode) -> Iterator[ModuleContainer]:
    """The containers of modules that the constructor of a class keeps."""
    method = item.methods.get("__init__")
    if method is None:
        return
    me = self_name(method)
    for node in own_nodes(method):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Attribute) or not is_self_attribute(target, target.attr, me):
            continue
        local = _local(method, value) if isinstance(value, ast.Name) else None
        if value is None or (local is None and not _is_container(value)):
            continue
        elements = local if local is not None else [*written(value), *_added(method, target.attr)]
        flat = [inner for element in elements for inner in _flat(element)]
        dotted = [item.scope.resolve(element.func) if isinstance(element, ast.Call) else None for element in flat]
        built = [name for name in map(_class_of, dotted, flat, [item] * len(flat)) if name]
        if flat and len(built) == len(flat):
            yield ModuleContainer(
                item, method, target.attr, value, tuple(built), any(isinstance(e, NESTED) for e in elements)
            )


def _is_container(node: ast.expr | None) -> bool:
    """Whether an expression is a container as it is written, or lists that are added or repeated."""
    if not isinstance(node, ast.BinOp):
        return isinstance(node, Container)
    if isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List)
    lists = (part for part in (node.left, node.right) if not isinstance(part, ast.List | ast.ListComp))
    return isinstance(node.op, ast.Add) and all(isinstance(part, ast.BinOp) and _is_container(part) for part in lists)


def _local(method: Function, name: ast.Name) -> list[ast.expr] | None:
    """What is put into a local list that does nothing but grow before it is kept; None where it does more."""
    values = [
        node.value
        for node in own_nodes(method)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in node.targets)
    ]
    if len(values) != 1 or not isinstance(values[0], ast.List | ast.ListComp):
        return None
    here = [
        node for node in own_nodes(method) if isinstance(node, ast.Call | ast.AugAssign) and node.lineno < name.lineno
    ]
    grown = [
        made for node in here if (made := _put_in(node, lambda owner: getattr(owner, "id", "") == name.id)) is not None
    ]
    others = [node for node in uses(method, name.id) if not isinstance(node.ctx, ast.Store) or _is_added_to(node, here)]
    if len(others) != len(grown) + 1:
        return None
    return [*written(values[0]), *(_given(method, element) for made in grown for element in made)]


def _is_added_to(name: ast.Name, here: list[ast.Call | ast.AugAssign]) -> bool:
    return any(isinstance(node, ast.AugAssign) and node.target is name for node in here)


def _put_in(node: ast.AST, is_it: Callable[[ast.expr], bool]) -> list[ast.expr] | None:
    """What a statement or call puts into the list that `is_it`; None where it puts nothing in."""
    if isinstance(node, ast.AugAssign):
        added = isinstance(node.op, ast.Add) and isinstance(node.value, Container)
        return written(node.value) if added and is_it(node.target) else None
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or not isinstance(node, ast.Call) or not node.args:
        return None
    if not is_it(function.value) or node.keywords:
        return None
    if function.attr == "extend":
        return written(node.args[0]) if isinstance(node.args[0], Container) else None
    return [node.args[-1]] if function.attr in ("append", "insert") else None


def _class_of(dotted: str | None, node: ast.expr, item: ClassNode) -> str | None:
    """The class of a module that an expression builds; of nn.Sequential, that of the first part with parameters."""
    if dotted == "torch.nn.Sequential" and isinstance(node, ast.Call):
        inside = [item.scope.resolve(part.func) for part in node.args if isinstance(part, ast.Call)]
        return next((name for name in inside if name in TRAINED), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        own = item.methods.get(node.func.attr) if dotted is None else None
        given = results(own) if own and node.func.value.id == self_name(item.methods["__init__"]) else []
        if len(given) == 1 and isinstance(given[0], ast.Call) and isinstance(given[0].func, ast.Name | ast.Attribute):
            inner = item.scope.resolve(given[0].func)
            return _class_of(inner, given[0], item) if inner else None
    return dotted


def written(node: ast.expr) -> list[ast.expr]:
    """The elements that are written down in a container."""
    if isinstance(node, ast.BinOp):
        return [*written(node.left), *(written(node.right) if isinstance(node.op, ast.Add) else ())]
    if isinstance(node, ast.List | ast.Tuple):
        return list(node.elts)
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, ast.ListComp):
        return [node.elt]
    return [node.value] if isinstance(node, ast.DictComp) else []


def _flat(node: ast.expr) -> list[ast.expr]:
    return [inner for element in written(node) for inner in _flat(element)] if isinstance(node, NESTED) else [node]


def _added(method: Function, name: str) -> list[ast.expr]:
    """What a constructor adds to a list, or puts into a dict; a name stands for what it is given, once."""
    me = self_name(method)
    found: list[ast.expr] = []
    for node in own_nodes(method):
        if (made := _put_in(node, lambda owner: is_self_attribute(owner, name, me))) is not None:
            found += made
        elif isinstance(node, ast.Assign) and put_under(node, name, me) is not None:
            found.append(node.value)
    return [_given(method, element) for element in found]


def put_under(node: ast.Assign, name: str, me: str) -> ast.expr | None:
    """The key in `self.name[key] = value`."""
    target = node.targets[0]
    stored = isinstance(target, ast.Subscript) and is_self_attribute(target.value, name, me)
    return target.slice if stored and isinstance(target, ast.Subscript) and len(node.targets) == 1 else None


def _given(method: Function, node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Name):
        return node
    values = [
        item.value
        for item in own_nodes(method)
        if isinstance(item, ast.Assign)
        and len(item.targets) == 1
        and isinstance(item.targets[0], ast.Name)
        and item.targets[0].id == node.id
    ]
    return values[0] if len(values) == 1 else node
