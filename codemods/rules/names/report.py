"""A name that moved or is gone, whichever table tells of it, and what is said of a place that has it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Protocol

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.rule import Match, TextEdit


@dataclass(frozen=True)
class MovedName:
    """What a table tells of a dotted name: `old` is the entry that holds for it, `new` where it is now ("" where
    nothing takes its place).

    `root` is the package of the new name where that is reached from wherever the old one is, `added` what has to be
    imported for it else (None: it cannot be reached so), and `parts` says whether what is below it may be elsewhere.
    `caution` is what makes the new one differ, `refusal` what keeps it from being rewritten, `in_text` that what a
    string names is; `expression` is what is written where that is not the new name alone, `since` the oldest Lightning
    that has it.
    """

    old: str
    new: str
    message: str
    row: str | None = None
    caution: str = ""
    advice: str = ""
    since: str | None = None
    expression: str | None = None
    is_name: bool = True
    root: str | None = None
    added: str | None = None
    parts: bool = False
    refusal: str = ""
    in_text: str = ""
    is_idle: bool = False
    why: str = ""

    @property
    def reason(self) -> str:
        """What is said where it is rewritten."""
        said = f"It is `{self.new}` now" + (f"; {self.caution}." if self.caution else ".")
        return f"{said} {self.why}".strip()

    @property
    def level(self) -> Fix:
        return "unsafe" if self.caution else "safe"


class NameTable(Protocol):
    """A table of names as it is asked in one file."""

    def covers(self, dotted: str) -> bool:
        """Whether a dotted name is of a package that the table speaks of."""

    def find(self, dotted: str) -> MovedName | None:
        """What holds for a dotted name, in whichever release it moved."""

    def broken(self, dotted: str) -> MovedName | None:
        """The same where it is gone in the release to move to."""

    def own(self, dotted: str) -> MovedName | None:
        """The same where no other rule answers for it where it is imported or called."""

    def in_string(self, dotted: str) -> MovedName | None:
        """The same where no other rule answers for it in a string."""

    def sure(self, found: MovedName, dotted: str) -> MovedName:
        """What was found, as sure as its uses in the file are."""

    def reached(self, found: MovedName, dotted: str) -> MovedName:
        """What was found, as a chain of attributes, which may go on, leads to it."""


def moved_match(
    file: PythonFile,
    place: ast.alias | ast.expr,
    found: MovedName,
    level: Fix,
    edits: tuple[TextEdit, ...],
    unit: str,
) -> Match:
    return Match(file.span(place), found.message, level, found.reason, found.row, edits, unit=unit, needs=found.since)


def left_match(file: PythonFile, place: ast.alias | ast.expr, found: MovedName, why: str) -> Match:
    if found.new:
        why = why or "fixer cannot change it at this place"
        reason = f"Not rewritten: {why}. Write `{found.new}` instead."
    else:
        reason = (
            f"It has no replacement of the same kind: {found.advice}." if found.advice else "It has no replacement."
        )
    return Match(file.span(place), found.message, "manual", reason, found.row)
