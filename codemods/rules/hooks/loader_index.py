"""Steps that call the index of one of several loaders otherwise than `dataloader_idx`, which 2.x looks for by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, parameters, uses
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts
from codemods.rule import Match, NodeEdit
from codemods.rules.hooks.staged import called_by_name, is_seen_elsewhere, renamed

if TYPE_CHECKING:
    import libcst as cst

INDEX = "dataloader_idx"
PLACE = 2
"""Where a step takes it, behind the batch and the index of that."""
STEPS = ("validation_step", "test_step", "predict_step")
_OF_LOADERS = re.compile(r"load|data|dl_|ds_|set_")
_NUMBERED = re.compile(r"(idx|index|nb|num|nr|no|id|_i|_n)$")
_SINCE = f"has to be called {INDEX} since Lightning 2.0 if there are several loaders"


def misnamed(file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode) -> Iterator[Match]:
    """The steps of a module whose third argument has another name; those behind it are for the project's own calls."""
    for name in STEPS:
        method = item.methods.get(name)
        names = parameters(method) if method else []
        if method is None or len(names) <= PLACE or not is_plain(method) or not _is_index(method, names):
            continue
        message = f"`{names[PLACE]}` of {name} {_SINCE}"
        if why := _refusal(facts, fact, method, names[PLACE]):
            reason = f"Not rewritten: {why}. A step that lacks an argument of that name is refused."
            yield Match(file.head(method), message, "manual", reason)
            continue
        edit = NodeEdit(method, partial(_renamed, name=names[PLACE]))
        reason = "1.x gave it by position; the step is refused without an argument of that name, and with one loader "
        reason += "with one that has no default."
        yield Match(file.head(method), message, "safe", reason, edits=(edit,))


def _renamed(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    """A step whose index has its name, and is 0 where there is one loader."""
    import libcst as cst

    changed = renamed(node, name=name, new=INDEX)
    every = list(changed.params.params)
    index = next(each for each in every if each.name.value == INDEX)
    if index.default is not None:
        return changed
    equal = (
        cst.AssignEqual() if index.annotation else cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    )
    every[every.index(index)] = index.with_changes(default=cst.Integer("0"), equal=equal)
    return changed.with_changes(params=changed.params.with_changes(params=every))


def _is_index(method: Function, names: Sequence[str]) -> bool:
    """Whether a third argument is the index of a loader by another name: Lightning gave no other, and where it has a
    default, which it keeps with one loader, it has to look like one; before others, which only the project's own calls
    give, like a number too."""
    optional = names[len(names) - len(method.args.defaults) :]
    if INDEX in names or any(name not in optional for name in names[PLACE + 1 :]):
        return False
    if names[PLACE] not in optional:
        return True
    known, value = literal(method.args.defaults[PLACE - len(names)])
    seems = _OF_LOADERS.search(names[PLACE]) and (len(names) == PLACE + 1 or _NUMBERED.search(names[PLACE]))
    return known and type(value) in (int, NoneType) and bool(seems)


def _refusal(facts: Facts, fact: ClassFact, method: Function, name: str) -> str | None:
    """Why an argument keeps its name."""
    for other in family(facts, fact):
        if method.name in other.methods:
            return f"{other.name} ({other.path}), a base class or subclass, defines {method.name} too"
    if uses(method, INDEX):
        return f"it has a {INDEX} of its own"
    if is_seen_elsewhere(method, name):
        return f"fixer cannot tell what it does with `{name}`"
    path = called_by_name(facts, method.name, name)
    return f"{path} seems to give it `{name}=`" if path else None
