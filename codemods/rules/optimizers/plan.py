"""Which classes of the project can be rewritten, once relatives and Trainers are known, and what moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codemods.finding import Fix
from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from
from codemods.rewrite.manual.batch_outputs import BATCH_END, BY_BATCH, HOOK, lost
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rewrite.manual.fit_sites import FileFits
from codemods.rewrite.manual.hooks import COUNT, FINDING, STEPPING, doubts_about
from codemods.rewrite.manual.optimizer_factories import METHOD, Made, configured_by, makers
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.project_obstacles import (
    LR_FIND,
    UNFIT,
    hearing,
    relatives,
    searching,
    surroundings,
)
from codemods.rewrite.manual.reserved_attributes import Own, doubts_of_own, judge_own
from codemods.rewrite.manual.settings import TrainerSetting
from codemods.rewrite.manual.step_counts import askers
from codemods.rewrite.manual.trainer_scopes import TrainerCall
from codemods.rewrite.manual.trainers import ACCUMULATE, CLIP, OFF, Loose, TrainerSettings, read_trainers
from codemods.rules.optimizers.apart import reaches_below, stepping_apart, without
from codemods.rules.optimizers.module import FIRST, STEP, WATCHED, SeveralOptimizers, judge_configured
from codemods.rules.tbptt.plan import TbpttVerdict as TbpttVerdict
from codemods.rules.tbptt.plan import verdicts as tbptt_verdicts

UNHEARD = {
    "on_before_zero_grad": "manual optimization does not call",
    "on_train_batch_end": "no longer gets the outputs of the steps",
}
WORDS = {word: why for word, why in UNFIT.items() if word != LR_FIND}
TBPTT = "TBP001"
EPOCH_ENDS = {"on_train_epoch_end", "training_epoch_end"}
EMPTY = ConfiguredOptimizers(None, None)
BY_EPOCH = "1.4.0"
"""The first release in which optimizers with a frequency took turns by the number of the batch in its epoch:
`loops/batch/training_batch_loop.py` of 1.4.9, not `trainer/training_loop.py` of 1.3.8."""


@dataclass(frozen=True)
class OptimizerFileSummary:
    """What a file shows to the others: its candidate classes, and where Trainer arguments that would have to move
    stand other than in a Trainer's call, or in one that stands beside its model."""

    classes: tuple[SeveralOptimizers, ...]
    loose: Loose
    carriers: tuple[TrainerCall, ...] = ()
    fits: FileFits = field(default_factory=FileFits)
    made: Made = field(default_factory=dict)
    own: Own = field(default_factory=dict)


@dataclass(frozen=True)
class OptimizerVerdict:
    """What is to be done with one class.

    `what` is `loop` for a class that gets the loop, `follow` for one that only renames its step with its base's,
    `drop` where the parameter goes (it was always `constant`, where the step reads it), `none` where `refusal` says why
    nothing is done, `keep` where it says why the one parameter of a class with one optimizer stays, `other` for a class
    that is none of Lightning's, or another rule's. `base` is the class of the loop that a follower belongs to,
    `batches` whether global_step is to count them, `apart` are the subclasses (path, name) that stay automatic,
    `across` whether turns go on from one epoch to the next.
    """

    item: SeveralOptimizers
    what: str
    refusal: str = ""
    given: TrainerSettings = field(default_factory=TrainerSettings)
    kind: str = ""
    skips: bool = False
    attribute: bool = False
    doubts: tuple[str, ...] = ()
    base: SeveralOptimizers | None = None
    batches: bool = False
    constant: str = ""
    apart: tuple[tuple[str, str], ...] = ()
    across: bool = False

    @property
    def configured(self) -> ConfiguredOptimizers:
        return self.item.configured or EMPTY

    @property
    def level(self) -> Fix:
        return "unsafe" if self.doubts else "safe"

    @property
    def unit(self) -> str:
        if self.given.handed:
            return f"handed {self.level}"
        owner = self.base or self.item
        return f"{owner.path}:{owner.name}"


