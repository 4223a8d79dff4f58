"""Where a metric is kept, and the calls that it is given predictions by."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from codemods.code.calls import class_around
from codemods.code.nodes import parents_of, walk
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, parameters, self_name
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import ReadingPlace, definition_of
from codemods.rules.metrics.prediction_steps import Method

HOLDERS = ("MetricCollection", "ModuleDict", "ModuleList")
FEEDING = ("update", "forward")
KNOWN = ("compute", "reset", "clone", "to", "cpu", "cuda", "plot", "keys", *FEEDING)
MOVING = ("to", "cpu", "cuda")
"""Methods that give the metric itself, elsewhere."""
ITERATING = ("values", "items")
UNFED = "nothing in its class gives it predictions"


@dataclass(frozen=True)
class Feed:
    """A call that gives a metric predictions and targets, in a method."""

    call: ast.Call
    method: Method


@dataclass(frozen=True)
class Feeds:
    """The calls that feed a metric, or why they are not all known."""

    found: tuple[Feed, ...] = ()
    reason: str = ""


def method_of(file: PythonFile, call: CallNode) -> Method | None:
    """The function around a call, as a method of the class around it."""
    function = next((node for node in reversed(call.within) if isinstance(node, Function)), None)
    if function is None:
        return None
    return Method(file, function, _class_of(file, call.within), call.scope)


def _class_of(file: PythonFile, within: tuple[ast.AST, ...]) -> ClassNode | None:
    return class_around(file, within)


def feeds(file: PythonFile, facts: Facts, call: CallNode) -> Feeds:
    """The calls by which the class that makes a metric, or is given it where it is made, gives it predictions."""
    method = method_of(file, call)
    local = _local_uses(method, call.node) if method else None
    if method and local:
        return Feeds(tuple(Feed(use, method) for use in local))
    kept = given_to(file, facts, call)
    if kept:
        method, name = kept
        names = {name}
    elif not method or not method.item:
        return Feeds(reason="it is not made in a class, so fixer cannot tell what it is given")
    else:
        names = attributes_of(method, call.node)
    if not names or not method.item:
        return Feeds(reason="it is passed on where it is made, so fixer cannot tell what it is given")
    found = []
    for function in method.item.methods.values():
        own = replace(method, node=function)
        parents = parents_of(function)
        for node in walk(function):
            if _is_kept(node, names, function) and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                uses = _uses(node, parents)
                if uses is None:
                    return Feeds(reason=f"`{ast.unparse(node)}` is passed on in line {node.lineno}")
                found += [Feed(use, own) for use in uses]
    return Feeds(tuple(found), "" if found else UNFED)


def _local_uses(method: Method, call: ast.Call) -> list[ast.Call] | None:
    """The calls that feed a metric which a function makes for itself alone: where it is made, or by a name that it
    binds once; None where it is kept."""
    parents = parents_of(method.node)
    made: ast.AST = call
    while isinstance(moved := parents.get(made), ast.Attribute) and moved.attr in MOVING and moved in parents:
        made = parents[moved]
    above = parents.get(made)
    if not any(node is call for node in own_nodes(method.node)):
        return None
    if isinstance(above, ast.Call) and above.func is made:
        return [above]
    target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return None
    found: list[ast.Call] = []
    for node in walk(method.node):
        if isinstance(node, ast.Name) and node.id == target.id and node is not target:
            is_kept = isinstance(parents.get(node), ast.Dict | ast.keyword) or not isinstance(node.ctx, ast.Load)
            uses = None if is_kept else _uses(node, parents)
            if uses is None:
                return None
            found += uses
    return found


def given_to(file: PythonFile, facts: Facts, call: CallNode) -> tuple[Method, str] | None:
    """The constructor of a class of the project to which a metric is given where it is made, and the attribute that
    keeps it, where nothing else is done with it and the class has no other in the project above it."""
    for around in file.calls_near([ast.unparse(call.node.func).rpartition(".")[2]]):
        given: list[tuple[int | str | None, ast.expr]] = [*enumerate(around.node.args)]
        given += [(item.arg, item.value) for item in around.node.keywords]
        place = next((place for place, value in given if value is call.node), None)
        found = definition_of(ReadingPlace.of(file, around), facts, around.node.func) if place is not None else None
        if place is not None and found and isinstance(found[1], ast.ClassDef):
            return _kept_by(found[0], facts, found[1], place)
    return None


def _kept_by(home: PythonFile, facts: Facts, node: ast.ClassDef, place: int | str) -> tuple[Method, str] | None:
    item = next((one for one in home.classes if one.node is node), None)
    init = item.methods.get("__init__") if item else None
    fact = facts.find_class(f"{home.module}.{node.name}", home.path)
    if item is None or init is None or fact is None or len(facts.ancestry(fact)) > 1 or init.args.vararg:
        return None
    names = parameters(init)
    name = names[place] if isinstance(place, int) and place < len(names) else place
    parents = {child: each for each in walk(init) for child in ast.iter_child_nodes(each)}
    kept: set[str] = set()
    for use in (each for each in walk(init) if isinstance(each, ast.Name) and each.id == name):
        above = parents[use]
        targets = above.targets if isinstance(above, ast.Assign) else []
        if (
            len(targets) == 1
            and isinstance(targets[0], ast.Attribute)
            and _is_kept(targets[0], {targets[0].attr}, init)
        ):
            kept.add(targets[0].attr)
        elif not isinstance(above, ast.Attribute) or isinstance(parents[above], ast.Call):
            return None
    return (Method(home, init, item, item.scope), kept.pop()) if len(kept) == 1 else None


def _is_kept(node: ast.AST, names: set[str], function: Function) -> bool:
    return any(is_self_attribute(node, name, self_name(function)) for name in names)


def _uses(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[ast.Call] | None:
    """The calls that feed a metric there, None for a use that is not known."""
    parent = parents.get(node)
    while isinstance(parent, ast.Subscript) and parent.value is node:
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.Call):
        if parent.func is node:
            return [parent]
        logs = isinstance(parent.func, ast.Attribute) and parent.func.attr in ("log", "log_dict")
        return [] if logs else None
    if isinstance(parent, ast.Attribute):
        above = parents.get(parent)
        if parent.attr in FEEDING and isinstance(above, ast.Call) and above.func is parent:
            return [above]
        if parent.attr in ITERATING:
            return _iterated(above, parent.attr, parents) if above else None
        if parent.attr in MOVING and isinstance(above, ast.Call) and above.func is parent:
            moved = parents.get(above)
            used = isinstance(moved, ast.Attribute) or (isinstance(moved, ast.Call) and moved.func is above)
            return _uses(above, parents) if used else []
        return [] if parent.attr in KNOWN[: -len(FEEDING)] else None
    logged = isinstance(parent, ast.Dict) or (isinstance(parent, ast.keyword) and parent.arg == "value")
    return [] if logged else None


def _iterated(call: ast.AST, how: str, parents: dict[ast.AST, ast.AST]) -> list[ast.Call] | None:
    """The calls that feed what a loop over the metrics of a container has in its turn."""
    loop = parents.get(call)
    if not isinstance(loop, ast.For | ast.comprehension) or loop.iter is not call:
        return None
    target: ast.AST | None = loop.target
    if how == "items":
        target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    whole = loop if isinstance(loop, ast.For) else parents[loop]
    if not isinstance(target, ast.Name):
        return None
    found: list[ast.Call] = []
    for node in parents:
        if isinstance(node, ast.Name) and node.id == target.id and node is not target:
            uses = _uses(node, parents) if isinstance(node.ctx, ast.Load) and _is_within(node, whole, parents) else None
            if uses is None:
                return None
            found += uses
    return found


def _is_within(node: ast.AST, whole: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    above: ast.AST | None = node
    while above is not None and above is not whole:
        above = parents.get(above)
    return above is whole


def attributes_of(method: Method, call: ast.Call) -> set[str]:
    """The attributes of the instance that hold a metric that is made in a method, or a copy of it."""
    names: set[str] = set()
    plain: set[str] = set()
    for function in method.item.methods.values() if method.item else ():
        for _ in range(2):
            for node in own_nodes(function):
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                kept = value and (_holds(value, call, method, names) or _copies(value, names, plain, function))
                if kept:
                    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", value)]
                    names |= {item.attr for item in targets if isinstance(item, ast.Attribute)}
                    plain |= {item.id for item in targets if isinstance(item, ast.Name)}
    return names


def _holds(value: ast.expr, call: ast.Call, method: Method, names: set[str], inside: bool = False) -> bool:
    """Whether a value is the metric, or a collection with it, or with an attribute that has it."""
    if value is call or (inside and _is_kept(value, names, method.node)):
        return True
    if isinstance(value, ast.List | ast.Tuple):
        return any(_holds(item, call, method, names, True) for item in value.elts)
    if isinstance(value, ast.Dict):
        return any(_holds(item, call, method, names, True) for item in value.values)
    if isinstance(value, ast.ListComp | ast.DictComp):
        each = value.elt if isinstance(value, ast.ListComp) else value.value
        return _holds(each, call, method, names, True)
    if isinstance(value, ast.Call):
        name = (method.scope.resolve(value.func) or "").rpartition(".")[2]
        given = [*value.args, *(item.value for item in value.keywords)]
        return name in HOLDERS and any(_holds(item, call, method, names, True) for item in given)
    return False


def _copies(value: ast.expr, names: set[str], plain: set[str], function: Function) -> bool:
    """Whether a value is a copy of a metric that is known: `metric.clone(...)`."""
    if isinstance(value, ast.Name):
        return value.id in plain
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "clone"):
        return False
    of = value.func.value
    return (isinstance(of, ast.Name) and of.id in plain) or _is_kept(of, names, function)
