"""Backward passes through weights that an optimizer changed after the forward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, own_nodes, returns, self_name
from codemods.rules.backward.names import MethodNames, path_of
from codemods.rules.backward.passes import Pass, read_pass

CUTS = ("detach", "item", "data", "numpy", "tolist")
Path = tuple[str, ...]


@dataclass(frozen=True)
class StaleBackward:
    """A backward call, the step before it that changed weights, and the name computed through them before that.

    `uses` are the names to detach, so that the pass ends there: none where it also trains what it would no longer
    reach, or where the gradient that then stays away is not plainly thrown away. `only` is the module to whose weights
    the pass can be held instead.
    """

    call: ast.Call
    step: ast.Call
    name: str
    module: str
    uses: tuple[ast.Name, ...] = ()
    only: str = ""


def find_stale(item: ClassNode, method: Function) -> Iterator[StaleBackward]:
    """The backward passes of a method that go through weights which a step has changed since the forward pass."""
    built = _built_for(item, method)
    trained = {name: paths for name, call in built.items() if (paths := _weights(call))}
    if not trained:
        return
    names = MethodNames(method)
    passes = [found for node in method.body if (found := read_pass(node, method))]
    at_times = [found for node in own_nodes(method) if node not in method.body and (found := read_pass(node, method))]
    steps = [(call, owner) for call, owner in _called(method, "step") if owner in trained]
    for step, optimizer in steps:
        before = [found for found in passes if found.call.lineno < step.lineno]
        for found in at_times if before else ():
            hits = dict(_through(found.loss, step.lineno, trained[optimizer], names, method))
            if hits and found.call.lineno > step.lineno and not _is_held(found.call):
                yield StaleBackward(found.call, step, *next(iter(hits.items())))
        for found in passes:
            if before and found.call.lineno > step.lineno and not _is_held(found.call):
                hits = dict(_through(found.loss, step.lineno, trained[optimizer], names, method))
                if hits:
                    wasted = _is_wasted(item, method, optimizer, step, before[0].call)
                    others = [owner for call, owner in steps if call.lineno > found.call.lineno]
                    known = trained[others[0]] if wasted and others else frozenset[Path]()
                    uses = _cuttable(frozenset(hits), step, found, known, names, method)
                    kept = (
                        all(other.retains for other in before)
                        and not found.more
                        and _module(found.loss, known, names, method)
                    )
                    only = _whole(built[others[0]]) if known and kept and len(set(others)) == 1 and not uses else ""
                    yield StaleBackward(found.call, step, *next(iter(hits.items())), uses, only)


def _is_held(call: ast.Call) -> bool:
    """Whether a pass computes the gradients of some tensors alone."""
    return any(keyword.arg == "inputs" for keyword in call.keywords)


def _whole(call: ast.Call) -> str:
    """The module whose weights an optimizer has, all of them and no others."""
    given = call.args[0] if call.args else None
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute) or given.args or given.keywords:
        return ""
    return ".".join(path_of(given.func.value)) if given.func.attr == "parameters" else ""


def _called(method: Function, name: str) -> list[tuple[ast.Call, str]]:
    """The statements of a method's body that call `owner.name()`, with their owners."""
    return [
        (node.value, node.value.func.value.id)
        for node in method.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == name
        and isinstance(node.value.func.value, ast.Name)
    ]


def _is_wasted(item: ClassNode, method: Function, optimizer: str, step: ast.Call, first: ast.Call) -> bool:
    """Whether what a later pass adds to the gradients of an optimizer is set to zero before anybody uses it."""
    zeros = [call.lineno for call, owner in _called(method, "zero_grad") if owner == optimizer]
    again = any(owner == optimizer and call.lineno > step.lineno for call, owner in _called(method, "step"))
    read = any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in every_node(item.node))
    return bool(zeros) and max(zeros) < first.lineno and not again and not read