@dataclass(frozen=True)
class TrainerUses:
    """Trainer arguments that stand where they cannot be moved, by path, and Trainers beside their model."""

    spoken: Mapping[str, Loose]
    carrying: frozenset[tuple[str, int]]
    fits: Mapping[str, FileFits]
    made: Mapping[str, Made]
    own: Mapping[str, Own]
    settings: Mapping[str, tuple[TrainerSetting, ...]]


def verdicts(facts: Facts, code: str) -> tuple[OptimizerVerdict, ...]:
    """One verdict for each candidate class, in path order."""
    name = f"{code}.verdicts"
    if name not in facts.memo:
        facts.memo[name] = _verdicts(facts, code)
    found: tuple[OptimizerVerdict, ...] = facts.memo[name]
    return found


def _verdicts(facts: Facts, code: str) -> tuple[OptimizerVerdict, ...]:
    collected: dict[str, OptimizerFileSummary] = facts.collected(code)
    seen = TrainerUses(
        {path: shown.loose for path, shown in collected.items() if shown.loose},
        frozenset((path, each.trainer) for path, shown in collected.items() for each in shown.carriers),
        {path: shown.fits for path, shown in collected.items()},
        {path: shown.made for path, shown in collected.items()},
        {path: shown.own for path, shown in collected.items()},
        facts.collected_texts(code),
    )
    items = {(item.path, item.name): item for path in sorted(collected) for item in collected[path].classes}
    found: dict[tuple[str, str], OptimizerVerdict] = {}
    for key, item in items.items():
        verdict = _judge(facts, item, items, seen)
        found.setdefault(key, verdict)
        if verdict.what == "loop":
            found.update({(each.path, each.name): _follower(each, verdict) for each in _followers(facts, item, items)})
    return tuple(found[key] for key in items)


def _chunked(facts: Facts) -> tuple[TbpttVerdict, ...]:
    """What the rule for truncated back-propagation says, where it is asked too."""
    return tbptt_verdicts(facts, TBPTT)


def _follower(item: SeveralOptimizers, base: OptimizerVerdict) -> OptimizerVerdict:
    return OptimizerVerdict(item, "follow", given=base.given, doubts=base.doubts, base=base.item)


def _followers(
    facts: Facts, item: SeveralOptimizers, items: Mapping[tuple[str, str], SeveralOptimizers]
) -> list[SeveralOptimizers]:
    fact = facts.files[item.path].find(item.name)
    below = facts.subclasses(fact) if fact else ()
    return [items[each.path, each.name] for each in below if (each.path, each.name) in items]


