"""Attributes that a class, or somebody who holds an instance of it, sets by the names of what a manual loop needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import self_name, super_init_index
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.optimization import FLAG
from codemods.rewrite.manual.module import CALLED, is_set, is_true, plain_flags
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.trainers import ACCUMULATE, CLIP, TrainerSettings

METHODS = frozenset({*CALLED, "lr_schedulers", "clip_gradients"})
VALUES = frozenset({CLIP[0], ACCUMULATE})
IN_INIT, IN_BODY = f"__init__.{FLAG}", f"class.{FLAG}"
"""Where a class sets automatic_optimization to True: what a class below it says itself comes after that."""
CALLS_SUPER = f"super.{FLAG}"
"""A class whose constructor has a line behind which the flag of a loop comes after those of its bases' constructors."""

Own = Mapping[str, frozenset[str]]


def read_own(file: PythonFile) -> Own:
    """Which of the names each class of a file sets, on self or in its body; worked out once for the rules of the
    family."""
    if "own" not in file.memo:
        names = [name for name in sorted({*METHODS, *VALUES, FLAG}) if name in file.text]
        stored = [node for name in names for node in file.attributes(name) if isinstance(node.ctx, ast.Store)]
        read = {item.qualname: frozenset(_set(item, names, stored)) for item in file.classes} if names else {}
        file.memo["own"] = {name: found for name, found in read.items() if found}
    found: Own = file.memo["own"]
    return found


def _set(item: ClassNode, names: list[str], stored: list[ast.Attribute]) -> Iterator[str]:
    for statement in item.node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found = [each.id for each in targets if isinstance(each, ast.Name) and each.id in names]
            yield from (IN_BODY if name == FLAG and is_true(statement.value) else name for name in found)
    plain = plain_flags(item)
    init = item.methods.get("__init__")
    if FLAG in names and init and super_init_index(init) is not None:
        yield CALLS_SUPER
    for name, method in item.methods.items():
        if name in VALUES or name == FLAG:
            yield name
        this = self_name(method)
        for node in stored:
            if method.lineno <= node.lineno <= (method.end_lineno or 0) and ast.unparse(node.value) == this:
                yield IN_INIT if node in plain else node.attr


def _holder(facts: Facts) -> str | None:
    """The first file that sets automatic_optimization, to something else than False, on something else than the `self`
    of a method."""
    if "own.holder" not in facts.memo:
        opened = {path: facts.open(path) for path in sorted(facts.mentions.get(FLAG.encode(), ()))}
        facts.memo["own.holder"] = next((path for path, file in opened.items() if file and _is_set_outside(file)), None)
    found: str | None = facts.memo["own.holder"]
    return found


def _is_set_outside(file: PythonFile) -> bool:
    stored = [node for node in file.attributes(FLAG) if is_set(node)]
    within = {
        node
        for item in file.classes
        for method in item.methods.values()
        for node in (walk(method) if stored else ())
        if is_set(node) and ast.unparse(node.value) == self_name(method)
    }
    manual = {
        target
        for item in (file.assignments if stored else ())
        if isinstance(item.node, ast.Assign) and isinstance(item.node.value, ast.Constant)
        for target in item.node.targets
        if item.node.value.value is False
    }
    return any(node not in within and node not in manual for node in stored)


def judge_own(facts: Facts, fact: ClassFact, own: Mapping[str, Own]) -> None:
    """Raises NotPlain where the class or a relative hides a method that the loop calls, or where the choice of manual
    optimization would be lost. `own` is what `read_own` returned, by path."""
    if holder := _holder(facts):
        raise NotPlain(f"{holder} sets `{FLAG}` on something that it holds, which may be a model of the class")
    later = {IN_BODY, *([IN_INIT] if CALLS_SUPER in _of(own, fact) else [])}
    for other, names in _found(facts, fact, own):
        for name in sorted(names & METHODS):
            raise NotPlain(f"{other.name} ({other.path}) sets `{name}`, which hides the method that the loop calls")
        before = later if other in (facts.ancestry(fact) or ()) else set()
        if other != fact and {FLAG, IN_INIT, IN_BODY} & names - before:
            raise NotPlain(f"{other.name} ({other.path}), a base class or subclass, sets `{FLAG}`")


def doubts_of_own(facts: Facts, fact: ClassFact, own: Mapping[str, Own], given: TrainerSettings) -> Iterator[str]:
    """What is kept of the Trainer by a name that the class or a relative gives a value of its own."""
    kept = {*given.handed, *given.left, *given.carried}
    kept |= {name for name, value in ((CLIP[0], given.clip), (ACCUMULATE, given.accumulate)) if value}
    for other, names in _found(facts, fact, own):
        for name in sorted(names & VALUES & kept):
            yield (
                f"{other.name} ({other.path}) sets `{name}` itself, in which the loop keeps what the Trainer was given"
            )


def _found(facts: Facts, fact: ClassFact, own: Mapping[str, Own]) -> Iterator[tuple[ClassFact, frozenset[str]]]:
    for other in (fact, *family(facts, fact)):
        yield other, _of(own, other)


def _of(own: Mapping[str, Own], fact: ClassFact) -> frozenset[str]:
    return own.get(fact.path, {}).get(fact.name, frozenset())
