"""Tells whether what failed was done to something that we put there.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OURS = Path(__file__).with_name("silenced.py")
NAMED = re.compile(r"\b(StandInExperiment|StandInLogger)\b")
PLACED = frozenset({"Strategy", "ParallelStrategy", "TrainingTypePlugin", "Accelerator"})
READ = ("serialization.py",)
AWAY = ("wandb", "comet_ml", "mlflow", "neptune", "litlogger", "requests", "urllib3", "botocore", "google")
"""The packages whose errors say that something is not to be had here: a network, an account."""


def blamed(error: BaseException, spec: Mapping[str, Any]) -> str | None:
    """The name in standins.py of what an exception is about or comes out of; None where that is the project's own."""
    for each in chain(error):
        found = _receiver(each) or _within(each) or _placed(each, spec) or _emptied(each, spec) or _logging(each, spec)
        if found:
            return found
    return None


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it was raised from."""
    seen: set[int] = set()  # by identity: errors of pynvml cannot be compared with others
    while id(error) not in seen:
        seen.add(id(error))
        yield error
        following = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if following is None:
            return
        error = following


def _receiver(error: BaseException) -> str | None:
    """What an attribute was asked of, or what an operation was tried on, by its name in the text."""
    if isinstance(error, AttributeError) and error.obj is not None:
        kind: Any = type(error.obj)
        return getattr(kind, "stands_for", None) or vars(error.obj).get("stands_for") if _has(error.obj) else None
    if isinstance(error, (TypeError, ValueError)) and (found := NAMED.search(str(error))):
        return "alone" if found[1] == "StandInLogger" else "trackers"
    return None


def _has(value: Any) -> bool:
    return hasattr(value, "__dict__") and not isinstance(value, type)


def _within(error: BaseException) -> str | None:
    """A stand-in whose own code raised."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or Path(frames[-1].f_code.co_filename) != OURS:
        return None
    first = frames[-1].f_locals.get("this", frames[-1].f_locals.get("self"))
    return getattr(first, "stands_for", None)


def _placed(error: BaseException, spec: Mapping[str, Any]) -> str | None:
    """A strategy or an accelerator that is not the one that the project asked for."""
    if not spec.get("placed") or not isinstance(error, AttributeError):
        return None
    return "devices" if PLACED & {base.__name__ for base in type(error.obj).__mro__} else None


def _emptied(error: BaseException, spec: Mapping[str, Any]) -> str | None:
    """A checkpoint that was too large to be written is read."""
    read = (frame.f_code.co_filename.endswith(READ) for frame, _ in traceback.walk_tb(error.__traceback__))
    return "checkpoints" if spec.get("emptied") and any(read) else None


def _logging(error: BaseException, spec: Mapping[str, Any]) -> str | None:
    """A logger that fails for the want of a network, of an account or of a folder."""
    if "loggers" in spec.get("quiet", ()):
        return None
    away = isinstance(error, OSError) or type(error).__module__.partition(".")[0] in AWAY
    if not away:
        return None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        held = frame.f_locals.get("self")
        if {"Logger", "LightningLoggerBase"} & {base.__name__ for base in type(held).__mro__}:
            return "loggers"
    return None
