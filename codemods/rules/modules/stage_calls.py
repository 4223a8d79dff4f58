"""`datamodule.setup()` without a stage, of a class that leaves setup as Lightning has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Match, TextEdit
from codemods.rules.modules.of_instances import class_of, class_said, has

KINDS = (MODULE, f"{ROOT}.LightningDataModule")
STAGED = ("setup", "teardown")
_ALONE = "Lightning's own does nothing with it."


def unstaged(file: PythonFile) -> Iterator[tuple[CallNode, ast.Attribute]]:
    """The calls of these hooks that say no stage."""
    for call in file.calls_near([f".{name}(" for name in STAGED]):
        function = call.node.func
        named = isinstance(function, ast.Attribute) and function.attr in STAGED
        if named and not call.node.args and not call.node.keywords:
            yield call, function  # type: ignore[misc]


def told(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call, function in unstaged(file):
        made = class_of(file, facts, call, function.value)
        fact = made or class_said(file, facts, call, function.value)
        if fact is None or facts.kind(fact) not in KINDS or has(facts, fact, function.attr):
            continue
        below = made is None and any(function.attr in other.methods for other in facts.subclasses(fact))
        end = file.offsets(call.node)[1] - 1
        message = f"{function.attr}() requires `stage` since Lightning 1.8"
        reason = f"{_ALONE} fixer assumes that a subclass that is given takes `stage` too." if below else _ALONE
        edits = (TextEdit(end, end, "stage=None"),)
        yield Match(file.span(call.node), message, "unsafe" if below else "safe", reason, edits=edits)
