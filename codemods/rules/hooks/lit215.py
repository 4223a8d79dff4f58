"""LIT215: what an epoch-end hook returns for a callback to monitor, and nothing logs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile, TextFile
from codemods.code.syntax import Function, is_none, returns
from codemods.lightning.class_family import asked_of_another
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.hooks.epoch_end import LOGGED
from codemods.rules.hooks.monitored import MonitoredNames, is_number, unheard, watch, watch_text
from codemods.rules.hooks.returned_logs import HOOKS, ReturnedLog, hooks_of, logs, refused_by_log, why_not, written_out
from codemods.rules.hooks.step_end import named_lines

if TYPE_CHECKING:
    import libcst as cst

CODE = "LIT215"
ADVICE = 'log it by `self.log("{}", ...)`'


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if not isinstance(file, PythonFile):
        return
    lost, asked = _lost(facts)
    for item, _ in facts.classes_of(file, MODULE) if lost else ():
        methods = hooks_of(item)
        hooks = [_EpochEndHook(file, facts, item, method, lost, asked) for method in methods]
        found = [match for hook in hooks if not hook.tests and (match := hook.match())]
        yield from found
        yield from (match for hook in hooks if found and hook.tests and (match := hook.match()))


def _lost(facts: Facts) -> tuple[frozenset[str], bool]:
    """What is looked up and never logged, once for all files."""
    if CODE not in facts.memo:
        told: list[MonitoredNames] = [*facts.collected(CODE).values(), *facts.collected_texts(CODE).values()]
        facts.memo[CODE] = unheard(told)
    found: tuple[frozenset[str], bool] = facts.memo[CODE]
    return found


@dataclass(frozen=True)
class _EpochEndHook:
    """An epoch-end hook, with the names that are looked up and never logged, and whether others may be looked up."""

    file: PythonFile
    facts: Facts
    item: ClassNode
    method: Function
    lost: frozenset[str]
    asked: bool

    @property
    def tests(self) -> bool:
        """Whether `trainer.test` calls it, which printed all that it returned."""
        return "test" in self.method.name

    def match(self) -> Match | None:
        given = [node for node in returns(self.method) if node.value is not None and not is_none(node.value)]
        entries = [written_out(self.item, self.method, node) for node in given]
        names = {name for each in entries for name, _ in each or ()}
        monitored = sorted((names | (_said(self.method) if None in entries else set())) & self.lost)
        if names & set(LOGGED) or not given or not (names if self.tests else monitored):
            return None
        what = "trainer.test printed it up to 1.2" if self.tests else f"`{monitored[0]}` is monitored"
        message = f"Lightning ignores what the hook returns since 1.3, and {what}"
        place = self.file.span(given[0])
        if why := why_not(self.file, self.item, self.method) or self._unknown(entries):
            return Match(
                place,
                message,
                "manual",
                f"Not rewritten: {why}; {ADVICE.format(monitored[0] if monitored else '...')}.",
            )
        called = bool(named_lines(self.file, self.method.name)) or self._is_extended() or self._is_asked()
        read = tuple(self._read(node, each or (), called) for node, each in zip(given, entries, strict=True))
        edit = NodeEdit(self.method, partial(_logged, method=self.method, read=read, kept=called))
        reason = (
            "What is returned and monitored, or a number, is logged under its name; fixer assumes "
            "from the names that nothing else logs it, and that each is a single number."
        )
        if self.asked and sum(len(each.calls) for each in read) < sum(len(each or ()) for each in entries):
            reason = "What is monitored is logged; other results are no numbers, and may be read by name."
        return Match(place, message, "unsafe", reason, edits=(edit,))

    def _unknown(self, entries: Collection[list[tuple[str, ast.expr]] | None]) -> str | None:
        if any(each is None or len(dict(each)) != len(each) for each in entries):
            return "what it returns is not written out as a dict at the `return`"
        if logs(self.method):
            return "the method logs by itself too"
        return refused_by_log(self.file, self.method, (value for each in entries for name, value in each or ()))

    def _read(self, node: ast.Return, entries: Iterable[tuple[str, ast.expr]], called: bool) -> ReturnedLog:
        """What is logged in place of a return, which stays where others may ask for the result."""
        kept = [(name, value) for name, value in entries if name in self.lost or is_number(self.method, value)]
        calls = tuple(
            f"self.log({self._spelled(name)}, {self.file.source_of(value)}, logger=False)" for name, value in kept
        )
        bound = node.value.id if isinstance(node.value, ast.Name) else None
        return ReturnedLog(node, bound, calls, True, not called and bool(calls), self.method.body[-1] is node)

    def _spelled(self, name: str) -> str:
        """A key as the method spells it."""
        parts = {id(part) for node in walk(self.method) if isinstance(node, ast.JoinedStr) for part in node.values}
        every = (node for node in walk(self.method) if isinstance(node, ast.Constant) and id(node) not in parts)
        said = (node for node in every if node.value == name)
        return next((self.file.source_of(node) for node in said), f'"{name}"')

    def _is_extended(self) -> bool:
        """Whether a class below has a hook of that name too, which may ask for the result of this one."""
        fact = self.facts.of_class(self.file, self.item)
        return fact is not None and any(self.method.name in below.methods for below in self.facts.subclasses(fact))

    def _is_asked(self) -> bool:
        """Whether another file calls the hook of something, and may ask for what it returns."""
        fact = self.facts.of_class(self.file, self.item)
        return fact is not None and asked_of_another(self.facts, fact, self.method.name) is not None


def _said(method: Function) -> set[str]:
    """The texts that a method says."""
    every = (node.value for node in walk(method) if isinstance(node, ast.Constant))
    return {value for value in every if isinstance(value, str)}


def _logged(node: cst.FunctionDef, *, method: Function, read: tuple[ReturnedLog, ...], kept: bool) -> cst.FunctionDef:
    from codemods.rules.hooks.log import logging_itself

    return logging_itself(node, method, read, kept)


BEFORE = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import EarlyStopping


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        mean = torch.stack([x["loss"] for x in outputs]).mean()
        return {"val_loss": mean, "steps": len(outputs)}


trainer = Trainer(callbacks=[EarlyStopping("val_loss")])
"""
AFTER = BEFORE.replace(
    '        return {"val_loss": mean, "steps": len(outputs)}\n',
    '        self.log("val_loss", mean, logger=False)\n        self.log("steps", len(outputs), logger=False)\n',
)
OTHER = BEFORE.replace('EarlyStopping("val_loss")', 'EarlyStopping("val_error")')
BUILT = BEFORE.replace("return {", "result = {").replace(
    "(outputs)}\n", "(outputs)}\n        return self.more(result)\n"
)

