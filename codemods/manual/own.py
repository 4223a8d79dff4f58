"""Attributes that a class sets itself by the names of what a manual loop calls, or keeps the Trainer's values in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemods.facts import ClassFact, Facts
from codemods.family import family
from codemods.manual.module import CALLED
from codemods.manual.optimizers import NotPlain
from codemods.manual.trainers import ACCUMULATE, CLIP, Given
from codemods.source import ClassNode, PythonFile
from codemods.syntax import self_name

METHODS = frozenset({*CALLED, "lr_schedulers", "clip_gradients"})
VALUES = frozenset({CLIP[0], ACCUMULATE})

Own = Mapping[str, frozenset[str]]


def read_own(file: PythonFile) -> Own:
    """Which of the names each class of a file sets, on self or in its body; worked out once for the rules of the
    family."""
    if "own" not in file.memo:
        names = [name for name in sorted(METHODS | VALUES) if name in file.text]
        read = {item.qualname: frozenset(_set(item, names)) for item in file.classes} if names else {}
        file.memo["own"] = {name: found for name, found in read.items() if found}
    found: Own = file.memo["own"]
    return found


def _set(item: ClassNode, names: list[str]) -> Iterator[str]:
    for statement in item.node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name) and each.id in names)
    for name, method in item.methods.items():
        if name in VALUES:
            yield name
        this = self_name(method)
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == this:
                yield from {node.attr}.intersection(names)


def judge_own(facts: Facts, fact: ClassFact, own: Mapping[str, Own]) -> None:
    """Raises NotPlain where the class or a relative hides a method that the loop calls. `own` is what `read_own`
    returned, by path."""
    for other, names in _found(facts, fact, own):
        for name in sorted(names & METHODS):
            raise NotPlain(f"{other.name} ({other.path}) sets `{name}`, which hides the method that the loop calls")


def doubts_of_own(facts: Facts, fact: ClassFact, own: Mapping[str, Own], given: Given) -> Iterator[str]:
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
        yield other, own.get(other.path, {}).get(other.name, frozenset())
