"""What a callback watches: a monitor that 1.x had by default, and a mode that went by the monitor's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.options import default_of
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Match, NodeEdit, touches
from codemods.rules.keywords.kept_best import LOGGED, NEWEST, kept_best

if TYPE_CHECKING:
    import libcst as cst

UNTOLD = "ModelCheckpoint has no default monitor since Lightning 0.10"
BEST = "Up to 0.9 it watched val_loss by default; every later release raises an error here."
ACCUMULATED = "early_stop_on"
WATCHED = {
    ACCUMULATED: 'It watched "early_stop_on" by default, which has to be given now.',
    "val_loss": (
        'It watched val_loss by default: up to 0.9 by that name, up to 1.2 as "early_stop_on", which '
        "Lightning filled with it."
    ),
}
"""What EarlyStopping watched by default, and why it is to be said."""
AUTO = '`mode="auto"` was removed in Lightning 1.3'


def monitored(
    file: PythonFile, facts: Facts, at: CallNode, owner: str, given: Mapping[str, ast.keyword]
) -> Iterator[Match]:
    """`mode="auto"`, which went by the monitor's name, and an EarlyStopping that says no monitor."""
    call = at.node
    open_ended = is_open(call)
    if owner.endswith(".EarlyStopping") and not call.args and "monitor" not in given and not open_ended:
        monitor = ACCUMULATED if is_spoken(facts, ACCUMULATED) else "val_loss"
        yield Match(
            file.span(call),
            "EarlyStopping has no default monitor since Lightning 1.6",
            "safe" if is_spoken(facts, monitor) else "unsafe",
            WATCHED[monitor],
            "M021",
            (NodeEdit(call, partial(_with_monitor, name=monitor)),),
        )
    if owner.endswith(".ModelCheckpoint") and not call.args and "monitor" not in given and not open_ended:
        best = literal(given["save_top_k"].value)[1] if "save_top_k" in given else None
        edit = NodeEdit(call, partial(_with_monitor, name="val_loss"))
        if type(best) is int and best > 1:
            saved = not admits_from(facts, LIGHTNING, "0.10")
            level: Fix = "safe" if saved and is_spoken(facts, "val_loss") else "unsafe"
            yield Match(file.span(call), f"{UNTOLD}, and refuses to keep the best {best}", level, BEST, edits=(edit,))
        elif kept_best(facts, file, given.get("save_top_k")) and is_spoken(facts, "val_loss"):
            yield Match(file.span(call), NEWEST, "unsafe", LOGGED, edits=(edit,))
    mode = given.get("mode")
    asked = mode is not None and default_of(file, at, mode.value) == (True, "auto")
    if mode is None or not (asked or is_auto(mode.value)):
        return
    watched = given.get("monitor")
    known, monitor = literal(watched.value) if watched else (not call.args and not open_ended, "")
    if not known or not isinstance(monitor, str):
        reason = (
            'Not rewritten: fixer cannot tell what it watches; write mode="max" '
            'if a higher value is better, "min" otherwise.'
        )
        yield Match(file.span(mode), AUTO, "manual", reason)
        return
    chosen = "max" if "acc" in monitor or monitor.startswith("fmeasure") else "min"
    value = file.source_of(mode.value)
    text = f'"{chosen}" if {value} == "auto" else {value}' if asked else f'"{chosen}"'
    reason = f'It chose "{chosen}" by the name of the metric that it watches.'
    yield Match(file.span(mode), AUTO, "safe", reason, edits=(NodeEdit(mode, partial(_valued, text=text)),))


def is_spoken(facts: Facts, metric: str) -> bool:
    """Whether a file other than documentation has the name of a metric as a string."""
    spelled = (f"{quote}{metric}{quote}".encode() for quote in "\"'")
    return any(facts.kinds.get(path) != "docs" for text in spelled for path in facts.mentions.get(text, ()))


def is_auto(node: ast.expr | None) -> bool:
    """Whether a mode goes by the monitor's name."""
    return node is not None and literal(node) == (True, "auto")


def is_open(call: ast.Call) -> bool:
    """Whether a call gets arguments that are not written out in it."""
    return any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(argument, ast.Starred) for argument in call.args
    )


@touches("arguments")
def _valued(node: cst.Arg, *, text: str) -> cst.Arg:
    import libcst as cst

    return node.with_changes(value=cst.parse_expression(text))


@touches("arguments")
def _with_monitor(node: cst.Call, *, name: str) -> cst.Call:
    import libcst as cst

    added = cst.Arg(
        keyword=cst.Name("monitor"),
        value=cst.SimpleString(f'"{name}"'),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    first = sum(item.keyword is None and not item.star for item in node.args)
    before = [item.with_changes(comma=_comma()) for item in node.args[:first]]
    behind = node.args[first:]
    added = added.with_changes(comma=_comma() if behind else cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=[*before, added, *behind])


def _comma() -> cst.Comma:
    import libcst as cst

    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
