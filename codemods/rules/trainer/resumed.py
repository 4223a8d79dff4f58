"""The `fit` calls of a Trainer that is not built where it is fitted: kept on an attribute, or given back by a function,
whatever files they are in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, returns, self_name
from codemods.lightning.facts import Facts
from codemods.lightning.kept import calls_of, escapes, kept_in
from codemods.lightning.shapes import times_spoken

Fit = tuple[PythonFile, CallNode]


def fits_elsewhere(facts: Facts, file: PythonFile, call: CallNode, newer: PythonFile | None) -> list[Fit] | str:
    """The `fit` calls of a Trainer, each with its file, or why they cannot be told; `newer` is another file that may be
    newer than the facts, as `file` may."""
    if (name := _attribute(file, call)) is not None:
        return _of_attribute(facts, file, call, name)
    function = call.within[0] if len(call.within) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or not _gives(function, call, file):
        return "what becomes of the Trainer is not seen"
    found: list[Fit] = []
    known = 1
    for other, use in _uses(facts, file, function, newer or file):
        known += 1
        if isinstance(use, CallNode):
            fits = _of_made(other, use)
            if isinstance(fits, str):
                return fits
            found += [(other, fit) for fit in fits]
    if known != times_spoken(facts, function.name):
        return f"not all that `{function.name}` is used for is seen"
    return found or "its fit is not seen"


def _attribute(file: PythonFile, call: CallNode) -> str | None:
    """The attribute of `self` that alone keeps a Trainer."""
    method = call.within[-1] if call.within else None
    if not isinstance(method, Function) or len(call.within) != 2 or not isinstance(call.within[0], ast.ClassDef):
        return None
    for node in own_nodes(method):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if target is not None and node.value is call.node and isinstance(target, ast.Attribute):  # type: ignore[attr-defined]
            return target.attr if is_self_attribute(target, target.attr, self_name(method)) else None
    return None


def _of_attribute(facts: Facts, file: PythonFile, call: CallNode, name: str) -> list[Fit] | str:
    owner = call.within[0]
    used = [node for node in ast.walk(owner) if isinstance(node, ast.Attribute) and node.attr == name]
    held = {id(node.value) for node in ast.walk(owner) if isinstance(node, ast.Attribute)}
    if sum(not isinstance(node.ctx, ast.Load) for node in used) != 1:
        return f"`{name}` is set more than once"
    if any(isinstance(node.ctx, ast.Load) and id(node) not in held for node in used):
        return f"`{name}` is handed on, perhaps to another fit"
    fits = [
        other
        for other in file.calls_near([".fit"])
        if isinstance(other.node.func, ast.Attribute)
        and other.node.func.attr == "fit"
        and any(other.node.func.value is node for node in used)
    ]
    spoken = re.compile(rb"\b" + name.encode() + rb"\s*\.\s*fit\b")
    every = sum(len(spoken.findall(source.data)) for source in facts.sources.values() if source.kind == "python")
    stored = re.compile(rb"(?<!self)\." + name.encode() + rb"\s*=(?!=)")
    outside = any(stored.search(source.data) for source in facts.sources.values() if source.kind == "python")
    if every != len(fits) or not fits or outside:
        return "not all that its fit is called by is seen"
    return [(file, fit) for fit in fits]


def _gives(function: ast.FunctionDef, call: CallNode, file: PythonFile) -> bool:
    """Whether all that a function gives back is what a call in it builds, which it does nothing else with."""
    given = [node.value for node in returns(function)]
    if all(node is call.node for node in given):
        return bool(given)
    name = kept_in(file, call)
    loads = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    held = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr != "fit"}
    plain = all(isinstance(node, ast.Name) and node.id == name for node in given)
    return (
        plain
        and bool(given)
        and all(
            isinstance(node.ctx, ast.Store) or id(node) in held or any(node is item for item in given) for node in loads
        )
    )


def _uses(
    facts: Facts, home: PythonFile, function: ast.FunctionDef, newer: PythonFile
) -> Iterator[tuple[PythonFile, CallNode | None]]:
    """Where the project speaks of a function: the calls of it, and its imports."""
    for path, source in sorted(facts.sources.items()):
        if source.kind != "python" or function.name.encode() not in source.data:
            continue
        file = next((known for known in (newer, home) if known.path == path), None) or facts.open(path)
        if file is None:
            continue
        for node in file.imports:
            for alias in node.names:
                if alias.name == function.name and alias.asname is None and isinstance(node, ast.ImportFrom):
                    yield file, None
        for call in file.calls_near([function.name]):
            dotted = call.scope.resolve(call.node.func)
            if dotted is None:
                continue
            found = facts.find_definition(dotted, path)
            if dotted == f"{home.module}.{function.name}" or (found and found[1].name == function.name):
                yield file, call


def _of_made(file: PythonFile, call: CallNode) -> list[CallNode] | str:
    """The `fit` calls of what a call gives."""
    if now := fits_at_once(file, call):
        return now
    name = kept_in(file, call)
    if name is None:
        return "what becomes of the Trainer is not seen"
    if escapes(file, call, name):
        return f"`{name}` is handed on, perhaps to another fit"
    return calls_of(file, call, name, "fit")


def fits_at_once(file: PythonFile, call: CallNode) -> list[CallNode]:
    """The `fit` that is called of what a call gives, without a name for that."""
    return [other for other in file.calls_near([".fit"]) if _is_fit_of(other, call.node)]


def _is_fit_of(call: CallNode, owner: ast.Call) -> bool:
    function = call.node.func
    return isinstance(function, ast.Attribute) and function.attr == "fit" and function.value is owner
