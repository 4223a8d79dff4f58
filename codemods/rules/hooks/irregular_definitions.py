"""Where an old epoch-end hook is made without a plain `def` in the body of its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import ClassNode, PythonFile
from codemods.rules.hooks.epoch_end import HALF, OLDEST, STAGES

EVERY = (*STAGES, *OLDEST, *HALF)
STAGE_OF = {stage.old: stage for stage in EVERY}
PLAIN = tuple(stage.old for stage in STAGES)
"""The names that are Lightning's wherever they are bound."""


def odd(file: PythonFile) -> Iterator[tuple[str, ast.expr | ast.stmt, ClassNode | None]]:
    """Where an old hook is made without a plain `def`: assigned in a class or from outside, or defined in a
    branch of a class that does not have the new hook as well."""
    for item in file.classes:
        bound = list(_bound_below(item.node.body))
        served = {*item.methods, *(name for name, _ in bound)}
        for name, place in bound:
            if name in PLAIN and STAGE_OF[name].new not in served:
                yield name, place, item
    for name in PLAIN:
        for attribute in file.attributes(name):
            if isinstance(attribute.ctx, ast.Store):
                yield name, attribute, None


def _bound_below(nodes: list[ast.stmt]) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """The names that statements of a class bind without being a definition themselves."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        stack: list[ast.AST] = [node]
        while stack:
            inner = stack.pop()
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner.name, inner
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id, inner
            elif not isinstance(inner, ast.ClassDef | ast.Lambda):
                stack.extend(ast.iter_child_nodes(inner))
