"""Which classes of the project can be rewritten, once relatives and Trainers are known, and what moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.facts import CALLBACK, MODULE, ClassFact, Facts, TrainerFact
from codemods.family import clash, short_name
from codemods.tbptt.module import BETWEEN_CHUNKS, HELPER, REFUSED_HOOKS, TbpttClass

CLIP = ("gradient_clip_val", "gradient_clip_algorithm")
ACCUMULATE = "accumulate_grad_batches"
FULL_PRECISION = (32, 64, "32", "64", "32-true", "64-true", None)
INHERITED = {"training_step", "configure_optimizers", HELPER, *BETWEEN_CHUNKS, *REFUSED_HOOKS}
UNHEARD = {
    "on_before_zero_grad": "manual optimization does not call",
    "on_train_batch_end": "no longer gets the outputs of the chunks",
    **dict.fromkeys(BETWEEN_CHUNKS, "may log between two chunks, where 2.x drops what the chunks before logged"),
}
UNFIT = {
    b"GradientAccumulationScheduler": "manual optimization refuses it",
    b"StochasticWeightAveraging": "it replaces the schedulers that the loop would step",
    b"lr_find": "it steps a scheduler of its own, which manual optimization does not",
}
ASKED = (
    *UNFIT,
    *(f"def {hook}".encode() for hook in UNHEARD),
    b".training_step",
    b"automatic_optimization",
    ACCUMULATE.encode(),
)


@dataclass(frozen=True)
class Verdict:
    """What is to be done with one class: rewrite it (`refusal` is None), with this clipping taken from these
    Trainer calls (path, how many stand before it in the file), clearing the autocast cache or not."""

    item: TbpttClass
    refusal: str | None
    clip: tuple[str, str | None] | None = None
    trainers: tuple[tuple[str, int], ...] = ()
    clear_autocast: bool = True


def verdicts(facts: Facts, code: str) -> tuple[Verdict, ...]:
    """One verdict for each candidate class, in path order."""
    collected = facts.collected(code)
    items = [item for path in sorted(collected) for item in collected[path].classes]
    loose = {path: shown.loose_clips for path, shown in collected.items() if shown.loose_clips}
    return tuple(_judge(facts, item, loose) for item in items)


def _judge(facts: Facts, item: TbpttClass, loose: Mapping[str, tuple[int, ...]]) -> Verdict:
    fact = facts.files[item.path].find(item.name)
    if item.refusal or fact is None:
        return Verdict(item, item.refusal or "the class is not at the top of its module")
    trainers = tuple(_trainers(facts, fact))
    refusal = (
        _relatives(facts, fact)
        or _surroundings(facts, fact)
        or _trainer_refusal(facts, fact, trainers)
        or _from_elsewhere(facts, fact, trainers, loose)
    )
    if refusal:
        return Verdict(item, refusal)
    clipping = [trainer for trainer in trainers if _clips(trainer)]
    clip = _clip(clipping[0]) if clipping else None
    return Verdict(
        item,
        None,
        clip,
        tuple((trainer.path, _position(facts, trainer)) for trainer in clipping),
        not _full_precision(facts, fact, trainers),
    )


def _position(facts: Facts, trainer: TrainerFact) -> int:
    return next(index for index, other in enumerate(facts.files[trainer.path].trainers) if other is trainer)


def _relatives(facts: Facts, fact: ClassFact) -> str | None:
    if facts.kind(fact) != MODULE:
        return "its bases do not plainly lead to LightningModule"
    found = clash(facts, fact, INHERITED)
    if found:
        return found
    for base in (facts.ancestry(fact) or ())[1:]:
        if base.path != fact.path and base.path in facts.mentions.get(b"automatic_optimization", frozenset()):
            return f"its base class {base.name} ({base.path}) may choose the kind of optimization"
    for child in facts.subclasses(fact):
        if "__init__" in child.methods:
            return f"its subclass {child.name} ({child.path}) defines __init__"
    return None


def _surroundings(facts: Facts, fact: ClassFact) -> str | None:
    """Callers in other files, and callbacks that manual optimization would leave without what they need."""
    callers = _naming(facts, fact) & facts.mentions.get(b".training_step", frozenset()) - {fact.path}
    if callers:
        return f"training_step is called by name in {min(callers)}"
    for word, why in UNFIT.items():
        paths = facts.mentions.get(word, frozenset())
        if paths:
            return f"{word.decode()} stands in {min(paths)}: {why}"
    for other in facts.classes():
        unheard = sorted(other.methods & set(UNHEARD))
        if unheard and facts.kind(other) in (CALLBACK, None):
            return f"{other.name} ({other.path}) has {unheard[0]}, which {UNHEARD[unheard[0]]}"
    return None


def _naming(facts: Facts, fact: ClassFact) -> frozenset[str]:
    return facts.mentions.get(short_name(fact).encode(), frozenset())


def _used_elsewhere(facts: Facts, fact: ClassFact) -> bool:
    return bool(_naming(facts, fact) - {fact.path})


def _trainers(facts: Facts, fact: ClassFact) -> Iterator[TrainerFact]:
    """The Trainers that fit the class, or may: those of its own file, where there are any and no other file names
    the class."""
    everywhere = _used_elsewhere(facts, fact) or all(trainer.path != fact.path for trainer in facts.trainers)
    for trainer in facts.trainers:
        if trainer.evaluates or (not everywhere and trainer.path != fact.path):
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
        accumulate = trainer.argument(ACCUMULATE)
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
    if len({_clip(trainer) if _clips(trainer) else None for trainer in trainers}) > 1:
        return "its Trainers clip gradients in different ways, or some of them do not"
    return None


def _fits_only(facts: Facts, fact: ClassFact, trainer: TrainerFact) -> bool:
    known = {_fitted(facts, trainer, name) for name in trainer.fits}
    if known == {fact}:
        return True
    modules = [
        item
        for item in facts.classes()
        if (kind := facts.kind(item)) == MODULE or (kind is None and "training_step" in item.methods)
    ]
    family = {fact, *(facts.ancestry(fact) or ()), *facts.subclasses(fact)}
    return known <= {fact, None} and all(item in family for item in modules)


def _from_elsewhere(
    facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...], loose: Mapping[str, tuple[int, ...]]
) -> str | None:
    """What reaches a Trainer by a configuration file, a dict or a function cannot be moved or counted out."""
    everywhere = _used_elsewhere(facts, fact) or not trainers or any(trainer.open_ended for trainer in trainers)
    direct = {trainer.path for trainer in facts.trainers if trainer.argument(ACCUMULATE)}
    windows = facts.mentions.get(ACCUMULATE.encode(), frozenset()) - direct
    windows = windows if everywhere else windows & {fact.path}
    if windows:
        return f"{ACCUMULATE} stands in {min(windows)}, from where it may reach the Trainer"
    if everywhere:
        mentioned = facts.mentions.get(CLIP[0].encode(), frozenset())
        paths = set(loose) | {path for path in mentioned if path not in facts.files}
    else:
        paths = {fact.path} & set(loose)
    if not paths:
        return None
    place = min(paths)
    line = f" line {loose[place][0]}" if place in loose else ""
    return f"{CLIP[0]} also stands in {place}{line}, from where it may reach the Trainer"


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