def _cuttable(
    stale: frozenset[str], step: ast.Call, found: Pass, known: frozenset[Path], names: MethodNames, method: Function
) -> tuple[ast.Name, ...]:
    """The uses of some names behind a step, where they are arguments of calls between it and a pass that still goes
    through one of the `known` modules without them."""
    if not known or any(_module(names.bound[name][0].value, known, names, method) for name in stale):
        return ()
    uses = [
        node
        for node in every_node(method)
        if isinstance(node, ast.Name)
        and node.id in stale
        and isinstance(node.ctx, ast.Load)
        and node.lineno > step.lineno
    ]
    given = {id(argument) for node in every_node(method) if isinstance(node, ast.Call) for argument in node.args}
    between = all(id(node) in given and node.lineno <= found.call.lineno for node in uses)
    return tuple(uses) if between and _module(found.loss, known, names, method) else ()


def _built_for(item: ClassNode, method: Function) -> dict[str, ast.Call]:
    """The calls that build the optimizers of a method, by name."""
    configure = item.methods.get("configure_optimizers")
    unpacked = [
        node
        for node in own_nodes(method)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "optimizers"
    ]
    if configure is None or len(unpacked) != 1 or len(returns(configure)) != 1:
        return {}
    target = unpacked[0].targets[0]
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    built = _built(configure)
    if len(built) != len(targets):
        return {}
    return {name.id: call for name, call in zip(targets, built, strict=True) if isinstance(name, ast.Name) and call}


def _built(configure: Function) -> list[ast.Call | None]:
    names = MethodNames(configure)

    def value(node: ast.expr | None) -> ast.expr | None:
        bound = names.bound.get(node.id, []) if isinstance(node, ast.Name) else []
        return bound[0].value if len(bound) == 1 and bound[0].whole else node

    result = value(returns(configure)[0].value)
    if not isinstance(result, ast.Tuple | ast.List):
        return [result] if isinstance(result, ast.Call) else []
    first = value(result.elts[0]) if result.elts else None
    elements = first.elts if isinstance(first, ast.Tuple | ast.List) else result.elts
    found = [value(element) for element in elements]
    return [node if isinstance(node, ast.Call) else None for node in found]


def _weights(call: ast.Call) -> frozenset[Path]:
    """The modules whose weights an optimizer has: `("self", "generator")`."""
    return frozenset(
        path[:-1]
        for node in every_node(call)
        if isinstance(node, ast.Attribute) and node.attr == "parameters" and len(path := path_of(node)) > 2
    )


def _through(
    node: ast.expr, line: int, trained: frozenset[Path], names: MethodNames, method: Function, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The names of values from before a line that were computed by a module of `trained`, and that module."""
    for name in _flowing(node):
        bound = names.bound.get(name.id, [])
        if len(bound) != 1 or depth > 6 or without_gradient(bound[0].node, method):
            continue
        value = bound[0].value
        if value.lineno >= line:
            yield from _through(value, line, trained, names, method, depth + 1)
        elif module := _module(value, trained, names, method):
            yield name.id, module


def _module(
    node: ast.expr, trained: frozenset[Path], names: MethodNames, method: Function, depth: int = 0
) -> str | None:
    """The trained module that an expression goes through."""
    own = self_name(method)
    for inner in uncut(node):
        if isinstance(inner, ast.Call):
            path = path_of(inner.func)
            if path and path[0] == own and any(path[: len(known)] == known for known in trained):
                return ".".join(path)
        if isinstance(inner, ast.Name) and depth < 6:
            bound = names.bound.get(inner.id, [])
            if len(bound) == 1 and bound[0].value is not node and not without_gradient(bound[0].node, method):
                module = _module(bound[0].value, trained, names, method, depth + 1)
                if module:
                    return module
    return None


def _flowing(node: ast.expr) -> Iterator[ast.Name]:
    return (inner for inner in uncut(node) if isinstance(inner, ast.Name))


def uncut(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression through which a gradient may flow."""
    if isinstance(node, ast.Attribute) and node.attr in CUTS:
        return
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "device", "dtype"):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from uncut(child)


def without_gradient(node: ast.AST, method: Function) -> bool:
    """Whether a statement stands in a `with torch.no_grad():` of a method."""
    return any(
        isinstance(outer, ast.With)
        and any("no_grad" in ast.dump(item) or "inference_mode" in ast.dump(item) for item in outer.items)
        and any(inner is node for inner in every_node(outer))
        for outer in every_node(method)
    )
