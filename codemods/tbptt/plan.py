"""Which classes of the project can be rewritten, once relatives and Trainers are known, and what moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codemods.facts import ClassFact, Facts
from codemods.manual.surroundings import relatives, surroundings
from codemods.manual.trainers import Given, Loose, read_trainers, trainers_of
from codemods.tbptt.module import BETWEEN_CHUNKS, FLAG, HELPER, REFUSED_HOOKS, TbpttClass

INHERITED = {"training_step", "configure_optimizers", HELPER, *BETWEEN_CHUNKS, *REFUSED_HOOKS}
UNHEARD = {
    "on_before_zero_grad": "manual optimization does not call",
    "on_train_batch_end": "no longer gets the outputs of the chunks",
    **dict.fromkeys(BETWEEN_CHUNKS, "may log between two chunks, where 2.x drops what the chunks before logged"),
}


@dataclass(frozen=True)
class Verdict:
    """What is to be done with one class: rewrite it (`refusal` is None) with what its Trainers give, or not."""

    item: TbpttClass
    refusal: str | None
    given: Given


def verdicts(facts: Facts, code: str) -> tuple[Verdict, ...]:
    """One verdict for each candidate class, in path order."""
    collected = facts.collected(code)
    items = [item for path in sorted(collected) for item in collected[path].classes]
    spoken = {path: shown.loose for path, shown in collected.items() if shown.loose}
    return tuple(_judge(facts, item, spoken) for item in items)


def _judge(facts: Facts, item: TbpttClass, spoken: Mapping[str, Loose]) -> Verdict:
    fact = facts.files[item.path].find(item.name)
    if item.refusal or fact is None:
        return Verdict(item, item.refusal or "the class is not at the top of its module", Given())
    given = read_trainers(facts, fact, spoken)
    refusal = (
        relatives(facts, fact, INHERITED)
        or surroundings(facts, fact, UNHEARD)
        or _flag_on_trainer(facts, fact)
        or _accumulation(given)
        or given.refusal
        or given.elsewhere
    )
    return Verdict(item, refusal, given)


def _accumulation(given: Given) -> str | None:
    if given.accumulate is None:
        return None
    return (
        f"the Trainer at {given.accumulates} accumulates gradients: 1.x lost all but the last chunk of a window's "
        "batches, so there is no training to be the same as"
    )


def _flag_on_trainer(facts: Facts, fact: ClassFact) -> str | None:
    for trainer in trainers_of(facts, fact):
        if trainer.argument(FLAG):
            return f"the Trainer at {trainer.path}:{trainer.line} is given truncated_bptt_steps too"
    return None
