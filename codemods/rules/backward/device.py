"""The way to a parameter's AccumulateGrad node: `p.expand_as(p).grad_fn.next_functions[0][0]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import own_nodes


@dataclass(frozen=True)
class Device:
    """The statements by which one function hangs a hook on a parameter's node.

    `made` are those that lead to the node, `kept` those that keep it alive in a list, `calls` its
    `register_hook` calls, `stray` whether the node or the dummy is used in another way.
    """

    parameter: ast.expr
    made: tuple[ast.Assign, ...]
    calls: tuple[ast.Call, ...]
    kept: tuple[ast.Expr, ...]
    lists: tuple[ast.expr, ...]
    stray: bool


def find_devices(function: ast.AST) -> Iterator[Device]:
    """The devices of one function, functions inside it left out."""
    nodes = list(own_nodes(function))
    for assign in nodes:
        if not (
            isinstance(assign, ast.Assign) and len(assign.targets) == 1 and isinstance(assign.targets[0], ast.Name)
        ):
            continue
        dummy = _behind_node(assign.value)
        if dummy is None:
            continue
        made = [assign]
        if isinstance(dummy, ast.Name):
            origin = [item for item in nodes if isinstance(item, ast.Assign) and _binds(item, dummy.id)]
            if len(origin) != 1 or (parameter := _expanded(origin[0].value)) is None:
                continue
            made.insert(0, origin[0])
            uses = _uses(function, dummy.id)
            alone = len(uses) == 2
        else:
            parameter, alone = _expanded(dummy), True
            if parameter is None:
                continue
        yield _device(function, nodes, assign.targets[0].id, parameter, tuple(made), alone)


def _device(
    function: ast.AST, nodes: list[ast.AST], name: str, parameter: ast.expr, made: tuple[ast.Assign, ...], alone: bool
) -> Device:
    calls = [node for node in nodes if isinstance(node, ast.Call) and _is_registration(node, name)]
    kept = [node for node in nodes if isinstance(node, ast.Expr) and _list(node.value, name) is not None]
    lists = [found for node in kept if (found := _list(node.value, name)) is not None]
    counted = 1 + len(calls) + len(kept)
    stray = not alone or len(_uses(function, name)) != counted or any(len(call.args) != 1 for call in calls)
    return Device(parameter, made, tuple(calls), tuple(kept), tuple(lists), stray)


def _behind_node(value: ast.expr) -> ast.expr | None:
    """`X` of `X.grad_fn.next_functions[0][0]`."""
    for _ in range(2):
        if not (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == 0):
            return None
        value = value.value
    if isinstance(value, ast.Attribute) and value.attr == "next_functions":
        value = value.value
        if isinstance(value, ast.Attribute) and value.attr == "grad_fn":
            return value.value
    return None


def _expanded(value: ast.expr) -> ast.expr | None:
    """`p` of `p.expand_as(p)` or `p.view_as(p)`."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and len(value.args) == 1):
        return None
    same = ast.dump(value.func.value) == ast.dump(value.args[0])
    plain = isinstance(value.args[0], ast.Name | ast.Attribute)
    return value.args[0] if value.func.attr in ("expand_as", "view_as") and same and plain else None


def _binds(node: ast.Assign, name: str) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


def _uses(function: ast.AST, name: str) -> list[ast.Name]:
    return [node for node in every_node(function) if isinstance(node, ast.Name) and node.id == name]


def _is_registration(node: ast.Call, name: str) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "register_hook"
        and isinstance(function.value, ast.Name)
        and function.value.id == name
    )


def _list(value: ast.expr, name: str) -> ast.expr | None:
    """`X` of `X.append(name)`."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "append"
        and len(value.args) == 1
        and isinstance(value.args[0], ast.Name)
        and value.args[0].id == name
    ):
        return value.func.value
    return None


def empty_list(file: PythonFile, kept: ast.expr, appends: int) -> ast.Assign | ast.AnnAssign | None:
    """The only other use of a list that keeps nodes alive: the statement that makes it, empty."""
    if isinstance(kept, ast.Name):
        uses = [node for node in every_node(file.tree) if isinstance(node, ast.Name) and node.id == kept.id]
    elif isinstance(kept, ast.Attribute):
        uses = list(file.attributes(kept.attr))  # type: ignore[arg-type]
    else:
        return None
    made = [
        item.node
        for item in file.assignments
        if isinstance(item.node.value, ast.List)
        and not item.node.value.elts
        and (len(item.node.targets) == 1 if isinstance(item.node, ast.Assign) else True)
        and (item.node.targets[0] if isinstance(item.node, ast.Assign) else item.node.target) in uses
    ]
    return made[0] if len(made) == 1 and len(uses) == appends + 1 else None
