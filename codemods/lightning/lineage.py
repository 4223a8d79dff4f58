"""In which order Python looks through a class and what is above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def ordered(start: T, above: Callable[[T], Sequence[T]], known: dict[T, list[T]] | None = None) -> list[T]:
    """A class and all that is above it in the order of Python; nearest first where Python has none. `known` keeps the
    orders for further classes of the same program."""
    return _merged(start, above, {} if known is None else known, ()) or _nearest(start, above)


def _merged(start: T, above: Callable[[T], Sequence[T]], known: dict[T, list[T]], path: tuple[T, ...]) -> list[T]:
    """What Python's own algorithm makes of it; empty where that finds no order."""
    if start in path:
        return []
    if start not in known:
        bases = list(dict.fromkeys(above(start)))
        lines = [_merged(base, above, known, (*path, start)) for base in bases]
        known[start] = _zipped(start, [*lines, bases]) if all(lines) else []
    return known[start]


def _zipped(start: T, lines: list[list[T]]) -> list[T]:
    found = [start]
    left = [list(line) for line in lines if line]
    while left:
        first = next((line[0] for line in left if all(line[0] not in other[1:] for other in left)), None)
        if first is None:
            return []
        found.append(first)
        left = [rest for line in left if (rest := line[1:] if line[0] == first else line)]
    return found


def _nearest(start: T, above: Callable[[T], Sequence[T]]) -> list[T]:
    found = [start]
    for item in found:
        found += [base for base in dict.fromkeys(above(item)) if base not in found]
    return found
