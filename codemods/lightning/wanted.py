"""Which classes of Lightning's a question is about: Trainer, or callbacks, loggers and profilers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.lightning.facts import TRAINER


@dataclass(frozen=True)
class WantedClasses:
    """The classes of Lightning's that are looked for: their last names, which dotted names stand for one, and of which
    arguments of one a constant is worth following."""

    names: frozenset[str]
    is_one: Callable[[str], bool]
    matters: Callable[[str, str, ast.expr | None], bool]

    @property
    def key(self) -> str:
        """What tells them from others."""
        return min(self.names)


TRAINER_ALONE = WantedClasses(frozenset({"Trainer"}), TRAINER.__eq__, lambda *_: True)
