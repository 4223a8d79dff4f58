"""What two runs mean."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from verify.evidence import Fact, Recording, Rung, Verdict
from verify.harness import standins
from verify.judging.differences import (
    UNCOUNTED,
    Difference,
    adds_up,
    close,
    differences,
    furthest,
    losses_of,
    pairs,
    regrouped,
    up_to_failure,
)
from verify.judging.doubted import doubt
from verify.judging.record import HANDED, NAMED, RunRecord

FULL = 1e-6
REDUCED = 1e-2
NOISY = 0.1
MARGIN = 3
_REQUIREMENT = re.compile(r"Requirement '([^']+)' not met")
_SHOWN = 4
_LONGEST = 120
"""How much of the text of an exception a reason holds: the page and the recording have all of it."""
BY_ONE_RUN: tuple[Verdict, ...] = ("regressed", "repaired")
"""Verdicts that rest on how a run ended, which may be chance: both trees are run again."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason in one sentence, the highest rung that held, how far apart the numbers are at most, at
    which of them, and what else there is to know."""

    verdict: Verdict
    rung: Rung | None
    reason: str
    max_difference: float | None = None
    tolerance: float | None = None
    furthest: str | None = None
    facts: tuple[Fact, ...] = ()

    def with_facts(self, *facts: Fact) -> Judgement:
        """The same with more to know, each thing once."""
        return replace(self, facts=tuple(dict.fromkeys((*self.facts, *facts))))


def judge(
    before: RunRecord | None,
    after: RunRecord | None,
    problems: Sequence[str],
    *,
    per_batch: bool = False,
    missing: str = "",
    noise: float = 0.0,
) -> Judgement:
    """The verdict on the tree before and the tree after.

    None stands for a tree that could not be run, `missing` says why. `problems` are what the target does not
    have. `per_batch` is for baselines whose `global_step` counts batches, not steps: it is then not compared. `noise`
    is how far two runs of the tree before are apart.
    """
    ground: Rung | None = None if problems else "conforms"
    if after is None:
        return Judgement("inconclusive", ground, missing or "the patched tree could not be run")
    found = _of_runs(before, after, problems, ground, per_batch, missing, noise)
    return _doubted(found, before, after, ground)


def _of_runs(
    before: RunRecord | None,
    after: RunRecord,
    problems: Sequence[str],
    ground: Rung | None,
    per_batch: bool,
    missing: str,
    noise: float,
) -> Judgement:
    if after.unusable:
        return Judgement("inconclusive", ground, f"the target's Lightning could not be loaded: {after.unusable}")
    if before is not None and before.unusable:
        missing = f"its Lightning could not be loaded: {before.unusable}"
    if stood := _stood(before, after):
        return Judgement("inconclusive", ground, stood)
    if not after.recording.fitted:
        return _unfitted(before, after, ground, missing)
    flaw = _flaw(before, after.recording)
    if before is None or before.unusable:
        told = f"the tree before could not be run; in the patched tree {flaw}" if flaw else _ONE_SIDE
        return _lacking(Judgement("inconclusive", ground if flaw else _rung("trains", problems), told), missing)
    if not before.recording.fitted:
        return _repaired(before, after, ground, flaw, problems, noise)
    return _compared(before, after, ground, flaw, problems, per_batch, noise)


def _doubted(judgement: Judgement, before: RunRecord | None, after: RunRecord, ground: Rung | None) -> Judgement:
    """The judgement, unless it rests on data or weights that were made up and says nothing of the project's own."""
    reason = doubt(judgement.verdict, before, after, _end)
    if reason is None:
        return judgement
    told = (Fact("also", judgement.reason), OWN_DATA)
    return Judgement("inconclusive", ground, reason, facts=(*judgement.facts, *told))


OWN_DATA = Fact(
    "next",
    'put a small sample of its data where it is read, and write that with `setup = ["make_sample.py"]` under '
    "[tool.fixer.verify] in pyproject.toml",
)


def _stood(*raws: RunRecord | None) -> str | None:
    """How a run ended that failed for what we put in place of something, which says nothing of the project."""
    for raw in raws:
        if raw and raw.stands_for:
            return f"{standins.named(raw.stands_for)} failed, which says nothing about the project: {_end(raw)}"
    return None


