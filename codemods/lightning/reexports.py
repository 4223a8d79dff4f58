"""Names of modules of the project that stand for Lightning's own."""

from __future__ import annotations

from codemods.code.scopes import ROOT, canonical
from codemods.lightning.facts import Facts

_DEEP = 4
"""So many files are asked for a name that each takes from the next."""


def through(facts: Facts, dotted: str, near: str) -> tuple[str, str] | None:
    """What of Lightning's a dotted name of a module of the project stands for that is imported there, as far as that is
    followed, and the file that takes it from Lightning."""
    for _ in range(_DEEP):
        module, _, name = dotted.rpartition(".")
        path = facts.path_of(module, near) if module else None
        file = facts.open(path) if path else None
        found = file.scope.lookup(name) if file else None
        if file is None or found is None or canonical(found) == dotted:
            return None
        dotted, near = canonical(found), file.path
        if dotted.startswith(f"{ROOT}."):
            return dotted, near
    return None
