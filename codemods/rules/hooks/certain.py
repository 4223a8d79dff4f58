"""Where a module's hook that is called at other times than the one before does the same all the same."""

from __future__ import annotations

import ast
import re

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, self_name
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.family import family
from codemods.rules.hooks.same_point import SETTLED, after_others
from codemods.rules.hooks.unheard import Unheard

_EVALUATED = ("validation_step", "test_step")
_SET = re.compile(rb"\.(?:validation|test)_step\s*=(?!=)|setattr\(")
_PLAIN_BASES = ("lightning.", "torch.nn.", "abc.", "object", "typing.Generic")
_OWN = frozenset({"device", "global_rank", "hparams", "local_rank", "logger", "print", "save_hyperparameters"})
"""What a module says alike before and behind a checkpoint's training state is restored."""


def why_certain(facts: Facts, fact: ClassFact, item: ClassNode, method: Function, hook: Unheard) -> str:
    """Why a module's hook under its new name does what it did; empty where that is not sure."""
    if not hook.module or after_others(facts, hook.new):
        return ""
    if hook.module == "trains" and _only_trains(facts, fact):
        return "The class has no validation_step and no test_step, so it ran in training alone."
    if hook.module == "reads" and not _reads_state(item, method):
        return (
            "on_fit_start is called before the sanity check too; a checkpoint's training state is restored behind it, "
            "and the method reads none of that."
        )
    return ""


def _only_trains(facts: Facts, fact: ClassFact) -> bool:
    """Whether no instance of a class has anything to evaluate: it, what is above it and what is below it are known."""
    every = [fact, *family(facts, fact)]
    above = [base for each in every for base in facts.lineage(each) if isinstance(base, str)]
    if any(not base.startswith(_PLAIN_BASES) for base in above) or any(None in each.bases for each in every):
        return False
    return not any(name in each.methods for each in every for name in _EVALUATED) and not _is_set(facts)


def _is_set(facts: Facts) -> bool:
    """Whether a file may put a step on a class."""
    if "hooks.steps_set" not in facts.of_sources:
        facts.of_sources["hooks.steps_set"] = any(
            source.kind in ("python", "notebook") and b"_step" in source.unescaped and _SET.search(source.unescaped)
            for source in facts.sources.values()
        )
    found: bool = facts.of_sources["hooks.steps_set"]
    return found


def _reads_state(item: ClassNode, method: Function) -> bool:
    """Whether a hook may read of its module, or of the Trainer, what a checkpoint restores."""
    own = self_name(method)
    owners = {id(node.value): node for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    uses = [owners.get(id(node)) for node in ast.walk(method) if isinstance(node, ast.Name) and node.id == own]
    return not all(used is not None and _is_settled(item, used, owners) for used in uses)


def _is_settled(item: ClassNode, used: ast.Attribute, owners: dict[int, ast.Attribute]) -> bool:
    if used.attr == "trainer":
        return id(used) in owners and owners[id(used)].attr in SETTLED
    return used.attr in _OWN and used.attr not in item.methods
