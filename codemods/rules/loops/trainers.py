"""The Trainers that train a class: those whose `fit` is seen to be given it."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.lightning.facts import ClassFact, Facts, KeywordFact, TrainerFact
from codemods.lightning.project_trainers import project_trainers, trainers_given, trainers_in_file

CLIP = ("gradient_clip_val", "gradient_clip_algorithm")
ACCUMULATE = "accumulate_grad_batches"
WORDS = (CLIP[0].encode(), ACCUMULATE.encode())


def trainers_of(facts: Facts, fact: ClassFact) -> Iterator[TrainerFact]:
    """The Trainers that are given the class, or one below it, to fit."""
    wanted = {fact, *facts.subclasses(fact)}
    for trainer in project_trainers(facts):
        if wanted & fitted(facts, trainer):
            yield trainer


def fitted(facts: Facts, trainer: TrainerFact) -> frozenset[ClassFact | None]:
    """The classes that a Trainer is seen to fit; None among them where one cannot be told."""
    known: dict[int, frozenset[ClassFact | None]] = facts.memo.setdefault("trainers.fitted", {})
    if id(trainer) not in known:
        names = [(name, trainer.path) for name in (*trainer.fits, *trainer.fits_at_once)]
        names += _by_others(facts, trainer)
        known[id(trainer)] = frozenset(facts.find_class(name, near) if name else None for name, near in names)
    return known[id(trainer)]


def _by_others(facts: Facts, trainer: TrainerFact) -> Iterator[tuple[str | None, str]]:
    """The classes, each with the file that says so, that are fitted where the function that builds a Trainer is called:
    those that are seen, and one that is not, as anyone may call it."""
    found = [
        (name, path)
        for path, known in facts.files.items()
        for maker, name in (known.fits_of_made if trainer.maker else ())
        if maker.rpartition(".")[2] == trainer.maker and _is_of(facts, maker, path, trainer)
    ]
    yield from found
    if found:
        yield None, trainer.path


def _is_of(facts: Facts, maker: str, near: str, trainer: TrainerFact) -> bool:
    """Whether a dotted name is that of the function that gives a Trainer back."""
    found = facts.find_definition(maker, near)
    return found is not None and found[0].path == trainer.path and found[1].name == trainer.maker


def refused_trainers(facts: Facts) -> list[TrainerFact]:
    """The Trainers that are given what manual optimization refuses."""
    if "trainers.refused" not in facts.memo:
        given = trainers_given(facts, (CLIP[0], ACCUMULATE))
        facts.memo["trainers.refused"] = [trainer for trainer in given if refused(trainer)]
    found: list[TrainerFact] = facts.memo["trainers.refused"]
    return found


def refused_here(facts: Facts, path: str) -> list[TrainerFact]:
    """Those of them that one file builds."""
    return [trainer for trainer in trainers_in_file(facts, path) if refused(trainer)] if path in facts.files else []


def refused(trainer: TrainerFact) -> list[KeywordFact]:
    """The arguments of a Trainer that manual optimization refuses, as far as their values are seen."""
    clip, window = trainer.argument(CLIP[0]), trainer.argument(ACCUMULATE)
    return [
        *([clip] if clip and clip.literal and clip.value else []),
        *([window] if window and window.literal and window.value not in (1, None) else []),
    ]


def refusing(facts: Facts, fact: ClassFact) -> str | None:
    """Which Trainer of a class is given what manual optimization refuses, as the middle of a sentence."""
    wanted = {fact, *facts.subclasses(fact)}
    for trainer in refused_trainers(facts):
        for argument in refused(trainer) if wanted & fitted(facts, trainer) else ():
            return f"the Trainer at {trainer.path}:{trainer.line} is given {argument.name}, which it would then refuse"
    return None