def _judge(
    facts: Facts, item: SeveralOptimizers, items: Mapping[tuple[str, str], SeveralOptimizers], seen: TrainerUses
) -> OptimizerVerdict:
    fact = facts.files[item.path].find(item.name)
    if fact is None:
        return OptimizerVerdict(item, "none", "the class is not at the top level of its module")
    if item.passes:
        return OptimizerVerdict(item, "other")
    if facts.kind(fact) == "other":
        return _mixed_in(facts, item, fact)
    if item.chunked and any(tbptt.item.name == item.name and tbptt.item.path == item.path for tbptt in _chunked(facts)):
        return OptimizerVerdict(item, "other")
    counted = False
    apart = stepping_apart(facts, fact, items.keys(), seen.made)
    seen = replace(seen, made=without(seen.made, apart))
    try:
        item = _optimized(facts, item, fact, seen)
        counted = True
        judge_configured(item.configured or EMPTY)
        judge_own(facts, fact, seen.own)
        reason = item.refusal
    except NotPlain as error:
        reason = item.refusal or str(error)
    alone = _alone(facts, item, fact, items, counted)
    if alone or reason:
        return alone or OptimizerVerdict(item, "none", reason or "")
    if item.default not in ("", "0", "None") or ((item.configured or EMPTY).count is None and item.default == "None"):
        return OptimizerVerdict(
            item, "none", f"the index is {item.default} if there is one optimizer, where a loop counts 0"
        )
    followers = _followers(facts, item, items)
    refusal = (
        relatives(facts, fact, set())
        or _clash(facts, item, fact, followers, apart)
        or surroundings(facts, fact, UNHEARD, WORDS, frozenset(each.path for each in followers))
        or hearing(facts, fact)
        or (_unkept(facts, item, fact) if item.outputs or item.batch_outputs else None)
    )
    if refusal:
        return OptimizerVerdict(item, "none", refusal)
    given = read_trainers(facts, fact, seen.spoken, seen.carrying, seen.fits, settings=seen.settings)
    if apart and reaches_below(item, given):
        return OptimizerVerdict(item, "none", _clash(facts, item, fact, followers) or "")
    kinds = {item.kind, *(each.kind for each in followers if each.kind != "same")}
    verdict = OptimizerVerdict(
        item,
        "loop",
        given=given,
        kind=kinds.pop() if len(kinds) == 1 else "",
        skips=item.skips or any(_skips(each, item.configured or EMPTY) for each in followers),
        attribute=not item.constructor or any("__init__" in child.methods for child in facts.subclasses(fact)),
        apart=tuple((each.path, each.name) for each in apart),
        across=admits_below(facts, LIGHTNING, BY_EPOCH) and not admits_from(facts, LIGHTNING, BY_EPOCH, "2.0.0"),
    )
    return _doubted(facts, verdict, doubts_of_own(facts, fact, seen.own, given))


def _mixed_in(facts: Facts, item: SeveralOptimizers, fact: ClassFact) -> OptimizerVerdict:
    """The verdict on a class that is no LightningModule itself."""
    for other in facts.subclasses(fact):
        if facts.kind(other) == MODULE:
            reason = (
                f"{other.name} ({other.path}) takes its training_step from it, but it is not a LightningModule itself"
            )
            return OptimizerVerdict(item, "none", reason)
    return OptimizerVerdict(item, "other")


def _optimized(facts: Facts, item: SeveralOptimizers, fact: ClassFact, seen: TrainerUses) -> SeveralOptimizers:
    """The class with what it and its subclasses are optimized by. Raises NotPlain."""
    configured = configured_by(facts, fact, seen.made)
    others = [other for other in makers(facts, fact, seen.made) if other != fact]
    found = sorted(item.hooks.reads & frozenset(FINDING))
    if found and configured.count is None:
        raise NotPlain(f"`{found[0]}` reads the index, which is not known if there may be one optimizer")
    if configured.frequencies and others:
        raise NotPlain(f"its optimizers have a frequency in {others[0].name} ({others[0].path})")
    ends = [other for other in family(facts, fact) if other.methods & EPOCH_ENDS]
    if any(schedule.monitor for schedule in configured.schedules) and (ends or not item.ends):
        name = ends[0].name if ends else item.name
        raise NotPlain(f"ReduceLROnPlateau would step in on_train_epoch_end, which {name} handles in its own way")
    return replace(item, configured=configured, skips=_skips(item, configured))


def _skips(item: SeveralOptimizers, configured: ConfiguredOptimizers) -> bool:
    """Whether a step may return nothing for one of the optimizers that there are."""
    known = configured.most is not None and configured.most <= FIRST
    return any(index < (configured.most or 0) for index in item.skipped) if known else item.skips


def one_optimizer(facts: Facts, fact: ClassFact, code: str) -> bool:
    """Whether every instance of a class and of those below it has one optimizer, which nothing is assumed of."""
    collected: dict[str, OptimizerFileSummary] = facts.collected(code)
    try:
        configured = configured_by(facts, fact, {path: shown.made for path, shown in collected.items()})
    except NotPlain:
        return False
    return configured.count == 1 and not configured.doubts


