"""What is asked of a module that a script made or loaded: `model.summarize()`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.class_family import PLAIN_BASES
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.instance_types import ReadingPlace
from codemods.lightning.kinds import bound_once

LOAD = "load_from_checkpoint"


def class_of(file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr) -> ClassFact | None:
    """The project's class that a name was made of by its one assignment, or loaded by."""
    value = bound_once(facts, file, call, owner.id) if isinstance(owner, ast.Name) else owner
    if not isinstance(value, ast.Call):
        return None
    loads = isinstance(value.func, ast.Attribute) and value.func.attr == LOAD
    dotted = call.scope.resolve(value.func.value if loads else value.func)  # type: ignore[attr-defined]
    return facts.find_class(dotted, file.path) if dotted else None


def class_said(file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr) -> ClassFact | None:
    """The project's class that a parameter is said to be an instance of."""
    taken = ReadingPlace.of(file, call).named(owner.id) if isinstance(owner, ast.Name) else None
    note = taken[1].annotation if taken else None
    dotted = call.scope.resolve(note) if note else None
    return facts.find_class(dotted, file.path) if dotted else None


def made_by(file: PythonFile) -> frozenset[str]:
    """The last names of what the values of a file's assignments are made or loaded by."""
    called = [item.node.value.func for item in file.assignments if isinstance(item.node.value, ast.Call)]
    makers = [each.value if isinstance(each, ast.Attribute) and each.attr == LOAD else each for each in called]
    return frozenset(
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in makers
        if isinstance(each, ast.Attribute | ast.Name)
    )


def of_instances(
    file: PythonFile, facts: Facts, names: Collection[str]
) -> Iterator[tuple[CallNode, ast.Attribute, ClassFact]]:
    """The calls of methods of some names on modules of the project that no class of theirs has."""
    for call in file.calls_near([f".{name}(" for name in names]):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in names:
            continue
        fact = class_of(file, facts, call, function.value)
        if fact and facts.kind(fact) == MODULE and not has(facts, fact, function.attr):
            yield call, function, fact


def has(facts: Facts, fact: ClassFact, method: str) -> bool:
    """Whether a class, or one above it, may have a method of its own."""
    return any(
        not (base in PLAIN_BASES or base.startswith("lightning."))
        if isinstance(base, str)
        else method in base.methods or not all(base.bases)
        for base in (fact, *facts.lineage(fact))
    )
