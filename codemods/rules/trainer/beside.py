"""What stands beside an argument of Trainer that what it becomes does not go with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.arguments import find, first
from codemods.lightning.configured_values import may_hold
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import kind_of, part_of_choice
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rules.trainer.domains import kinds_of


def clash(
    facts: Facts,
    file: PythonFile,
    call: CallNode,
    item: ast.keyword,
    new: tuple[tuple[str, str | None], ...],
) -> str | None:
    """Why a call does not take the new keywords of an argument; None where it does."""
    given = keywords(call.node)
    for name, _ in new:
        if name in given and name != item.arg:
            return f"`{name}=` is given too; keep one of the two"
        for other, value in given.items():
            row = find(other, value, kinds_of(facts, file, call, value)) if other != item.arg else None
            if row and row.action == "write" and row.keyword == name:
                return f"`{other}=` is to become `{name}=` too; keep one of the two"
    return None


def may_be_brought(file: PythonFile, facts: Facts, call: CallNode, names: Iterable[str], callback: bool) -> bool:
    """Whether a `**` of the call may name what an argument becomes, its keywords or one more callback: that takes a
    release which the pins admit, and that had the keyword."""
    spread = [item.value for item in call.node.keywords if item.arg is None]
    more = {"callbacks"} - keywords(call.node).keys() if callback else set()
    had = {name for name in {*names, *more} if admits_from(facts, LIGHTNING, first(name))}
    return bool(had) and any(may_hold(facts, file, call, each, had) for each in spread)


def is_bar_shown(item: ast.keyword, given: Mapping[str, ast.expr]) -> bool | None:
    """Whether a Trainer shows the progress bar that an argument is about, by the others that it is given; None where
    it may or may not."""
    asked = [literal(given[name]) for name in ("show_progress_bar", "enable_progress_bar") if name in given]
    if item.arg == "process_position" and "progress_bar_refresh_rate" in given:
        asked.append((True, literal(given["progress_bar_refresh_rate"]) != (True, 0)))
    if any(known and not value for known, value in asked):
        return False
    return True if all(known for known, _ in asked) else None


def shown_or_not(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr) -> str:
    """What says whether there is a progress bar, for a choice between none (0) and one that is drawn as usual."""
    if not isinstance(value, ast.IfExp):
        return ""
    arms = [literal(arm) for arm in (value.body, value.orelse)]
    if not all(known and type(arm) in (int, type(None)) and arm in (0, 1, None) for known, arm in arms):
        return ""
    hidden = [arm == 0 for _, arm in arms]
    test = value.test
    if hidden == [True, False] and not _is_negated(test):
        return f"not {part_of_choice(file, test)}"
    if hidden == [True, False] and isinstance(test, ast.UnaryOp):
        test = test.operand
    elif hidden != [False, True]:
        return ""
    told = isinstance(test, ast.Compare) or kind_of(facts, file, call, test) == "bool" or _is_negated(test)
    return file.source_of(test) if told else f"bool({file.source_of(test)})"


def _is_negated(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
