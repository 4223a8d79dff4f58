"""The calls of a file that build Lightning's own Trainer by its name."""

from __future__ import annotations

import ast

from codemods.code.calls import last_name, value_of
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import TRAINER

FROM_ARGS = f"{TRAINER}.from_argparse_args"


def builds_trainer(call: CallNode) -> bool:
    """Whether a call builds Lightning's own Trainer of its keywords, be it with others from an argparse namespace."""
    return call.scope.resolve(call.node.func) in (TRAINER, FROM_ARGS)


def trainer_calls(file: PythonFile) -> list[CallNode]:
    """The calls of a file that do so, worked out once for all rules."""
    if "trainers" not in file.memo:
        spellings = file.spellings("Trainer")
        known = {*spellings, "from_argparse_args"}
        named = (call for call in file.calls_near(spellings) if last_name(call.node.func) in known)
        file.memo["trainers"] = [call for call in named if builds_trainer(call)] if spellings else []
    found: list[CallNode] = file.memo["trainers"]
    return found


def alike_calls(file: PythonFile, call: CallNode) -> list[CallNode]:
    """The calls of a file that build an object of the same class as one does, this one among them."""
    if builds_trainer(call):
        return trainer_calls(file)
    kind, name = call.scope.resolve(call.node.func), last_name(call.node.func)
    if name is None or kind is None:
        return []
    return [other for other in file.calls_near([name]) if other.scope.resolve(other.node.func) == kind]


def fitted_class(call: CallNode, file: PythonFile) -> str | None:
    """The dotted name of the class whose instance a `fit` call is given, None where it cannot be seen."""
    given = value_of(call.node, "model", 0)
    if isinstance(given, ast.Call):
        return _class_of(given, call)
    if not isinstance(given, ast.Name):
        return None
    built = [
        item.node.value
        for item in file.assignments_to(given.id)
        if isinstance(item.node, ast.Assign) and (not call.within or call.within[-1] in item.within)
    ]
    if len(built) != 1 or not isinstance(built[0], ast.Call):
        return None
    return _class_of(built[0], call)


def _class_of(node: ast.Call, call: CallNode) -> str | None:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "load_from_checkpoint":
        function = function.value
    return call.scope.resolve(function) or call.scope.by_star(function)