def noise_of(first: RunRecord, second: RunRecord) -> float:
    """How far two runs of one tree are apart, in the measure of the tolerance; infinite where one ends otherwise."""
    old, new = first.recording, second.recording
    if (old.fitted, len(old.losses), len(first.weights)) != (new.fitted, len(new.losses), len(second.weights)):
        return math.inf
    both = [*pairs(old.losses, new.losses)]
    for left, right in pairs(first.weights, second.weights):
        both += [(left.norm, right.norm), *pairs(left.values, right.values)]
    metrics = dict(new.metrics)
    both += [(value, metrics[name]) for name, value in old.metrics if name in metrics and name not in UNCOUNTED]
    if any(math.isfinite(a) != math.isfinite(b) for a, b in both):
        return math.inf
    known = [(a, b) for a, b in both if math.isfinite(a)]
    return max((abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in known), default=0.0)


def steady(first: RunRecord, second: RunRecord) -> tuple[RunRecord, tuple[Fact, ...]]:
    """A first run without what the project handed straight to a logger and differs in the second one by more than the
    rest does, such as times; and what that is."""
    again = dict(second.recording.logged)
    room = max(noise_of(first, second), tolerance_of(first.recording, second.recording))

    def repeats(name: str, values: Sequence[float]) -> bool:
        found = again.get(name, ())
        return len(found) == len(values) and all(close(a, b, room) for a, b in pairs(values, found))

    logged = first.recording.logged
    gone = [name for name, values in logged if name.startswith(HANDED) and not repeats(name, values)]
    kept = tuple((name, values) for name, values in logged if name not in gone)
    more = f" and {len(gone) - NAMED} more" if gone[NAMED:] else ""
    told = f"{', '.join(gone[:NAMED])}{more}: it differs between two runs of the tree before"
    facts = (Fact("not compared", told),) if gone else ()
    return replace(first, recording=replace(first.recording, logged=kept)), facts


def unsure(judgement: Judgement, why: str) -> Judgement:
    """What a first run says, where the second one that it needs was not made, or not to its end."""
    reason = f"not confirmed by a second run: {why}; by the first one, {judgement.reason}"
    return replace(judgement, verdict="inconclusive", reason=reason)


def confirmed(judgement: Judgement, old: tuple[RunRecord, RunRecord], new: tuple[RunRecord, RunRecord]) -> Judgement:
    """The verdict after a second run of each tree: where one does not end as it did, one run tells nothing."""
    cut = [again.ended for first, again in (old, new) if again.ended and again.ended != first.ended]
    if cut:
        return unsure(judgement, cut[0])
    for tree, (first, second) in (("the tree before", old), ("the patched tree", new)):
        if _ending(first.recording) != _ending(second.recording):
            found = replace(judgement, verdict="inconclusive", reason=f"two runs of {tree} end differently")
            return found.with_facts(Fact("also", f"in the first run, {judgement.reason}"))
    return judgement


def _ending(recording: Recording) -> tuple[bool, bool, bool, bool, frozenset[str]]:
    """What of a run decides between a repair and a regression."""
    finite = all(map(math.isfinite, recording.losses))
    failed, stepped = recording.failure is not None, bool(recording.optimizer_steps)
    return recording.fitted, failed, stepped, finite, frozenset(recording.unreached)


def _rung(rung: Rung, problems: Sequence[str]) -> Rung | None:
    """A rung stands on those below it."""
    return None if problems else rung


def _lacking(judgement: Judgement, missing: str) -> Judgement:
    """The judgement on a patched tree without one before to compare it with."""
    return judgement.with_facts(Fact("not compared", f"the tree before was not run: {missing}"))


def _unfitted(before: RunRecord | None, after: RunRecord, ground: Rung | None, missing: str) -> Judgement:
    told = _end(after)
    if before is None or before.unusable:
        return _lacking(Judgement("inconclusive", ground, f"the patched tree does not train: {told}"), missing)
    if after.is_crashed:
        reason = f"the patched tree was ended by something outside of Python, not by an exception: {told}"
        return Judgement("inconclusive", ground, reason)
    if before.recording.fitted:
        if after.ended:
            return Judgement("inconclusive", ground, f"the tree before trains, the patched one was ended: {told}")
        if unmet := _unmet(after.recording):
            reason = (
                f"the tree before trains; Lightning asks for `{unmet}` in the patched one, which lacks it: require it"
            )
            return Judgement("inconclusive", ground, reason)
        return Judgement("regressed", ground, f"the tree before trains, the patched one does not: {told}")
    if _same_failure(before.recording, after.recording):
        return Judgement("inconclusive", ground, f"neither tree trains; both fail in the same way: {told}")
    reason = f"neither tree trains; the patched one {_ended(after)}"
    return Judgement("inconclusive", ground, reason).with_facts(Fact("also", f"the tree before {_ended(before)}"))


