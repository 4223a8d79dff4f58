"""The name that a Trainer is kept in, and what is called of it where it was built."""

from __future__ import annotations

import ast
from collections.abc import Container

from codemods.code.calls import Space, space_of
from codemods.code.nodes import every_node
from codemods.code.reaching import reaching
from codemods.code.scopes import ROOT, Scope, canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_shared, own_nodes, targets_of
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.handed_objects import is_only_read
from codemods.lightning.instance_types import is_read_elsewhere


def kept_in(file: PythonFile, call: CallNode) -> str | None:
    """The plain name that a call's result is assigned to, where its function assigns to it nowhere else, or reads this
    result and no other wherever it may read it."""
    space = space_of(file, call)
    target = _target(file, call)
    if target is None or is_shared(space, target):
        return None
    return target if is_bound_once(space, target) or _uses(file, call, target) is not None else None


def kept_and_called(file: PythonFile, call: CallNode, method: str) -> tuple[str, list[CallNode]] | None:
    """The plain name that a call's result is kept in, and the calls `name.method(...)` in its function that are of this
    result; None where one may be of this or of another that the name is bound to."""
    if name := kept_in(file, call):
        return name, calls_of(file, call, name, method)
    space, name = space_of(file, call), _target(file, call)
    if name is None or is_shared(space, name):
        return None
    values = {id(node): found for node, found in readings_of(file, space, name)}
    every = calls_of(file, call, name, method)
    own = [each for each in every if call.node in values[id(_owner(each))]]
    known = all(values.values()) and all(values[id(_owner(each))] == [call.node] for each in own)
    return (name, own) if known else None


def _owner(call: CallNode) -> ast.AST:
    """What a method is called of."""
    return call.node.func.value if isinstance(call.node.func, ast.Attribute) else call.node.func


def _target(file: PythonFile, call: CallNode) -> str | None:
    """The plain name that alone a call's result is assigned to."""
    for item in file.assignments:
        if item.node.value is call.node and isinstance(item.node, ast.Assign):
            target = item.node.targets[0]
            return target.id if len(item.node.targets) == 1 and isinstance(target, ast.Name) else None
    return None


def is_bound_once(space: Space, name: str) -> bool:
    nodes = list(every_node(space))
    stores = (node for node in nodes if isinstance(node, ast.Name) and node.id == name)
    patterns = (getattr(node, "name", getattr(node, "rest", None)) for node in nodes if isinstance(node, ast.pattern))
    return sum(type(node.ctx) is not ast.Load for node in stores) == 1 and name not in patterns


def readings_of(file: PythonFile, space: Space, name: str) -> list[tuple[ast.Name, list[ast.expr | None]]]:
    """The readings of a name in a function or module, each with the values that may reach it."""
    asked = f"kept.reached.{id(space)}.{name}"
    if asked not in file.memo:
        loads = (node for node in every_node(space) if isinstance(node, ast.Name) and node.id == name)
        file.memo[asked] = [
            (node, [item.value for item in reaching(space, name, node, surely=True)])
            for node in loads
            if type(node.ctx) is ast.Load
        ]
    found: list[tuple[ast.Name, list[ast.expr | None]]] = file.memo[asked]
    return found


def _uses(file: PythonFile, call: CallNode, name: str) -> list[ast.Name] | None:
    """The readings of a name in which it is the result of a call, where its function binds it several times; None where
    it may be that or another one, or is read in a nested function."""
    found = []
    for node, values in readings_of(file, space_of(file, call), name):
        if not values or (call.node in values and len(values) > 1):
            return None
        found += [node] if values == [call.node] else []
    return found


def _readings(file: PythonFile, call: CallNode, name: str) -> list[ast.Name]:
    """The readings of a name in the function of a call: where that function keeps the call's result by it beside
    others, those of this result."""
    space = space_of(file, call)
    if _target(file, call) == name and not is_bound_once(space, name):
        own = _uses(file, call, name)
        if own is not None:
            return own
    nodes = (node for node in every_node(space) if isinstance(node, ast.Name) and node.id == name)
    return [node for node in nodes if type(node.ctx) is ast.Load]


