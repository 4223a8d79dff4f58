"""What an expression is, where its text alone says it."""

from __future__ import annotations

import ast
from typing import Any

_LITERAL = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.Call)
"""What may be a literal besides constants: `set()` is the one call."""


def literal(node: ast.expr) -> tuple[bool, Any]:
    """(True, value) where the node is a literal, else (False, None)."""
    if isinstance(node, ast.Constant):
        return True, node.value
    if not isinstance(node, _LITERAL) or (isinstance(node, ast.Call) and (node.args or node.keywords)):
        return False, None
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None
