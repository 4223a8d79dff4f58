"""The losses of two runs as the points of one chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 28
_TICKS = 4


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: where it stands, in pixels, and what it says."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Lines of an SVG picture of WIDTH by HEIGHT pixels; a run without finite losses has no points.

    `before` and `after` are lists of points as `polyline` takes them, `told` says the same in words.
    """

    before: str
    after: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    told: str
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    top: float = _TOP
    bottom: float = HEIGHT - _BOTTOM


def chart(before: Sequence[float], after: Sequence[float]) -> Chart | None:
    """The chart of losses, one a backward pass; None where there are not two finite ones to draw a line between."""
    values = [value for value in (*before, *after) if math.isfinite(value)]
    steps = max(len(before), len(after))
    if len(values) < 2 or steps < 2:
        return None
    low, high = min(values), max(values)
    room = (high - low) or abs(high) or 1.0
    low, high = max(low - room * 0.05, 0.0) if low >= 0 else low - room * 0.05, high + room * 0.05
    if not math.isfinite(high - low):
        return None

    def x(step: float) -> float:
        return round(_LEFT + step / (steps - 1) * (WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - (value - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM), 1)

    def points(losses: Sequence[float]) -> str:
        return " ".join(f"{x(step)},{y(loss)}" for step, loss in enumerate(losses) if math.isfinite(loss))

    every = sorted({round(step * (steps - 1) / _TICKS) for step in range(_TICKS + 1)})
    levels = [low + (high - low) * part / _TICKS for part in range(_TICKS + 1)]
    return Chart(
        points(before),
        points(after),
        tuple(Tick(x(step), str(step + 1)) for step in every),
        tuple(Tick(y(level), f"{level:.3g}") for level in levels),
        f"Loss by backward pass: before {_told(before)}; after {_told(after)}",
    )


def _told(losses: Sequence[float]) -> str:
    if not losses:
        return "none"
    return f"{losses[0]:.4g} to {losses[-1]:.4g} in {len(losses)}"