def calls_of(file: PythonFile, call: CallNode, name: str, method: str) -> list[CallNode]:
    """The calls `name.method(...)` in the function of a call itself."""
    space = space_of(file, call)
    readings = {id(node) for node in _readings(file, call, name)}
    return [
        other
        for other in file.calls_near([f".{method}"])
        if isinstance(other.node.func, ast.Attribute)
        and other.node.func.attr == method
        and id(other.node.func.value) in readings
        and space_of(file, other) is space
    ]


def escapes(facts: Facts, file: PythonFile, call: CallNode, name: str, method: str) -> bool:
    """Whether a name, or that method of it, is used otherwise than by `calls_of` and by `name.something` where the name
    is, or by a function of the project that it is given to: in a function in it that calls the method, as a value, or
    by a file that imports it."""
    space = space_of(file, call)
    held = {id(node.value) for node in every_node(space) if isinstance(node, ast.Attribute)}
    loose = (node for node in _readings(file, call, name) if id(node) not in held)
    if not all(is_only_read(facts, file, node, method) for node in loose):
        return True
    return is_called_unseen(file, call, name, method) or (
        isinstance(space, ast.Module) and is_read_elsewhere(facts, file, name)
    )


def is_only_given_back(facts: Facts, file: PythonFile, call: CallNode, name: str, method: str) -> bool:
    """Whether a name leaves the function that binds it by a `return` of it alone or in a tuple, and in no other way."""
    space = space_of(file, call)
    given = [node.value for node in own_nodes(space) if isinstance(node, ast.Return)]
    back = {id(part) for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])}
    held = {id(node.value) for node in every_node(space) if isinstance(node, ast.Attribute)}
    loose = [node for node in _readings(file, call, name) if id(node) not in held]
    other = [node for node in loose if not is_only_read(facts, file, node, method)]
    unseen = is_called_unseen(file, call, name, method) or isinstance(space, ast.Module)
    return bool(other) and not unseen and all(id(node) in back for node in other)


def is_called_unseen(file: PythonFile, call: CallNode, name: str, method: str) -> bool:
    """Whether the function of a call, or a nested one, speaks of a method otherwise than by `calls_of`."""
    seen = {id(other.node.func) for other in calls_of(file, call, name, method)}
    readings = {id(node) for node in _readings(file, call, name)}
    return any(
        isinstance(node, ast.Attribute) and node.attr == method and id(node.value) in readings and id(node) not in seen
        for node in every_node(space_of(file, call))
    )


def is_trainer(file: PythonFile, facts: Facts, call: CallNode) -> bool | None:
    """Whether the object whose method is called is a Trainer: built in this file, or a parameter annotated as one.
    None where it is called so and comes from a function of the project that builds one, or from outside."""
    function = call.node.func
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    built = {item.node for item in file.calls_near(file.spellings("Trainer")) if builds_trainer(item)}
    if owner in built:
        return True
    text = ast.unparse(owner)
    values = assigned_to(file, text)
    parts = unpacked_to(file, text)
    if any(value in built or is_given(facts, file, call.scope, function.attr, value) for value in values):
        return True
    if any(is_given(facts, file, call.scope, function.attr, value, part) for value, part in parts):
        return True
    for outer in reversed(call.within):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in [*outer.args.args, *outer.args.kwonlyargs]:
                if argument.arg == text and argument.annotation is not None:
                    return call.scope.resolve(argument.annotation) == TRAINER
    if not text.rpartition(".")[2].strip("_").endswith("trainer"):
        return False
    if values:
        return None if any(_hands_out(file, facts, call, value) for value in values) else False
    return None if reads_lightning(file) or any(_hands_out(file, facts, call, value) for value, _ in parts) else False


def reads_lightning(file: PythonFile) -> bool:
    """Whether a file imports from Lightning."""
    return any(canonical(target).startswith(ROOT) for found in file.scope.bindings.values() for target in found)


def assigned_to(file: PythonFile, text: str) -> list[ast.expr]:
    """The values that a file assigns to a name or an attribute."""
    if "assigned.texts" not in file.memo:
        values: dict[str, list[ast.expr]] = {}
        for item in file.assignments:
            if (value := item.node.value) is not None:
                for name in {ast.unparse(target) for target in targets_of(item.node)}:
                    values.setdefault(name, []).append(value)
        file.memo["assigned.texts"] = values
    found: list[ast.expr] = file.memo["assigned.texts"].get(text, [])
    return found


