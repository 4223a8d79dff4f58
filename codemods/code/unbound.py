"""The names that a module reads and nothing in it binds."""

from __future__ import annotations

import ast
import builtins

from codemods.nodes import every_node

GIVEN = frozenset(dir(builtins)) | {"__file__", "__path__", "__builtins__", "__class__", "__annotations__"}
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")
"""The nodes of type parameters, which Python has since 3.12."""


def unbound(tree: ast.Module) -> frozenset[str] | None:
    """The names that are read somewhere and bound nowhere in a module, those that Python gives left out.

    A name that any scope binds counts as bound: what is given is unbound in truth, and not all that is. None where
    something is imported by `*`, so that this is not known.
    """
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
    return None if "*" in bound else frozenset(read - bound - GIVEN)
