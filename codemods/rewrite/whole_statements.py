"""The edit that takes out a statement."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.tree_copies import BLOCKS
from codemods.rule import TextEdit


def without_statement(file: PythonFile, statement: ast.stmt) -> TextEdit:
    """The edit that takes out a statement, with its line where it is not the only one of its block."""
    start, end = file.offsets(statement)
    alone = any(getattr(node, name, None) == [statement] for node in walk(file.tree) for name in BLOCKS)
    first, last = file.text.rfind("\n", 0, start) + 1, file.text.find("\n", end)
    if alone or file.text[first:start].strip() or last < 0 or file.text[end:last].strip():
        return TextEdit(start, end, "pass")
    return TextEdit(first, last + 1, "")
