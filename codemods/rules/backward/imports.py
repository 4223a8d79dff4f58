"""Imports that an edit leaves without a use."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst


def unused(file: PythonFile, lost: Mapping[str, int]) -> Iterator[NodeEdit]:
    """The edits that take out what a module imports by `from`, given how many uses each name loses."""
    if file.path.endswith("__init__.py") or "__all__" in file.scope.bindings:
        return
    named = [node.id for node in every_node(file.tree) if isinstance(node, ast.Name)]
    for statement in file.tree.body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                name = alias.asname or alias.name
                if name in lost and named.count(name) == lost[name] and not _leaves_a_hole(file, statement):
                    yield NodeEdit(statement, partial(_without, name=name))


def _leaves_a_hole(file: PythonFile, statement: ast.ImportFrom) -> bool:
    """Whether a file would begin with an empty line without an import, which then stays."""
    end = statement.end_lineno or statement.lineno
    alone = len(statement.names) == 1 and statement is file.tree.body[0]
    return alone and not "".join(file.lines[end : end + 1]).strip()


def _without(node: cst.ImportFrom, name: str) -> cst.ImportFrom | cst.RemovalSentinel:
    import libcst as cst

    if isinstance(node, cst.RemovalSentinel) or isinstance(node.names, cst.ImportStar):
        return node
    kept = [item for item in node.names if (item.evaluated_alias or item.evaluated_name) != name]
    if not kept:
        return cst.RemoveFromParent()
    if kept[-1] is not node.names[-1]:
        kept[-1] = kept[-1].with_changes(comma=node.names[-1].comma)
    return node.with_changes(names=kept)
