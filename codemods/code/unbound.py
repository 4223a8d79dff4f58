"""The names that a module reads, and that nothing in it binds any more."""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections.abc import Callable

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile

Names = tuple[set[str], set[str]]
GIVEN = frozenset(dir(builtins)) | {"__file__", "__path__", "__builtins__", "__class__", "__annotations__"}
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")
"""The nodes of type parameters, which Python has since 3.12."""


def lost(before: PythonFile, after: PythonFile) -> str | None:
    """A name that a file reads and does not bind since it was changed, None where there is none: one that it bound
    before, or a new one, where more of its names than before are bound by nothing.

    A name that any scope binds counts as bound. Where something is imported by `*`, anything may be.
    """
    said, known = _once(before, _names)
    read, bound = _once(after, _names)
    unbound, before_that = read - bound - GIVEN, said - known - GIVEN
    new = unbound - said if len(unbound) > len(before_that) else set()
    return None if "*" in bound else min(unbound & known | new, default=None)


def lost_in_scope(before: PythonFile, after: PythonFile) -> str | None:
    """A name that a scope of a file reads and neither it nor one around it binds, where it was bound somewhere, and
    found by all, before it was changed."""
    try:
        unfound, known = _once(before, _unfound)
        new, _ = _once(after, _unfound)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return min((new - unfound) & known, default=None)


def _once(file: PythonFile, said: Callable[[PythonFile], Names]) -> Names:
    """What is said of a file's names, which is asked of what a rewrite made and then of what the next one changes."""
    known: dict[Callable[[PythonFile], Names], Names] = file.memo.setdefault("unbound", {})
    if said not in known:
        known[said] = said(file)
    return known[said]


def _unfound(file: PythonFile) -> Names:
    """The names that no scope in which they are read binds, and those that any scope binds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = symtable.symtable(file.encode(file.text), "<file>", "exec")  # type: ignore[arg-type]
    stack, found = [top], set(GIVEN)
    read: set[str] = set()
    bound: set[str] = set()
    while stack:
        table = stack.pop()
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace() or symbol.is_parameter():
                bound.add(name)
                if table is top or symbol.is_declared_global():
                    found.add(name)
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(name)
        stack += table.get_children()
    return read - found, bound


def _names(file: PythonFile) -> Names:
    """The names that are read in a file, and those that are bound."""
    read: set[str] = set()
    bound: set[str | None] = set()
    for node in every_node(file.tree):
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
