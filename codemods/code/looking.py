"""What is done in an expression of which nobody reads what it comes to."""

from __future__ import annotations

import ast

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.rows import row

CALLS = (ast.Call, ast.Await)
SHOWING = frozenset({"ascii", "bool", "id", "isinstance", "print", "repr", "str", "type"})
"""Functions that only look at what they are given, whatever it is."""


def looked_at(node: ast.expr, known: ModuleNames) -> list[ast.expr] | None:
    """The calls in an expression that only looks at what they give, in their order; None where it does more, or is such
    a call itself."""
    parts = _parts(node, known)
    if parts is None:
        return None
    found: list[ast.expr] = []
    for item in parts:
        if known.is_quiet(item):
            continue
        inner = looked_at(item, known)
        if inner is None and not isinstance(item, CALLS):
            return None
        found += [item] if inner is None else inner
    return found


def is_shown(node: ast.expr) -> bool:
    """Whether anything in an expression is shown."""
    return any(isinstance(item, ast.Name) and item.id in SHOWING for item in every_node(node))


def _parts(node: ast.expr, known: ModuleNames) -> list[ast.expr] | None:
    """What an expression looks at, in order."""
    if isinstance(node, ast.Call):
        shown = isinstance(node.func, ast.Name) and node.func.id in SHOWING - known.taken
        plain = not any(isinstance(item, ast.Starred) for item in node.args) and all(item.arg for item in node.keywords)
        return [*node.args, *(item.value for item in node.keywords)] if shown and plain else None
    if isinstance(node, ast.Tuple | ast.List | ast.ListComp):
        return row(node, known)
    if isinstance(node, ast.Dict):
        named = all(isinstance(item, ast.Constant) for item in node.keys)
        return node.values if named else None
    if isinstance(node, ast.JoinedStr):
        fields = [item for item in node.values if isinstance(item, ast.FormattedValue)]
        return [item.value for item in fields] if all(item.format_spec is None for item in fields) else None
    if isinstance(node, ast.UnaryOp):
        return [node.operand] if isinstance(node.op, ast.Not) else None
    if isinstance(node, ast.BoolOp):
        return node.values[:1] if all(map(known.is_quiet, node.values[1:])) else None
    if isinstance(node, ast.Compare):
        same = all(isinstance(item, ast.Is | ast.IsNot) for item in node.ops)
        return [node.left, *node.comparators] if same else None
    return None
