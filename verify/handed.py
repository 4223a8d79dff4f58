"""What the project hands straight to a logger, past `log` of its module.

Runs in the target's interpreter, beside the harness. The loggers are Lightning's own that do nothing, which
`short.quiet_logger` gives to each Trainer, and what trackers.py watches.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Tell = Callable[[str, Any], None]
PLACES = (".loggers.logger", ".loggers.base")
_METHODS = {
    "log": ("data",),
    "log_metrics": ("metrics",),
    "add_scalar": ("tag", "scalar_value"),
    "add_scalars": ("main_tag", "tag_scalar_dict"),
}
"""The methods of loggers, and of what is behind them, that take numbers: their first arguments, of which the last holds
the numbers."""


def watch_loggers(package: ModuleType, root: str, tell: Tell) -> None:
    """Tell names and values that the project at `root` hands to a logger. What Lightning itself hands on was recorded
    as it was logged, and when it does so depends on the release."""
    for name in PLACES:
        with contextlib.suppress(ImportError, AttributeError):
            place: Any = importlib.import_module(package.__name__ + name)
            place.DummyLogger.log_metrics = _told("log_metrics", root, tell)
            for method in _METHODS:
                setattr(place.DummyExperiment, method, _told(method, root, tell))
            return


def _told(method: str, root: str, tell: Tell) -> Callable[..., None]:
    """A method that tells what it is given, and does nothing else."""

    def call(this: Any, *args: Any, **kwargs: Any) -> None:
        if _by_project(root):
            given = {**kwargs, **dict(zip(_METHODS[method], args, strict=False))}
            *tag, values = (given.get(name) for name in _METHODS[method])
            if isinstance(values, Mapping):
                front = "".join(f"{name}/" for name in tag)
                for name, value in values.items():
                    tell(f"{front}{name}", value)
            elif tag:
                tell(str(tag[0]), values)

    return call


def telling(original: Callable[..., Any], method: str, root: str, tell: Tell) -> Callable[..., Any]:
    """A method that tells what the project gives it, and does what it did."""
    told = _told(method, root, tell)

    @functools.wraps(original)
    def call(this: Any, *args: Any, **kwargs: Any) -> Any:
        told(this, *args, **kwargs)
        return original(this, *args, **kwargs)

    return call


def _by_project(root: str) -> bool:
    """Whether the project's code calls a logger, or several at once, which is Lightning's own collection of them."""
    frame: Any = sys._getframe(1)
    while frame and (
        frame.f_globals.get("__name__") == __name__ or ".loggers." in str(frame.f_globals.get("__name__"))
    ):
        frame = frame.f_back
    return bool(frame) and str(frame.f_code.co_filename).startswith(root)
