"""Ends a training early that is too slow for the time it has: a shorter one is run in its place.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from typing import Any

PATIENCE, UNTIL_BEGUN = 0.2, 0.4
"""How much of its time a training gets before it is called slow, and until its second batch."""
SHORTER = {"limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1}
"""What a training is made of that is run in the place of a slow one."""
_OF_SHORTER = 4
"""How many steps as slow as these a shorter training takes: with what it begins and validates with."""


class SlowTraining(BaseException):
    """A training does not come to its end in the time that it has."""


class LargeTraining(BaseException):
    """Not even a training of two batches comes to its end in the time that there is."""


SLOW = (SlowTraining.__name__, LargeTraining.__name__)


class TrainingPace:
    """How fast a training is, against the time that it has; a process that is one of several, that was made shorter
    already, or whose first run came to its end, has all the time. That a training is ended is told to `record`, since
    the project may answer to it in any way."""

    def __init__(self, spec: dict[str, Any], record: Callable[..., None]) -> None:
        self.record = record
        is_free = spec.get("mode") != "train" or spec.get("devices", 1) > 1
        is_free = is_free or spec.get("shorter") or spec.get("nudged")
        self.seconds = float("inf") if is_free else float(spec["seconds"])
        self.began = self.first = time.monotonic()
        self.is_waiting = False

    def wait(self) -> None:
        """End a training whose second batch does not come in time, from now on: where the system can, between two
        operations."""
        seconds = UNTIL_BEGUN * self.seconds
        if seconds == float("inf"):
            return

        with contextlib.suppress(AttributeError, ValueError):  # no such signal here, or not the main thread
            signal.signal(signal.SIGALRM, self.late)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            self.is_waiting = True

    def late(self, *_: object) -> None:
        """The second batch did not come in time."""
        if self.is_waiting:
            self.is_waiting = False
            self.end(LargeTraining(f"its second batch did not come in {UNTIL_BEGUN * self.seconds:.0f} s"))

    def begun(self) -> None:
        """Wait for no second batch any more. A timer is the project's where it answers the signal itself."""
        if self.is_waiting and signal.getsignal(signal.SIGALRM) == self.late:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.is_waiting = False

    def end(self, error: BaseException) -> None:
        """End the training by an exception."""
        self.record("failure", type=type(error).__name__, message=str(error), place=None, when=time.time())
        raise error

    def at(self, number: int, most: int) -> None:
        """The batch of this number, of at most so many, is about to be trained on."""
        now = time.monotonic()
        if number < 2:
            self.first = now  # what comes before is no step
        if number < 2 or now - self.began < PATIENCE * self.seconds:
            return
        each = (now - self.first) / (number - 1)
        if now - self.began + each * (most - number + 1) > self.seconds:
            kind = LargeTraining if each * _OF_SHORTER > self.seconds - (now - self.began) else SlowTraining
            self.end(kind(f"a step takes {each:.0f} s, and {most} of them do not fit into {self.seconds:.0f} s"))
