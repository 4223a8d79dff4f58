"""Copies of trees that share with the original all that is the same in both."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from codemods.nodes import CHILD_FIELDS

Node = TypeVar("Node", bound=ast.AST)
BLOCKS = ("body", "orelse", "finalbody")


def changed(node: Node, **fields: Any) -> Node:
    """A copy of a node with other values in some fields."""
    made = type(node).__new__(type(node))
    vars(made).update(vars(node), **fields)
    return made


def at(node: Node, place: ast.AST) -> Node:
    """A copy of a node which stands where another does."""
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return changed(node, **{name: getattr(place, name) for name in names})


def deep(node: Node) -> Node:
    """A copy of a node and of all that is below it, at the same places."""
    fields = {
        name: [deep(item) if isinstance(item, ast.AST) else item for item in value]
        if isinstance(value, list)
        else deep(value)
        if isinstance(value, ast.AST)
        else value
        for name, value in ast.iter_fields(node)
    }
    return changed(node, **fields)


def replaced(node: Node, swap: Callable[[ast.AST], ast.AST | None]) -> Node:
    """The tree with what `swap` gives instead of a node, where it gives something; what is above is copied, all else
    is the same. `swap` is asked of a node when all below it are done."""
    fields: dict[str, Any] = {}
    for name in CHILD_FIELDS.get(type(node), ()):
        value = getattr(node, name)
        if type(value) is list:
            new = [replaced(item, swap) if isinstance(item, ast.AST) else item for item in value]
            if any(one is not other for one, other in zip(new, value, strict=True)):
                fields[name] = new
        elif isinstance(value, ast.AST) and (one := replaced(value, swap)) is not value:
            fields[name] = one
    made = changed(node, **fields) if fields else node
    other: Any = swap(made)
    return made if other is None else other


def blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, class or module, those of functions and classes inside it left out."""
    stack: list[Any] = [owner]
    while stack:
        node = stack.pop()
        for name in BLOCKS:
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body
                stack.extend(
                    item for item in body if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                )
        stack.extend(getattr(node, "handlers", ()))
        stack.extend(getattr(node, "cases", ()))
