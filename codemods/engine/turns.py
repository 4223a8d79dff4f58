"""What rules found in files, and made of them, when their turns came, for later attempts at the same plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from codemods.code.source import PythonFile, Source, TextFile
from codemods.engine.rewriting import RewrittenFile
from codemods.lightning.facts import Facts
from codemods.rule import Match, Rule

ROOM = 4_000_000
"""Characters of text of which the trees are kept, with what was found in them."""

Key = tuple[str, Source]
Looked = tuple[PythonFile | TextFile | None, list[Match]]
"""A file as a rule sees it, with what it finds there; None where it cannot be read."""
Answer = TypeVar("Answer")


class KnownTurns:
    """What was worked out of files, as they were by then, with `facts` of the tree as it came. Of an attempt in which
    one rule comes later most turns are those of the attempt before it."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._length = 0
        self.woken: dict[Key, bool] = {}
        self.looked: dict[Key, Looked] = {}
        self.rewritten: dict[Key, RewrittenFile | str] = {}

    def once(
        self, known: dict[Key, Answer], rule: Rule, source: Source, facts: Facts, ask: Callable[[], Answer]
    ) -> Answer:
        """What is known of a rule and a file, or, where it is not or goes by other facts, what `ask` gives."""
        key = rule.code, source
        if facts is not self._facts:
            return ask()
        if key not in known:
            answer = ask()
            if self._length > ROOM:
                return answer
            self._length += len(source.data) if known is not self.woken else 0
            known[key] = answer
        return known[key]
