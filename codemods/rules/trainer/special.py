"""Arguments of Trainer whose end depends on more than their own value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codemods.code.calls import keyword, keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.arguments import ArgumentRow
from codemods.lightning.eras import ran
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import bound_to, kind_of
from codemods.lightning.spelling import Spelled
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rewrite.advice import brief
from codemods.rule import NodeEdit
from codemods.rules.trainer.argument_words import advised
from codemods.rules.trainer.callbacks import (
    PRUNERS,
    STOPPERS,
    built,
    is_callback,
    is_checkpoint,
    is_other_callback,
    spelled,
)
from codemods.rules.trainer.domains import is_plain, may_be_none
from codemods.rules.trainer.prepared_data import said_by_the_objects
from codemods.rules.trainer.refused import refused

NO_OWN = "up to 1.3 None meant no checkpoint but those of the callbacks"
Held = Literal["list", "optional", "one"]


@dataclass(frozen=True)
class ArgumentOutcome:
    """What takes the place of an argument: other keywords, and one more callback; nothing where both are empty.
    `held` says what the callbacks are that are given: a list, perhaps None, or one callback; `beside` are
    edits of other places."""

    level: Fix
    reason: str
    new: tuple[tuple[str, str | None], ...] = ()
    callback: str = ""
    imports: tuple[tuple[str, str | None], ...] = ()
    held: Held = "list"
    beside: tuple[NodeEdit, ...] = ()


NORM = (
    "log it in the module: def on_before_optimizer_step(self, optimizer): "
    "self.log_dict(grad_norm(self, norm_type=...)), with grad_norm from lightning.pytorch.utilities"
)
OWN_NORMS = (b"on_before_optimizer_step", b"log_grad_norm")
SEVERAL = b"optimizer_idx"
NORM_MENTIONS = (*OWN_NORMS, SEVERAL)
Special = Callable[[PythonFile, Facts, CallNode, ast.keyword, ArgumentRow], "ArgumentOutcome | str"]


def _checkpoint(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """A ModelCheckpoint, one or none, or whether there is one."""
    value = item.value
    text = file.source_of(value)
    if kind_of(facts, file, call, value) == "bool":
        return ArgumentOutcome("safe", "it has that name since 1.5", (("enable_checkpointing", text),))
    if is_checkpoint(file, facts, call, value):
        return _among(file, call, text, row)
    if isinstance(value, ast.IfExp):
        test, (body, other) = file.source_of(value.test), (value.body, value.orelse)
        if is_checkpoint(file, facts, call, body) and literal(other)[1] in (None, False) and literal(other)[0]:
            callback = f"*([{file.source_of(body)}] if {test} else [])"
            enabled = test if kind_of(facts, file, call, value.test) == "bool" else f"bool({test})"
            return ArgumentOutcome("safe", row.reason, (("enable_checkpointing", enabled),), callback)
    bound = bound_to(facts, file, call, value.id) if isinstance(value, ast.Name) else []
    if _is_one_or_off(bound, lambda arm: is_checkpoint(file, facts, call, arm), (None, False)):
        return ArgumentOutcome(
            "safe", row.reason, (("enable_checkpointing", f"bool({text})"),), f"*([{text}] if {text} else [])"
        )
    if literal(value) == (True, None):
        return _unset_checkpoint(file, facts, call)
    return (
        "fixer cannot tell whether it is a ModelCheckpoint; give one among "
        "the callbacks, or enable_checkpointing=True or False"
    )


def _unset_checkpoint(file: PythonFile, facts: Facts, call: CallNode) -> ArgumentOutcome | str:
    """None, which meant no checkpoints but those of the callbacks up to 1.3, and was the default in 1.5 and 1.6."""
    given = keywords(call.node).get("callbacks")
    elements = given.elts if isinstance(given, ast.List) else []
    if any(is_checkpoint(file, facts, call, each) for each in elements):
        return ArgumentOutcome("safe", "a ModelCheckpoint among the callbacks is all that there is, with or without it")
    before, after = ran(facts, keywords(call.node), "1.5")
    if after and not before:
        return ArgumentOutcome("safe", "it was the default")
    others = isinstance(given, ast.List) and all(is_other_callback(file, facts, call, each) for each in elements)
    if not (others or given is None or literal(given) == (True, None)):
        return f"{NO_OWN}; write enable_checkpointing=False, unless there is a ModelCheckpoint among the callbacks"
    surely = before and not after
    reason = NO_OWN if surely else f"{NO_OWN}, which fixer assumes to be meant; in 1.5 and 1.6 it was the default"
    return ArgumentOutcome("safe" if surely else "unsafe", reason, (("enable_checkpointing", "False"),))


def _is_one_or_off(values: Sequence[ast.expr], is_made: Callable[[ast.expr], bool], off: tuple[object, ...]) -> bool:
    """Whether some of the values are a callback of a kind and all others say that there is none."""
    arms = [
        arm for value in values for arm in ([value.body, value.orelse] if isinstance(value, ast.IfExp) else [value])
    ]
    made = [is_made(arm) for arm in arms]
    left = [known and any(value is each for each in off) for known, value in map(literal, arms)]
    return any(made) and any(left) and all(one or other for one, other in zip(made, left, strict=True))


PRUNED = "it is one of the callbacks now; up to Optuna 2.5 it was an EarlyStopping, which stops by itself too"


def _stopping(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """An EarlyStopping, or one or False; None was the default one."""
    text = file.source_of(item.value)
    if is_callback(file, facts, call, item.value, STOPPERS):
        return _among(file, call, text, row)
    if is_callback(file, facts, call, item.value, PRUNERS):
        return replace(_among(file, call, text, row), level="unsafe", reason=PRUNED)
    bound = bound_to(facts, file, call, item.value.id) if isinstance(item.value, ast.Name) else [item.value]
    if _is_one_or_off(bound, lambda arm: is_callback(file, facts, call, arm, STOPPERS), (False,)):
        choice = item.value if isinstance(item.value, ast.IfExp) else None
        given, other = (choice.body, choice.orelse) if choice else (item.value, None)
        test = file.source_of(choice.test) if choice else text
        if literal(given)[0]:
            given, test = other or given, f"not ({test})"
        return ArgumentOutcome("safe", row.reason, callback=f"*([{file.source_of(given)}] if {test} else [])")
    return "fixer cannot tell whether it is an EarlyStopping; give one among the callbacks"


def _among(file: PythonFile, call: CallNode, text: str, row: ArgumentRow) -> ArgumentOutcome:
    """One of the callbacks, where it is not among them already."""
    given = keywords(call.node).get("callbacks")
    if isinstance(given, ast.List) and text in map(file.source_of, given.elts):
        return ArgumentOutcome("safe", "it is among the callbacks already")
    return ArgumentOutcome("safe", row.reason, callback=text)


def _amp(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow) -> ArgumentOutcome | str:
    """`use_amp=True` was 16 bits, before `precision=` was there."""
    given, value = literal(item.value)
    if beside := keywords(call.node).get("precision"):
        if given and literal(beside) == (True, 16 if value else 32):
            return ArgumentOutcome("safe", "`precision=` says the same")
        return "`precision=` is given too; keep one of the two"
    if given and not value:
        return ArgumentOutcome("safe", "it had no effect")
    if given:
        return ArgumentOutcome("safe", row.reason, (("precision", '"16-mixed"'),))
    if isinstance(item.value, ast.UnaryOp) and isinstance(item.value.op, ast.Not):
        text = f'"32-true" if {file.source_of(item.value.operand)} else "16-mixed"'
    else:
        text = f'"16-mixed" if {file.source_of(item.value)} else "32-true"'
    return ArgumentOutcome("safe", row.reason, (("precision", text),))


def _level(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    backend = keyword(call.node, "amp_backend")
    if backend is None or literal(backend.value) in ((True, None), (True, "native")) or refused(file, call, backend):
        return ArgumentOutcome("safe", row.reason)
    return ArgumentOutcome(
        "unsafe", "Apex was removed in 2.0: torch's own mixed precision, which is about O1, replaces it"
    )


def _saved(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """The folder of checkpoints, which a folder of the ModelCheckpoint's own overrode."""
    given = keywords(call.node)
    callbacks = given.get("callbacks")
    every = [given.get("checkpoint_callback"), *(callbacks.elts if isinstance(callbacks, ast.List) else [])]
    checkpoints = [value for value in every if value is not None and is_checkpoint(file, facts, call, value)]
    made = [found for value in checkpoints for found in built(facts, file, call, value)]
    if made and all({"dirpath", "filepath"} & keywords(found).keys() for found in made):
        return ArgumentOutcome("safe", row.reason)
    return f"give ModelCheckpoint(dirpath={file.source_of(item.value)}) among the callbacks"


