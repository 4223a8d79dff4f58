"""Names of modules of the project that stand for Lightning's own."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.code.scopes import ROOT, canonical
from codemods.lightning.facts import Facts

_DEEP = 4
"""So many files are asked for a name that each takes from the next."""


def through(facts: Facts, dotted: str, near: str) -> tuple[str, str] | None:
    """What of Lightning's a dotted name of a module of the project stands for, which is imported there by itself or
    with its package, as far as that is followed, and the file that takes it from Lightning."""
    for _ in range(_DEEP):
        taken = _taken(facts, dotted.split("."), near)
        if taken is None or taken[0] == dotted:
            return None
        dotted, near = taken
        if dotted.startswith(f"{ROOT}."):
            return taken
    return None


def _taken(facts: Facts, parts: Sequence[str], near: str) -> tuple[str, str] | None:
    """What the longest beginning of a name that is a module of the project has by the name behind it."""
    for end in range(len(parts) - 1, 0, -1):
        path = facts.path_of(".".join(parts[:end]), near)
        if path and (file := facts.open(path)):
            found = file.scope.lookup(parts[end])
            return (canonical(".".join([found, *parts[end + 1 :]])), path) if found else None
    return None
