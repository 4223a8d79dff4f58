"""Backward passes that a Callback makes through the module of which it is told."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, parameters
from codemods.rule import Match
from codemods.rules.backward.names import MethodNames, path_of
from codemods.rules.backward.training import ProjectTraining
from codemods.rules.backward.weights_changed_before_backward import uncut, without_gradient

MESSAGE = "a Callback's backward pass under manual optimization does not use manual_backward"


def match(file: PythonFile, notes: ProjectTraining, call: CallNode, method: Function) -> Iterator[Match]:
    """A finding for a call of `backward` in a hook, on what was computed through the hook's module; a hook that steps
    an optimizer too trains something of its own."""
    names, function = parameters(method), call.node.func
    if not method.name.startswith("on_") or len(names) < 2 or not isinstance(function, ast.Attribute):
        return
    if any(isinstance(node, ast.Attribute) and node.attr == "step" for node in walk(method)):
        return
    module = names[1]
    own = isinstance(function.value, ast.Name) and function.value.id == module
    loss = call.node.args[0] if own and call.node.args else function.value
    if function.attr == "backward" and _all_manual(notes) and _comes_from(loss, module, MethodNames(method)):
        reason = (
            "Not rewritten: fixer cannot tell which modules it is given. "
            f"`{module}.manual_backward({file.source_of(loss)})` "
            "scales the loss for mixed precision and prepares data parallelism."
        )
        yield Match(file.span(call.node), MESSAGE, "manual", reason)


def _all_manual(notes: ProjectTraining) -> bool:
    """Whether the project trains modules, and all of them by manual optimization."""
    facts = notes.facts
    modules = [other for other in facts.modules if "training_step" in other.methods]
    return bool(modules) and all(notes.mode(other) == "manual" for other in modules)


def _comes_from(node: ast.expr, module: str, names: MethodNames) -> bool:
    """Whether an expression was computed, with its history, by a call of the module or of a part of it."""
    pending, followed = [node], set[str]()
    while pending:
        for inner in uncut(pending.pop()):
            if isinstance(inner, ast.Call) and path_of(inner.func)[:1] == (module,):
                return True
            if isinstance(inner, ast.Name) and inner.id not in followed:
                followed.add(inner.id)
                bound = names.bound.get(inner.id, [])
                pending += [item.value for item in bound if not without_gradient(item.node, names.method)]
    return False
