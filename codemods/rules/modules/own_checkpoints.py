"""Checkpoints that are loaded by the run that has written them: what is trusted may run code, so that nothing goes by
what a thing is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.code.calls import keyword, value_of
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import CALLBACKS, Facts
from codemods.lightning.kinds import bound_once
from codemods.lightning.trainer_variables import is_trainer

LOADS = "load_from_checkpoint"
PATH = "ckpt_path"
BEST, CHECKPOINT = "best", ".ModelCheckpoint"
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
    fits = [each for each in _fits(file, facts, call) if not best or _owner(each) == ast.unparse(function.value)]
    if not fits or not (best or _is_written(file, facts, call, path, fits)):
        return False
    return not any(map(_goes_on, fits)) and not RESUMES.search(file.text)


def _fits(file: PythonFile, facts: Facts, call: CallNode) -> list[ast.Call]:
    """The calls of a Trainer's `fit` before a call in the same function."""
    return [
        other.node
        for other in file.calls_near(["fit"])
        if other.within == call.within
        and _owner(other.node)
        and other.node.lineno < call.node.lineno
        and is_trainer(file, facts, other)
    ]


def _owner(node: ast.Call) -> str:
    return ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) and node.func.attr == "fit" else ""


def _goes_on(fit: ast.Call) -> bool:
    given = keyword(fit, PATH)
    return len(fit.args) > 4 or (given is not None and not is_none(given.value))


def _is_written(
    file: PythonFile, facts: Facts, call: CallNode, path: ast.expr | None, fits: Sequence[ast.Call]
) -> bool:
    """Whether a path, or the one value of its name, is what a ModelCheckpoint says that the file makes, or the one of a
    Trainer that is fitted."""
    value = bound_once(facts, file, call, path.id) if isinstance(path, ast.Name) else path
    if not isinstance(value, ast.Attribute) or value.attr not in WRITTEN:
        return False
    if isinstance(value.value, ast.Attribute) and value.value.attr == "checkpoint_callback":
        return ast.unparse(value.value.value) in map(_owner, fits)
    made = bound_once(facts, file, call, value.value.id) if isinstance(value.value, ast.Name) else None
    dotted = call.scope.resolve(made.func) if isinstance(made, ast.Call) else None
    return dotted is not None and dotted.startswith(CALLBACKS) and dotted.endswith(CHECKPOINT)
