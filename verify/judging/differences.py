"""What of two runs is not the same: every kind of number that the harness records, by its first place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verify.evidence import Recording
from verify.judging.record import RunRecord, Weight

T = TypeVar("T")
UNCOUNTED = frozenset({"epoch", "step"})
LOOSE = 100
"""So many tolerances norms of gradients may be apart: sums of many small numbers, which cancel."""
_NORMS = 0.1
"""How far they may be apart at most: in half precision so many tolerances are all there is."""
_BEST = 1e-4
_RATES, _NO_RATE = 1e-6, 1e-12
"""How far learning rates may be apart, by a part of them, and what is none: they come from sums and from powers."""
_PLANNED = {
    "steps": "optimizer steps of the whole training",
    "devices": "devices",
    "nodes": "nodes",
    "every": "epochs from validation to validation",
    "samples": "samples of a batch, as the loader was asked for them",
}
_PRECISIONS = {"16": "16-mixed", "bf16": "bf16-mixed", "32": "32-true", "64": "64-true", "mixed": "16-mixed"}


@dataclass(frozen=True)
class Difference:
    """A pair of numbers that should be one: where, and by how much it is off, None for a shape that differs."""

    where: str
    size: float | None


def differences(
    before: RunRecord, after: RunRecord, tolerance: float, exact: float, per_batch: bool
) -> Iterator[Difference]:
    """What differs of two runs that got through `fit`.

    Norms of gradients are compared where nothing is noisy, where the tolerance is the `exact` one.
    `per_batch` is for old releases, which count batches and know nothing of strategies.
    """
    old, new = before.recording, after.recording
    merged = adds_up(before, after, tolerance)
    if not merged:
        yield from _counts("losses", len(old.losses), len(new.losses))
        yield from _first("loss", old.losses, new.losses, tolerance)
    yield from _counts("optimizer steps", old.optimizer_steps, new.optimizer_steps)
    yield from _rates(old, new)
    if tolerance == exact:
        room = min(LOOSE * tolerance, _NORMS)
        yield from _first("gradient norm of step", old.gradient_norms, new.gradient_norms, room)
    if not per_batch:
        yield from _counts("global_step", old.global_step or 0, new.global_step or 0)
        yield from _reached(old, new, merged)
    yield from _planned(dict(old.planned), dict(new.planned))
    yield from _unheld(old, new)
    yield from _schedulers(old, new, max(tolerance, _BEST))
    yield from _casts(old, new)
    yield from _weights(before.weights, after.weights, tolerance)
    yield from _metrics(dict(old.metrics), dict(new.metrics), tolerance)
    cut = old.failure is not None and new.failure is None
    yield from _logged(dict(old.logged), dict(new.logged), tolerance, cut=cut)


def up_to_failure(before: RunRecord, after: RunRecord, tolerance: float) -> Iterator[Difference]:
    """What differs of a run that failed and one that did not, as far as the first one went."""
    old, new = before.recording, after.recording
    both = losses_of(before, after)
    what = "sum of the losses of step" if regrouped(before, after) else "loss"
    yield from _first(what, [pair[0] for pair in both], [pair[1] for pair in both], tolerance)
    yield from _rates(old, new)
    yield from _unheld(old, new)


def regrouped(before: RunRecord, after: RunRecord) -> bool:
    """Whether the optimizer steps that both made have other numbers of backward passes."""
    old, new = before.recording, after.recording
    common = min(old.optimizer_steps, new.optimizer_steps)
    then, now = (list(map(len, _by_step(raw, common)[:common])) for raw in (before, after))
    return then != now and (old.failure is not None or old.optimizer_steps == new.optimizer_steps)


def adds_up(before: RunRecord, after: RunRecord, tolerance: float) -> bool:
    """Whether there are other backward passes, and the losses of each optimizer step, and those after the last one,
    come to the same sum: the gradient of a sum is the sum of the gradients. Of a step that a failure cut off, they may
    also be the first ones of that step."""
    return regrouped(before, after) and all(close(a, b, tolerance) for a, b in losses_of(before, after))


def _by_step(raw: RunRecord, steps: int) -> list[list[float]]:
    """The losses of each of the first optimizer steps, and of what comes after them up to the next one."""
    found: list[list[float]] = [[] for _ in range(steps + 1)]
    for step, loss in zip(raw.passes, raw.recording.losses, strict=False):
        if step <= steps:
            found[step].append(loss)
    return found


def losses_of(before: RunRecord, after: RunRecord) -> list[tuple[float, float]]:
    """The losses of both side by side; where there are other backward passes, their sums at each step. Those of a step
    that a failure cut off are its first ones, where these are nearer than their sum."""
    old, new = before.recording, after.recording
    if not regrouped(before, after):
        return list(pairs(old.losses, new.losses))
    common = min(old.optimizer_steps, new.optimizer_steps)
    then, now = (_by_step(raw, common) for raw in (before, after))
    found = [(sum(a), sum(b)) for a, b in pairs(then[:common], now[:common])]
    last = [(sum(then[common]), sum(now[common]))] if then[common] or (old.fitted and now[common]) else []
    first = list(pairs(then[common], now[common]))
    if last and not old.fitted and len(then[common]) <= len(now[common]):
        last = min(last, first, key=lambda both: max(abs(a - b) for a, b in both))
    return [*found, *last]


def furthest(before: RunRecord, after: RunRecord) -> Difference | None:
    """The largest absolute difference over losses, learning rates and weights, and which number it is of."""
    old, new = before.recording, after.recording
    what = "sum of the losses of step" if regrouped(before, after) else "loss"
    found = [(abs(a - b), f"{what} {number}") for number, (a, b) in enumerate(losses_of(before, after), 1)]
    for number, (left, right) in enumerate(pairs(old.learning_rates, new.learning_rates), 1):
        found += [(abs(a - b), f"learning rate of step {number}") for a, b in pairs(left, right)]
    ending = {weight.name: weight for weight in after.weights}
    for weight in before.weights:
        other = ending.get(weight.name)
        found += [(abs(a - b), f"weight {weight.name}") for a, b in pairs(weight.values, other.values)] if other else []
    finite = [one for one in found if math.isfinite(one[0])]
    size, where = max(finite, key=lambda one: one[0], default=(None, ""))
    return Difference(where, size) if finite else None


def pairs(left: Iterable[T], right: Iterable[T]) -> Iterator[tuple[T, T]]:
    """Two rows side by side, as far as both go: their lengths are compared elsewhere."""
    return zip(left, right, strict=False)


def close(left: float, right: float, tolerance: float) -> bool:
    """Whether two numbers are the same within a tolerance."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)


