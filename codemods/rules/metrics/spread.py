"""What a call of a metric is given by `**`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import PythonFile


def brings_task(file: PythonFile, call: ast.Call) -> bool:
    """Whether a dictionary that is spread into a call has the task, or one that is spread into it."""
    waiting = [*_spread(call)]
    seen: set[str] = set()
    for value in waiting:
        if isinstance(value, ast.Name) and value.id not in seen:
            seen.add(value.id)
            waiting += [item.node.value for item in file.assignments_to(value.id) if item.node.value]
        elif _says_task(value):
            return True
        else:
            waiting += _spread(value)
    return False


def _spread(node: ast.expr) -> Iterator[ast.expr]:
    """What is spread into a call, or into a dictionary that is written out."""
    if isinstance(node, ast.Call):
        yield from (item.value for item in node.keywords if item.arg is None)
    elif isinstance(node, ast.Dict):
        yield from (value for key, value in zip(node.keys, node.values, strict=True) if key is None)


def _says_task(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return any(item.arg == "task" for item in node.keywords)
    return isinstance(node, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == "task" for key in node.keys
    )
