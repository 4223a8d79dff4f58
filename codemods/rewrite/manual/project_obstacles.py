"""What relatives, callers and callbacks of a class have to say against manual optimization."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codemods.lightning.class_family import asked_of_another, asks_others, clash, family
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.rewrite.manual.trainers import naming

LR_FIND = b"lr_find"
UNFIT = {
    b"GradientAccumulationScheduler": "manual optimization refuses it",
    b"StochasticWeightAveraging": "it replaces the schedulers that the loop would step",
    LR_FIND: "it steps a scheduler of its own, which manual optimization does not",
}
COUNTS = (b"max_steps", b"min_steps", b"every_n_train_steps", b"global_step")
ASKED = (*UNFIT, *COUNTS, b".training_step", b"automatic_optimization")


def counting(facts: Facts) -> str | None:
    """The first file that may count steps."""
    return min((path for word in COUNTS for path in facts.mentions.get(word, ()) if path in facts.files), default=None)


def searching(facts: Facts) -> str | None:
    """What a search for a learning rate would miss in a manual loop, where there may be one."""
    paths = (
        path for path in facts.mentions.get(LR_FIND, ()) if LR_FIND in _IDLE.sub(b"", facts.sources[path].unescaped)
    )
    path = min(paths, default=None)
    return path and f"the search for a learning rate in {path} steps a scheduler that manual optimization does not"


_IDLE = re.compile(
    rb"^[ \t]*#[^\r\n]*"
    rb"|auto_lr_find[\"']?[ \t]*[:=][ \t]*(?:[Ff]alse|None|null)(?=[ \t]*(?:[,)}\]#\r\n]|\Z))"
    rb"|\.auto_lr_find\b(?![ \t]*=(?!=))",
    re.MULTILINE,
)
"""What asks for no search: a line that is a comment, the flag that is off, and a look at it."""


def asked(unheard: Mapping[str, str]) -> tuple[bytes, ...]:
    """What a rule's `context` has to name for this module to see it."""
    return (*ASKED, *(f"def {hook}".encode() for hook in unheard))


def relatives(facts: Facts, fact: ClassFact, inherited: set[str]) -> str | None:
    """Why its bases and subclasses forbid a rewrite of the class: one of them defines one of the `inherited`
    methods, or may choose the kind of optimization."""
    if facts.kind(fact) != MODULE:
        return "its bases cannot be followed to LightningModule"
    found = clash(facts, fact, inherited)
    if found:
        return found
    for base in (facts.ancestry(fact) or ())[1:]:
        if base.path != fact.path and base.path in facts.mentions.get(b"automatic_optimization", frozenset()):
            return f"its base class {base.name} ({base.path}) may choose the kind of optimization"
    for child in facts.subclasses(fact):
        if child.path != fact.path and child.path in facts.mentions.get(b"automatic_optimization", frozenset()):
            return f"its subclass {child.name} ({child.path}) may choose the kind of optimization"
    return None


def hearing(facts: Facts, fact: ClassFact) -> str | None:
    """Which relative of the class reads the outputs of a batch, or may."""
    for other in family(facts, fact):
        if "on_train_batch_end" in other.methods - other.quiet:
            return f"{other.name} ({other.path}), a base class or subclass, reads the outputs of a batch"
    return None


def surroundings(
    facts: Facts,
    fact: ClassFact,
    unheard: Mapping[str, str],
    unfit: Mapping[bytes, str] = UNFIT,
    known: frozenset[str] = frozenset(),
) -> str | None:
    """Why callers in other files, and callbacks that manual optimization would leave without what they need,
    forbid a rewrite. `unheard` says of the callback hooks in question what becomes of them, `unfit` of words;
    `known` are files whose callers follow."""
    named = naming(facts, fact) & facts.mentions.get(b".training_step", frozenset()) - {fact.path, *known}
    callers = [path for path in sorted(named) if not asks_others(facts, fact, path, "training_step")]
    if callers:
        return f"training_step is called by name in {callers[0]}"
    if told := asked_of_another(facts, fact, "training_step", known):
        return told
    for word, why in unfit.items():
        paths = facts.mentions.get(word, frozenset())
        if paths:
            return f"{word.decode()} is used in {min(paths)}: {why}"
    for other in facts.classes():
        hooks = sorted((other.methods & set(unheard)) - other.quiet)
        if hooks and facts.kind(other) in (CALLBACK, None):
            return f"{other.name} ({other.path}) has {hooks[0]}, which {unheard[hooks[0]]}"
    return None
