"""A ModelCheckpoint that a dictionary hands to a Trainer by itself, and that is one of its callbacks since 1.2."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from codemods.code.calls import keywords
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.keyword_flow import HandedKeyword
from codemods.rewrite.dictionaries import exchange, names_of, with_callback_in
from codemods.rule import NodeEdit
from codemods.rules.trainer.callbacks import is_checkpoint

KEY = "callbacks"


def checkpoint_among(
    file: PythonFile, facts: Facts, call: CallNode, at: CallNode, entry: HandedKeyword, every: Sequence[HandedKeyword]
) -> NodeEdit | None:
    """The edit that puts a ModelCheckpoint into the list of callbacks of the same dictionary; None where it may be
    something else, or the callbacks are set elsewhere. `at` is where its value is read."""
    value, holder = entry.value, entry.holder
    names = names_of(every)
    if entry.file is not file or not isinstance(value, ast.Name | ast.Attribute | ast.Call):
        return None
    if names.count(entry.name) > 1 or KEY in keywords(call.node) or not is_checkpoint(file, facts, at, value):
        return None
    text = file.source_of(value)
    others = [each for each in every if each.name == KEY]
    if len(others) != 1 or others[0].holder is not holder or not isinstance(holder, ast.Dict):
        return None
    given, gone = others[0].value, exchange(file, facts, call, entry, ())
    if not isinstance(given, ast.List) or gone is None:
        return None
    if text in map(file.source_of, given.elts):
        return gone
    return NodeEdit(gone.node, partial(_moved, remove=gone.change, text=text), gone.line)


def _moved(node: Any, *, remove: Callable[[Any], Any], text: str) -> Any:
    return with_callback_in(remove(node), text=text)