def _alone(
    facts: Facts,
    item: SeveralOptimizers,
    fact: ClassFact,
    items: Mapping[tuple[str, str], SeveralOptimizers],
    counted: bool,
) -> OptimizerVerdict | None:
    """The verdict on a class with one optimizer, or with a step that does not look at the index; `counted` holds where
    the classes below it have that many too."""
    count = item.configured.count if item.configured else None
    one = count == 1 and not item.manual
    constant = item.default if counted and one and not item.unread and _is_constant(item.default) else ""
    alone = count == 1 or item.manual or (item.configured is None and item.default)
    if not constant and not (item.unread and alone):
        return OptimizerVerdict(item, "keep", _one(item)) if count == 1 or item.manual else None
    for other in family(facts, fact):
        shown = items.get((other.path, other.name))
        apart = shown and (not shown.extends or (shown.unread and shown.default))
        if "training_step" in other.methods and not apart:
            return OptimizerVerdict(
                item, "keep", f"{other.name} ({other.path}), a base class or subclass, defines training_step too"
            )
    return OptimizerVerdict(
        item, "drop", doubts=(item.configured or EMPTY).doubts if constant else (), constant=constant
    )


def _is_constant(text: str) -> bool:
    """Whether the text of a default is a number or None."""
    return text == "None" or text.isdigit()


def _one(item: SeveralOptimizers) -> str:
    if item.manual:
        return "the class optimizes by hand already, and 1.x refused the parameter there too"
    if item.default:
        return f"there is one optimizer, so the index is always {item.default}: write `{item.default}` in its place"
    return "there is one optimizer, and 1.x gave no index then, so the step failed"


def _clash(
    facts: Facts,
    item: SeveralOptimizers,
    fact: ClassFact,
    followers: list[SeveralOptimizers],
    apart: tuple[ClassFact, ...] = (),
) -> str | None:
    """Which relative of the class defines one of the methods that the loop has to do with, other than those that step
    `apart`. The step of a base is no matter where nothing calls it."""
    free = {(each.path, each.name) for each in followers if each.follows}
    if not item.extends:
        free |= {(other.path, other.name) for other in facts.ancestry(fact) or ()}
    for other in family(facts, fact):
        if other in apart:
            continue
        watched = WATCHED - {METHOD, *((STEP,) if (other.path, other.name) in free else ())}
        found = sorted(other.methods & watched)
        if found:
            return f"{other.name} ({other.path}), a base class or subclass, defines {found[0]}"
    return None


def _unkept(facts: Facts, item: SeveralOptimizers, fact: ClassFact) -> str | None:
    """Why the outputs that training_epoch_end or on_train_batch_end reads cannot be kept for it."""
    configured = item.configured or EMPTY
    hook = HOOK if item.outputs else BATCH_END
    if configured.count is None:
        return f"{hook} reads the steps' outputs, which were no lists where there is one optimizer"
    if item.batch_outputs and (configured.frequencies or item.skips):
        return f"{BATCH_END} reads the steps' outputs, and some batches have none for some optimizers"
    if not admits_from(facts, LIGHTNING, BY_BATCH):
        return f"{hook} reads the steps' outputs, which until {BY_BATCH} were a list for each optimizer, of all batches"
    if item.outputs and any(schedule.monitor for schedule in configured.schedules):
        return f"{HOOK} reads the steps' outputs, and ReduceLROnPlateau steps when it would be called"
    return lost(facts, fact) if item.outputs else None


def keeps_outputs(facts: Facts, path: str, name: str, code: str = "OPT001") -> bool:
    """Whether the loop that a class gets by the rule `code` keeps what its training_epoch_end reads."""
    return any(
        verdict.what == "loop" and verdict.item.outputs and (verdict.item.path, verdict.item.name) == (path, name)
        for verdict in verdicts(facts, code)
    )


