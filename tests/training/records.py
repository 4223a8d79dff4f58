"""What was seen of a training, and in what two trainings differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MESSAGE = 12


@dataclass(frozen=True)
class Failure:
    """An exception: its type, message, and the innermost line of the case, `path:line`."""

    type: str
    message: str
    place: str | None


@dataclass(frozen=True)
class Step:
    """A step of an optimizer: which one, its learning rates in it, and the norm of its parameters' gradient."""

    optimizer: int | None
    rates: tuple[float, ...]
    gradient: float


@dataclass(frozen=True)
class Record:
    """One rank's training.

    `losses` are those that backward was called on, in order. Of the last `fit`: `global_step`, `epoch`, `metrics`
    (callback_metrics), `weights` (the state_dict, flat), `schedulers` (count and rates of each) and `automatic`.
    `logged` is what a logger was given, by step. `ranks` holds the records of the other ranks.
    """

    release: str
    losses: tuple[float, ...]
    steps: tuple[Step, ...]
    logged: tuple[tuple[int | None, Mapping[str, Any]], ...]
    global_step: int
    epoch: int
    automatic: bool | None
    metrics: Mapping[str, Any]
    weights: Mapping[str, tuple[float, ...]]
    schedulers: tuple[tuple[float, ...], ...]
    failure: Failure | None
    returned: Any
    output: str
    ranks: tuple[Record, ...] = ()


def read(release: str, answers: Sequence[Mapping[str, Any]]) -> Record:
    """The record of rank 0, with those of the others, from what a worker answered."""
    first, *others = answers
    fit = first["fit"] or {}
    return Record(
        release=release,
        losses=tuple(first["losses"]),
        steps=tuple(Step(item["optimizer"], tuple(item["rates"]), item["gradient"]) for item in first["steps"]),
        logged=tuple((step, values) for step, values in first["logged"]),
        global_step=fit.get("global_step", 0),
        epoch=fit.get("epoch", 0),
        automatic=fit.get("automatic"),
        metrics=fit.get("metrics", {}),
        weights={name: tuple(values) for name, values in fit.get("weights", {}).items()},
        schedulers=tuple(tuple(values) for values in fit.get("schedulers", [])),
        failure=Failure(**first["failure"]) if first["failure"] else None,
        returned=first["returned"],
        output=first["output"],
        ranks=tuple(read(release, [other]) for other in others),
    )


def assert_same(old: Record, new: Record, tolerance: float = 1e-6, logged: bool = True) -> None:
    """Both trained, and in the same way; the message says what differs first. See `differences` for `logged`."""
    for record in (old, new):
        assert record.failure is None, f"on {record.release}: {record.failure}\n{record.output}"
        assert record.losses and record.steps, f"on {record.release} nothing was trained"
    found = list(differences(old, new, tolerance, logged))
    shown = "\n  ".join(found[:MESSAGE])
    assert not found, f"{old.release} and {new.release} train differently:\n  {shown}"


def differences(old: Record, new: Record, tolerance: float = 1e-6, logged: bool = True) -> Iterator[str]:
    """In what two records differ, a line each, what explains most first.

    `logged` is False where gradients are accumulated: there automatic optimization writes to loggers once a window,
    manual optimization with every batch.
    """
    for name in ("global_step", "epoch"):
        if getattr(old, name) != getattr(new, name):
            yield f"{name}: {getattr(old, name)}, then {getattr(new, name)}"
    yield from _sequence("losses", old.losses, new.losses, tolerance)
    yield from _sequence(
        "optimizers that step", [step.optimizer for step in old.steps], [step.optimizer for step in new.steps], 0
    )
    yield from _sequence("learning rates", [s.rates for s in old.steps], [s.rates for s in new.steps], tolerance)
    yield from _sequence("gradients", [s.gradient for s in old.steps], [s.gradient for s in new.steps], tolerance)
    yield from _sequence("schedulers at the end", old.schedulers, new.schedulers, tolerance)
    yield from _named("weights", old.weights, new.weights, tolerance)
    yield from _named("metrics", old.metrics, new.metrics, tolerance)
    if logged:
        yield from _logged(old, new, tolerance)


def _logged(old: Record, new: Record, tolerance: float) -> Iterator[str]:
    for (step, left), (_, right) in zip(old.logged, new.logged, strict=False):
        yield from _named(f"logged at {step}:", left, right, tolerance)
    yield from _sequence("steps logged at", [step for step, _ in old.logged], [step for step, _ in new.logged], 0)


def _named(what: str, old: Mapping[str, Any], new: Mapping[str, Any], tolerance: float) -> Iterator[str]:
    if old.keys() != new.keys():
        yield f"{what}: {sorted(old)}, then {sorted(new)}"
    for name in old.keys() & new.keys():
        yield from _sequence(f"{what} {name}", [old[name]], [new[name]], tolerance)


def _sequence(what: str, old: Sequence[Any], new: Sequence[Any], tolerance: float) -> Iterator[str]:
    if len(old) != len(new):
        yield f"{what}: {len(old)} of them, {_short(old)}; then {len(new)}, {_short(new)}"
    for at, (left, right) in enumerate(zip(old, new, strict=False)):
        if not _close(left, right, tolerance):
            yield f"{what}, first at {at}: {_short(left)}, then {_short(right)}"
            return


def _close(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        return len(left) == len(right) and all(_close(a, b, tolerance) for a, b in zip(left, right, strict=True))
    if isinstance(left, float) and isinstance(right, float):
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)
    return bool(left == right)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
