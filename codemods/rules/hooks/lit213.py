"""LIT213: dicts with `log` and `progress_bar` that are returned in order to log."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.class_family import asked_of_another
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.hooks.epoch_end import LOGGED
from codemods.rules.hooks.logged_already import logged_already
from codemods.rules.hooks.returned_logs import (
    HOOKS,
    NOT_LOGGED,
    ReturnedLog,
    calls_from_hooks,
    calls_of,
    hooks_of,
    logged_returns,
    read_return,
    why_not,
)
from codemods.rules.hooks.step_end import named_lines
from codemods.rules.hooks.training_steps import STEPS, steps_of

if TYPE_CHECKING:
    import libcst as cst

EVALUATING = ("validation_", "test_", "on_validation_", "on_test_")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        methods = [*steps_of(item), *hooks_of(item)]
        names = {method.name for method in methods}
        logging = [(method, found) for method in methods if (found := logged_returns(item, method, names))]
        fact = facts.of_class(file, item) if logging else None
        if fact is None or facts.kind(fact) != MODULE:
            continue
        for method, found in logging:
            shared = method.name not in (*STEPS, *HOOKS) and any(facts.subclasses(fact))
            why = f"a subclass may call {method.name} too" if shared else _refusal(file, item, method)
            why = why or _asked(facts, fact, method.name) or _extended(facts, fact, method)
            watched = partial(_is_watched, facts)
            read = [why or _read(file, item, method, node, watched) for node in found]
            yield _match(file, item, method, found[0], read, admits_below(facts, LIGHTNING, "1.3"))


def _read(
    file: PythonFile, item: ClassNode, method: Function, node: ast.Return, watched: Callable[[str], bool]
) -> ReturnedLog | str:
    return logged_already(file, item, method, node) or read_return(file, item, method, node, watched)


def _is_watched(facts: Facts, key: str) -> bool:
    """Whether a callback or a scheduler looks a metric up by name, as it could any key but `log` and `progress_bar`."""
    spoken = re.compile(_WATCHING.format(re.escape(key)).encode())
    return any(
        spoken.search(source.unescaped) for path, source in facts.holding(key) if facts.kinds.get(path) != "docs"
    )


_WATCHING = r"""(?:\bmonitor["']?\s*[:=]\s*|EarlyStopping\(\s*|callback_metrics(?:\[|\.get\()\s*)["']?{}(?![\w/.-])"""


def _refusal(file: PythonFile, item: ClassNode, method: Function) -> str | None:
    """Why a method's returns are left."""
    why = why_not(file, item, method)
    named = named_lines(file, method.name) if method.name in HOOKS and not why else []
    return f"{method.name} is used by name in line {min(named)}" if len(named) > calls_from_hooks(item, method) else why


def _asked(facts: Facts, fact: ClassFact, name: str) -> str | None:
    """Why a method's returns are left where another file calls it: an epoch-end hook for whatever it returns, which is
    to go, any other for what is logged, which that file has to speak of."""
    if name in HOOKS:
        return asked_of_another(facts, fact, name)
    calling = facts.mentions.get(f".{name}".encode(), frozenset())
    silent = frozenset(path for path in calling if not _KEYS.search(facts.sources[path].unescaped))
    return asked_of_another(facts, fact, name, silent)


_KEYS = re.compile(rb"""['"](?:log|progress_bar)['"]""")


def _extended(facts: Facts, fact: ClassFact, step: Function) -> str | None:
    """Why a method's returns are left where a class below reads, or may read, what it logs by them."""
    for below in facts.subclasses(fact):
        opened = facts.find_opened(f"{facts.files[below.path].module}.{below.name}", below.path)
        method = opened[1].methods.get(step.name) if opened else None
        if opened is None or _is_read(opened[1], step) or (method and _changes(method)):
            return f"{below.name} ({below.path}), a subclass, may read what {step.name} returns"
    return None


def _changes(method: Function) -> bool:
    """Whether a method calls the one of that name above it, and names what that logs."""
    called = any(isinstance(node, ast.Attribute) and node.attr == method.name for node in walk(method))
    return called and any(isinstance(node, ast.Constant) and node.value in LOGGED for node in walk(method))


def _match(
    file: PythonFile, item: ClassNode, method: Function, node: ast.Return, read: list[ReturnedLog | str], old: bool
) -> Match:
    """What becomes of a method's returns; `old` says that a Lightning may run them which read them."""
    place = file.span(node)
    message = "Lightning ignores a returned `log` or `progress_bar` since 1.3"
    refusals = [each for each in read if isinstance(each, str)]
    if refusals:
        by_hand = refusals[0].endswith(NOT_LOGGED)
        advice = "Give that to self.logger.experiment, the numbers to `self.log_dict(...)`" if by_hand else LOGGING
        return Match(place, message, "manual", f"Not rewritten: {refusals[0]}. {advice}.")
    found = tuple(each for each in read if isinstance(each, ReturnedLog))
    kept = _is_read(item, method)
    if kept and not all(each.calls for each in found):
        reason = f"Not rewritten: the class reads them itself, and logs the same. {LOGGING}."
        return Match(place, message, "manual", reason)
    change = partial(_logged, method=method, read=found, kept=kept)
    edit = (NodeEdit(method, change),)
    if kept and not old:
        reason = "The class reads them itself: fixer assumes that they are for the logger too, and are single numbers."
        return Match(place, message, "unsafe", reason, edits=edit)
    if not old and any(each.calls for each in found):
        return Match(place, message, "unsafe", ASLEEP, edits=edit)
    if any(each.calls for each in found) and (caller := _caller(item, method)):
        reason = f"{caller} calls {method.name} too, and so logs the same values, by the same names."
        return Match(place, message, "unsafe", reason, edits=edit)
    if all(each.sure or not old for each in found):
        return Match(place, message, "safe", "The same values are logged under the same names.", edits=edit)
    reason = "The values are logged; fixer cannot tell from the method what else callbacks could monitor by name."
    if not any(each.calls for each in found):
        reason = "The method logs the same itself; up to 1.2 Lightning logged it under the plain name besides."
    return Match(place, message, "unsafe", reason, edits=edit)


def _caller(item: ClassNode, step: Function) -> str | None:
    """Another method of a class that calls a training step itself."""
    calling = (name for name in item.methods if name not in STEPS and step.name in STEPS)
    return next((name for name in calling if any(calls_of(item, name, step.name))), None)


ASLEEP = (
    "The Lightning that the project requires ignores it: fixer assumes that it is to be logged, and is single numbers."
)
LOGGING = 'Log it by `self.log("...", ..., prog_bar=True)` or `self.log_dict(...)`'


def _is_read(item: ClassNode, step: Function) -> bool:
    """Whether the class asks a result of a method for `log` or `progress_bar`. Of a training step it does not where it
    validates and tests, unless something of the class calls the step."""
    called = any(isinstance(node, ast.Attribute) and node.attr == step.name for node in walk(item.node))
    apart = EVALUATING if step.name in STEPS and not called else ()
    evaluated = {id(node) for name in item.methods if name.startswith(apart) for node in walk(item.methods[name])}
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in LOGGED
        for node in walk(item.node)
        if id(node) not in evaluated
    )


def _logged(node: cst.FunctionDef, *, method: Function, read: tuple[ReturnedLog, ...], kept: bool) -> cst.FunctionDef:
    from codemods.rules.hooks.log import logging_itself

    return logging_itself(node, method, read, kept)


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        logs = {"train_loss": loss}
        return {"loss": loss, "log": logs, "progress_bar": logs}

    def validation_epoch_end(self, outputs):
        mean = torch.stack([x["val_loss"] for x in outputs]).mean()
        return {"avg_val_loss": mean, "log": {"val_loss": mean}}
"""
AFTER = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        logs = {"train_loss": loss}
        self.log_dict(logs, prog_bar=True)
        return {"loss": loss}

    def validation_epoch_end(self, outputs):
        mean = torch.stack([x["val_loss"] for x in outputs]).mean()
        self.log("avg_val_loss", mean, logger=False)
        self.log_dict({"val_loss": mean})
"""
BUILT = (
    BEFORE.replace('return {"loss": loss, "log": logs, "progress_bar": logs}', "return self.results(log=logs)")
    .split("    def validation_epoch_end")[0]
    .replace("return self.results(log=logs)", "result = dict(loss=loss, log=logs)\n        return result")
)
BUILT_AFTER = BUILT.replace("loss=loss, log=logs)", "loss=loss)\n        self.log_dict(logs)")
LEFT = BUILT.replace("        return", "        result.update(self.more)\n        return")

RULE = Rule(
    code="LIT213",
    name="returned-logs",
    summary='Metrics returned as {"log": ..., "progress_bar": ...} are logged by self.log_dict',
    why=(
        "Up to 1.2 Lightning logged what a training step or an epoch-end hook returned under `log`, showed what it "
        "returned under `progress_bar`, and let callbacks monitor both and the other keys of such a hook. Since 1.3 "
        "nothing reads them (pull request 6734), without an error: metrics vanish from the logger, and a callback that "
        "monitors one fails or does nothing. The values now go to self.log_dict and self.log; what was for callbacks "
        "alone is logged with logger=False. Where the project asks for a Lightning that ignores them, the rewrite is "
        "unsafe: it logs what was not logged before. What a validation or test step returned was never logged by "
        "itself."
    ),
    fix="safe",
    stops=False,
    versions="written for Lightning < 1.3",
    triggers=(
        b'"log"',
        b"'log'",
        b'"progress_bar"',
        b"'progress_bar'",
        b"log=",
        b"progress_bar=",
        b"log = ",
        b"progress_bar = ",
    ),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(BUILT, BUILT_AFTER), Example(LEFT, LEFT)),
    breaks_in="1.3.0",
    needs="1.0.0",
    mentions=tuple(f".{name}".encode() for name in (*STEPS, *HOOKS)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/6734",),
)
