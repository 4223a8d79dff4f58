"""What the rest of the project says against a new epoch-end hook: callers, relatives, callbacks, Trainers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.facts import ClassFact, Facts
from codemods.family import clash, short_name
from codemods.hooks.epoch_end import STAGES, EpochEnd, Stage
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, mentions, parameters, uses

TRAINER_READS = ("current_epoch", "global_rank", "global_step", "is_global_zero", "max_epochs", "sanity_checking")


@dataclass(frozen=True)
class Shown:
    """What a file shows to the others: the names of its classes with an old hook, the old hooks that the file
    itself does not forbid to rewrite with whether each reads its outputs, and which of the new hooks a callback
    of the file has that looks at the module or at what was logged."""

    classes: tuple[str, ...]
    hooks: frozenset[tuple[str, bool]]
    callbacks: frozenset[str]


def callback_hooks(file: PythonFile) -> frozenset[str]:
    """The new hooks that a class of the file defines as callbacks do, with (trainer, module)."""
    return frozenset(
        stage.new
        for item in file.classes
        for stage in STAGES
        if (hook := item.methods.get(stage.new)) and len(parameters(hook)) > 1 and _looks(hook)
    )


def _looks(hook: Function) -> bool:
    trainer, module = parameters(hook)[:2]
    harmless = {
        id(node.value) for node in ast.walk(hook) if isinstance(node, ast.Attribute) and node.attr in TRAINER_READS
    }
    return bool(uses(hook, module)) or any(id(node) not in harmless for node in uses(hook, trainer))


def project_refusal(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str | None:
    """Why the project forbids the rewrite of a hook that its own file allows."""
    stage = hook.stage
    return (
        _used_elsewhere(file, facts, fact, hook)
        or _relative(facts, item, fact, hook)
        or _callback(facts, stage)
        or _accumulation(facts, hook)
    )


def file_refusal(file: PythonFile, item: ClassNode, hook: EpochEnd) -> str | None:
    """Why the class itself, or the rest of its file, forbids the rewrite of a hook."""
    if hook.refusal:
        return hook.refusal
    if sum(other.qualname == item.qualname for other in file.classes) > 1:
        return "the file defines two classes of that name"
    for name in _names(hook):
        lines = [*(node.lineno for node in file.attributes(name)), *mentions(file.tree, name)]
        if lines:
            return f"{name} is used by name in line {min(lines)}"
    return None


def _names(hook: EpochEnd) -> tuple[str, ...]:
    return (hook.stage.old, hook.stage.step) if hook.reads else (hook.stage.old,)


def _used_elsewhere(file: PythonFile, facts: Facts, fact: ClassFact, hook: EpochEnd) -> str | None:
    naming = facts.mentions.get(short_name(fact).encode(), frozenset()) - {file.path}
    for name in _names(hook):
        for text in spellings(name):
            callers = naming & facts.mentions.get(text, frozenset())
            if callers:
                return f"{name} is used by name in {min(callers)}"
    return None


def spellings(name: str) -> tuple[bytes, ...]:
    """How another file can speak of a method without defining it."""
    return (f".{name}".encode(), f'"{name}"'.encode(), f"'{name}'".encode())


def _relative(facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str | None:
    stage = hook.stage
    watched = {stage.old, stage.new}
    if hook.reads:
        watched |= {stage.step, f"{stage.step}_end"}
        if "__init__" not in item.methods:
            watched.add(stage.start)
    return clash(facts, fact, watched)


def _callback(facts: Facts, stage: Stage) -> str | None:
    for path, shown in sorted(facts.collected("LIT201").items()):
        if stage.new in shown.callbacks:
            return (
                f"a callback in {path} has {stage.new} and looks at the module or the Trainer: 1.x called it after "
                f"{stage.old}, 2.x calls it before the module's own"
            )
    return None


def _accumulation(facts: Facts, hook: EpochEnd) -> str | None:
    if hook.stage.train and hook.reads and _accumulates(facts):
        return "a Trainer accumulates gradients, and 1.x divided the losses in the outputs by the window"
    return None


def _accumulates(facts: Facts) -> bool:
    counted = set()
    for trainer in facts.trainers:
        argument = trainer.argument("accumulate_grad_batches")
        if argument and argument.literal and argument.value in (1, None):
            counted.add(trainer.path)
        elif argument:
            return True
    return bool(facts.mentions.get(b"accumulate_grad_batches", frozenset()) - counted)
