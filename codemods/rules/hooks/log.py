"""The edit of LIT213: calls of `self.log` in place of returned dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods.code.syntax import Function, returns
from codemods.rewrite import edits
from codemods.rules.hooks.epoch_end import LOGGED
from codemods.rules.hooks.returned_logs import ReturnedLog
from codemods.rules.hooks.returning import at_returns


def logging_itself(
    node: cst.FunctionDef, method: Function, read: tuple[ReturnedLog, ...], kept: bool
) -> cst.FunctionDef:
    """The method with the calls before each of those returns, which lose `log` and `progress_bar` unless `kept`, or
    go where nothing else is returned to anyone."""
    order = {id(each): index for index, each in enumerate(returns(method))}
    wanted = {order[id(each.node)]: each for each in read}
    pending = iter(range(len(order)))

    def logged(line: cst.SimpleStatementLine, last: cst.Return) -> list[Any] | None:
        found = wanted.get(next(pending))
        return _lines(line, last, found, kept) if found else None

    result = at_returns(node, logged)
    names = {each.name: each.emptied for each in read if each.name}
    names |= dict.fromkeys((name for each in read for name in each.unread), True)
    if names and (not kept or any(names.values())):
        result = cst.ensure_type(result.visit(_KeyRemoval(names)), cst.FunctionDef)
    if result.returns and len(read) == len(order) and all(each.emptied for each in read):
        result = result.with_changes(returns=result.returns.with_changes(annotation=cst.Name("None")))
    return result


def _lines(line: cst.SimpleStatementLine, last: cst.Return, found: ReturnedLog, kept: bool) -> list[Any]:
    lines: list[Any] = edits.statements("".join(f"{call}\n" for call in found.calls))
    above = [*line.leading_lines]
    if not found.emptied:
        left = _spread(last if kept else _without(last), found.spread)
        lines.append(line.with_changes(body=[left], leading_lines=[]))
    elif not found.last:
        lines.append(line.with_changes(body=[cst.Return()], leading_lines=[]))
    elif isinstance(lines[-1], cst.SimpleStatementLine):
        lines[-1] = lines[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    elif comment := line.trailing_whitespace.comment:  # a loop keeps none behind it
        above.append(cst.EmptyLine(comment=comment))
    before = list(line.body[:-1])
    if before:
        before[-1] = edits.without_semicolon(before[-1])
        lines.insert(0, line.with_changes(body=before, trailing_whitespace=cst.TrailingWhitespace()))
    lines[0] = lines[0].with_changes(leading_lines=above)
    return lines


def _spread(last: cst.Return, parts: tuple[str, ...]) -> cst.Return:
    """The return with the keys of some dicts beside the others."""
    if not parts or not isinstance(last.value, cst.Dict):
        return last
    more = cst.ensure_type(cst.parse_expression("{" + ", ".join(parts) + "}"), cst.Dict)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    own = [item.with_changes(comma=comma) if item is last.value.elements[-1] else item for item in last.value.elements]
    return last.with_changes(value=last.value.with_changes(elements=[*own, *more.elements]))


def _without(last: cst.Return) -> cst.Return:
    """The return without the two keys."""
    return last if isinstance(last.value, cst.Name) else last.with_changes(value=_stripped(last.value))


class _KeyRemoval(cst.CSTTransformer):
    """Takes the keys out of the dicts of some names, or the dicts where nothing is left to return."""

    def __init__(self, names: Mapping[str, bool]) -> None:
        self.names = names

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign | cst.RemovalSentinel:
        target = original_node.targets[0].target
        if not isinstance(target, cst.Name) or target.value not in self.names:
            return updated_node
        if self.names[target.value]:
            return cst.RemoveFromParent()
        return updated_node.with_changes(value=_stripped(updated_node.value))


def _stripped(value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """A dict, or a call that makes one, without the two keys; what is left of one entry stands on one line."""
    if isinstance(value, cst.Call):
        if value.args and isinstance(value.args[0].value, cst.Dict):
            inner = _stripped(value.args[0].value)
            small = isinstance(inner, cst.Dict) and len(inner.elements) < 2
            first = cst.Arg(inner) if small and inner else value.args[0].with_changes(value=inner)
            space = {"whitespace_before_args": cst.SimpleWhitespace("")} if small else {}
            return value.with_changes(args=[first], **space)
        return edits.without_arguments(value, frozenset(LOGGED))
    if not isinstance(value, cst.Dict):
        return value
    logged = m.DictElement(key=m.SimpleString(value=m.MatchIfTrue(lambda text: text.strip("\"'") in LOGGED)))
    left = [item for item in value.elements if not m.matches(item, logged)]
    if len(left) < 2:
        return cst.Dict([item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in left])
    if left[-1] is not value.elements[-1]:
        left[-1] = left[-1].with_changes(comma=value.elements[-1].comma)
    return value.with_changes(elements=left)