def unpacked_to(file: PythonFile, text: str) -> list[tuple[ast.expr, int]]:
    """The values of which a file unpacks one part to a name or an attribute, each with the place of that part."""
    if "unpacked.texts" not in file.memo:
        parts: dict[str, list[tuple[ast.expr, int]]] = {}
        for item in file.assignments:
            if (value := item.node.value) is not None:
                for target in targets_of(item.node):
                    for place, element in enumerate(_elements(target)):
                        parts.setdefault(ast.unparse(element), []).append((value, place))
        file.memo["unpacked.texts"] = parts
    found: list[tuple[ast.expr, int]] = file.memo["unpacked.texts"].get(text, [])
    return found


def is_given(
    facts: Facts, file: PythonFile, scope: Scope, method: str, value: ast.expr, part: int | None = None
) -> bool:
    """Whether a call builds a Trainer of the project's own that leaves a method as it is, or is of a function of the
    project that returns nothing but Lightning's; with `part`, of one that returns tuples with it at that place."""
    dotted = scope.resolve(value.func) if isinstance(value, ast.Call) else None
    if dotted is None:
        return False
    if part is None and (fact := facts.find_class(dotted, file.path)):
        return facts.kind(fact) == TRAINER and not any(method in item.methods for item in facts.ancestry(fact))
    other, function = _function(facts, file, dotted)
    if other is None or function is None:
        return False
    every = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
    calls = {item.node: item for item in other.calls_near(other.spellings("Trainer"))}
    built = {node: item for node, item in calls.items() if builds_trainer(item) and function in item.within}
    given = [_part(node, part) for node in every]
    return bool(given) and all(node in built or _holds_one_of(other, function, node, built) for node in given)


def _holds_one_of(
    file: PythonFile, function: ast.FunctionDef, node: ast.expr | None, built: Container[ast.AST]
) -> bool:
    """Whether all values of a name of a function, where it is read, are results of some calls."""
    if not isinstance(node, ast.Name) or is_shared(function, node.id):
        return False
    values = next((found for read, found in readings_of(file, function, node.id) if read is node), [])
    return bool(values) and all(value in built for value in values)


def _part(value: ast.expr | None, part: int | None) -> ast.expr | None:
    """One of the values of a tuple that is written out."""
    if part is None:
        return value
    elements = _elements(value)
    return elements[part] if part < len(elements) else None


def _elements(node: ast.expr | None) -> list[ast.expr]:
    """The elements of a tuple or list of which the place of each is known."""
    elements = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return [] if any(isinstance(element, ast.Starred) for element in elements) else elements


def _function(facts: Facts, file: PythonFile, dotted: str) -> tuple[PythonFile | None, ast.FunctionDef | None]:
    """The project's function of a dotted name that its file defines once, and the file."""
    module, _, name = dotted.rpartition(".")
    found = (file, None) if module == file.module else facts.find_definition(dotted, file.path)
    other, node = found or (None, None)
    called = node.name if node is not None else name
    every = (
        [node for node in other.tree.body if isinstance(node, ast.FunctionDef) and node.name == called] if other else []
    )
    return (other, every[0]) if len(every) == 1 else (other, None)


def _hands_out(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr | None) -> bool:
    """Whether a call is one of the project's own, of a class of Trainers or of a function, and the project builds
    some; or Hydra's, of what a configuration names."""
    dotted = call.scope.resolve(value.func) if isinstance(value, ast.Call) else None
    if dotted in ("hydra.utils.instantiate", "hydra.utils.call"):
        return True
    top = dotted.partition(".")[0] if dotted else ""
    if dotted is None or not any(path.startswith(f"{top}/") or path == f"{top}.py" for path in facts.kinds):
        return False
    fact = facts.find_class(dotted, file.path)
    function = not dotted.rpartition(".")[2][:1].isupper()
    return facts.kind(fact) == TRAINER if fact else function and bool(facts.trainers)