RULE = Rule(
    code=CODE,
    name="monitored-results",
    summary="Results that an epoch-end hook returns for callbacks are logged by self.log",
    why=(
        "Up to 1.2 callbacks and schedulers could monitor every key of the dict that an epoch-end hook returned. Since "
        "1.3 nothing reads it (pull request 6734): an EarlyStopping, ModelCheckpoint or scheduler that monitors one of "
        "its keys, where nothing else logs it, stops the training with an error. The values now go to self.log with "
        "logger=False, since no logger got them; values that are no numbers, and that nothing looks up, are left out."
    ),
    fix="unsafe",
    versions="written for Lightning < 1.3",
    triggers=(
        *(name.encode() for name in HOOKS),
        b"monitor",
        b"save_top_k",
        b"OnPlateau",
        b"arlyStopping",  # no name of a class: nothing is asked of the arguments of what is built
        b".log(",
        b"log_dict",
        b"callback_metrics",
    ),
    text_triggers=(b"monitor",),
    kinds=("python", "yaml", "json"),
    check=_check,
    collect=watch,
    collect_text=watch_text,
    examples=(Example(BEFORE, AFTER), Example(OTHER, OTHER), Example(BUILT, BUILT)),
    breaks_in="1.3.0",
    needs="1.0.0",
    mentions=tuple(f".{name}".encode() for name in HOOKS),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/6734",),
)
