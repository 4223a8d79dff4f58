"""Statements in the place of each `return` of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

Change = Callable[[cst.SimpleStatementLine, cst.Return], Sequence[cst.BaseStatement] | None]


def at_returns(function: cst.FunctionDef, change: Change) -> cst.FunctionDef:
    """The function with the lines that end in a `return` of its own, in their order, changed.

    `change` gets the line and the `return`, and gives what takes their place, None for no change. A block on the line
    of its `if` gets lines of its own where it needs more than one.
    """
    result: cst.FunctionDef = function.visit(_AtReturns(function, change))  # type: ignore[assignment]
    return result


class _AtReturns(cst.CSTTransformer):
    def __init__(self, function: cst.FunctionDef, change: Change) -> None:
        super().__init__()
        self._function, self._change = function, change

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return node is self._function

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        lines = self._changed(updated_node)
        return updated_node if lines is None else cst.FlattenSentinel(lines)

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> Any:
        line = cst.SimpleStatementLine(body=updated_node.body, trailing_whitespace=updated_node.trailing_whitespace)
        lines = self._changed(line)
        if lines is None:
            return updated_node
        if len(lines) == 1 and isinstance(lines[0], cst.SimpleStatementLine):
            return updated_node.with_changes(body=lines[0].body)
        return cst.IndentedBlock(body=lines)

    def _changed(self, line: cst.SimpleStatementLine) -> Sequence[cst.BaseStatement] | None:
        last = line.body[-1]
        return self._change(line, last) if isinstance(last, cst.Return) else None
