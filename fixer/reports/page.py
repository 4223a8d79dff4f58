"""What the text report is written on where there is no terminal: plain lines, made without rich."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

Part = tuple[str, str]
"""A piece of a line, and its style in rich's words."""

_WORKFLOW_COMMAND = re.compile(r"^([^\S\n]*):(?=:)|##(?=\[)", re.MULTILINE)
_CODE = re.compile(r"(`[^`]+`)")


class Page:
    """Lines that are gathered as text, and the few shapes that a report is made of."""

    def __init__(self) -> None:
        self._stream = io.StringIO()

    def text(self) -> str:
        """All that was written. No line of it is a command to the log of a workflow on GitHub."""
        written = "\n".join(line.rstrip() for line in self._stream.getvalue().split("\n"))
        return _WORKFLOW_COMMAND.sub(lambda match: f"{match[0]} ", written)

    def line(self, parts: Sequence[Part], indent: int = 0, hang: int = 2, most: int | None = None) -> int:
        """One paragraph, and how many lines it takes; on a terminal its further lines are indented by `hang` more, and
        it is cut after `most` lines."""
        self._stream.write(f"{' ' * indent}{''.join(text for text, _ in parts)}\n")
        return 1

    def heading(self, text: str) -> None:
        """A heading; it has a blank line above it unless it is the first line."""
        self.gap()
        self.line([(text, "bold")])

    def gap(self) -> None:
        """A blank line, except at the top."""
        if self._stream.tell():
            self.line([])

    def table(self, rows: Sequence[Sequence[Part]], indent: int, padding: int, right: bool = False) -> None:
        """Cells one below the other; with `right` all but the first of a row stand at their right edge."""
        from fixer.reports.rich_page import print_table

        print_table(self._stream, rows, indent, padding, right)


def prose(text: str, style: str = "") -> list[Part]:
    """Text in which what stands between backticks is set off."""
    parts = enumerate(_CODE.split(text))
    return [(part, f"{style} cyan".strip() if number % 2 else style) for number, part in parts if part]
