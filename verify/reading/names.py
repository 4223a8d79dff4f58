"""The names that nodes of a tree, and files, go by."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath


def last_name(node: ast.AST) -> str:
    """What a name, or a chain of attributes, ends in: `c` of `a.b.c`; nothing of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def in_tests(path: str) -> bool:
    """Whether a file stands in a folder of tests."""
    return bool({"test", "tests"} & set(PurePosixPath(path).parts[:-1]))