def _repaired(
    before: RunRecord, after: RunRecord, ground: Rung | None, flaw: str | None, problems: Sequence[str], noise: float
) -> Judgement:
    old, new = before.recording, after.recording
    told = _end(before)
    if before.ended or before.is_crashed or _is_missing_package(old):
        reason = f"the tree before could not be run; in the patched tree {flaw}" if flaw else _ONE_SIDE
        return _lacking(Judgement("inconclusive", ground if flaw else _rung("trains", problems), reason), told)
    if flaw:
        silent = not new.optimizer_steps or (new.gradients and all(not each.reached for each in new.gradients))
        told = f"failed before ({told}); now `fit` ends, but {flaw}"
        return Judgement("regressed" if silent else "inconclusive", ground, told)
    exact = tolerance_of(old, new)
    tolerance = MARGIN * noise if noise > exact else exact
    found = list(up_to_failure(before, after, math.inf if noise > NOISY else tolerance))
    if found and after.ended:
        return Judgement("inconclusive", _rung("trains", problems), _cut(f"failed before ({told})", after.ended))
    both = losses_of(before, after)
    what = "sum of the losses of step" if regrouped(before, after) else "loss"
    apart = [(abs(left - right), f"{what} {number}") for number, (left, right) in enumerate(both, 1)]
    off, where = max((one for one in apart if math.isfinite(one[0])), default=(None, None))
    trains = _rung("trains", problems)
    if found:
        reason = f"failed before ({told}), trains now, with different numbers up to that failure: {_listed(found)}"
        return Judgement("changed", trains, reason, off, tolerance, where)
    reason = f"failed before ({told}), trains now"
    if not both:
        return Judgement("repaired", trains, reason).with_facts(Fact("not compared", "no numbers before that failure"))
    if noise > NOISY:
        unsteady = Fact("not compared", f"the losses up to that failure: {_themselves(noise)}")
        return Judgement("repaired", trains, reason).with_facts(unsteady)
    sums = "sums of the losses of each step" if regrouped(before, after) else "losses"
    reason += f"; the {len(both)} {sums} up to that failure are the same within {tolerance:g}"
    return Judgement("repaired", trains, reason, off, tolerance, where).with_facts(*_noisy(noise, exact))


def _compared(
    before: RunRecord,
    after: RunRecord,
    ground: Rung | None,
    flaw: str | None,
    problems: Sequence[str],
    per_batch: bool,
    noise: float,
) -> Judgement:
    old, new = before.recording, after.recording
    exact = tolerance_of(old, new)
    flaky = noise > exact
    tolerance = MARGIN * noise if flaky else exact
    found = list(differences(before, after, tolerance, exact, per_batch))
    far = furthest(before, after)
    trains = _rung("trains", problems) if new.optimizer_steps else ground

    def judged(verdict: Verdict, rung: Rung | None, reason: str, *facts: Fact) -> Judgement:
        size, where = (far.size, far.where) if far else (None, None)
        return Judgement(verdict, rung, reason, size, tolerance, where, facts)

    cut = before.ended or after.ended
    if cut and (found or new.failure or flaw):
        return judged("inconclusive", ground if flaw else trains, _cut("both train", cut))
    is_aborted = after.is_crashed and not old.failure
    if new.failure and not _same_failure(old, new) and not old.failure and not is_aborted:
        return judged("regressed", ground, f"`fit` ends in both, but afterwards the patched tree fails: {_end(after)}")
    if flaw:
        return judged("regressed", ground, f"`fit` ends in both, but now {flaw}")
    if noise > NOISY:
        return judged("inconclusive", trains, f"both train, but {_themselves(noise)}: the numbers cannot be compared")
    if found:
        reason = f"both train, with different numbers: {_listed(found)}"
        return judged("changed", trains, reason, *_more(found), *_noisy(noise, exact))
    if is_aborted:
        reason = (
            f"both train the same, but afterwards something outside of Python ended the patched tree: {_end(after)}"
        )
        return judged("inconclusive", trains, reason)
    if not new.optimizer_steps:
        reason = f"`fit` ends in both with {len(new.losses)} equal losses, but no optimizer steps in either"
        return judged("inconclusive", trains, reason)
    if old.failure and new.failure and old.failure.type != new.failure.type:
        reason = f"both train the same, but after `fit` they fail differently; the patched tree: {_end(after)}"
        return judged("inconclusive", trains, reason, Fact("also", f"the tree before fails: {_end(before)}"))
    if flaky:
        reason = f"{_themselves(noise)}, and the patched tree is not further from it than {tolerance:.3g}"
        return judged("preserved", trains, reason, *_ending_facts(old, new))
    sums = adds_up(before, after, tolerance)
    losses = (
        f"{len(old.losses)} losses became {len(new.losses)}, whose sums at each step"
        if sums
        else f"{len(new.losses)} losses"
    )
    count = f"{losses}, {new.optimizer_steps} optimizer steps and {len(after.weights)} weights"
    reason = f"{count} are the same within {tolerance:g}"
    return judged("preserved", _rung("same", problems), reason, *_ending_facts(old, new))


