"""Steps that call the index of one of several loaders otherwise than `dataloader_idx`, which 2.x looks for by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
STEPS = ("validation_step", "test_step", "predict_step")
_OF_LOADERS = re.compile(r"load|data|dl_|ds_|set_")
_SINCE = f"has to be called {INDEX} since Lightning 2.0 if there are several loaders"


def misnamed(file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode) -> Iterator[Match]:
    """The steps of a module whose third argument has another name."""
    for name in STEPS:
        method = item.methods.get(name)
        names = parameters(method) if method else []
        if method is None or len(names) != 3 or not is_plain(method) or not _is_index(method, names[2]):
            continue
        message = f"`{names[2]}` of {name} {_SINCE}"
        if why := _refusal(facts, fact, method, names[2]):
            reason = f"Not rewritten: {why}. A step that lacks an argument of that name is refused."
            yield Match(file.head(method), message, "manual", reason)
            continue
        edit = NodeEdit(method, partial(_renamed, name=names[2]))
        reason = "1.x gave it by position; the step is refused without an argument of that name, and with one loader "
        reason += "with one that has no default."
        yield Match(file.head(method), message, "safe", reason, edits=(edit,))


def _renamed(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    """A step whose index has its name, and is 0 where there is one loader."""
    import libcst as cst

    changed = renamed(node, name=name, new=INDEX)
    *rest, last = changed.params.params
    if last.default is not None:
        return changed
    equal = (
        cst.AssignEqual() if last.annotation else cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    )
    last = last.with_changes(default=cst.Integer("0"), equal=equal)
    return changed.with_changes(params=changed.params.with_changes(params=[*rest, last]))


def _is_index(method: Function, name: str) -> bool:
    """Whether a third argument is the index of a loader by another name: Lightning gave no other, and where it has a
    default, which it keeps with one loader, it has to look like one."""
    if name == INDEX:
        return False
    known, value = literal(method.args.defaults[-1]) if method.args.defaults else (True, None)
    return not method.args.defaults or (known and type(value) in (int, NoneType) and bool(_OF_LOADERS.search(name)))


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
