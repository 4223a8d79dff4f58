"""The names that a module reads, and that nothing in it binds any more."""

from __future__ import annotations

import ast
import builtins

from codemods.code.nodes import every_node

GIVEN = frozenset(dir(builtins)) | {"__file__", "__path__", "__builtins__", "__class__", "__annotations__"}
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")
"""The nodes of type parameters, which Python has since 3.12."""


def lost(before: ast.Module, after: ast.Module) -> str | None:
    """A name that a module reads and does not bind any more since it was changed, None where there is none.

    A name that any scope binds counts as bound. Where something is imported by `*`, anything may be.
    """
    _, known = _names(before)
    read, bound = _names(after)
    return None if "*" in bound else min((read - bound - GIVEN) & known, default=None)


def _names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that are read in a module, and those that are bound."""
    read: set[str] = set()
    bound: set[str | None] = set()
    for node in every_node(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            bound.add(node.rest)
        elif isinstance(node, NAMED) or type(node).__name__ in PARAMETERS:
            bound.add(getattr(node, "name", None))
    return read, {name for name in bound if name is not None}
