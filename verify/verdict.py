"""What two runs mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verify.evidence import Recording, Rung, Verdict
from verify.record import Raw, Weight

T = TypeVar("T")
FULL = 1e-6
REDUCED = 1e-2
NOISY = 0.1
MARGIN = 3
_UNCOUNTED = frozenset({"epoch", "step"})


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason, the highest rung that held and how far apart the numbers are."""

    verdict: Verdict
    rung: Rung | None
    reason: str
    max_difference: float | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class Difference:
    """A pair of numbers that should be one: where, and by how much it is off, None for a shape that differs."""

    where: str
    size: float | None


def judge(
    before: Raw | None,
    after: Raw | None,
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
    if after.unusable:
        return Judgement("inconclusive", ground, f"the target's Lightning could not be loaded: {after.unusable}")
    if before is not None and before.unusable:
        missing = f"its Lightning could not be loaded: {before.unusable}"
    if not after.recording.fitted:
        return _unfitted(before, after, ground, missing)
    flaw = _flaw(before, after.recording)
    if before is None or before.unusable:
        told = f"the baseline could not be run: {missing}; the patched tree {flaw or 'trains'}"
        return Judgement("inconclusive", ground if flaw else _rung("trains", problems), told)
    if not before.recording.fitted:
        return _repaired(before, after, ground, flaw, problems)
    return _compared(before, after, ground, flaw, problems, per_batch, noise)


def noise_of(first: Raw, second: Raw) -> float:
    """How far two runs of one tree are apart, in the measure of the tolerance; infinite where one ends otherwise."""
    old, new = first.recording, second.recording
    if (old.fitted, len(old.losses), len(first.weights)) != (new.fitted, len(new.losses), len(second.weights)):
        return math.inf
    pairs = [*_pairs(old.losses, new.losses)]
    for left, right in _pairs(first.weights, second.weights):
        pairs += [(left.norm, right.norm), *_pairs(left.values, right.values)]
    metrics = dict(new.metrics)
    pairs += [(value, metrics[name]) for name, value in old.metrics if name in metrics and name not in _UNCOUNTED]
    return max((abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in pairs if a == a and b == b), default=0.0)


def _rung(rung: Rung, problems: Sequence[str]) -> Rung | None:
    """A rung stands on those below it."""
    return None if problems else rung


def _unfitted(before: Raw | None, after: Raw, ground: Rung | None, missing: str) -> Judgement:
    told = _end(after)
    if before is None or before.unusable:
        why = f" (the baseline could not be run: {missing})"
        return Judgement("inconclusive", ground, f"the patched tree does not train: {told}{why}")
    if before.recording.fitted:
        if after.ended:
            return Judgement("inconclusive", ground, f"the tree before trains, the patched one was ended: {told}")
        return Judgement("regressed", ground, f"the tree before trains, the patched one does not: {told}")
    if _same_failure(before.recording, after.recording):
        return Judgement("inconclusive", ground, f"neither tree trains: both end with {told}")
    return Judgement("inconclusive", ground, f"neither tree trains: before {_end(before)}; after {told}")


def _repaired(before: Raw, after: Raw, ground: Rung | None, flaw: str | None, problems: Sequence[str]) -> Judgement:
    told = _end(before)
    if before.ended or _is_missing_package(before.recording):
        reason = f"the baseline could not be run to its end: {told}; the patched tree {flaw or 'trains'}"
        return Judgement("inconclusive", ground if flaw else _rung("trains", problems), reason)
    if flaw:
        return Judgement("inconclusive", ground, f"failed before ({told}); now `fit` ends, but {flaw}")
    common = min(len(before.recording.losses), len(after.recording.losses))
    if not common:
        return Judgement(
            "repaired", _rung("trains", problems), f"failed before ({told}), trains now; no numbers to compare"
        )
    tolerance = tolerance_of(before.recording, after.recording)
    pairs = list(_pairs(before.recording.losses, after.recording.losses))
    off = max(abs(left - right) for left, right in pairs)
    same = all(_close(left, right, tolerance) for left, right in pairs)
    what = "are the same" if same else f"differ by up to {off:.3g}"
    reason = f"failed before ({told}), trains now; the {common} losses up to that failure {what}"
    return Judgement("repaired", _rung("trains", problems), reason, off, tolerance)


def _compared(
    before: Raw,
    after: Raw,
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
    differences = list(_differences(before, after, tolerance, exact, per_batch))
    most = _most(before, after)
    if new.failure and not _same_failure(old, new) and not old.failure:
        reason = f"`fit` ends in both, but afterwards the patched tree fails: {_end(after)}"
        return Judgement("regressed", ground, reason, most, tolerance)
    if flaw:
        return Judgement("regressed", ground, f"`fit` ends in both, but now {flaw}", most, tolerance)
    told = f"two runs of the tree before differ by {noise:.3g} themselves"
    if noise > NOISY:
        reason = f"both train, but {told}: the numbers cannot be compared"
        return Judgement("inconclusive", _rung("trains", problems), reason, most, tolerance)
    if differences:
        aside = f"; {told}" if flaky else ""
        reason = f"both train, with other numbers: {_listed(differences)}{aside}"
        return Judgement("changed", _rung("trains", problems), reason, most, tolerance)
    if flaky:
        reason = f"{told}, and the patched tree is not further from it than {tolerance:.3g}{_aside(old, new)}"
        return Judgement("preserved", _rung("trains", problems), reason, most, tolerance)
    count = f"{len(new.losses)} losses, {new.optimizer_steps} optimizer steps and {len(after.weights)} weights"
    reason = f"{count} are the same within {tolerance:g}{_aside(old, new)}"
    return Judgement("preserved", _rung("same", problems), reason, most, tolerance)


def _aside(old: Recording, new: Recording) -> str:
    if old.failure and new.failure:
        return f"; after `fit` both scripts fail ({new.failure.type}: {_short(new.failure.message)})"
    if old.failure:
        return f"; after `fit` the script failed before ({old.failure.type}) and does not now"
    return ""


def tolerance_of(old: Recording, new: Recording) -> float:
    """How far numbers of these precisions may be apart."""
    names = f"{old.precision} {new.precision}"
    return REDUCED if "16" in names or "8" in names else FULL


def _flaw(before: Raw | None, after: Recording) -> str | None:
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


def _differences(before: Raw, after: Raw, tolerance: float, exact: float, per_batch: bool) -> Iterator[Difference]:
    """Every kind of number that differs, by its first place; learning rates are not noisy, they must be `exact`."""
    old, new = before.recording, after.recording
    yield from _counts("losses", len(old.losses), len(new.losses))
    yield from _first("loss", old.losses, new.losses, tolerance)
    yield from _counts("optimizer steps", old.optimizer_steps, new.optimizer_steps)
    for number, (left, right) in enumerate(_pairs(old.learning_rates, new.learning_rates)):
        if len(left) != len(right) or not all(_close(a, b, exact) for a, b in _pairs(left, right)):
            yield Difference(f"learning rate of step {number + 1}: {list(left)} became {list(right)}", None)
            break
    if not per_batch:
        yield from _counts("global_step", old.global_step or 0, new.global_step or 0)
    yield from _planned(dict(old.planned), dict(new.planned))
    yield from _weights(before.weights, after.weights, tolerance)
    yield from _metrics(dict(old.metrics), dict(new.metrics), tolerance)


def _planned(old: Mapping[str, int | None], new: Mapping[str, int | None]) -> Iterator[Difference]:
    """Whether the whole training, of which a part was run, has as many steps as before."""
    then, now = old.get("steps"), new.get("steps")
    if then is not None and now is not None:
        yield from _counts("optimizer steps of the whole training", then, now)


def _counts(what: str, old: int, new: int) -> Iterator[Difference]:
    if old != new:
        yield Difference(f"{what}: {old} became {new}", None)


def _first(what: str, old: Sequence[float], new: Sequence[float], tolerance: float) -> Iterator[Difference]:
    for number, (left, right) in enumerate(_pairs(old, new)):
        if not _close(left, right, tolerance):
            yield Difference(f"{what} {number + 1}: {left:.6g} became {right:.6g}", abs(left - right))
            return


def _weights(old: Sequence[Weight], new: Sequence[Weight], tolerance: float) -> Iterator[Difference]:
    then, now = {weight.name: weight for weight in old}, {weight.name: weight for weight in new}
    for name in then:
        if name not in now:
            yield Difference(f"parameter {name} is gone", None)
            return
        pairs = _pairs((then[name].norm, *then[name].values), (now[name].norm, *now[name].values))
        if len(then[name].values) != len(now[name].values):
            yield Difference(f"parameter {name} has another size", None)
            return
        off = [abs(left - right) for left, right in pairs if not _close(left, right, tolerance)]
        if off:
            yield Difference(f"weight {name} by {max(off):.3g}", max(off))
            return
    added = [name for name in now if name not in then]
    if added:
        yield Difference(f"parameter {added[0]} is new", None)


def _metrics(old: dict[str, float], new: dict[str, float], tolerance: float) -> Iterator[Difference]:
    for name, left in old.items():
        if name in _UNCOUNTED:
            continue
        if name not in new:
            yield Difference(f"metric {name} is no longer logged", None)
        elif not _close(left, new[name], tolerance):
            yield Difference(f"metric {name}: {left:.6g} became {new[name]:.6g}", abs(left - new[name]))


def _most(before: Raw, after: Raw) -> float | None:
    """The largest absolute difference over losses, learning rates and weights."""
    old, new = before.recording, after.recording
    found = [abs(a - b) for a, b in _pairs(old.losses, new.losses)]
    found += [abs(a - b) for x, y in _pairs(old.learning_rates, new.learning_rates) for a, b in _pairs(x, y)]
    now = {weight.name: weight for weight in after.weights}
    for weight in before.weights:
        other = now.get(weight.name)
        found += [abs(a - b) for a, b in _pairs(weight.values, other.values)] if other else []
    finite = [value for value in found if math.isfinite(value)]
    return max(finite, default=None)


def _pairs(left: Iterable[T], right: Iterable[T]) -> Iterator[tuple[T, T]]:
    """Two rows side by side, as far as both go: their lengths are compared elsewhere."""
    return zip(left, right, strict=False)


def _close(left: float, right: float, tolerance: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)


def _listed(differences: Sequence[Difference]) -> str:
    shown = "; ".join(difference.where for difference in differences[:4])
    return shown + (f"; and {len(differences) - 4} more" if differences[4:] else "")


def _same_failure(old: Recording, new: Recording) -> bool:
    return bool(old.failure and new.failure and old.failure.type == new.failure.type
                and old.failure.message == new.failure.message)  # fmt: skip


def _is_missing_package(recording: Recording) -> bool:
    """Whether a run failed for a package that the environment lacks: that is ours, not the project's."""
    failure = recording.failure
    return bool(failure and failure.type == "ModuleNotFoundError" and "lightning" not in failure.message)


def _end(raw: Raw) -> str:
    """How a run that did not get through ended, in one line."""
    failure = raw.recording.failure
    if raw.ended:
        return raw.ended
    if failure is None:
        return "the script ends without a call of `fit` that returns"
    where = f" at {failure.place}" if failure.place else ""
    return f"{failure.type}: {_short(failure.message)}{where}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
