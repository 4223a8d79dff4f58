"""The meetings of a file: every region that it opens, or that Lightning opens around it, is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.autocast.callees import Place, method_of
from codemods.autocast.casts import Meeting
from codemods.autocast.members import Members
from codemods.autocast.names import Region, region_of
from codemods.autocast.project import Defined, Project
from codemods.autocast.regions import Certainty, lightning_region
from codemods.autocast.trace import TooLong, Trace
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
    """The traces that go through a file: of functions that hold a region, and of training steps that Lightning runs in
    one, as the file's own classes have them and as classes of other files inherit them."""
    project = Project(facts, file)
    for function, place in _roots(project):
        yield from _run(project, function, place, None)
    quiet: set[tuple[str, int]] = facts.memo.setdefault("autocast.quiet", set())
    shared = facts.open(file.path) is file
    for item in file.classes:
        for found in (Defined(file, item), *project.below(item)):
            here = found.file.path, found.item.node.lineno
            if shared and here in quiet:
                continue
            known = facts.files[found.file.path].find(found.item.qualname) if found.file.path in facts.files else None
            certainty = lightning_region(facts, code, known) if known else None
            members = Members.of(project, found) if certainty else None
            step = method_of(members, "training_step", ("self",)) if members else None
            met = list(_run(project, step.function, step.place, certainty)) if step else []
            if shared and certainty and not met:
                quiet.add(here)
            yield from met


def _run(project: Project, function: Function | None, place: Place, certainty: Certainty | None) -> Iterator[Traced]:
    trace = Trace(project)
    try:
        trace.run(function, place, Region(True, None, lightning=True) if certainty else None)
    except (TooLong, RecursionError):
        return
    if trace.poisoned or trace.stale:
        yield Traced(tuple(trace.poisoned), tuple(trace.stale), trace, function, certainty)


def _roots(project: Project) -> Iterator[tuple[Function | None, Place]]:
    """The functions that open a region themselves, and the module where its own statements do."""
    file = project.current
    if not any(word in file.text for word in ("autocast", "auto_fp16")):
        return
    owners: dict[ast.AST, ClassNode] = {item.node: item for item in file.classes}
    for function, scope, owner in _functions(file.tree, file.scope, None, owners):
        opens = [item for item in function.decorator_list if region_of(item, scope)]
        if not opens and not _holds_region(function.body):
            continue
        if owner is None:
            yield function, Place(file, scope)
            continue
        own = Defined(file, owner)
        for found in (own, *project.below(owner)):
            members = Members.of(project, found)
            if found is own or members.method(function.name) == (own, function):
                yield function, Place(file, scope, members, own)
    if _holds_region(file.tree.body):
        yield None, Place(file, file.scope)


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
