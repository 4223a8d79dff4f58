"""What the project hands straight to a logger, past `log` of its module.

Runs in the target's interpreter, beside the harness. The loggers are the project's own, what is behind them is what
trackers.py watches, and what stands in for either is in silenced.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import ModuleType
from typing import Any

Tell = Callable[[str, Any], None]
PLACES = (".loggers.base", ".loggers.csv_logs", ".loggers.tensorboard")
METHODS = {
    "log": ("data",),
    "log_metrics": ("metrics",),
    "add_scalar": ("tag", "scalar_value"),
    "add_scalars": ("main_tag", "tag_scalar_dict"),
}
"""The methods of loggers, and of what is behind them, that take numbers: their first arguments, of which the last holds
the numbers."""
_WITHIN: ContextVar[bool] = ContextVar("within", default=False)
"""Whether a call is being told already: a logger hands on what it is given."""


def watch_loggers(package: ModuleType, root: str, tell: Tell) -> None:
    """Tell names and values that the project at `root` hands to one of Lightning's loggers. What Lightning itself hands
    on was recorded as it was logged, and when it does so depends on the release."""
    for place in PLACES:
        with contextlib.suppress(ImportError):
            for kind in list(vars(importlib.import_module(package.__name__ + place)).values()):
                if isinstance(kind, type) and "log_metrics" in vars(kind):
                    _watch(kind, root, tell)


def watch_logger(logger: Any, root: str, tell: Tell) -> None:
    """The same of a logger's own class: where a project derives one, Lightning calls it as it calls its own."""
    for kind in type(logger).__mro__:
        if "log_metrics" in vars(kind):
            _watch(kind, root, tell)


def _watch(kind: Any, root: str, tell: Tell) -> None:
    original = vars(kind)["log_metrics"]
    if callable(original) and not hasattr(original, "is_told") and not getattr(original, "__isabstractmethod__", False):
        kind.log_metrics = telling(original, "log_metrics", root, tell)


def told(method: str, root: str, tell: Tell) -> Callable[..., None]:
    """A method that tells what it is given, and does nothing else."""

    def call(this: Any, *args: Any, **kwargs: Any) -> None:
        if _by_project(root) and not _WITHIN.get():
            given = {**kwargs, **dict(zip(METHODS[method], args, strict=False))}
            *tag, values = (given.get(name) for name in METHODS[method])
            if isinstance(values, Mapping):
                front = "".join(f"{name}/" for name in tag)
                for name, value in values.items():
                    tell(f"{front}{name}", value)
            elif tag:
                tell(str(tag[0]), values)

    return call


def telling(original: Callable[..., Any], method: str, root: str, tell: Tell) -> Callable[..., Any]:
    """A method that tells what the project gives it, and does what it did."""
    first = told(method, root, tell)

    @functools.wraps(original)
    def call(this: Any, *args: Any, **kwargs: Any) -> Any:
        first(this, *args, **kwargs)
        with _within():
            return original(this, *args, **kwargs)

    call.is_told = True  # type: ignore[attr-defined]
    return call


@contextlib.contextmanager
def _within() -> Iterator[None]:
    """What is called from here on is what a logger does with what it was given."""
    token = _WITHIN.set(True)
    try:
        yield
    finally:
        _WITHIN.reset(token)


def _by_project(root: str) -> bool:
    """Whether the project's code calls a logger, or several at once, which is Lightning's own collection of them."""
    frame: Any = sys._getframe(1)
    while frame and (
        frame.f_globals.get("__name__") == __name__ or ".loggers." in str(frame.f_globals.get("__name__"))
    ):
        frame = frame.f_back
    return bool(frame) and str(frame.f_code.co_filename).startswith(root)
