"""A text as the Language Server Protocol counts it: lines from 0, columns in the units that were agreed on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from io import StringIO
from itertools import accumulate

from lsprotocol import types

from codemods.finding import Span

_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@dataclass(frozen=True)
class Text:
    """A text, and the name of the encoding whose units columns count: `utf-8`, `utf-16` or `utf-32`. Of a file that is
    not Python findings count a line for each newline, else as `ast` and the protocol do."""

    text: str
    units: str
    is_python: bool = True

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends, as the protocol has them: behind newlines, carriage returns, and both together."""
        return list(StringIO(self.text, newline=""))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(map(len, self.lines))]

    @cached_property
    def _counted(self) -> list[int]:
        """Where the lines begin that findings count."""
        return self._starts if self.is_python else [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]

    def position(self, offset: int) -> types.Position:
        """The place of the character at an offset."""
        offset = min(offset, len(self.text))
        line = bisect_right(self._starts, offset) - 1
        if self.lines and line == len(self.lines) and not self.lines[-1].endswith(("\n", "\r")):
            line -= 1
        return types.Position(line, self._length(self.text[self._starts[line] : offset]))

    def offset(self, position: types.Position) -> int:
        """The offset of a place; one behind the end of its line is that end, one within a character its beginning."""
        if position.line >= len(self.lines):
            return len(self.text)
        line = self.lines[position.line].rstrip("\r\n")
        low, high = 0, len(line)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._length(line[:middle]) <= position.character else (low, middle - 1)
        return self._starts[position.line] + low

    def range(self, span: Span) -> types.Range:
        """The range of a finding's place."""
        return types.Range(*(self.position(offset) for offset in self.offsets(span)))

    def offsets(self, span: Span) -> tuple[int, int]:
        """Where a finding's place begins and ends."""
        ends = ((span.line, span.column), (span.end_line, span.end_column))
        start, end = (self._counted[min(line, len(self._counted)) - 1] + column - 1 for line, column in ends)
        return start, max(start, end)

    def edits(self, after: str) -> list[types.TextEdit]:
        """The edits that make another text of this one, by whole lines."""
        new = Text(after, self.units).lines
        same = _common(self.lines, new)
        tail = _common(self.lines[same:][::-1], new[same:][::-1])
        old, made = self.lines[same : len(self.lines) - tail], new[same : len(new) - tail]
        matcher = SequenceMatcher(None, old, made)
        return [
            types.TextEdit(
                types.Range(self.position(self._starts[same + start]), self.position(self._starts[same + end])),
                "".join(made[to:until]),
            )
            for kind, start, end, to, until in matcher.get_opcodes()
            if kind != "equal"
        ]

    def _length(self, part: str) -> int:
        encoding, size = _BYTES[self.units]
        return len(part.encode(encoding, "surrogatepass")) // size


def _common(one: list[str], other: list[str]) -> int:
    """How many of their first lines two texts share."""
    pairs = zip(one, other, strict=False)
    return next((number for number, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))
