"""Subclasses that train by a step of their own, with the one optimizer that Lightning steps for them, below a class
whose step becomes a loop over several."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping

from codemods.code.source import ClassNode
from codemods.lightning.class_family import speaks
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.optimization import FLAG
from codemods.rewrite.manual.optimizer_factories import METHOD, Made, configured_by
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.trainers import TrainerSettings
from codemods.rules.optimizers.module import INDEX, STEP, WATCHED, SeveralOptimizers

FLAG_ON = f"{FLAG} = True\n"
OF_BASE = re.compile(rf"\b{FLAG}\b|\bsuper\([^()]*\)\.{STEP}\b|\b{INDEX}\b")
SPOKEN = re.compile(rf"\b{FLAG}\b")


def stepping_apart(
    facts: Facts, fact: ClassFact, items: Collection[tuple[str, str]], made: Mapping[str, Made]
) -> tuple[ClassFact, ...]:
    """The classes right below one, and none below them, that define a step without an index and one optimizer for it:
    they stay as they are where they say that they are optimized automatically."""
    if any(speaks(facts, each, SPOKEN) for each in facts.ancestry(fact)):
        return ()
    return tuple(other for other in facts.subclasses(fact) if _is_apart(facts, other, fact, items, made))


def _is_apart(
    facts: Facts,
    other: ClassFact,
    fact: ClassFact,
    items: Collection[tuple[str, str]],
    made: Mapping[str, Made],
) -> bool:
    own = STEP in other.methods and METHOD in other.methods and other.methods & WATCHED == {STEP, METHOD}
    if not own or (other.path, other.name) in items or next(facts.subclasses(other), None) is not None:
        return False
    if not {*facts.ancestry(other)[1:]} <= {fact, *facts.ancestry(fact)}:
        return False
    try:
        configured = configured_by(facts, other, made)
    except NotPlain:
        return False
    return configured.count == 1 and not configured.doubts and not speaks(facts, other, OF_BASE)


def sets_flag(item: ClassNode) -> bool:
    """Whether the body of a class says how it is optimized."""
    targets = [target for node in item.node.body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == FLAG for target in targets)


def without(made: Mapping[str, Made], apart: Collection[ClassFact]) -> Mapping[str, Made]:
    """What classes are optimized by, but for some of them."""
    names = {(each.path, each.name) for each in apart}
    return {
        path: {name: seen for name, seen in here.items() if (path, name) not in names} for path, here in made.items()
    }


def reaches_below(item: SeveralOptimizers, given: TrainerSettings) -> bool:
    """Whether the loop brings along what a subclass with a step of its own would get too: hooks, and what its Trainer
    no longer does."""
    schedules = item.configured.schedules if item.configured else ()
    return bool(
        item.hooks.names
        or item.outputs
        or item.batch_outputs
        or given.clip
        or given.left
        or given.calls
        or given.carried
        or given.settings
        or any(schedule.monitor for schedule in schedules)
    )
