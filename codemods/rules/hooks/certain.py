"""Where a module's hook that is called at other times than the one before does the same all the same."""

from __future__ import annotations

import ast
import re

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, self_name
from codemods.lightning.class_family import PLAIN_BASES, family
from codemods.lightning.eras import fails_since_1
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open
from codemods.rules.hooks.callbacks import attributes_of
from codemods.rules.hooks.removed_hooks import RemovedHook
from codemods.rules.hooks.same_point import after_others
from codemods.rules.hooks.validation_order import FIRST

SHIFTED = frozenset({"global_step", "lr", "lr_schedulers", "optimizers", "param_groups", "trainer"})
"""What is not the same at the end of a training epoch of every release: schedulers step before it since 1.5, and the
last batch counts since 1.6."""
START = "on_train_epoch_start"
TOLD = "The Lightning that the project requires calls it in training alone, at the same point."
OLD = "No Lightning since 1.0 runs the file, and those before called it in training alone, at the same point."
_EVALUATED = ("validation_step", "test_step")
_SET = re.compile(rb"\.(?:validation|test)_step\s*[:,=](?!=)|setattr\(")
_MODES = re.compile(rb"\bon_\w+_model_(?:eval|train)\b|def (?:eval|train)\(")
"""Where a project decides itself which mode a module is in."""


def why_certain(facts: Facts, fact: ClassFact, item: ClassNode, hook: RemovedHook, method: Function) -> str:
    """Why a module's hook under its new name does what it did; empty where that is not sure."""
    if not hook.trains or after_others(facts, hook.new):
        return ""
    if told_of_training_alone(facts, hook):
        return TOLD
    if told := _told_of_an_end(facts, fact, item, hook, method):
        return told
    if _only_trains(facts, fact):
        return "The class has no validation_step and no test_step, so it ran in training alone."
    if hook.new == START and _only_evaluates(method) and not _has(facts, _MODES):
        return "It only puts parts of the module into evaluation mode, as all of it is while it validates and tests."
    return ""


def told_of_training_alone(facts: Facts, hook: RemovedHook) -> bool:
    """Whether every Lightning that the project may run called a hook for training epochs alone, at the point of the one
    that takes its place, and nothing of the project stands there already."""
    before = hook.new == START and not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, "1.2")
    return before and not after_others(facts, hook.new)


def _told_of_an_end(facts: Facts, fact: ClassFact, item: ClassNode, hook: RemovedHook, method: Function) -> str:
    """Why a module's hook ran in training alone, behind validation as 2.x does, and reads nothing that was different
    there: going by the pins, or by what only a Lightning before 1.0 runs; empty where neither tells."""
    if hook.new != START and SHIFTED & attributes_of(item, method.name):
        return ""
    if not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, FIRST):
        return TOLD
    file = facts.open(fact.path)
    return OLD if file is not None and fails_since_1(facts, file) else ""


def _only_evaluates(method: Function) -> bool:
    """Whether all that a method does is `self.part.eval()`."""
    part = re.compile(rf"{self_name(method)}\.[\w.]+\.eval\(\)")
    return all(isinstance(item, ast.Expr) and part.fullmatch(ast.unparse(item)) for item in method.body)


def _has(facts: Facts, word: re.Pattern[bytes]) -> bool:
    """Whether a file of code holds a word."""
    return any(
        source.kind in ("python", "notebook") and word.search(source.unescaped) for source in facts.sources.values()
    )


def _only_trains(facts: Facts, fact: ClassFact) -> bool:
    """Whether no instance of a class has anything to evaluate: it, what is above it and what is below it are known."""
    every = [fact, *family(facts, fact)]
    return is_seen_whole(facts, fact) and not any(name in each.methods for each in every for name in _EVALUATED)


def is_seen_whole(facts: Facts, fact: ClassFact) -> bool:
    """Whether what is above and below a module is known, so that the steps which it has are those that are seen."""
    above = outside_bases(facts, fact)
    return above is not None and above <= {MODULE, *PLAIN_BASES} and not _is_set(facts)


def outside_bases(facts: Facts, fact: ClassFact) -> set[str] | None:
    """The dotted names of the bases that a class and its relatives have from outside of the project; None where one of
    their bases cannot be told."""
    every = [fact, *family(facts, fact)]
    if any(None in each.bases for each in every):
        return None
    return {base for each in every for base in facts.lineage(each) if isinstance(base, str)}


def _is_set(facts: Facts) -> bool:
    """Whether a file may put a step on a class."""
    if "hooks.steps_set" not in facts.of_sources:
        facts.of_sources["hooks.steps_set"] = any(
            source.kind in ("python", "notebook") and b"_step" in source.unescaped and _SET.search(source.unescaped)
            for source in facts.sources.values()
        )
    found: bool = facts.of_sources["hooks.steps_set"]
    return found
