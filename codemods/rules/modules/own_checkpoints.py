"""Checkpoints that are loaded by the run that has written them."""

from __future__ import annotations

import ast
import re

from codemods.code.calls import keyword, value_of
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import Facts, literal
from codemods.lightning.kinds import bound_once

LOADS = "load_from_checkpoint"
PATH = "ckpt_path"
BEST = "best"
WRITTEN = ("best_model_path", "last_model_path")
"""What a ModelCheckpoint says of the files that it has written."""
RESUMES = re.compile(r"resume_from_checkpoint(?!\s*=\s*None\b)")


def is_of_this_run(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a call loads what a `fit` before it in the same function has written, which went on from no other file:
    by the name that a ModelCheckpoint gives, or as the best one of the same Trainer."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or any(item.arg is None for item in call.node.keywords):
        return False
    loads = function.attr == LOADS
    path = value_of(call.node, "checkpoint_path", 0) if loads else value_of(call.node, PATH)
    best = not loads and (path is None or literal(path) == (True, BEST))
    if not best and not _is_written(file, facts, call, path):
        return False
    fits = [each for each in _fits(file, call) if not best or _owner(each) == ast.unparse(function.value)]
    return bool(fits) and not any(map(_goes_on, fits)) and not RESUMES.search(file.text)


def _fits(file: PythonFile, call: CallNode) -> list[ast.Call]:
    """The calls of `fit` before a call in the same function."""
    return [
        other.node
        for other in file.calls_near(["fit"])
        if other.within == call.within and _owner(other.node) and other.node.lineno < call.node.lineno
    ]


def _owner(node: ast.Call) -> str:
    return ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) and node.func.attr == "fit" else ""


def _goes_on(fit: ast.Call) -> bool:
    given = keyword(fit, PATH)
    return len(fit.args) > 4 or (given is not None and not is_none(given.value))


def _is_written(file: PythonFile, facts: Facts, call: CallNode, path: ast.expr | None) -> bool:
    """Whether a path, or the one value of its name, is what a ModelCheckpoint says."""
    value = bound_once(facts, file, call, path.id) if isinstance(path, ast.Name) else path
    return isinstance(value, ast.Attribute) and value.attr in WRITTEN
