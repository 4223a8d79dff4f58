"""Where the lines of a text went in what was made of it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True)
class Block:
    """Lines of the old text, and those that stand in their place in the new one, by their numbers from 1; `is_kept`
    says that they are the same."""

    old: range
    new: range
    is_kept: bool


class LineMap:
    """The lines of two texts, block by block, as `ast` counts them: at newlines alone."""

    def __init__(self, before: bytes, after: bytes) -> None:
        self.old, self.new = _lines(before), _lines(after)
        matcher = SequenceMatcher(None, self.old, self.new, autojunk=False)
        self.blocks = [
            Block(range(start + 1, end + 1), range(to + 1, until + 1), kind == "equal")
            for kind, start, end, to, until in matcher.get_opcodes()
        ]

    def block(self, line: int) -> Block | None:
        """The block that a line of the old text stands in."""
        return next((block for block in self.blocks if line in block.old), None)

    def line(self, line: int) -> int:
        """Where a line of the old text stands; where it is gone, the one that took its place."""
        block = self.block(line)
        if block is None:
            return line
        return min(block.new.start + line - block.old.start, max(block.new.stop - 1, block.new.start))


def _lines(text: bytes) -> list[str]:
    return list(io.StringIO(text.decode(errors="replace"), newline=""))
