"""What a call is given, what it is called by, and what it stands in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from codemods.code.source import CallNode, ClassNode, PythonFile

Space = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
Node = TypeVar("Node", bound=ast.AST)


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword of that name."""
    return next((item for item in call.keywords if item.arg == name), None)


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """The values of the keywords by name."""
    return {item.arg: item.value for item in call.keywords if item.arg}


def value_of(call: ast.Call, name: str, place: int | None = None) -> ast.expr | None:
    """What a call gives a parameter: at its `place`, where it has one, or by name."""
    if place is not None and place < len(call.args):
        return call.args[place]
    return next((item.value for item in call.keywords if item.arg == name), None)


def called(node: ast.expr) -> ast.expr:
    """What is called, or an expression that is no call, as a decorator may be either."""
    return node.func if isinstance(node, ast.Call) else node


def last_name(node: ast.expr) -> str | None:
    """What a name, or a chain of attributes, ends in."""
    node = node.value if isinstance(node, ast.NamedExpr) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def innermost(within: Sequence[ast.AST], kind: type[Node]) -> Node | None:
    """The innermost node of a kind of those around something."""
    return next((item for item in reversed(within) if isinstance(item, kind)), None)


def class_around(file: PythonFile, within: Sequence[ast.AST]) -> ClassNode | None:
    """The innermost class around something."""
    around = innermost(within, ast.ClassDef)
    return next((item for item in file.classes if item.node is around), None) if around else None


def method_around(call: CallNode) -> tuple[ast.ClassDef, ast.FunctionDef | ast.AsyncFunctionDef] | None:
    """The innermost class around a call and its method that the call stands in, functions inside the method
    included."""
    node = innermost(call.within, ast.ClassDef)
    inside = call.within[call.within.index(node) + 1 :] if node else ()
    method = next((item for item in inside if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    return (node, method) if node and method else None


def space_of(file: PythonFile, call: CallNode) -> Space:
    """The function that a call stands in, or the module."""
    return next(
        (item for item in reversed(call.within) if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)), file.tree
    )