def _doubted(facts: Facts, verdict: OptimizerVerdict, own: Iterator[str]) -> OptimizerVerdict:
    """The verdict with what keeps the rewrite from being the same without a look."""
    given, doubts = verdict.given, [*verdict.configured.doubts, *own]
    reason = given.refusal or given.elsewhere
    if reason:
        names = " and ".join(given.left)
        doubts.append(
            f"{reason}; manual optimization refuses {names} there, so give the value to the class's own attribute"
        )
    if verdict.configured.frequencies and (ACCUMULATE in given.left or given.accumulate):
        return OptimizerVerdict(
            verdict.item, "none", "its optimizers have a frequency, and the Trainer accumulates gradients"
        )
    doubts += doubts_about(verdict.item.hooks)
    if verdict.item.hooks.logs:
        doubts.append(
            "its optimizer_step logs, where 1.x lost what an optimizer before it had logged by epoch in the first "
            "batch of an epoch, which is kept now"
        )
    if verdict.skips and given.clear_autocast and STEPPING in verdict.item.hooks.names:
        doubts.append("a GradScaler fails where a step returns None, which 1.x ignored")
    elif verdict.skips and given.clear_autocast:
        doubts.append("a step that returns None no longer counts in global_step, as it did in 1.x")
    if verdict.item.outputs and admits_below(facts, LIGHTNING, BY_BATCH):
        doubts.append(
            f"{HOOK} gets a list for each batch, as on 1.8 and 1.9; before, it was a list for each optimizer, of all "
            "batches"
        )
    if verdict.item.batch_outputs and admits_below(facts, LIGHTNING, BY_BATCH):
        doubts.append(
            f"{BATCH_END} gets a dict for each optimizer, as on 1.8 and 1.9; before, it may have been in more lists"
        )
    verdict = _counted(facts, verdict, doubts)
    search = searching(facts)
    if search:
        doubts.append(search)
    return replace(verdict, doubts=tuple(doubts))


def _counted(facts: Facts, verdict: OptimizerVerdict, doubts: list[str]) -> OptimizerVerdict:
    """The verdict with whether the class is to count batches, as Lightning before 1.6 did. Optimizers that take turns
    make one step a batch."""
    if admits_from(facts, LIGHTNING, "1.6.0", "2.0.0") or verdict.configured.frequencies:
        return verdict
    fact = facts.files[verdict.item.path].find(verdict.item.name)
    own = (fact, *facts.subclasses(fact)) if fact else ()
    asked = askers(facts, own)
    old = admits_below(facts, LIGHTNING, "1.6.0")
    bound = any(COUNT in other.methods for each in own for other in facts.ancestry(each))
    told = not admits_from(facts, LIGHTNING, "1.6.0")
    alone = told and not bound and STEPPING not in verdict.item.hooks.names
    counts = asked.otherwise or (verdict.item.path if asked.module and not alone else None)
    if counts and not old:
        doubts.append(
            f"the project asks for Lightning 2, so the release that its step was written for is not known; before 1.6 "
            f"global_step counted a batch once, and {counts} may use it"
        )
    elif counts:
        times = verdict.configured.count or "several"
        doubts.append(
            f"the project is pinned to a Lightning before 1.6, where global_step counted a batch once whatever the "
            f"optimizers; it now grows {times} times as fast, and {counts} may use it"
        )
    return replace(verdict, batches=asked.module and not counts)


def clip_of(given: TrainerSettings) -> tuple[str, str | None] | None:
    """The value and algorithm that the class is to clip by; 0.0, which is not at all, where a person has to say."""
    if CLIP[0] in given.left:
        return OFF[CLIP[0]], None
    return given.clip


def window_of(given: TrainerSettings) -> str | None:
    """How many batches the class is to accumulate; 1 where a person has to say."""
    return OFF[ACCUMULATE] if ACCUMULATE in given.left else given.accumulate


def clears(verdict: OptimizerVerdict) -> bool:
    """Whether a later optimizer could meet weights of before a step in autocast's cache."""
    return verdict.given.clear_autocast and not verdict.configured.frequencies
