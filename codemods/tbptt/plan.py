"""Which classes of the project can be rewritten, once relatives and Trainers are known, and what moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codemods.facts import MODULE, ClassFact, Facts, TrainerFact
from codemods.tbptt.module import HELPER, TbpttClass

CLIP = ("gradient_clip_val", "gradient_clip_algorithm")
FULL_PRECISION = (32, 64, "32", "64", "32-true", "64-true", None)
INHERITED = ("training_step", "configure_optimizers", "on_before_optimizer_step", HELPER)


@dataclass(frozen=True)
class Verdict:
    """What is to be done with one class: rewrite it (`refusal` is None), with this clipping taken from these
    Trainer calls (path, line), clearing the autocast cache or not."""

    item: TbpttClass
    refusal: str | None
    clip: tuple[str, str | None] | None = None
    trainers: tuple[tuple[str, int], ...] = ()
    clear_autocast: bool = True


def verdicts(facts: Facts, code: str) -> tuple[Verdict, ...]:
    """One verdict for each candidate class, in path order."""
    collected = facts.collected(code)
    items = [item for path in sorted(collected) for item in collected[path]]
    return tuple(_judge(facts, item) for item in items)


def _judge(facts: Facts, item: TbpttClass) -> Verdict:
    fact = facts.files[item.path].find(item.name)
    if item.refusal or fact is None:
        return Verdict(item, item.refusal or "the class is not at the top of its module")
    refusal = _relatives(facts, fact)
    if refusal:
        return Verdict(item, refusal)
    trainers = tuple(_trainers(facts, fact))
    refusal = _trainer_refusal(facts, fact, trainers)
    if refusal:
        return Verdict(item, refusal)
    clipping = [trainer for trainer in trainers if _clips(trainer)]
    clip = _clip(clipping[0]) if clipping else None
    return Verdict(
        item,
        None,
        clip,
        tuple((trainer.path, trainer.line) for trainer in clipping),
        not _full_precision(facts, fact, trainers),
    )


def _relatives(facts: Facts, fact: ClassFact) -> str | None:
    if facts.kind(fact) != MODULE:
        return "its bases do not plainly lead to LightningModule"
    for base in (facts.ancestry(fact) or ())[1:]:
        clash = sorted(base.methods & set(INHERITED))
        if clash:
            return f"its base class {base.name} defines {clash[0]}"
    for child in facts.subclasses(fact):
        clash = sorted(child.methods & {*INHERITED, "__init__"})
        if clash:
            return f"its subclass {child.name} ({child.path}) defines {clash[0]}"
    return None


def _used_elsewhere(facts: Facts, fact: ClassFact) -> bool:
    return bool(facts.mentions.get(fact.name.encode(), frozenset()) - {fact.path})


def _trainers(facts: Facts, fact: ClassFact) -> Iterator[TrainerFact]:
    """The Trainers that fit the class, or may: all of its own file where no other file names the class."""
    everywhere = _used_elsewhere(facts, fact)
    for trainer in facts.trainers:
        if not everywhere and trainer.path != fact.path:
            continue
        known = [_fitted(facts, trainer, name) for name in trainer.fits]
        if not known or None in known or fact in known:
            yield trainer


def _fitted(facts: Facts, trainer: TrainerFact, dotted: str | None) -> ClassFact | None:
    return facts.find_class(dotted, trainer.path) if dotted else None


def _clips(trainer: TrainerFact) -> bool:
    argument = trainer.argument("gradient_clip_val")
    return argument is not None and not (argument.literal and not argument.value)


def _clip(trainer: TrainerFact) -> tuple[str, str | None]:
    value, algorithm = (trainer.argument(name) for name in CLIP)
    return (value.text if value else "", algorithm.text if algorithm else None)


def _trainer_refusal(facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...]) -> str | None:
    for trainer in trainers:
        place = f"{trainer.path}:{trainer.line}"
        accumulate = trainer.argument("accumulate_grad_batches")
        if accumulate and not (accumulate.literal and accumulate.value in (1, None)):
            return (
                f"the Trainer at {place} accumulates gradients: 1.x lost all but the last chunk of a window's "
                "batches, so there is no training to be the same as"
            )
        if trainer.argument("truncated_bptt_steps"):
            return f"the Trainer at {place} is given truncated_bptt_steps too"
        if not _clips(trainer):
            continue
        if not all((argument := trainer.argument(name)) is None or argument.literal for name in CLIP):
            return f"the Trainer at {place} clips by a value that is not a literal"
        if not _fits_only(facts, fact, trainer):
            return f"the Trainer at {place} clips gradients, and may train other modules too"
    if len({_clip(trainer) for trainer in trainers if _clips(trainer)}) > 1:
        return "its Trainers clip gradients in different ways"
    return _clip_from_elsewhere(facts, fact)


def _fits_only(facts: Facts, fact: ClassFact, trainer: TrainerFact) -> bool:
    known = {_fitted(facts, trainer, name) for name in trainer.fits}
    if known == {fact}:
        return True
    modules = [item for item in facts.classes() if facts.kind(item) == MODULE]
    family = {fact, *(facts.ancestry(fact) or ()), *facts.subclasses(fact)}
    return known <= {fact, None} and all(item in family for item in modules)


def _clip_from_elsewhere(facts: Facts, fact: ClassFact) -> str | None:
    """A clipping value that reaches a Trainer by a configuration file or a dict cannot be moved."""
    if not _used_elsewhere(facts, fact):
        return None
    direct = {trainer.path for trainer in facts.trainers if trainer.argument("gradient_clip_val")}
    others = sorted(facts.mentions.get(b"gradient_clip_val", frozenset()) - direct)
    if others:
        return f"gradient_clip_val also stands in {others[0]}, from where it may reach the Trainer"
    return None


def _full_precision(facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...]) -> bool:
    """Whether no Trainer of the class can mix precisions, so that autocast's cache is never used."""
    files = facts.files.values() if _used_elsewhere(facts, fact) else [facts.files[fact.path]]
    if not trainers or any(file.indirect_trainers for file in files):
        return False
    for trainer in trainers:
        precision = trainer.argument("precision")
        if trainer.open_ended or trainer.argument("plugins"):
            return False
        if precision and not (precision.literal and precision.value in FULL_PRECISION):
            return False
    return True