def _counts(what: str, old: int, new: int) -> Iterator[Difference]:
    if old != new:
        yield Difference(f"{what}: {old} became {new}", None)


def _first(what: str, old: Sequence[float], new: Sequence[float], tolerance: float) -> Iterator[Difference]:
    for number, (left, right) in enumerate(pairs(old, new)):
        if not close(left, right, tolerance):
            yield Difference(f"{what} {number + 1}: {left:.6g} became {right:.6g}", abs(left - right))
            return


def _rates(old: Recording, new: Recording) -> Iterator[Difference]:
    for number, (left, right) in enumerate(pairs(old.learning_rates, new.learning_rates)):
        if len(left) != len(right) or not all(_same_rate(a, b) for a, b in pairs(left, right)):
            yield Difference(f"learning rate of step {number + 1}: {list(left)} became {list(right)}", None)
            return


def _same_rate(left: float, right: float) -> bool:
    """Learning rates are no results: whatever is computed in, and however small they are, they are set to be the
    same."""
    return math.isclose(left, right, rel_tol=_RATES, abs_tol=_NO_RATE) or (math.isnan(left) and math.isnan(right))


def _planned(old: Mapping[str, int | None], new: Mapping[str, int | None]) -> Iterator[Difference]:
    """Whether the whole training, of which a part was run on one device, is as long and as wide as before."""
    for name, what in _PLANNED.items():
        then, now = old.get(name), new.get(name)
        if then is not None and now is not None:
            yield from _counts(what, then, now)


