"""Sections of a configuration that are given to a function of the project, and what that does with them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.configurations.evidence import Handing
from codemods.lightning.facts import TRAINER, Facts


@dataclass(frozen=True)
class TakenSection:
    """A section that a parameter of a function in a file is given; `beside` are the arguments that a Trainer gets
    beside it by `**`, None where it is handed to none."""

    section: str
    path: str
    parameter: str
    beside: frozenset[str] | None


def taken_section(facts: Facts, path: str, handing: Handing) -> TakenSection | None:
    """The parameter of the function of the project that a file gives a section; None where there is none."""
    found = _function(facts, path, handing.called)
    if found is None:
        return None
    file, function, bound = found
    given = function.args
    names = [item.arg for item in [*given.posonlyargs, *given.args]][bound:]
    name: str | None = handing.place if isinstance(handing.place, str) else None
    if isinstance(handing.place, int):
        name = names[handing.place] if handing.place < len(names) else None
    if name is None or name not in {*names, *(item.arg for item in given.kwonlyargs)}:
        return None
    return TakenSection(handing.section, file.path, name, _beside(file, function, name))


def _function(facts: Facts, path: str, called: str) -> tuple[PythonFile, Function, bool] | None:
    """What is called, with its file, and whether an instance or a class is its first argument."""
    opened = facts.find_definition(called, path)
    if opened and isinstance(opened[1], Function):
        return opened[0], opened[1], False
    owner, _, name = (called, "", "__init__") if opened else called.rpartition(".")
    found = facts.find_opened(owner, path)
    method = found[1].methods.get(name) if found else None
    if found is None or method is None:
        return None
    static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in method.decorator_list)
    return found[0], method, not static


def _beside(file: PythonFile, function: Function, name: str) -> frozenset[str] | None:
    """What a Trainer in a function gets beside all that a parameter holds."""
    for call in file.calls_near(file.spellings("Trainer")):
        spread = [item.value for item in call.node.keywords if item.arg is None]
        built = function in call.within and call.scope.resolve(call.node.func) == TRAINER
        if built and any(isinstance(node, ast.Name) and node.id == name for each in spread for node in walk(each)):
            return frozenset(item.arg for item in call.node.keywords if item.arg)
    return None
