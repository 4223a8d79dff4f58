"""Backward passes through weights that an optimizer changed after the forward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.backward.names import Names
from codemods.backward.passes import read_pass
from codemods.nodes import every_node
from codemods.source import ClassNode
from codemods.syntax import Function, own_nodes, returns, self_name

CUTS = ("detach", "item", "data", "numpy", "tolist")
Path = tuple[str, ...]


@dataclass(frozen=True)
class Stale:
    """A backward call, the step before it that changed weights, and the name computed through them before that."""

    call: ast.Call
    step: ast.Call
    name: str
    module: str


def find_stale(item: ClassNode, method: Function) -> Iterator[Stale]:
    """The backward passes of a method that go through weights which a step has changed since the forward pass."""
    trained = trained_by(item, method)
    if not trained:
        return
    names = Names(method)
    passes = [found for node in method.body if (found := read_pass(node, method))]
    steps = [
        (node.value, node.value.func.value.id)
        for node in method.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "step"
        and isinstance(node.value.func.value, ast.Name)
        and node.value.func.value.id in trained
    ]
    for step, optimizer in steps:
        before = [found for found in passes if found.call.lineno < step.lineno]
        for found in passes:
            if before and found.call.lineno > step.lineno:
                hit = _through(found.loss, step.lineno, trained[optimizer], names, method)
                if hit:
                    yield Stale(found.call, step, *hit)


def trained_by(item: ClassNode, method: Function) -> dict[str, frozenset[Path]]:
    """The modules whose weights each optimizer of a method has: `("self", "generator")`."""
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
    return {name.id: paths for name, paths in zip(targets, built, strict=True) if isinstance(name, ast.Name) and paths}


def _built(configure: Function) -> list[frozenset[Path]]:
    names = Names(configure)

    def value(node: ast.expr | None) -> ast.expr | None:
        bound = names.bound.get(node.id, []) if isinstance(node, ast.Name) else []
        return bound[0].value if len(bound) == 1 and bound[0].whole else node

    result = value(returns(configure)[0].value)
    if not isinstance(result, ast.Tuple | ast.List):
        return [_weights(result)] if isinstance(result, ast.Call) else []
    first = value(result.elts[0]) if result.elts else None
    elements = first.elts if isinstance(first, ast.Tuple | ast.List) else result.elts
    found = [value(element) for element in elements]
    return [_weights(node) if isinstance(node, ast.Call) else frozenset() for node in found]


def _weights(call: ast.Call) -> frozenset[Path]:
    return frozenset(
        path[:-1]
        for node in every_node(call)
        if isinstance(node, ast.Attribute) and node.attr == "parameters" and len(path := _path(node)) > 2
    )


def _path(node: ast.expr) -> Path:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def _through(
    node: ast.expr, line: int, trained: frozenset[Path], names: Names, method: Function, depth: int = 0
) -> tuple[str, str] | None:
    """The name of a value from before a line that was computed by a module of `trained`, and that module."""
    for name in _flowing(node):
        bound = names.bound.get(name.id, [])
        if len(bound) != 1 or depth > 6 or _without_gradient(bound[0].node, method):
            continue
        value = bound[0].value
        if value.lineno < line:
            module = _module(value, trained, names, method)
            if module:
                return name.id, module
        else:
            hit = _through(value, line, trained, names, method, depth + 1)
            if hit:
                return hit
    return None


def _module(node: ast.expr, trained: frozenset[Path], names: Names, method: Function, depth: int = 0) -> str | None:
    """The trained module that an expression goes through."""
    own = self_name(method)
    for inner in _uncut(node):
        if isinstance(inner, ast.Call):
            path = _path(inner.func)
            if path and path[0] == own and any(path[: len(known)] == known for known in trained):
                return ".".join(path)
        if isinstance(inner, ast.Name) and depth < 6:
            bound = names.bound.get(inner.id, [])
            if len(bound) == 1 and bound[0].value is not node and not _without_gradient(bound[0].node, method):
                module = _module(bound[0].value, trained, names, method, depth + 1)
                if module:
                    return module
    return None


def _flowing(node: ast.expr) -> Iterator[ast.Name]:
    return (inner for inner in _uncut(node) if isinstance(inner, ast.Name))


def _uncut(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression through which a gradient may flow."""
    if isinstance(node, ast.Attribute) and node.attr in CUTS:
        return
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "device", "dtype"):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _uncut(child)


def _without_gradient(node: ast.AST, method: Function) -> bool:
    """Whether a statement stands in a `with torch.no_grad():` of a method."""
    return any(
        isinstance(outer, ast.With)
        and any("no_grad" in ast.dump(item) or "inference_mode" in ast.dump(item) for item in outer.items)
        and any(inner is node for inner in every_node(outer))
        for outer in every_node(method)
    )
