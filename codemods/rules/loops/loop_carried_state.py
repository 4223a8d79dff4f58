"""The state that a loop carries from one chunk to the next: where it arises, what it is made of, where it is cut."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, own_nodes, results, self_assignments, self_name, targets_of
from codemods.rules.loops.optimizer_events import EventFlow, Path

Shape = Literal["tensor", "pair", "nested", ""]
RECURRENT = {
    "torch.nn.LSTM": "pair",
    "torch.nn.GRU": "tensor",
    "torch.nn.RNN": "tensor",
}
CUT = re.compile(
    r"detach|repackage|no_grad|inference_mode|\.data\b|apply_to_collection|tree_map|truncate(?!d)|stop_grad"
)
STATE = re.compile(r"hid|state|^hx|_hx$|mem|carry|cell|^[hc]s?$|^[hc][_0-9]|_[hc]$|^h0|^c0|^hc")


@dataclass(frozen=True)
class CarriedState:
    """A state that a loop carries on: the names that hold it, what each of them is, the position in the loop's
    body of the statement that makes the new one, and the statements of the body that cut it from its history.

    `certain` holds where the state is seen to come from a recurrent layer of torch with its history.
    """

    loop: Path
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    made: int
    cuts: tuple[int, ...]
    certain: bool


def find_carried(file: PythonFile, item: ClassNode, flow: EventFlow) -> Iterator[CarriedState]:
    """The states of the loops in whose body a backward pass stands, and whose loss comes from the call that takes
    the old state and gives the new one."""
    for path in dict.fromkeys(event.path[:-1] for event in flow.of("backward") if event.path[-1][0] == "body"):
        node = flow.statement(path) if path else None
        if isinstance(node, ast.For | ast.While) and not node.orelse:
            yield from _in_loop(file, item, flow, path, node)


def _in_loop(
    file: PythonFile, item: ClassNode, flow: EventFlow, path: Path, loop: ast.For | ast.While
) -> Iterator[CarriedState]:
    this = self_name(flow.function)
    before = _stored(flow.function, lambda node: node.lineno < loop.lineno)
    for index, statement in enumerate(loop.body):
        call = getattr(statement, "value", None)
        targets = targets_of(statement)
        if not isinstance(call, ast.Call) or len(targets) != 1 or not _on_self(call, this):
            continue
        given = _names_in([*call.args, *(keyword.value for keyword in call.keywords)])
        places = dict(_places(targets[0]))
        if isinstance(targets[0], ast.Name):
            places |= _taken_out(loop, targets[0].id)
        names = [name for name in given if name in places and name in before and STATE.search(name)]
        if not names or not _reaches_loss(flow, path, loop, index):
            continue
        made = max(_last_store(loop, name) if isinstance(targets[0], ast.Name) else index for name in names)
        cuts = tuple(_cuts(file, loop, names))
        stores = [node for name in names for node in _stores(loop, name)]
        if len([node for node in stores if node not in cuts]) > len(names):
            continue
        shapes = tuple(shape_of(item, call, places[name]) for name in names)
        yield CarriedState(path, tuple(names), shapes, made, cuts, all(shapes))


def _on_self(call: ast.Call, this: str) -> bool:
    """Whether a call is `self(...)`, `self.layer(...)` or `self.method(...)`; an environment's is not."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in ("step", "reset"):
        return False
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id == this


def _names_in(nodes: list[ast.expr]) -> list[str]:
    """The names that stand as arguments, or in tuples that do."""
    found: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Tuple | ast.List):
            found += _names_in(node.elts)
    return found


Place = tuple[int | str, ...]


def _places(target: ast.expr, above: Place = ()) -> Iterator[tuple[str, Place]]:
    """The names of a target, with the positions that lead to each."""
    if isinstance(target, ast.Name):
        yield target.id, above
    elif isinstance(target, ast.Tuple | ast.List):
        for index, element in enumerate(target.elts):
            yield from _places(element, (*above, index))


def _taken_out(loop: ast.For | ast.While, name: str) -> dict[str, Place]:
    """The names of the loop's body that are assigned `name[key]`."""
    return {
        target.id: (value.slice.value,)
        for statement in loop.body
        for target in targets_of(statement)
        if isinstance(target, ast.Name)
        and isinstance(value := getattr(statement, "value", None), ast.Subscript)
        and isinstance(value.value, ast.Name)
        and value.value.id == name
        and isinstance(value.slice, ast.Constant)
        and isinstance(value.slice.value, int | str)
    }


def _stored(function: ast.AST, where: object) -> set[str]:
    assert callable(where)
    arguments = function.args.args if isinstance(function, ast.FunctionDef) else []
    return {argument.arg for argument in arguments} | {
        node.id
        for node in walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and where(node)
    }


def _stores(loop: ast.For | ast.While, name: str) -> list[int]:
    """The positions of the body's statements that store to a name, at any depth."""
    return [
        index
        for index, statement in enumerate(loop.body)
        if any(
            isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
            for node in walk(statement)
        )
    ]


