"""State that a module keeps on itself from one call of a recurrent layer to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.said_by_code import code_of
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_none, is_self_attribute, own_nodes, self_name, targets_of
from codemods.rules.loops.loop_carried_state import CUT, RECURRENT, Place, Shape, built, shape_of
from codemods.rules.loops.optimizer_events import calls_on_self

SETS_UP = frozenset(
    {
        "__init__",
        "setup",
        "on_fit_start",
        "on_train_start",
        "on_train_epoch_start",
        "on_train_epoch_end",
        "on_validation_start",
        "on_validation_end",
        "on_validation_epoch_start",
        "on_validation_epoch_end",
    }
)


@dataclass(frozen=True)
class CarriedCall:
    """A call that takes the state which attributes of the instance hold, and whose result they then hold."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    method: Function
    made: ast.stmt


def find_kept(file: PythonFile, item: ClassNode, reached: frozenset[str]) -> Iterator[CarriedCall]:
    """The states of torch's recurrent layers that a class keeps with their history, as far as it shows: nowhere cut,
    and set anew by nothing that runs for each batch but the training step."""
    for name, method in item.methods.items():
        if name not in reached or method.decorator_list or name in SETS_UP:
            continue
        for statement in own_nodes(method):
            found = _read(item, method, statement)
            if found and not any(_is_cut(file, item, attribute) for attribute in found.names):
                yield found


def _read(item: ClassNode, method: Function, statement: ast.AST) -> CarriedCall | None:
    call, targets = getattr(statement, "value", None), targets_of(statement)
    if not isinstance(statement, ast.Assign) or not isinstance(call, ast.Call) or len(targets) != 1:
        return None
    this = self_name(method)
    if not _is_recurrent(item, call, this):
        return None
    given = {
        node.attr
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        for node in walk(argument)
        if isinstance(node, ast.Attribute) and is_self_attribute(node, node.attr, this)
    }
    places = dict(_places(targets[0], this))
    places |= _stored_later(method, targets[0], this)
    names = tuple(name for name in places if name in given)
    shapes = tuple(shape_of(item, call, places[name]) for name in names)
    return CarriedCall(names, shapes, method, statement) if names and all(shapes) else None


def _is_recurrent(item: ClassNode, call: ast.Call, this: str) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and is_self_attribute(function, function.attr, this)
        and (built(item, function.attr) or "") in RECURRENT
    )


def _places(target: ast.expr, this: str, above: Place = ()) -> Iterator[tuple[str, Place]]:
    """The attributes of the instance in a target, with the positions that lead to each."""
    if isinstance(target, ast.Attribute) and is_self_attribute(target, target.attr, this):
        yield target.attr, above
    elif isinstance(target, ast.Tuple | ast.List):
        for index, element in enumerate(target.elts):
            yield from _places(element, this, (*above, index))


def _stored_later(method: Function, target: ast.expr, this: str) -> dict[str, Place]:
    """The attributes that are given a name of the target, which nothing else is."""
    elements = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    places: dict[str, Place] = {node.id: (index,) for index, node in enumerate(elements) if isinstance(node, ast.Name)}
    stores = [node.id for node in own_nodes(method) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {
        stored.attr: places[node.value.id]
        for node in own_nodes(method)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and stores.count(node.value.id) == 1
        for stored in node.targets
        if isinstance(stored, ast.Attribute)
        and is_self_attribute(stored, stored.attr, this)
        and node.value.id in places
    }


def _is_cut(file: PythonFile, item: ClassNode, attribute: str) -> bool:
    """Whether a statement of the class may cut what an attribute holds."""
    for method in item.methods.values():
        source = code_of(file, method)
        if f".{attribute}" in source and CUT.search(source):
            return True
        if any(CUT.search(name) for name in calls_on_self(method)):
            return True
    return False


def stores(item: ClassNode, attribute: str, kept: CarriedCall) -> list[tuple[Function, ast.AST]]:
    """The statements of a class that set an attribute, with their methods, but for that of the call, what hands its
    result on, and what sets it only while it is None."""
    handed = {node.id for node in walk(kept.made) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return [
        (method, node)
        for method in item.methods.values()
        for first in [_first(method, attribute)]
        for node in own_nodes(method)
        if node is not kept.made
        and id(node) not in first
        and not (method is kept.method and isinstance(node, ast.Assign) and _name_of(node.value) in handed)
        and any(
            isinstance(inner, ast.Attribute)
            and is_self_attribute(inner, attribute, self_name(method))
            and not isinstance(inner.ctx, ast.Load)
            for target in _targets(node)
            for inner in walk(target)
        )
    ]


def _first(method: Function, attribute: str) -> set[int]:
    """The nodes that run only while an attribute is None."""
    return {
        id(inner)
        for node in own_nodes(method)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.ops[0], ast.Is)
        and is_self_attribute(node.test.left, attribute, self_name(method))
        and is_none(node.test.comparators[0])
        for statement in node.body
        for inner in walk(statement)
    }


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _targets(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Assign | ast.Delete):
        return list(node.targets)
    if isinstance(node, ast.With):
        return [item.optional_vars for item in node.items if item.optional_vars]
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For) else []
