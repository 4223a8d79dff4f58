"""Tensor hooks that read gradients, clip or step in the middle of a backward pass, where no rewrite is plain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.calls import last_name
from codemods.code.source import CallNode, PythonFile
from codemods.rules.backward.accumulate_grad_hooks import is_parameter
from codemods.rules.backward.hooks import AnyFunction, GradientHook, body_of, called_by, looks_at

WEIGHTS = re.compile(r"(weight|bias)(_\w+)?")
"""What layers of torch call their parameters."""
MAKERS = frozenset({"Parameter", "UninitializedParameter"})
CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "get_total_norm"})
MESSAGE = "a tensor hook {what}"
ON_PARAMETER = (
    "Not rewritten: fixer cannot tell how often it should run. A tensor "
    "hook runs once for each backward pass, before the "
    "gradient of its parameter is accumulated, and in no order with those of others. For the parameter's own gradient "
    "use register_post_accumulate_grad_hook (torch >= 2.1), for all of them a line after backward, or "
    "on_before_optimizer_step."
)
ON_TENSOR = (
    "Not rewritten: a tensor hook gets the gradient as its argument, before `.grad` is set, which holds None or that "
    "of the backward pass before. Use the argument."
)


def premature(file: PythonFile, call: CallNode, hook: GradientHook, receiver: ast.expr) -> tuple[str, str] | None:
    """What is wrong with a hook, and the advice. One that looks at what it gets beside what is there may know both."""
    left = [name for name in hook.parameters() if name != "self"]
    if left and looks_at(hook, left[0], call, file):
        return None
    functions = [hook.function, *called_by(hook, call, file)]
    own = hook.stands_for(receiver.id) if isinstance(receiver, ast.Name) else [ast.unparse(receiver)]
    if any(ast.unparse(node.value) in own for node in _gradients(functions[:1])):
        surely = _is_parameter(file, call, receiver)
        what = "reads the gradient that is accumulated after it" if surely else "reads `.grad`, which is set after it"
        return MESSAGE.format(what=what), ON_PARAMETER if surely else ON_TENSOR
    if not _is_parameter(file, call, receiver):
        return None
    read = ["reads gradients that may not be accumulated yet"] if any(True for _ in _gradients(functions)) else []
    done = [*(what for function in functions for what in _done(function)), *read]
    return (MESSAGE.format(what=done[0]), ON_PARAMETER) if done else None


def _gradients(functions: list[AnyFunction]) -> Iterator[ast.Attribute]:
    for function in functions:
        for node in body_of(function):
            if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load):
                yield node


def _done(function: AnyFunction) -> Iterator[str]:
    """What a function does with all gradients."""
    for node in body_of(function):
        if not isinstance(node, ast.Call):
            continue
        name = last_name(node.func)
        if name in CLIPS:
            yield "clips gradients that may not be accumulated yet"
        elif name == "step" and isinstance(node.func, ast.Attribute) and "opt" in ast.unparse(node.func.value).lower():
            yield "steps an optimizer, whose gradients may not be accumulated yet"


def _is_parameter(file: PythonFile, call: CallNode, receiver: ast.expr, followed: bool = False) -> bool:
    """Whether a hook's tensor is surely a parameter of a module."""
    if isinstance(receiver, ast.Attribute):
        return WEIGHTS.fullmatch(receiver.attr) is not None or _is_made(file, receiver)
    if isinstance(receiver, ast.Call):
        given = receiver.args[0] if receiver.args else None
        return last_name(receiver.func) == "next" and isinstance(given, ast.Call) and _runs(given)
    if not isinstance(receiver, ast.Name):
        return False
    if is_parameter(receiver.id, call, file):
        return True
    bound = [item for item in file.assignments_to(receiver.id) if item.within == call.within]
    value = bound[0].node.value if len(bound) == 1 else None
    return value is not None and not followed and _is_parameter(file, call, value, True)


def _runs(call: ast.Call) -> bool:
    return last_name(call.func) == "parameters"


def _is_made(file: PythonFile, receiver: ast.Attribute) -> bool:
    """Whether all that a file binds an attribute to are new parameters."""
    text = ast.unparse(receiver)
    made = [
        item.node.value
        for item in file.assignments
        for target in (item.node.targets if isinstance(item.node, ast.Assign) else [item.node.target])
        if isinstance(target, ast.Attribute) and target.attr == receiver.attr and ast.unparse(target) == text
    ]
    return bool(made) and all(isinstance(node, ast.Call) and last_name(node.func) in MAKERS for node in made)
