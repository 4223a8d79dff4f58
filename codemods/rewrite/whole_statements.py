"""The edits that take out statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.tree_copies import BLOCKS
from codemods.rule import NodeEdit, TextEdit

if TYPE_CHECKING:
    import libcst as cst


def without_statement(file: PythonFile, statement: ast.stmt, others: Collection[ast.stmt] = ()) -> TextEdit:
    """The edit that takes out a statement, with its line where a statement of its block is left: `others` are those
    that go too."""
    start, end = file.offsets(statement)
    first, last = file.text.rfind("\n", 0, start) + 1, file.text.find("\n", end)
    shared = file.text[first:start].strip() or last < 0 or file.text[end:last].strip()
    if shared or file.text[:first].endswith(("\\\n", "\\\r\n")) or _holds(file, statement, others):
        return TextEdit(start, end, "pass")
    return TextEdit(first, last + 1, "")


def without_operand(
    file: PythonFile, node: ast.expr, root: ast.AST, stays: Callable[[Sequence[ast.expr]], bool]
) -> TextEdit | None:
    """The edit that takes an operand out of the `or` around it, below a node; None where it stands in none, in brackets
    of its own, or where the operands together say that it `stays`."""
    above = next((item for item in walk(root) if _joins(item, node)), None)
    if not isinstance(above, ast.BoolOp) or stays(above.values):
        return None
    index = above.values.index(node)
    (start, end), first = file.offsets(node), index == 0
    other = file.offsets(above.values[1 if first else index - 1])
    between = file.text[end : other[0]] if first else file.text[other[1] : start]
    if between.split() != ["or"]:
        return None
    return TextEdit(start, other[0], "") if first else TextEdit(other[1], end, "")


def _joins(item: ast.AST, node: ast.expr) -> bool:
    return isinstance(item, ast.BoolOp) and isinstance(item.op, ast.Or) and any(value is node for value in item.values)


def removal(file: PythonFile, statement: ast.stmt, others: Collection[ast.stmt] = ()) -> NodeEdit:
    """The same as an edit of nodes, which goes together with others; what is explained leaves a `pass` behind."""
    if without_statement(file, statement, others).replacement:
        return NodeEdit(statement, _passed)
    return NodeEdit(statement, _removed, line=True)


def _passed(_: cst.Expr) -> cst.Pass:
    import libcst as cst

    return cst.Pass()


def _removed(line: cst.SimpleStatementLine) -> cst.SimpleStatementLine | cst.RemovalSentinel:
    import libcst as cst

    said = any(each.comment for each in line.leading_lines)
    return line.with_changes(body=[cst.Pass()]) if said else cst.RemoveFromParent()


def _holds(file: PythonFile, statement: ast.stmt, others: Collection[ast.stmt]) -> bool:
    """Whether a statement is the first of a block of which nothing is left."""
    blocks = (getattr(node, name, None) for node in walk(file.tree) for name in BLOCKS)
    return any(
        isinstance(block, list) and block[:1] == [statement] and all(each in others for each in block[1:])
        for block in blocks
    )
