"""A unified diff as rows of two columns, with the findings that each hunk repairs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codemods.finding import Finding

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Side:
    """One line of a file as a column shows it: its number, counted from 1, and its text without the line feed."""

    number: int
    text: str


@dataclass(frozen=True)
class HunkRow:
    """Two lines that stand beside each other; None where a side has none. `same` says that nothing changed."""

    before: Side | None
    after: Side | None

    @property
    def same(self) -> bool:
        return self.before is not None and self.after is not None and self.before.text == self.after.text


@dataclass(frozen=True)
class Hunk:
    """Rows that follow each other in the file, and the findings whose first line lies among them."""

    rows: tuple[HunkRow, ...]
    findings: tuple[Finding, ...] = ()

    def holds(self, line: int) -> bool:
        """Whether a line of the old file is among the rows."""
        return any(row.before is not None and row.before.number == line for row in self.rows)


def hunks(diff: str, findings: Sequence[Finding] = ()) -> tuple[Hunk, ...]:
    """The hunks of a diff made by `fixer.reports.diff.unified`; those of the findings that lie in one with it."""
    found = []
    for rows in _hunks(diff.split("\n")):
        bare = Hunk(tuple(rows))
        found.append(Hunk(bare.rows, tuple(one for one in findings if one.cell is None and bare.holds(one.span.line))))
    return tuple(found)


def _hunks(lines: Iterable[str]) -> Iterator[list[HunkRow]]:
    rows: list[HunkRow] | None = None
    old, new = 0, 0
    removed: list[Side] = []
    added: list[Side] = []
    for line in lines:
        header = _HEADER.match(line)
        if header:
            if rows is not None:
                yield rows + _paired(removed, added)
            rows, removed, added = [], [], []
            old, new = int(header[1]), int(header[3])
        elif rows is None or line.startswith("\\"):
            continue
        elif line.startswith("-"):
            removed.append(Side(old, line[1:]))
            old += 1
        elif line.startswith("+"):
            added.append(Side(new, line[1:]))
            new += 1
        elif line.startswith(" "):
            rows += [*_paired(removed, added), HunkRow(Side(old, line[1:]), Side(new, line[1:]))]
            removed, added = [], []
            old, new = old + 1, new + 1
    if rows is not None:
        yield rows + _paired(removed, added)


def _paired(removed: Sequence[Side], added: Sequence[Side]) -> list[HunkRow]:
    """Lines taken out beside those put in for them."""
    count = max(len(removed), len(added))
    return [
        HunkRow(removed[at] if at < len(removed) else None, added[at] if at < len(added) else None)
        for at in range(count)
    ]