def _last_store(loop: ast.For | ast.While, name: str) -> int:
    return _stores(loop, name)[-1]


def _reaches_loss(flow: EventFlow, path: Path, loop: ast.For | ast.While, made: int) -> bool:
    """Whether a backward pass of the body is on something that was computed from what the call returned."""
    tainted = {name for target in targets_of(loop.body[made]) for name, _ in _places(target)}
    for index, statement in enumerate(loop.body[made + 1 :], made + 1):
        event = next((event for event in flow.events if event.path == (*path, ("body", index))), None)
        used = {node.id for node in walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if event and event.kind == "backward":
            if used & tainted:
                return True
        elif used & tainted:
            tainted |= {name for target in targets_of(statement) for name, _ in _places(target)}
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                tainted.add(statement.target.id)
    return False


def _cuts(file: PythonFile, loop: ast.For | ast.While, names: list[str]) -> Iterator[int]:
    """The statements of the body that may cut the state: detach and its kin beside one of its names, or by a call
    that cuts states which are kept elsewhere."""
    for index, statement in enumerate(loop.body):
        named = any(isinstance(node, ast.Name) and node.id in names for node in walk(statement))
        call = statement.value if isinstance(statement, ast.Expr) else None
        elsewhere = isinstance(call, ast.Call) and CUT.search(file.source_of(call.func)) is not None
        if CUT.search(file.source_of(statement)) and (named or elsewhere) and not _is_idle(statement):
            yield index


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement makes tensors without a history and keeps none of them."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("tuple", "list") and len(value.args) == 1:
        value = value.args[0]
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        parts = [value.elt]
    return all(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "detach"
        and isinstance(part.func.value, ast.Name | ast.Subscript)
        for part in parts
    )


def built(item: ClassNode, attribute: str) -> str | None:
    """The dotted name of the class whose instance the constructor keeps as `self.attribute`, by its one assignment."""
    found = [node.value for method in item.methods.values() for node in self_assignments(method, attribute)]
    if len(found) != 1 or not isinstance(found[0], ast.Call):
        return None
    init = item.methods.get("__init__")
    return item.scope.resolve(found[0].func) if init else None


def shape_of(item: ClassNode, call: ast.Call, place: Place, depth: int = 0) -> Shape:
    """What a call on self gives back at a position, as far as torch's recurrent layers tell."""
    function = call.func
    if isinstance(function, ast.Name):
        return _of_method(item, item.methods.get("forward"), place, depth)
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return ""
    if function.attr in item.methods:
        return _of_method(item, item.methods[function.attr], place, depth)
    kind = RECURRENT.get(built(item, function.attr) or "")
    if kind is None or place[:1] != (1,):
        return ""
    if len(place) == 1:
        return "pair" if kind == "pair" else "tensor"
    return "tensor" if kind == "pair" and len(place) == 2 else ""


def _of_method(item: ClassNode, method: Function | None, place: Place, depth: int) -> Shape:
    if method is None or depth > 3 or method.decorator_list or not place:
        return ""
    given = results(method)
    if len(given) != 1 or any(CUT.search(ast.unparse(node)) for node in method.body):
        return ""
    node: ast.expr | None = _bound(method, given[0].id) if isinstance(given[0], ast.Name) else given[0]
    rest = place
    while rest and node is not None and isinstance(node, ast.Tuple | ast.List | ast.Dict):
        node, rest = _element(node, rest[0]), rest[1:]
    return _of_value(item, method, node, rest, depth)


def _of_value(item: ClassNode, method: Function, node: ast.expr | None, rest: Place, depth: int) -> Shape:
    if isinstance(node, ast.Tuple) and not rest:
        shapes = [_of_value(item, method, element, (), depth) for element in node.elts]
        if not all(shapes) or not shapes:
            return ""
        return "pair" if set(shapes) == {"tensor"} else "nested"
    if not isinstance(node, ast.Name):
        return ""
    made = [
        (statement, dict(_places(target))[node.id])
        for statement in own_nodes(method)
        for target in targets_of(statement)
        if node.id in dict(_places(target))
    ]
    if not made or made[-1][0] not in method.body:
        return ""
    statement, at = made[-1]
    value = getattr(statement, "value", None)
    return shape_of(item, value, (*at, *rest), depth + 1) if isinstance(value, ast.Call) else ""


def _element(node: ast.Tuple | ast.List | ast.Dict, key: int | str) -> ast.expr | None:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return next((value for name, value in pairs if isinstance(name, ast.Constant) and name.value == key), None)
    starred = any(isinstance(element, ast.Starred) for element in node.elts)
    return node.elts[key] if isinstance(key, int) and 0 <= key < len(node.elts) and not starred else None


def _bound(method: Function, name: str) -> ast.expr | None:
    values: list[ast.expr] = [
        node.value
        for node in own_nodes(method)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return values[0] if len(values) == 1 else None
