"""How large what arguments describe is: the images that they name, and the same with fewer channels, heads and layers.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .alone_values import Arguments

_SIDES = r"(ima?ge?|input|crop)_?(size|dim|shape|res)|resolution|^(height|width)$"
_WIDTHS = r"(^|_)ch$|channels|dim|hidden|width|features|filters|embed|units|d_model|ffn|planes"
_DEPTHS = r"layers$|depth|num_blocks|n_layer"
_HEADS = r"heads?$"
_NARROW, _FEW = 32, 4
INNER = ("items", "args", "kwargs", "values", "of")
"""Where descriptions of values hold others, which have names of their own."""


def smaller(given: Arguments, default: Arguments) -> Iterator[Arguments]:
    """The arguments with widths and depths that a short training on this machine can have; of those that have a
    `default` alone, the ones that become less."""
    for most in (_NARROW, 2 * _NARROW):
        new = {name: _at_most(name, value, most) for name, value in {**default, **given}.items()}
        less = {name: value for name, value in new.items() if name in given or value != default[name]}
        if less != given:
            yield less


def defaults(cls: type) -> Arguments:
    """The whole numbers that a class takes by itself."""
    try:
        found = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {each.name: each.default for each in found if type(each.default) is int}


def reduced(full: Any, given: Any, name: str = "") -> Iterator[str]:
    """What of arguments is less than it was, in words: `width 32 for 512`."""
    if isinstance(full, dict) and isinstance(given, dict):
        for key in full:
            if key in given:
                yield from reduced(full[key], given[key], name if "@" in full and key in INNER else str(key))
    elif isinstance(full, list) and isinstance(given, list) and len(full) == len(given):
        if full and all(type(value) is int for value in (*full, *given)):
            if any(new < old for old, new in zip(full, given, strict=True)):
                yield f"{name} {given} for {full}"
        else:
            for old, new in zip(full, given, strict=True):
                yield from reduced(old, new, name)
    elif type(full) is int and type(given) is int and given < full:
        yield f"{name} {given} for {full}"


def _at_most(name: str, value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {key: _at_most(name if "@" in value else key, inner, most) for key, inner in value.items()}
    if isinstance(value, list):
        return [_at_most(name, inner, most) for inner in value]
    if type(value) is int and re.search(_DEPTHS, name.lower()):
        return min(value, 2)
    if type(value) is int and re.search(_HEADS, name.lower()):
        return min(value, _FEW)
    return min(value, most) if type(value) is int and re.search(_WIDTHS, name.lower()) else value


def sides(given: Any, values: Mapping[str, list[Any]] | None = None) -> list[tuple[int, int]]:
    """The heights and widths of images that arguments name, and then those that the project does."""
    found: dict[tuple[int, int], None] = {}

    def read(name: str, value: Any) -> None:
        if re.search(_SIDES, name.lower()):
            pair = value["items"] if isinstance(value, dict) and value.get("@") == "tuple" else value
            pair = pair[-2:] if isinstance(pair, list) else [pair, pair]
            if len(pair) == 2 and all(type(side) is int and 8 <= side <= 1024 for side in pair):
                found[(pair[0], pair[1])] = None
        for key, inner in value.items() if isinstance(value, dict) else ():
            read(str(key), inner)

    for name, value in given.items():
        read(name, value)
    for name, held in (values or {}).items():
        for value in held:
            read(name, value)
    return list(found)[:6]
