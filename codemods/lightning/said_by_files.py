"""What a file says by itself, kept as long as its text is: who asks all files of a project opens each of them once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts

Answer = TypeVar("Answer")


def said_by(facts: Facts, path: str, ask: Callable[..., Answer], *about: Hashable) -> Answer | None:
    """What `ask(file, *about)` gives, of a file in the form in which the facts open it; None where it cannot be read.

    The answer hangs on nothing but the file, and holds no nodes of it, which may be gone by then.
    """
    if facts.trees.stands_beside(path):
        return _asked(facts, path, ask, *about)
    source = facts.sources.get(path)
    if source is None:
        return None
    known: dict[object, Answer | None] = source.memo.setdefault("said", {})
    asked = ask, facts.trees.are_plain, about
    if asked not in known:
        known[asked] = _asked(facts, path, ask, *about)
    return known[asked]


def _asked(facts: Facts, path: str, ask: Callable[..., Answer], *about: Hashable) -> Answer | None:
    file: PythonFile | None = facts.open(path)
    return None if file is None else ask(file, *about)