_ONE_SIDE = "the patched tree trains; the tree before could not be run"


def _themselves(noise: float) -> str:
    return f"two runs of the tree before {f'differ by {noise:.3g}' if math.isfinite(noise) else 'end differently'}"


def _noisy(noise: float, exact: float) -> tuple[Fact, ...]:
    """How far the tree before is from itself, where that is further than rounding."""
    told = f"{_themselves(noise)}; the second one began with weights that are one rounding away"
    return (Fact("also", told),) if noise > exact else ()


def _more(found: Sequence[Difference]) -> tuple[Fact, ...]:
    """The differences that the reason does not name."""
    return tuple(Fact("compared", difference.where) for difference in found[_SHOWN:])


def _ending_facts(old: Recording, new: Recording) -> tuple[Fact, ...]:
    if old.failure and new.failure:
        return (Fact("also", f"after `fit` both scripts fail: {new.failure.type}: {_short(new.failure.said)}"),)
    if old.failure:
        return (Fact("also", f"after `fit` the script failed before ({old.failure.type}) and does not now"),)
    return ()


def tolerance_of(old: Recording, new: Recording) -> float:
    """How far numbers of these precisions may be apart."""
    names = f"{old.precision} {new.precision}"
    return REDUCED if "16" in names or "8" in names else FULL


def _flaw(before: RunRecord | None, after: Recording) -> str | None:
    """What a training that came to its end did not do; None if it did all."""
    if not after.optimizer_steps:
        same = before is not None and before.recording.fitted and not before.recording.optimizer_steps
        return None if same else "no optimizer stepped"
    old_losses = before.recording.losses if before else ()
    if not all(map(math.isfinite, after.losses)) and all(map(math.isfinite, old_losses)):
        return "a loss is not finite"
    known = set(before.recording.unreached) if before and before.recording.fitted else set()
    lost = [name for name in after.unreached if name not in known]
    if lost:
        return f"no gradient reaches {', '.join(lost[:5])}" + (f" and {len(lost) - 5} more" if lost[5:] else "")
    return None


def _cut(told: str, ended: str) -> str:
    return f"{told}, but one was ended before its script did: {ended}; what came after that cannot be compared"


def _listed(found: Sequence[Difference]) -> str:
    shown = "; ".join(difference.where for difference in found[:_SHOWN])
    return shown + (f"; and {len(found) - _SHOWN} more" if found[_SHOWN:] else "")


def _same_failure(old: Recording, new: Recording) -> bool:
    return bool(old.failure and new.failure and old.failure.is_like(new.failure))


def _unmet(recording: Recording) -> str | None:
    """The requirement that Lightning itself did not find met, of a logger or of LightningCLI (its `RequirementCache`):
    which of the rewrites stand has nothing to do with it."""
    failure = recording.failure
    found = _REQUIREMENT.search(failure.message) if failure and failure.type == "ModuleNotFoundError" else None
    return found[1] if found else None


def _is_missing_package(recording: Recording) -> bool:
    """Whether a run failed for a package that the environment lacks: that is ours, not the project's."""
    failure = recording.failure
    return bool(failure and failure.type == "ModuleNotFoundError" and "lightning" not in failure.message)


def _end(raw: RunRecord) -> str:
    """How a run that did not get through ended, in one line."""
    failure = raw.recording.failure
    if raw.ended:
        return raw.ended
    if failure is None:
        return "the script ends without a call of `fit` that returns"
    where = f" at {failure.place}" if failure.place else ""
    return f"{failure.type}: {_short(failure.said)}{where}"


def _ended(raw: RunRecord) -> str:
    """The same, of a tree."""
    return f"was ended before it trained: {raw.ended}" if raw.ended else f"ends with {_end(raw)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
