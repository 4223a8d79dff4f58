"""What old code and old packages expect of Python and numpy, where what is installed here no longer has it.

Runs in the target's interpreter, beside the harness: both trees get the same, so that only Lightning differs. No name
of torch or of Lightning is lent: the rewritten code has to do without those. An older Python or numpy it may well get,
and an older Lightning what it took for granted of torch.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import enum
import functools
import importlib
import inspect
import sys
import warnings
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
    "alltrue": "all", "sometrue": "any", "row_stack": "vstack", "trapz": "trapezoid", "round_": "round",
    "mat": "asmatrix", "NAN": "nan", "bool8": "bool_", "object0": "object_", "str0": "str_", "bytes0": "bytes_",
    "void0": "void", "int0": "intp", "uint0": "uintp", "cfloat": "complex128", "singlecomplex": "complex64",
    "longfloat": "longdouble", "longcomplex": "clongdouble", "clongfloat": "clongdouble",
}  # fmt: skip
"""Gone in numpy 2: what the same is called now."""
_REFUSED = (list, dict, set)
"""The defaults that dataclasses refused up to Python 3.10; since then they refuse whatever has no hash."""
_LIGHTNING = ("pytorch_lightning.", "lightning.", "lightning_fabric.")
Arguments = namedtuple("Arguments", "args varargs keywords defaults")


def lend(used: dict[str, None]) -> None:
    """Give numpy, `collections` and `inspect` their old names, and let dataclasses take the defaults that they took
    before 3.11.

    What is asked for then is added to `used`, with the module that asks: `numpy.float to train`.
    """
    with contextlib.suppress(ImportError):
        import numpy

        _lend_names(numpy, used)
    lend_python(used)


def lend_python(used: dict[str, None]) -> None:
    """The same, without numpy's names."""
    _lend_classes(used)
    _lend_defaults(used)
    if hasattr(inspect, "getargspec"):
        return
    made: Any = inspect

    def getargspec(function: Any) -> Arguments:
        used[f"inspect.getargspec to {asking()}"] = None
        return Arguments(*inspect.getfullargspec(function)[:4])

    made.getargspec = getargspec


def lend_loading(used: dict[str, None]) -> None:
    """Let a Lightning that knows nothing of it load its checkpoints whole, as torch did up to 2.5. What the project
    loads itself is loaded as the torch that is here loads it."""
    import torch

    original = torch.load

    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        module = asking()
        if "weights_only" not in kwargs and module.startswith(
            ("pytorch_lightning.", "lightning.", "lightning_fabric.")
        ):
            kwargs["weights_only"] = False
            used[f"torch.load of whole checkpoints to {module}"] = None
        return original(*args, **kwargs)

    torch.load = load


def lend_enumerations(package: str, used: dict[str, None]) -> None:
    """Where Lightning itself writes an enumeration of its own that is text, write that text, as before Python 3.11: up
    to 1.5 it makes the name of an attribute of it (`f"_has_setup_{stage}"`), without which no DataModule with a `setup`
    is fitted."""
    try:
        kind: Any = importlib.import_module(f"{package}.utilities.enums").LightningEnum
    except (ImportError, AttributeError):
        return
    original, plain = kind.__format__, vars(enum.Enum)["__str__"]

    @functools.wraps(original)
    def written(self: Any, spec: str) -> str:
        module = asking()
        if type(self).__str__ is not plain or not module.startswith(_LIGHTNING):
            return str(original(self, spec))
        used[f"enumerations written as their text to {module}"] = None
        return str.__format__(self.value, spec)

    kind.__format__ = written


def asking(*through: str) -> str:
    """The module whose code is running, but for what imports, for this one and for what it goes `through`."""
    frame: Any = sys._getframe(1)
    ours = ("importlib.", __name__, *through)
    while frame and (name := str(frame.f_globals.get("__name__"))).startswith(ours):
        frame = frame.f_back
    return name if frame else "?"


def _lend_names(numpy: Any, used: dict[str, None]) -> None:
    """Answer for names that numpy itself has no more."""
    own = vars(numpy).get("__getattr__")

    def lent(name: str) -> Any:
        with warnings.catch_warnings():
            if name in _BUILTINS or name in _RENAMED:
                warnings.simplefilter("ignore")
            try:
                if own is None:
                    raise AttributeError(f"module 'numpy' has no attribute {name!r}", name=name, obj=numpy)
                return own(name)
            except AttributeError:
                if name not in _BUILTINS and _RENAMED.get(name) not in vars(numpy):
                    raise
        used[f"numpy.{name} to {asking()}"] = None
        return _BUILTINS[name] if name in _BUILTINS else vars(numpy)[_RENAMED[name]]

    numpy.__getattr__ = lent


def _lend_classes(used: dict[str, None]) -> None:
    """Answer for the abstract classes that `collections` itself held up to Python 3.9: Lightning before 1.6 names one
    where it splits a batch."""
    made: Any = collections

    def lent(name: str) -> Any:
        if name not in collections.abc.__all__ or name == "Buffer":
            raise AttributeError(f"module 'collections' has no attribute {name!r}", name=name, obj=collections)
        used[f"collections.{name} to {asking()}"] = None
        return getattr(collections.abc, name)

    made.__getattr__ = lent


def _lend_defaults(used: dict[str, None]) -> None:
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
        used[f"an unhashable default to {cls.__module__}.{cls.__qualname__}.{name}"] = None
        try:
            return original(cls, name, *more)
        finally:
            kind.__hash__ = None

    made._get_field = get_field
