"""The edit of LIT213: calls of `self.log` in place of returned dicts."""

from __future__ import annotations

from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods import edits
from codemods.hooks.epoch_end import LOGGED
from codemods.hooks.returned_logs import Returned
from codemods.syntax import Function, returns


def logging_itself(node: cst.FunctionDef, method: Function, read: tuple[Returned, ...], kept: bool) -> cst.FunctionDef:
    """The method with the calls before each of those returns, which lose `log` and `progress_bar` unless `kept`, or
    go where nothing else is returned to anyone."""
    order = {id(each): index for index, each in enumerate(returns(method))}
    wanted = {order[id(each.node)]: each for each in read}
    pending = iter(range(len(order)))

    class Log(cst.CSTTransformer):
        def visit_FunctionDef(self, inner: cst.FunctionDef) -> bool:
            return inner is node

        def visit_Lambda(self, inner: cst.Lambda) -> bool:
            return False

        def visit_ClassDef(self, inner: cst.ClassDef) -> bool:
            return False

        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> Any:
            last = updated_node.body[-1]
            if not isinstance(last, cst.Return):
                return updated_node
            found = wanted.get(next(pending))
            return cst.FlattenSentinel(_lines(updated_node, last, found, kept)) if found else updated_node

        def leave_SimpleStatementSuite(
            self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
        ) -> Any:
            if not isinstance(updated_node.body[-1], cst.Return):
                return updated_node
            line = cst.SimpleStatementLine(body=updated_node.body, trailing_whitespace=updated_node.trailing_whitespace)
            lines = self.leave_SimpleStatementLine(line, line)
            return cst.IndentedBlock(body=list(lines)) if isinstance(lines, cst.FlattenSentinel) else updated_node

    result: cst.FunctionDef = node.visit(Log())  # type: ignore[assignment]
    if result.returns and len(read) == len(order) and all(each.emptied for each in read):
        result = result.with_changes(returns=result.returns.with_changes(annotation=cst.Name("None")))
    return result


def _lines(line: cst.SimpleStatementLine, last: cst.Return, found: Returned, kept: bool) -> list[Any]:
    lines: list[Any] = edits.statements("".join(f"{call}\n" for call in found.calls))
    if not found.emptied:
        lines.append(line.with_changes(body=[last if kept else _without(last)], leading_lines=[]))
    elif not found.last:
        lines.append(line.with_changes(body=[cst.Return()], leading_lines=[]))
    else:
        lines[-1] = lines[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    before = list(line.body[:-1])
    if before:
        before[-1] = edits.without_semicolon(before[-1])
        lines.insert(0, line.with_changes(body=before, trailing_whitespace=cst.TrailingWhitespace()))
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    return lines


def _without(last: cst.Return) -> cst.Return:
    """The return without the two keys; what is left of one entry stands on one line."""
    value = last.value
    assert isinstance(value, cst.Dict)
    logged = m.DictElement(key=m.SimpleString(value=m.MatchIfTrue(lambda text: text.strip("\"'") in LOGGED)))
    left = [item for item in value.elements if not m.matches(item, logged)]
    if len(left) < 2:
        left = [item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in left]
        return last.with_changes(value=cst.Dict(left))
    if left[-1] is not value.elements[-1]:
        left[-1] = left[-1].with_changes(comma=value.elements[-1].comma)
    return last.with_changes(value=value.with_changes(elements=left))