def _summary(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """The summary that a value asks for: none where it is None, all layers where it is "full", else the default."""
    if not is_plain(item.value):
        return (
            'write enable_model_summary=False for None, and ModelSummary(max_depth=-1) among the callbacks for "full"'
        )
    text = file.source_of(item.value)
    how = spelled(file, call, "callbacks.ModelSummary")
    if isinstance(how, str):
        return how
    new = (("enable_model_summary", f"{text} is not None"),) if may_be_none(facts, file, call, item.value) else ()
    callback = f'*([{how.text}(max_depth=-1)] if {text} == "full" else [])'
    return ArgumentOutcome(row.level, row.reason, new, callback, how.imports)


def _is_norm(value: object) -> bool:
    """Whether a Trainer took a value for the norm that it was to track."""
    return value == "inf" or (isinstance(value, int | float) and value > 0)


def _norm(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow) -> ArgumentOutcome | str:
    """The norms of the gradients, which the Trainer logged behind the module's own `on_before_optimizer_step`."""
    if any(facts.mentions.get(word) for word in OWN_NORMS):
        return f"the project has a hook of its own there, which ran before; {NORM}"
    known, value = literal(item.value)
    if known and value == -1:
        return ArgumentOutcome(row.level, "it had no effect")
    if known and not _is_norm(value):
        return f"Lightning refused that value since 1.5; {NORM}"
    if "spawn" in file.text or (not known and not is_plain(item.value)):
        return NORM
    names = [spelled(file, call, name) for name in ("callbacks.LambdaCallback", "utilities.grad_norm")]
    written = [each for each in names if isinstance(each, Spelled)]
    if len(written) < len(names):
        return next(each for each in names if isinstance(each, str))
    text = file.source_of(item.value)
    logged = f"{written[1].text}(module, norm_type={text})"
    made = f"{written[0].text}(on_before_optimizer_step=lambda trainer, module, optimizer: "
    made += f"module.log_dict({logged}, on_step=True, on_epoch=True))"
    level, reason = row.level, row.reason
    if not known:
        made = f"*([{made}] if float({text}) > 0 else [])"
        level, reason = "unsafe", f"{reason}; fixer assumes that its value stays the same"
    if admits_below(facts, LIGHTNING, "1.5.0"):
        level, reason = "unsafe", f"{reason}; before 1.5 they had other names, and were logged at some steps alone"
    if facts.mentions.get(SEVERAL):
        level, reason = "unsafe", f"{reason}; with several optimizers, each of them logs now"
    imports = tuple(each for name in written for each in name.imports)
    return ArgumentOutcome(level, reason, callback=made, imports=imports)


def _prepared(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: ArgumentRow
) -> ArgumentOutcome | str:
    """Who prepares data, which the objects say that have it to prepare."""
    lines = said_by_the_objects(file, facts, call, item.value)
    if lines is None:
        advice = "write `self.prepare_data_per_node = {}` in the constructors of the module and the datamodule"
        return advised(advice, brief(file, item.value), literal(item.value)[0])
    reason = row.reason if lines else "nothing that this Trainer is given prepares data"
    return ArgumentOutcome("safe", reason, beside=lines)


SPECIAL: Mapping[str, Special] = {
    "checkpoint": _checkpoint,
    "stopping": _stopping,
    "amp": _amp,
    "level": _level,
    "saved": _saved,
    "summary": _summary,
    "norm": _norm,
    "prepared": _prepared,
}
"""The code behind each `special` row, by its target."""
