"""Where a module's hook that is called at other times than the one before does the same all the same."""

from __future__ import annotations

import re

from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rules.hooks.removed_hooks import Unheard
from codemods.rules.hooks.same_point import after_others

_EVALUATED = ("validation_step", "test_step")
_SET = re.compile(rb"\.(?:validation|test)_step\s*[:,=](?!=)|setattr\(")
_PLAIN_BASES = frozenset({MODULE, "torch.nn.Module", "abc.ABC", "object", "typing.Generic"})


def why_certain(facts: Facts, fact: ClassFact, hook: Unheard) -> str:
    """Why a module's hook under its new name does what it did; empty where that is not sure."""
    if not hook.trains or after_others(facts, hook.new) or not _only_trains(facts, fact):
        return ""
    return "The class has no validation_step and no test_step, so it ran in training alone."


def _only_trains(facts: Facts, fact: ClassFact) -> bool:
    """Whether no instance of a class has anything to evaluate: it, what is above it and what is below it are known."""
    every = [fact, *family(facts, fact)]
    above = [base for each in every for base in facts.lineage(each) if isinstance(base, str)]
    if not _PLAIN_BASES.issuperset(above) or any(None in each.bases for each in every):
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
