"""Which classes of the project can be rewritten, once relatives and Trainers are known, and what moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from codemods.finding import Fix
from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, ClassFact, Facts, TrainerFact
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rewrite.manual.batch_outputs import BATCH_END, BY_BATCH, HOOK, lost
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rewrite.manual.hooks import CARRIED, doubts_about
from codemods.rewrite.manual.optimizer_factories import configured_by
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.project_obstacles import (
    LR_FIND,
    UNFIT,
    counting,
    hearing,
    relatives,
    searching,
    surroundings,
)
from codemods.rewrite.manual.reserved_attributes import doubts_of_own, judge_own
from codemods.rewrite.manual.settings import TrainerSetting
from codemods.rewrite.manual.trainers import ACCUMULATE, CLIP, TrainerSettings, fits_only, read_trainers, trainers_of
from codemods.rules.tbptt.batch import OWN_SPLIT, BatchHelper, BatchUse, followed
from codemods.rules.tbptt.chunk_length_transfer import FLAG, Carried, carry
from codemods.rules.tbptt.module import BETWEEN_CHUNKS, HELPER, REFUSED_HOOKS, SPLIT, TbpttClass, TbpttFileSummary

INHERITED = {"training_step", HELPER, *BETWEEN_CHUNKS, *REFUSED_HOOKS, *CARRIED}
UNHEARD = {
    "on_before_zero_grad": "manual optimization does not call",
    "on_train_batch_end": "no longer gets the outputs of the chunks",
    **dict.fromkeys(BETWEEN_CHUNKS, "may log between two chunks, where 2.x drops what the chunks before logged"),
}
EPOCH_ENDS = {"on_train_epoch_end", "training_epoch_end"}
ACCUMULATES = (
    "accumulates gradients: 1.x lost all but the last chunk of a window's "
    "batches, so there is no earlier training to reproduce"
)
MISPLACED = (
    "configure_optimizers returns one optimizer, for which 1.x passed no `optimizer_idx`: the state went to the "
    "parameter `optimizer_idx`, and `{state}` never got it. Drop `optimizer_idx` if the state is to be carried"
)


Settings = Mapping[str, tuple[TrainerSetting, ...]]


@dataclass(frozen=True)
class TbpttVerdict:
    """What is to be done with one class: rewrite it (`refusal` is None) with what its Trainers give, or not.

    `steps` is what the class sets the flag to, as source text (None: it does already), and `flagged` are the Trainers
    that give it (path, how many stand before it in the file); `carried` those of which the models get it where they are
    fitted. `may_be_off` says that a batch may have to be trained on as a whole, `calls_split` that the class cuts the
    batch itself, `by_class` that the flag of manual optimization has to be one of the class. `doubts` are what may be
    otherwise than before.
    """

    item: TbpttClass
    refusal: str | None
    given: TrainerSettings = field(default_factory=TrainerSettings)
    configured: ConfiguredOptimizers = field(default_factory=partial(ConfiguredOptimizers, 1, 1))
    batch: BatchUse = field(default_factory=BatchUse)
    steps: str | None = None
    flagged: tuple[tuple[str, int], ...] = ()
    calls_split: bool = False
    by_class: bool = False
    doubts: tuple[str, ...] = ()
    carried: tuple[tuple[str, int], ...] = ()
    may_be_off: bool = False

    @property
    def level(self) -> Fix:
        return "unsafe" if self.doubts else "safe"

    @property
    def unit(self) -> str:
        return f"handed {self.level}" if self.given.handed else f"{self.item.path}:{self.item.name}"


def verdicts(facts: Facts, code: str) -> tuple[TbpttVerdict, ...]:
    """One verdict for each class that has something to do with truncated back-propagation, in path order."""
    name = f"{code}.verdicts"
    if name not in facts.memo:
        facts.memo[name] = _verdicts(facts, code)
    known: tuple[TbpttVerdict, ...] = facts.memo[name]
    return known


def _verdicts(facts: Facts, code: str) -> tuple[TbpttVerdict, ...]:
    shown: dict[str, TbpttFileSummary] = facts.collected(code)
    items = [item for path in sorted(shown) for item in shown[path].classes]
    settings: Settings = facts.collected_texts(code)
    found = (_verdict(facts, shown, item, settings) for item in items)
    return tuple(verdict for verdict in found if verdict is not None)


def _verdict(
    facts: Facts, shown: Mapping[str, TbpttFileSummary], item: TbpttClass, settings: Settings
) -> TbpttVerdict | None:
    fact = facts.files[item.path].find(item.name)
    if fact is None:
        return (
            TbpttVerdict(item, "the class is not at the top level of its module")
            if item.named or item.flagged
            else None
        )
    if facts.kind(fact) not in (MODULE, None):
        return None
    own = _sets_flag(facts, shown, item, fact)
    given = _giving(facts, fact)
    if not own and not given and not _concerns(item):
        return None
    if item.step is None and any(_has_step(shown, other) or _is_manual(shown, other) for other in family(facts, fact)):
        return None
    try:
        return _plain(facts, shown, item, fact, own, settings)
    except NotPlain as error:
        return TbpttVerdict(item, str(error))


def _concerns(item: TbpttClass) -> bool:
    """Whether the training step needs a state although nothing says that it gets one."""
    return item.named and not item.idle


def _has_step(shown: Mapping[str, TbpttFileSummary], fact: ClassFact) -> bool:
    classes = shown[fact.path].classes if fact.path in shown else ()
    return any(item.name == fact.name and item.step is not None for item in classes)


def _is_manual(shown: Mapping[str, TbpttFileSummary], fact: ClassFact) -> bool:
    return fact.path in shown and fact.name in shown[fact.path].manual


def _sets_flag(facts: Facts, shown: Mapping[str, TbpttFileSummary], item: TbpttClass, fact: ClassFact) -> bool:
    """Whether the class, a relative, or somebody who holds an instance sets the flag."""
    relations = (fact, *family(facts, fact))
    if item.flagged or any(other.path in shown and other.name in shown[other.path].flags for other in relations):
        return True
    for path, seen in shown.items():
        for _, dotted in seen.outside:
            built = facts.find_class(dotted, path) if dotted else None
            if built in relations or (dotted is None and item.named):
                return True
    return False


def _giving(facts: Facts, fact: ClassFact) -> list[TrainerFact]:
    """The Trainers of the class that are given the flag, as 1.x took it before 1.5."""
    return [
        trainer
        for trainer in trainers_of(facts, fact)
        if (argument := trainer.argument(FLAG)) and not (argument.literal and not argument.value)
    ]


def _plain(
    facts: Facts,
    shown: Mapping[str, TbpttFileSummary],
    item: TbpttClass,
    fact: ClassFact,
    flagged: bool,
    settings: Settings,
) -> TbpttVerdict:
    """The verdict on a class that can be rewritten. Raises NotPlain with the reason where it cannot."""
    if item.refusal:
        raise NotPlain(item.refusal)
    giving = _giving(facts, fact)
    steps, carried = _steps(facts, shown, item, fact, flagged, giving)
    off = bool(carried) or (not giving and item.begins is not None and item.may_be_off)
    if off:
        _judge_whole(item)
    if off and not giving and _is_unset(facts, shown, item, fact):
        steps = "None"
    configured = configured_by(facts, fact, {path: seen.optimizers for path, seen in shown.items()})
    _judge_configured(facts, item, fact, configured)
    split = _judge_split(facts, fact)
    batch = BatchUse() if split else _batch(facts, shown, item, fact)
    reasons = [reason for reason in (_misplaced(item, configured), batch.refusal) if reason]
    if reasons:
        raise NotPlain(". Also, ".join(reasons))
    if item.batch_outputs and configured.count != 1:
        raise NotPlain(f"{BATCH_END} reads the chunks' outputs, which were lists of one for each optimizer too")
    if item.outputs:
        _judge_epoch_end(facts, fact, configured)
    spoken = {path: seen.loose for path, seen in shown.items() if seen.loose}
    fits = {path: seen.fits for path, seen in shown.items()}
    given = read_trainers(facts, fact, spoken, fits=fits, movable=CLIP[:1], settings=settings)
    own = {path: seen.own for path, seen in shown.items()}
    judge_own(facts, fact, own)
    refusal = (
        relatives(facts, fact, INHERITED)
        or hearing(facts, fact)
        or surroundings(facts, fact, UNHEARD, {word: why for word, why in UNFIT.items() if word != LR_FIND})
        or (f"the Trainer at {given.accumulates} {ACCUMULATES}" if given.accumulate else None)
        or given.refusal
        or (given.elsewhere if given.left != (ACCUMULATE,) else None)
    )
    if refusal:
        raise NotPlain(refusal)
    return TbpttVerdict(
        item,
        None,
        given,
        configured,
        batch,
        steps,
        tuple((trainer.path, facts.files[trainer.path].trainers.index(trainer)) for trainer in giving),
        split,
        any("__init__" in child.methods for child in facts.subclasses(fact)),
        (
            *configured.doubts,
            *_doubts(facts, item, bool(giving), given),
            *_ended(doubts_of_own(facts, fact, own, given)),
        ),
        carried,
        off,
    )


def _steps(
    facts: Facts,
    shown: Mapping[str, TbpttFileSummary],
    item: TbpttClass,
    fact: ClassFact,
    own: bool,
    giving: list[TrainerFact],
) -> tuple[str | None, Carried]:
    """The flag that the class is to have, None where it is set on the module; and the Trainers of which the models get
    it where they are fitted."""
    trainers = trainers_of(facts, fact)
    for trainer in giving:
        place = f"{trainer.path}:{trainer.line}"
        if own:
            raise NotPlain(f"the Trainer at {place} is given {FLAG} too")
        if not fits_only(facts, fact, trainer):
            raise NotPlain(f"the Trainer at {place} is given {FLAG}, and may train other modules too")
    if own:
        return None, ()
    if not giving:
        raise NotPlain(f"training_step takes a state, but {_nowhere(facts)}")
    arguments = [argument for trainer in giving if (argument := trainer.argument(FLAG))]
    texts = {argument.text for argument in arguments}
    if len(texts) == 1 and len(giving) == len(trainers) and all(argument.literal for argument in arguments):
        return min(texts), ()
    told = {path: seen.told for path, seen in shown.items()}
    fits = {path: seen.fits for path, seen in shown.items()}
    return "None", carry(facts, fact, giving, item.begins is not None, told, fits)


def _nowhere(facts: Facts) -> str:
    """Why no flag is seen."""
    paths = sorted(facts.mentions.get(FLAG.encode(), frozenset()))
    outside = [path for path in paths if path not in facts.files and facts.kinds.get(path) != "docs"]
    if not outside:
        return f"the project does not set `{FLAG}` for the class"
    return f"fixer does not follow what {outside[0]} does with `{FLAG}`: set self.{FLAG} from it in the module"


def _is_unset(facts: Facts, shown: Mapping[str, TbpttFileSummary], item: TbpttClass, fact: ClassFact) -> bool:
    """Whether neither the class nor a base of it gives every model a flag."""
    above = (facts.ancestry(fact) or ())[1:]
    return item.unset and not any(other.path in shown and other.name in shown[other.path].flags for other in above)


def _judge_whole(item: TbpttClass) -> None:
    """Raises NotPlain where a batch that is not cut cannot be trained on by the same loop."""
    if item.outputs or item.batch_outputs:
        reader = HOOK if item.outputs else BATCH_END
        raise NotPlain(f"{reader} reads what a batch's chunks returned, which are none where `{FLAG}` may be None")
    if item.begins not in (None, "None"):
        raise NotPlain(f"the state is {item.begins} where a batch is not cut, as it may be, and None where it is")


def _doubts(facts: Facts, item: TbpttClass, moves: bool, given: TrainerSettings) -> Iterator[str]:
    if given.elsewhere:
        yield (
            f"{given.elsewhere}: with manual optimization more than 1 is an error, and 1.x lost all but the last chunk "
            "of a window's batches by it."
        )
    counts = counting(facts)
    if moves and counts:
        yield f"{counts} may count steps."
    if item.batch_outputs and admits_below(facts, LIGHTNING, BY_BATCH):
        yield f"{BATCH_END} gets a dict for each chunk, as on 1.8 and 1.9; before, it may have been in more lists."
    search = searching(facts)
    yield from _ended([*doubts_about(item.hooks), *([search] if search else [])])


def _ended(doubts: Iterable[str]) -> Iterator[str]:
    """Doubts as sentences of their own."""
    yield from (f"{doubt[0].upper()}{doubt[1:]}." for doubt in doubts)


def _judge_configured(facts: Facts, item: TbpttClass, fact: ClassFact, configured: ConfiguredOptimizers) -> None:
    """Raises NotPlain where the loop cannot step the optimizers and schedulers as 1.x did."""
    waiting = any(schedule.monitor is not None for schedule in configured.schedules)
    if configured.count is None:
        raise NotPlain("configure_optimizers returns one optimizer or several")
    if configured.count == 1 and item.hooks.reads:
        raise NotPlain(f"`{min(item.hooks.reads)}` reads the optimizer's index, which is 0 for one: put 0 instead")
    if configured.frequencies:
        raise NotPlain("the optimizers have a frequency, by which 1.x took one of them for all chunks of a batch")
    if not configured.fixed and (waiting or len(set(configured.schedules)) > 1):
        raise NotPlain("configure_optimizers returns different schedulers, which step at different times")
    ends = [other for other in (fact, *family(facts, fact)) if other.methods & EPOCH_ENDS]
    if waiting and ends and (item.ends_early or ends != [fact] or "training_epoch_end" in fact.methods):
        raise NotPlain(
            f"ReduceLROnPlateau would step in on_train_epoch_end, which {ends[-1].name} handles in its own way"
        )


def _misplaced(item: TbpttClass, configured: ConfiguredOptimizers) -> str | None:
    """Why 1.x did not give the state to the parameter that stands for it."""
    assert item.step is not None
    if configured.count != 1 and item.step.optimizer is None:
        return "configure_optimizers returns several optimizers, but training_step takes no `optimizer_idx`"
    if configured.count == 1 and item.step.optimizer is not None:
        return MISPLACED.format(state=item.step.state)
    return None


def _judge_split(facts: Facts, fact: ClassFact) -> bool:
    """Whether the class or a base of it cuts the batch itself."""
    if any(SPLIT in other.methods for other in facts.ancestry(fact) or (fact,)):
        return True
    for other in family(facts, fact):
        if SPLIT in other.methods:
            raise NotPlain(f"{other.name} ({other.path}), a base class or subclass, defines {SPLIT}")
    return False


def _batch(facts: Facts, shown: Mapping[str, TbpttFileSummary], item: TbpttClass, fact: ClassFact) -> BatchUse:
    known: dict[str, tuple[BatchHelper, ...]] = {}
    for other in (fact, *family(facts, fact)):
        for helper in shown[other.path].helpers if other.path in shown else ():
            if helper.owner == other.name:
                known[helper.name] = (*known.get(helper.name, ()), helper)
    use = followed(item.batch, known)
    if not use.refusal and not use.shown:
        return replace(use, refusal=f"training_step does not show what the batch is made of: {OWN_SPLIT}")
    return use


def _judge_epoch_end(facts: Facts, fact: ClassFact, configured: ConfiguredOptimizers) -> None:
    """Raises NotPlain where a training_epoch_end that reads what the chunks returned cannot be given it."""
    if configured.count != 1:
        raise NotPlain(f"{HOOK} reads the chunks' outputs, which were lists of one for each optimizer too")
    if any(schedule.monitor is not None for schedule in configured.schedules):
        raise NotPlain(f"{HOOK} reads the chunks' outputs, and ReduceLROnPlateau steps when it would be called")
    if why := lost(facts, fact):
        raise NotPlain(why)


def keeps_outputs(facts: Facts, path: str, name: str, code: str = "TBP001") -> bool:
    """Whether the loop that a class gets by the rule `code` keeps what its training_epoch_end reads."""
    return any(
        verdict.refusal is None and verdict.item.outputs and (verdict.item.path, verdict.item.name) == (path, name)
        for verdict in verdicts(facts, code)
    )
