"""What is read of each of a Trainer's schedulers, which were dictionaries."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.rules.trainer.owners import Within

KEYS = ("scheduler", "name", "interval", "frequency", "reduce_on_plateau", "monitor", "strict")
"""The keys that are attributes of the same names now."""


def read_of_each(file: PythonFile, node: ast.expr, within: Within) -> list[tuple[ast.Subscript, str]] | None:
    """The items that a loop over some schedulers takes of each, with what they are called by now; None where the
    schedulers are not looped over, or one of them is used in another way."""
    parent, above = within[-1], within[-2] if len(within) > 1 else None
    loop: ast.AST | None = parent
    looped: ast.AST = node
    place = _place(node, parent)
    if place is not None:
        loop, looped = above, parent
    if not isinstance(loop, ast.For | ast.comprehension) or loop.iter is not looped:
        return None
    target: ast.expr | None = loop.target
    if place is not None:
        index, number = place
        target = target.elts[index] if isinstance(target, ast.Tuple) and len(target.elts) == number else None
    if not isinstance(target, ast.Name):
        return None
    outside = within[: within.index(loop)]
    inner = outside[-1] if isinstance(loop, ast.comprehension) and outside else None
    space = inner or next((item for item in reversed(outside) if isinstance(item, Function)), file.tree)
    if any(isinstance(item, ast.arg) and item.arg == target.id for item in walk(space)):
        return None
    found = list(_readings(space, target))
    return None if None in found else [(item, f"{target.id}.{key}") for item, key in filter(None, found)]


def _place(node: ast.expr, parent: ast.AST) -> tuple[int, int] | None:
    """Where `enumerate` and `zip` put each of some schedulers, and of how many values that is one."""
    if (
        not isinstance(parent, ast.Call)
        or node not in parent.args
        or any(item.arg != "strict" for item in parent.keywords)
    ):
        return None
    if any(isinstance(item, ast.Starred) for item in parent.args):
        return None
    if ast.unparse(parent.func) == "enumerate":
        return (1, 2) if parent.args == [node] else None
    return (parent.args.index(node), len(parent.args)) if ast.unparse(parent.func) == "zip" else None


def _readings(space: ast.AST, target: ast.Name) -> Iterator[tuple[ast.Subscript, str] | None]:
    """The uses of a name, None for what is no item of it by a known key."""
    items = {
        id(node.value): node
        for node in walk(space)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    }
    for node in walk(space):
        if isinstance(node, ast.Name) and node.id == target.id and node is not target:
            item = items.get(id(node))
            key = literal(item.slice)[1] if item else None
            yield (item, key) if item and key in KEYS else None
