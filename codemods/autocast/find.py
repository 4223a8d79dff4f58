"""The meetings of a file: every region that it opens, or that Lightning opens around it, is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.autocast.members import Members
from codemods.autocast.names import Region, region_of
from codemods.autocast.regions import Certainty, lightning_region
from codemods.autocast.trace import Meeting, Place, TooLong, Trace
from codemods.facts import Facts
from codemods.scopes import Scope, bind
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function


@dataclass(frozen=True)
class Traced:
    """What one trace found. `region` says how sure the region is that Lightning opens, None where it opens none."""

    poisoned: tuple[Meeting, ...]
    stale: tuple[Meeting, ...]
    trace: Trace
    root: Function | None
    region: Certainty | None


def traced(file: PythonFile, facts: Facts, code: str) -> Iterator[Traced]:
    """The traces of a file: functions that hold a region, and training steps that Lightning runs in one."""
    for function, place in _roots(file, facts):
        yield from _run(file, facts, function, place, None)
    for item in file.classes:
        step = item.methods.get("training_step")
        known = facts.files[file.path].find(item.qualname) if file.path in facts.files else None
        certainty = lightning_region(facts, code, known) if known else None
        found = Members.of(file, facts, item)
        if certainty is None or (step is None and found.method("training_step") is None):
            continue
        owner, function = found.method("training_step") or (item, step)
        if function is not None:
            scope = bind(function, scope=bind(owner.node, scope=owner.scope))
            yield from _run(file, facts, function, Place(scope, found, owner), certainty)


def _run(
    file: PythonFile, facts: Facts, function: Function | None, place: Place, certainty: Certainty | None
) -> Iterator[Traced]:
    trace = Trace(file, facts)
    try:
        trace.run(function, place, Region(True, None, lightning=True) if certainty else None)
    except (TooLong, RecursionError):
        return
    if trace.poisoned or trace.stale:
        yield Traced(tuple(trace.poisoned), tuple(trace.stale), trace, function, certainty)


def _roots(file: PythonFile, facts: Facts) -> Iterator[tuple[Function | None, Place]]:
    """The functions that open a region themselves, and the module where its own statements do."""
    if not any(word in file.text for word in ("autocast", "auto_fp16")):
        return
    owners: dict[ast.AST, ClassNode] = {item.node: item for item in file.classes}
    for function, scope, owner in _functions(file.tree, file.scope, None, owners):
        opens = [item for item in function.decorator_list if region_of(item, scope)]
        if opens or _holds_region(function.body):
            yield function, Place(scope, Members.of(file, facts, owner) if owner else None, owner)
    if _holds_region(file.tree.body):
        yield None, Place(file.scope)


def _functions(
    node: ast.AST, scope: Scope, owner: ClassNode | None, owners: dict[ast.AST, ClassNode]
) -> Iterator[tuple[Function, Scope, ClassNode | None]]:
    """The functions of a module and the methods of its classes, but not functions inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, bind(child, scope=scope), owner
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, bind(child, scope=scope), owners.get(child), owners)
        elif isinstance(child, ast.stmt):
            yield from _functions(child, scope, owner, owners)


def _holds_region(body: list[ast.stmt]) -> bool:
    """Whether a `with` stands among these statements, at any depth, functions inside them left out."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.With | ast.AsyncWith):
            return True
        stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler))
    return False
