"""The edits that take out statements."""

from __future__ import annotations

import ast
from collections.abc import Collection

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.tree_copies import BLOCKS
from codemods.rule import TextEdit


def without_statement(file: PythonFile, statement: ast.stmt, others: Collection[ast.stmt] = ()) -> TextEdit:
    """The edit that takes out a statement, with its line where a statement of its block is left: `others` are those
    that go too."""
    start, end = file.offsets(statement)
    first, last = file.text.rfind("\n", 0, start) + 1, file.text.find("\n", end)
    shared = file.text[first:start].strip() or last < 0 or file.text[end:last].strip()
    if shared or file.text[:first].endswith(("\\\n", "\\\r\n")) or _holds(file, statement, others):
        return TextEdit(start, end, "pass")
    return TextEdit(first, last + 1, "")


def _holds(file: PythonFile, statement: ast.stmt, others: Collection[ast.stmt]) -> bool:
    """Whether a statement is the first of a block of which nothing is left."""
    blocks = (getattr(node, name, None) for node in walk(file.tree) for name in BLOCKS)
    return any(
        isinstance(block, list) and block[:1] == [statement] and all(each in others for each in block[1:])
        for block in blocks
    )
