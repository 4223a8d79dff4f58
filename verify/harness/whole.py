"""Tells a project how long its own training is, though a short one is run, where both trees are run so.

Runs in the target's interpreter, beside the harness. What a schedule is made for comes in one project from a Trainer
(`max_epochs`, `limit_train_batches`, `estimated_stepping_batches`), in another from options and the length of a loader,
and a rewrite puts one in the place of the other: until the first batch of a training all of them say the same.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from .measures import batches

SHORTENED = ("max_epochs", "limit_train_batches")
STEPS = "estimated_stepping_batches"
_UNLIMITED = -1


class WholeLengths:
    """What the project at `root` asked of each Trainer, told to it as long as the training has not begun. `counted` is
    called where it asks a Trainer for the number of its steps."""

    def __init__(self, root: str, counted: Callable[[], None]) -> None:
        self.root, self.counted = root, counted
        self.asked: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()

    def keep(self, trainer: Any, given: dict[str, Any]) -> None:
        """Take what a Trainer was asked for, unless that is a training of a few batches in itself."""
        if given.get("overfit_batches") or given.get("fast_dev_run"):
            return
        epochs, steps, time = (given.get(name) for name in ("max_epochs", "max_steps", "max_time"))
        is_limited = steps not in (None, _UNLIMITED) or time is not None
        epochs = (_UNLIMITED if is_limited else 1000) if epochs is None else epochs
        limit = given.get("limit_train_batches")
        self.asked[trainer] = {"max_epochs": epochs, "limit_train_batches": 1.0 if limit is None else limit}

    def begun(self, trainer: Any) -> None:
        """The training has begun: from here on a Trainer says what is run."""
        self.asked.pop(trainer, None)

    def tell(self, trainer: Any) -> None:
        """Have a class of Trainers tell whole lengths."""
        for name in (*SHORTENED, STEPS):
            original = inspect.getattr_static(trainer, name, None)
            if isinstance(original, property):
                setattr(trainer, name, self._told(name, original))
            elif name in SHORTENED:
                setattr(trainer, name, self._told(name, _held(name)))

    def _told(self, name: str, original: property) -> property:
        read: Callable[[Any], Any] = original.fget or (lambda trainer: None)

        @functools.wraps(read)
        def get(trainer: Any) -> Any:
            short = read(trainer)
            asked = self.asked.get(trainer)
            if not sys._getframe(1).f_code.co_filename.startswith(self.root):
                return short
            if name == STEPS:
                self.counted()
            if asked is None:
                return short
            return asked[name] if name in asked else _steps(trainer, asked, short)

        return property(get, original.fset, original.fdel)


def _held(name: str) -> property:
    """A plain attribute, as a property that keeps its value where it was."""

    def get(trainer: Any) -> Any:
        try:
            return vars(trainer)[name]
        except KeyError:
            raise AttributeError(f"{type(trainer).__name__!r} object has no attribute {name!r}") from None

    return property(get, lambda trainer, value: vars(trainer).__setitem__(name, value))


def _steps(trainer: Any, asked: dict[str, Any], short: Any) -> Any:
    """The optimizer steps of the whole training, as Lightning counts them; `short` where that cannot be known."""
    most, epochs = trainer.max_steps, asked["max_epochs"]
    most = math.inf if most in (None, _UNLIMITED) else most
    if epochs == _UNLIMITED:
        return most
    count = batches(trainer, asked["limit_train_batches"])
    if count is None or not isinstance(epochs, int):
        return short
    return min(math.ceil(count / trainer.accumulate_grad_batches) * max(epochs, 1), most)
