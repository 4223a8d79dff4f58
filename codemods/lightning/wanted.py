"""Which classes a question is about: Trainer, or callbacks, loggers and profilers, or those of another package."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.lightning.facts import TRAINER


@dataclass(frozen=True)
class WantedClasses:
    """The classes of Lightning's, or of another package, that are looked for: their last names, which dotted names
    stand for one, and of which arguments of one a constant is worth following. `owner` is the code of the one rule that
    looks for them."""

    names: frozenset[str]
    is_one: Callable[[str], bool]
    matters: Callable[[str, str, ast.expr | None], bool]
    owner: str = ""

    @property
    def key(self) -> str:
        """What tells them from others."""
        return self.owner or min(self.names)


TRAINER_ALONE = WantedClasses(frozenset({"Trainer"}), TRAINER.__eq__, lambda *_: True)
