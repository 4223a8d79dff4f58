"""The names that nodes of a tree go by."""

from __future__ import annotations

import ast


def last_name(node: ast.AST) -> str:
    """What a name, or a chain of attributes, ends in: `c` of `a.b.c`; nothing of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
