"""What old code and old packages expect of Python and numpy, where what is installed here no longer has it.

Runs in the target's interpreter, beside the harness: both trees get the same, so that only Lightning differs. No name
of torch or of Lightning is lent: the rewritten code has to do without those. An older Python or numpy it may well get.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections import namedtuple
from typing import Any

_BUILTINS: dict[str, type] = {
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "object": object,
    "str": str,
}
"""Gone in numpy 1.24: other names for Python's own types."""
_RENAMED = {
    "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf", "NaN": "nan", "float_": "float64",
    "complex_": "complex128", "unicode_": "str_", "string_": "bytes_", "product": "prod", "cumproduct": "cumprod",
    "alltrue": "all", "sometrue": "any", "row_stack": "vstack", "trapz": "trapezoid",
}  # fmt: skip
"""Gone in numpy 2: what the same is called now."""
_REFUSED = (list, dict, set)
"""The defaults that dataclasses refused up to Python 3.10; since then they refuse whatever has no hash."""
Arguments = namedtuple("Arguments", "args varargs keywords defaults")


def lend() -> None:
    """Give numpy and `inspect` their old names, and let dataclasses take the defaults that they took before 3.11."""
    with contextlib.suppress(ImportError):
        import numpy

        numbers: Any = numpy
        for name, kind in _BUILTINS.items():
            if name not in vars(numpy):
                setattr(numbers, name, kind)
        for name, now in _RENAMED.items():
            if name not in vars(numpy) and hasattr(numpy, now):
                setattr(numbers, name, getattr(numpy, now))
    if not hasattr(inspect, "getargspec"):
        made: Any = inspect
        made.getargspec = lambda function: Arguments(*inspect.getfullargspec(function)[:4])
    _lend_defaults()


def _lend_defaults() -> None:
    made: Any = dataclasses
    original = made._get_field

    @functools.wraps(original)
    def get_field(cls: type, name: str, *more: Any) -> Any:
        default = getattr(cls, name, None)
        default = default.default if isinstance(default, dataclasses.Field) else default
        kind: Any = type(default)
        if kind.__hash__ is not None or isinstance(default, _REFUSED):
            return original(cls, name, *more)
        try:
            kind.__hash__ = object.__hash__
        except TypeError:
            return original(cls, name, *more)
        try:
            return original(cls, name, *more)
        finally:
            kind.__hash__ = None

    made._get_field = get_field
