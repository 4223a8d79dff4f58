"""Quotes of texts that are written where others stand around them."""

from __future__ import annotations

import ast
import re

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile

_OPENS = re.compile(r"[a-zA-Z]*(\"\"\"|'''|\"|')")


def within_quotes(file: PythonFile, node: ast.AST, text: str) -> str:
    """The text of an expression that takes the place of a node: with single quotes in an f-string that has double ones,
    which would end there before Python 3.12."""
    if '"' not in text or "'" in text:
        return text
    for outer in every_node(file.tree):
        if isinstance(outer, ast.JoinedStr) and any(item is node for item in every_node(outer)):
            opened = _OPENS.match(file.source_of(outer))
            return text.replace('"', "'") if opened and opened[1] == '"' else text
    return text
