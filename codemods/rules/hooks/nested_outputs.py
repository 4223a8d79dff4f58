"""Hooks behind a training batch that take outputs for the list of lists that they were up to Lightning 1.2.

`trainer/training_loop.py` of 1.2.10 gave a list for each optimizer, with a result for each part of the batch; 1.3.8
gives what the step returned, as all later releases.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, parameters, uses
from codemods.rule import Match

HOOK = "on_train_batch_end"
REASON = (
    'Not rewritten: `{0}` is a dict now, and has no key {1}. Read `{0}["loss"]`, and by their keys what else '
    "training_step returns."
)


def nested(file: PythonFile, method: Function, before: int) -> Iterator[Match]:
    """What is found of a hook that reads its outputs by a number, behind `before` arguments of its own."""
    given = parameters(method)[before : before + 1]
    if method.name != HOOK or not given or any(not isinstance(use.ctx, ast.Load) for use in uses(method, given[0])):
        return
    for node in walk(method):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == given[0]:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if type(key) is int:
                message = f"`{given[0]}` of {HOOK} is what training_step returned since Lightning 1.3, and no list"
                yield Match(file.span(node), message, "manual", REASON.format(given[0], key))
