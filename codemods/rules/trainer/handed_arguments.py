"""LIT110 in dictionaries: arguments of Trainer that went or were renamed and reach it by `**`, where they are set."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.code.calls import keywords
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Span
from codemods.lightning.arguments import ArgumentRow, current, find, once, removal
from codemods.lightning.exclusive_use import HARDWARE as BESIDE
from codemods.lightning.facts import Facts
from codemods.lightning.key_values import as_read
from codemods.lightning.keyword_flow import HandedKeyword, handed
from codemods.lightning.kinds import part_of_choice
from codemods.rewrite.dictionaries import NO_OTHER, ONE_PLACE, exchange, in_one_function, in_one_place, names_of
from codemods.rule import Match, NodeEdit
from codemods.rules.trainer.argument_words import advice_for, message_of, row_of, sentence
from codemods.rules.trainer.dictionary_callbacks import checkpoint_among
from codemods.rules.trainer.domains import is_plain, kinds_of, may_be_none

OTHERS = frozenset({
    "gpus", "resume_from_checkpoint", "auto_lr_find", "auto_scale_batch_size", "truncated_bptt_steps", "num_processes",
    "tpu_cores", "num_tpu_cores", "ipus", "auto_select_gpus", "distributed_backend",
})  # fmt: skip
"""Arguments that other rules answer for, as far as no row here does."""
HARDWARE = OTHERS - {"resume_from_checkpoint", "auto_lr_find", "auto_scale_batch_size", "truncated_bptt_steps"}
"""Those of them that other rules find in a dictionary too."""
NUMBER = "fixer assumes that it is a number"
NO_NONE = "fixer assumes that it is not None"


@dataclass(frozen=True)
class _Receiver:
    """A call that gets keys by `**`: all of them, and the names of all that it is given."""

    file: PythonFile
    facts: Facts
    call: CallNode
    every: tuple[HandedKeyword, ...]
    names: Sequence[str]

    def alike(self, entry: HandedKeyword) -> list[HandedKeyword]:
        """All that set the key of one."""
        return [other for other in self.every if other.name == entry.name]

    def row(self, entry: HandedKeyword) -> ArgumentRow | None:
        """What is known of an argument with the value that is set."""
        at = as_read(self.file, self.call, entry, self.every)
        kinds = kinds_of(self.facts, self.file, at, entry.value) if entry.value and at else frozenset[str]()
        return find(entry.name, entry.value, kinds) if entry.value else None


def text_for(file: PythonFile, value: ast.expr, row: ArgumentRow) -> str:
    """A value as the row's text takes it in."""
    beside = " if {}" in row.target or "{} or" in row.target
    return part_of_choice(file, value) if beside else file.source_of(value)


def guarded_row(
    file: PythonFile, facts: Facts, call: CallNode, value: ast.expr, row: ArgumentRow
) -> ArgumentRow | None:
    """A row as it is for a value that may be None, where it is one: unsafely where it can be written but once. None
    where it would have to be written twice."""
    if row.guarded and may_be_none(facts, file, call, value):
        if row.guarded.count("{}") < 2 or is_plain(value):
            return replace(row, target=row.guarded)
        if any(isinstance(node, ast.Constant) and node.value is None for node in every_node(value)):
            return None
        row = replace(row, level="unsafe", reason=row.reason if NUMBER in row.reason else f"{row.reason}; {NO_NONE}")
    return row if row.target.count("{}") < 2 or is_plain(value) else None


def handed_over(file: PythonFile, facts: Facts, call: CallNode, seen: set[int], built: bool) -> Iterator[Match]:
    """What a Trainer gets by `**`, wherever it is set; places in `seen` have been named already."""
    every = handed(file, facts, call)
    receiver = _Receiver(file, facts, call, every, [*names_of(every), *keywords(call.node)])
    for entry in every:
        gone = entry.name in once() - current() and not (entry.file is file and entry.name in HARDWARE)
        row = receiver.row(entry)
        if id(entry.place) in seen or not (gone or (row and entry.name in current())):
            continue
        seen.add(id(entry.place))
        edit = _edit(receiver, entry, row) if built else None
        if edit is not None and row is not None:
            yield _exchanged(receiver, entry, row, edit)
            continue
        here = entry.file is file
        advice = "delete it" if row and row.action == "drop" else advice_for(entry.name)
        reason = f"It reaches Trainer through {'a dictionary' if here else entry.where}: {advice}."
        what = removal(entry.name, entry.name) if gone or row is None else message_of(row)
        yield Match(file.span(entry.place) if here else _place(file, call), what, "manual", reason, row_of(entry.name))


def _edit(receiver: _Receiver, entry: HandedKeyword, row: ArgumentRow | None) -> NodeEdit | None:
    """The edit of the place that sets a key, where all that set it become the same other key."""
    rows = {id(each): (each, receiver.row(each)) for each in receiver.alike(entry)}
    ends = {(found.action, found.keyword) if found else None for _, found in rows.values()}
    if len(ends) == 1 and all(_exchange(receiver, each, found) for each, found in rows.values()):
        return _exchange(receiver, entry, row)
    at = as_read(receiver.file, receiver.call, entry, receiver.every)
    if at is None or row is None or row.target != "checkpoint":
        return None
    return checkpoint_among(receiver.file, receiver.facts, receiver.call, at, entry, receiver.every)


def _is_sure(receiver: _Receiver, entry: HandedKeyword) -> bool:
    """Whether an exchanged key is for this Trainer, or for those that get the same. Each that is about the
    hardware says something else beside another."""
    file, call, every = receiver.file, receiver.call, receiver.every
    if entry.name in BESIDE:
        return in_one_place(file, call, every, BESIDE)
    return in_one_place(file, call, every, [entry.name]) or in_one_function(file, call, every, entry.name)


def _exchanged(receiver: _Receiver, entry: HandedKeyword, row: ArgumentRow, edit: NodeEdit) -> Match:
    file, alike = receiver.file, receiver.alike(entry)
    gone = entry.name in once() - current()
    level, reason = row.level, row.reason
    if isinstance(entry.holder, ast.AnnAssign):
        level, reason = "unsafe", f"{reason}; {NO_OTHER}"
    elif level == "safe" and not _is_sure(receiver, entry):
        level, reason = "unsafe", f"{reason}; {ONE_PLACE}"
    what = removal(entry.name, entry.name) if gone else message_of(row)
    unit = f"{file.path}:{alike[0].place.lineno}:{entry.name}" if len(alike) > 1 else ""
    return Match(file.span(entry.place), what, level, sentence(reason), row.row, (edit,), unit=unit)


def _place(file: PythonFile, call: CallNode) -> Span:
    """The first `**` of a call."""
    return file.span(next(item.value for item in call.node.keywords if item.arg is None))


def _exchange(receiver: _Receiver, entry: HandedKeyword, row: ArgumentRow | None) -> NodeEdit | None:
    """The edit that gives a key its new name and value, or takes it out, where the row says so."""
    file, facts, call, names = receiver.file, receiver.facts, receiver.call, receiver.names
    if row is None or entry.value is None or row.action not in ("write", "drop"):
        return None
    row = guarded_row(file, facts, call, entry.value, row)
    if row is None or names.count(entry.name) > len(receiver.alike(entry)):
        return None
    text = text_for(file, entry.value, row) if entry.file is file else ""
    new = ((row.keyword, row.text(text)),) if row.action == "write" else ()
    if any(name in names and name != entry.name for name, _ in new) or "\n" in text:
        return None
    same = tuple((name, None if value == text else value) for name, value in new)
    return exchange(file, facts, call, entry, same)
