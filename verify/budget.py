"""The time that a proof may take: one clock, of which every step asks its share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from verify.evidence import Evidence

SCRIPTS, ALONE, TRIALS = "scripts", "modules alone", "finding which change did it"
SHARES = {SCRIPTS: 5, ALONE: 3, TRIALS: 2}
LONG = {**SHARES, SCRIPTS: 45}
"""What each stage gets of the time that is left, in the order in which they come. What one leaves is the next one's.
`LONG` is for a proof that goes on: what was finished takes no time, and scripts that were cut would be cut again."""
LEAST_S = 1.0
"""With less than this nothing is begun."""
ENDING_S, ENDING = 5.0, 0.05
"""What of all is kept for ending what runs and for judging it: this much, and of a short budget this part."""
BEHIND = 0.5
"""What of the time that was spent before the proof is kept for the look at its result, which goes through what was read
once more; before it that is done twice."""


class Interrupted(KeyboardInterrupt):
    """A proof that was told to end, with what it knew by then."""

    def __init__(self, evidence: tuple[Evidence, ...]) -> None:
        super().__init__("interrupted")
        self.evidence = evidence


@dataclass(frozen=True)
class Budget:
    """Seconds for a run with its proof, and for the environments that it makes, which count apart. `further` says how
    to go on once they are over."""

    seconds: float = 600.0
    installing: float = 900.0
    further: str = ""


class Clock:
    """A budget that runs: since it was begun, or else is first divided, and not while environments are made."""

    def __init__(self, budget: Budget, now: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.cut: dict[str, None] = {}
        self.reserved: tuple[str, ...] = ()
        self.goes_on = False
        self._now = now
        self._began: float | None = None
        self._behind: float | None = None
        self._installing = 0.0
        self._since: float | None = None
        self._ends: dict[str, float] = {}
        self._end = budget.seconds

    # -- what is left

    def used(self) -> float:
        """The seconds that counted so far."""
        return 0.0 if self._began is None else self._now() - self._began - self._installed()

    def left(self) -> float:
        """The seconds that are left of all, but for those that are kept for the look at the result."""
        return max(0.0, self.budget.seconds - (self._behind or 0.0) - self.used())

    def allowed(self) -> float:
        """The seconds that are left to what the stage that goes on runs."""
        kept = min(ENDING_S, self.budget.seconds * ENDING)
        return max(0.0, min(self._end - self.used(), self.left() - kept))

    def is_over(self) -> bool:
        """Whether too little is left to begin anything in this stage."""
        return self.allowed() < LEAST_S

    def installing_left(self) -> float:
        """The seconds that are left for environments."""
        return max(0.0, self.budget.installing - self._installed())

    def _installed(self) -> float:
        return self._installing + (self._now() - self._since if self._since is not None else 0.0)

    # -- how it is spent

    def begin(self, since: float) -> None:
        """Count from a moment of the monotonic clock on: what is done before the proof counts too."""
        self._began = since

    def divide(self, stages: Iterable[str]) -> str | None:
        """Give these stages, and those that are reserved for later, their shares of what is left; in words where this
        is the first time."""
        first = self._behind is None
        if self._began is None:
            self._began = self._now()
        if self._behind is None:
            self._behind = self.used() * BEHIND
        wanted = {*stages, *self.reserved}
        weights = LONG if self.goes_on else SHARES
        parts = [stage for stage in weights if stage in wanted]
        total, end, left = sum(weights[stage] for stage in parts), self.used(), self.left()
        self._ends = {}
        shares = []
        for stage in parts:
            share = left * weights[stage] / total
            end += share
            self._ends[stage] = end
            shares.append(f"{stage} {spelled(share)}")
        self._end = self.budget.seconds
        told = f"proof: at most {spelled(left)}" + (f" ({', '.join(shares)})" if shares[1:] else "")
        return f"{told}, and at most {spelled(self.budget.installing)} for environments" if first else None

    def enter(self, stage: str | None = None, part: float = 1.0) -> None:
        """Begin a stage, or a part of what is left to it; without one, what may take all that is left."""
        end = self._ends.get(stage, self.budget.seconds) if stage else self.budget.seconds
        self._end = end
        self._end = self.used() + self.allowed() * part

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For environments, whose time is counted apart."""
        if self._since is not None:
            yield
            return
        self._since = self._now()
        try:
            yield
        finally:
            self._installing += self._now() - self._since
            self._since = None

    # -- what became of it

    def ended(self, what: str) -> str:
        """Note what was ended, or not begun, for the time, and say why."""
        self.cut[what] = None
        return f"the budget of {spelled(self.budget.seconds)} ended"

    def told(self) -> str:
        """What was ended, or not begun, and how to go on; "" where nothing was."""
        if not self.cut:
            return ""
        further = f"; {self.budget.further}" if self.budget.further else ""
        return (
            f"the budget of {spelled(self.budget.seconds)} ended before this was done: {', '.join(self.cut)}{further}"
        )


def spelled(seconds: float) -> str:
    """A number of seconds in words: `90 s`, `10 min`, `2 min 30 s`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if whole < 120 and rest:
        return f"{whole} s"
    return f"{minutes} min{f' {rest} s' if rest else ''}" if minutes else f"{seconds:.3g} s"
