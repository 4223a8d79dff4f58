"""What the trainings of modules by themselves say: of each, and of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from verify.evidence import Alone, Fact, Rung, Verdict
from verify.harness.alone_errors import is_about_inputs
from verify.judging.apart_told import facts_of_parts, notes_of, told_of, untrained
from verify.judging.by_hand import refused, stopped_at
from verify.judging.proof_list import replace_by_hand
from verify.judging.record import RunRecord
from verify.judging.verdict import Judgement, judge, noise_of, steady, unsure
from verify.reading.sources import Sources

_NONE_THERE = "no class of these files is a LightningModule that takes a training step"
_WORST: tuple[Verdict, ...] = ("regressed", "changed", "inconclusive", "repaired", "preserved")


def label_of(recipe: Mapping[str, Any]) -> str:
    """The module that a recipe builds, `path:Class`, behind the place of the Trainer that is not fixer's own."""
    call = recipe.get("call")
    return f"{call.place} {_module(recipe)}" if call else _module(recipe)


def _module(recipe: Mapping[str, Any]) -> str:
    return f"{recipe['path']}:{recipe['cls']}"


def part_of(
    recipe: Mapping[str, Any],
    old: RunRecord | None,
    new: RunRecord,
    problems: Sequence[str],
    missing: str,
    per_batch: bool,
    second: RunRecord | None = None,
    by_hand: Sequence[tuple[str, str]] = (),
    after: Sources | None = None,
) -> Alone:
    """What a recipe's trainings say: of the tree before, of the tree `after`, and a second one of the tree before,
    where these uses are left to do by hand."""
    noise, kept = 0.0, old
    aside: tuple[Fact, ...] = ()
    if old and second:
        noise, (kept, aside) = noise_of(old, second), steady(old, second)
    judgement = judge(kept, new, (), per_batch=per_batch, missing=missing, noise=noise).with_facts(*aside)
    if second and second.ended:
        judgement = unsure(judge(old, new, (), per_batch=per_batch, missing=missing), second.ended)
    mine = [problem for problem in problems if problem.partition(":")[0] in new.loaded]
    mine += filter(None, [stopped_at(new.recording.failure, (), by_hand, after, new.held)])
    if stop := new.recording.failure:
        mine += filter(None, [refused([f"{_module(recipe)}: {stop.message}"], by_hand)])
    failure = old.recording.failure if old else None
    if judgement.verdict == "regressed" and mine:
        judgement = replace(judgement, verdict="inconclusive").with_facts(replace_by_hand(mine[0]))
    elif judgement.verdict == "repaired" and failure and is_about_inputs(f"{failure.type}: {failure.message}"):
        doubt = Fact("also", "the generated batch may not be what the tree before takes")
        judgement = replace(judgement, verdict="inconclusive").with_facts(doubt)
    call, rung = recipe.get("call"), judgement.rung if new.recording.fitted else None
    return Alone(
        module=_module(recipe),
        arguments=recipe["told"]["arguments"],
        batch=recipe["told"]["batch"],
        notes=notes_of(recipe, old, new),
        verdict=judgement.verdict,
        rung="trains" if call and rung == "same" else rung,
        reason=judgement.reason,
        max_difference=judgement.max_difference,
        tolerance=judgement.tolerance,
        before=old.recording if old else None,
        after=new.recording,
        furthest=judgement.furthest,
        facts=judgement.facts,
        trainer=call.place if call else "",
    )


def judged(counted: Sequence[Alone]) -> list[Alone]:
    """The modules that a judgement over all of them rests on."""
    return [part for part in counted if part.verdict != "inconclusive"] or list(counted)


def overall(
    parts: Sequence[Alone],
    counted: Sequence[Alone],
    failed: Sequence[str],
    problems: Sequence[str],
    by_hand: Sequence[tuple[str, str]] = (),
) -> Judgement:
    """One judgement for all modules: what the worst of those that trained says; what is to be replaced by hand where
    none did."""
    ground: Rung | None = None if problems else "conforms"
    rest = untrained(failed)
    if not counted and (stop := refused(failed, by_hand)):
        rest = (*rest, replace_by_hand(stop))
    trained = [part for part in counted if part.rung in ("trains", "same")]
    if not parts:
        nothing = rest or (Fact("also", _NONE_THERE),)
        return Judgement("inconclusive", ground, "no module could be trained alone", facts=nothing)
    if not counted:
        through = any(part.after and part.after.fitted for part in parts)
        why = "; it executed none of the changed files" if through else f": {parts[0].reason}"
        reason = f"{told_of(parts[0], _modules(parts))}{why}"
        return Judgement("inconclusive", ground, reason, facts=(*facts_of_parts(parts), *rest))
    rested = judged(counted)
    worst = min(rested, key=lambda part: _WORST.index(part.verdict))
    off = max((part for part in rested if part.max_difference is not None), default=None, key=_difference)
    rung = ground
    if trained and not problems and worst.verdict != "regressed":
        whole = [part for part in trained if not part.trainer] or trained
        rung = "same" if all(part.rung == "same" for part in whole) else "trains"
    tolerance = max((part.tolerance for part in rested if part.tolerance is not None), default=None)
    facts = (*facts_of_parts([worst, *(part for part in parts if part is not worst)]), *rest)
    reason = f"{told_of(worst, _modules(parts))}: {worst.reason}"
    size, where = (off.max_difference, off.furthest) if off else (None, None)
    return Judgement(worst.verdict, rung, reason, size, tolerance, where, facts)


def _modules(parts: Sequence[Alone]) -> int:
    return len({part.module for part in parts})


def _difference(part: Alone) -> float:
    return part.max_difference or 0.0
