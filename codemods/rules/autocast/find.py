"""The meetings of a file: every region that it opens, or that Lightning opens around it, is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codemods.code.scopes import Scope, bind
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.file_memo import memo_of
from codemods.rules.autocast.cache_state import Meeting
from codemods.rules.autocast.callees import TracePosition, method_of
from codemods.rules.autocast.members import Members
from codemods.rules.autocast.names import Region, region_of
from codemods.rules.autocast.project import Defined, ProjectFiles
from codemods.rules.autocast.reach import Node, files_of, reaches
from codemods.rules.autocast.regions import Certainty, lightning_region
from codemods.rules.autocast.trace import TooLong, Trace


@dataclass(frozen=True)
class TraceFindings:
    """What one trace found, which begins in the file `home`. `region` says how sure the region is that Lightning opens,
    None where it opens none, `homes` are the files of the class, or the function, that it begins in. `cut` holds where
    it was too long, or too deep, to be followed to its end."""

    poisoned: tuple[Meeting, ...]
    stale: tuple[Meeting, ...]
    trace: Trace
    root: Function | None
    region: Certainty | None
    home: str
    homes: frozenset[str]
    cut: bool

    def seen_from(self, path: str) -> bool:
        """Whether the same is found when another file is looked at: one that the class stands in, or that it uses."""
        return self.region is not None or path in self.homes


def traced(
    file: PythonFile, facts: Facts, code: str, words: tuple[str, ...], here: bool = False
) -> Iterator[TraceFindings]:
    """The traces that may go through a file: of functions that hold a region, and of training steps that Lightning
    runs in one, of the file's own classes and of those that derive from them or use the file. What cannot come to code
    that spells one of some words, with `here` in this file, is left out."""
    project = ProjectFiles(facts, file)
    for function, place in _roots(project):
        starts = _nodes(place.members) if place.members else [(file, function or file.tree)]
        if reaches(project, starts, words):
            yield from _run(project, function, place, None)
    quiet: set[ClassFact] = facts.memo.setdefault("autocast.quiet", set())
    for fact, certainty in _in_regions(facts, code).items():
        if fact in quiet or file.path not in files_of(facts, fact) or not _may(project, fact, words, here):
            continue
        found = project.defined(fact)
        members = Members.of(project, found) if found else None
        step = method_of(members, "training_step", ("self",)) if members else None
        if members is None or step is None or not reaches(project, _nodes(members), words):
            continue
        met = list(_run(project, step.function, step.place, certainty))
        if not met and facts.open(file.path) is file:
            quiet.add(fact)
        yield from met


def _in_regions(facts: Facts, code: str) -> dict[ClassFact, Certainty]:
    """The classes whose training step Lightning runs in a region."""
    key = f"autocast.modules.{code}"
    if key not in facts.memo:
        sure = {fact: lightning_region(facts, code, fact) for fact in facts.modules}
        facts.memo[key] = {fact: certainty for fact, certainty in sure.items() if certainty}
    found: dict[ClassFact, Certainty] = facts.memo[key]
    return found


def _may(project: ProjectFiles, fact: ClassFact, words: tuple[str, ...], here: bool) -> bool:
    """Whether one of the words stands in a file that a class may run; where it has to stand in the one that is looked
    at, and that holds bases of the class alone, whether these may come to it."""
    facts, file = project.facts, project.current
    paths = files_of(facts, fact)
    if all(paths.isdisjoint(facts.mentions.get(word.encode(), ())) for word in words):
        return False
    if not here or fact.path == file.path or file.path in files_of(facts, fact, own=False):
        return True
    bases = {item.name for item in facts.ancestry(fact) if item.path == file.path}
    return reaches(project, [(file, item.node) for item in file.classes if item.qualname in bases], words)


def _nodes(members: Members) -> list[Node]:
    return [(file, item.node) for file, item in members.classes]


def _run(
    project: ProjectFiles, function: Function | None, place: TracePosition, certainty: Certainty | None
) -> Iterator[TraceFindings]:
    """The trace of a function where it met something; one trace for all rules that ask for it."""
    classes = place.members.classes if place.members else ()
    shared = project.facts.open(project.current.path) is project.current
    memo = memo_of(project.current, project.facts) if shared else {}
    known: dict[Any, TraceFindings] = memo.setdefault("autocast.traced", {})
    asked = function, classes[0] if classes else None, certainty
    if asked not in known:
        known[asked] = _trace(project, function, place, certainty)
    if known[asked].poisoned or known[asked].stale or known[asked].cut:
        yield known[asked]


def _trace(
    project: ProjectFiles, function: Function | None, place: TracePosition, certainty: Certainty | None
) -> TraceFindings:
    trace = Trace(project)
    cut = False
    try:
        trace.run(function, place, Region(True, None, lightning=True) if certainty else None)
    except (TooLong, RecursionError):
        cut = True
    homes = place.members.files if place.members else (place.file,)
    paths = frozenset(file.path for file in homes)
    met = tuple(trace.poisoned), tuple(trace.stale)
    return TraceFindings(*met, trace, function, certainty, place.file.path, paths, cut or trace.deep)


def _roots(project: ProjectFiles) -> Iterator[tuple[Function | None, TracePosition]]:
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
            yield function, TracePosition(file, scope)
            continue
        own = Defined(file, owner)
        for found in (own, *filter(None, map(project.defined, project.below(project.fact(owner))))):
            members = Members.of(project, found)
            if found is own or members.method(function.name) == (own, function):
                yield function, TracePosition(file, scope, members, own)
    if _holds_region(file.tree.body):
        yield None, TracePosition(file, file.scope)


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