def _reached(old: Recording, new: Recording, merged: bool) -> Iterator[Difference]:
    """Whether gradients arrived at each parameter as often as before, or at all where passes were merged."""
    now = {gradient.name: gradient.reached for gradient in new.gradients}
    for gradient in old.gradients:
        if gradient.name in now and gradient.reached != now[gradient.name] and not (merged and now[gradient.name]):
            yield from _counts(f"gradients that reached {gradient.name}", gradient.reached, now[gradient.name])
            return


def _unheld(old: Recording, new: Recording) -> Iterator[Difference]:
    lost = [name for name in new.unheld if name not in old.unheld]
    if lost:
        more = f" and {len(lost) - 3} more" if lost[3:] else ""
        yield Difference(f"no optimizer holds {', '.join(lost[:3])}{more}", None)


def _schedulers(old: Recording, new: Recording, tolerance: float) -> Iterator[Difference]:
    """Whether each scheduler was stepped as often, and came to the same."""
    if len(old.schedulers) != len(new.schedulers):
        yield Difference(f"schedulers: {len(old.schedulers)} became {len(new.schedulers)}", None)
        return
    for left, right in pairs(old.schedulers, new.schedulers):
        yield from _counts(f"steps of {left.name}", left.steps, right.steps)
        if not all(_same_rate(a, b) for a, b in pairs(left.rates, right.rates)):
            yield Difference(f"rates of {left.name}: {list(left.rates)} became {list(right.rates)}", None)
        if left.best is not None and right.best is not None and not close(left.best, right.best, tolerance):
            yield Difference(f"best metric of {left.name}: {left.best:.6g} became {right.best:.6g}", None)


def _casts(old: Recording, new: Recording) -> Iterator[Difference]:
    """Whether both compute in the same precision; the numbers of a short run may be too coarse to tell."""
    then, now = (_PRECISIONS.get(name or "", name) for name in (old.precision, new.precision))
    if then and now and then != now:
        yield Difference(f"precision: {then} became {now}", None)
    elif old.autocast != new.autocast:
        yield Difference(f"autocast: {old.autocast} became {new.autocast}", None)
    elif any(casts for _, casts in old.graphs) and new.graphs and not any(casts for _, casts in new.graphs):
        yield Difference("nothing is cast to another type any more", None)


def _weights(old: Sequence[Weight], new: Sequence[Weight], tolerance: float) -> Iterator[Difference]:
    then, now = {weight.name: weight for weight in old}, {weight.name: weight for weight in new}
    for name in then:
        if name not in now:
            yield Difference(f"parameter {name} is gone", None)
            return
        both = pairs((then[name].norm, *then[name].values), (now[name].norm, *now[name].values))
        if len(then[name].values) != len(now[name].values):
            yield Difference(f"parameter {name} has another size", None)
            return
        off = [abs(left - right) for left, right in both if not close(left, right, tolerance)]
        if off:
            yield Difference(f"weight {name} by {max(off):.3g}", max(off))
            return
    added = [name for name in now if name not in then]
    if added:
        yield Difference(f"parameter {added[0]} is new", None)


def _metrics(old: Mapping[str, float], new: Mapping[str, float], tolerance: float) -> Iterator[Difference]:
    for name, left in old.items():
        if name in UNCOUNTED:
            continue
        if name not in new:
            yield Difference(f"metric {name} is no longer logged", None)
        elif not close(left, new[name], tolerance):
            yield Difference(f"metric {name}: {left:.6g} became {new[name]:.6g}", abs(left - new[name]))


def _logged(
    old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]], tolerance: float, *, cut: bool
) -> Iterator[Difference]:
    """What was logged on the way, of what both log; a tree whose run was `cut` off by a failure has less of it."""
    for name in old:
        if name in new and name not in UNCOUNTED:
            if not cut:
                yield from _counts(f"times that {name} is logged", len(old[name]), len(new[name]))
            yield from _first(f"{name}, logged for time", old[name], new[name], tolerance)
