"""What the text report is written on at a terminal: colours, and lines that wrap."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from codemods.finding import Finding
from fixer.reports.hunks import hunks
from fixer.reports.page import Page, Part
from fixer.reports.words import one_line, plain
from fixer.result import FileDiff

_PIPE_WIDTH = 120


class RichPage(Page):
    """A page of one width (None: nothing is wrapped), with or without colour."""

    def __init__(self, color: bool, width: int | None) -> None:
        super().__init__()
        self._wraps = width is not None
        self._console = _console(self._stream, color, width or _PIPE_WIDTH)

    def line(self, parts: Sequence[Part], indent: int = 0, hang: int = 2, most: int | None = None) -> int:
        text = Text.assemble(*parts)
        if not self._wraps:
            self._console.print(Text(" " * indent) + text, soft_wrap=True)
            return 1
        room = max(self._console.width - indent - hang, 20)
        wrapped = list(text.wrap(self._console, room)) if parts else [text]
        for number, part in enumerate(wrapped[:most]):
            part.rstrip()
            if number + 1 == most and wrapped[most:]:
                part.truncate(room - 1)
                part.append("…")
            self._console.print(Text(" " * (indent + (hang if number else 0))) + part, soft_wrap=True)
        return len(wrapped[:most])

    def table(self, rows: Sequence[Sequence[Part]], indent: int, padding: int, right: bool = False) -> None:
        _print_table(self._console, rows, indent, padding, right)


def print_table(stream: io.StringIO, rows: Sequence[Sequence[Part]], indent: int, padding: int, right: bool) -> None:
    """A table as a plain page shows it."""
    _print_table(_console(stream, False, _PIPE_WIDTH), rows, indent, padding, right)


def _print_table(console: Console, rows: Sequence[Sequence[Part]], indent: int, padding: int, right: bool) -> None:
    table = Table.grid(padding=(0, padding))
    for number in range(len(rows[0])):
        justify: JustifyMethod = "right" if right and number else "left"
        table.add_column(justify=justify, overflow="fold", no_wrap=right == bool(number))
    for row in rows:
        table.add_row(*(Text(text, style) for text, style in row))
    console.print(Padding(table, (0, 0, 0, indent), expand=False))


def _console(stream: io.StringIO, color: bool, width: int) -> Console:
    return Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def colored(file: FileDiff, findings: Sequence[Finding], width: int | None) -> str:
    """A diff in colour. Below the head of each hunk stands what its change repairs; code is coloured as Python."""
    stream = io.StringIO()
    console = _console(stream, True, width or _PIPE_WIDTH)
    python = Syntax("", "python", theme="ansi_dark", background_color="default") if file.path.endswith(".py") else None
    told = iter(hunks(file.diff, findings))
    held = {finding.id for hunk in hunks(file.diff, findings) for finding in hunk.findings}
    for line in file.diff.split("\n")[:-1]:
        shown = "\t".join(plain(part) for part in line.removesuffix("\r").split("\t"))
        console.print(_line(shown, python), soft_wrap=True)
        if line.startswith("+++ "):
            _notes(console, [finding for finding in findings if finding.id not in held])
        elif line.startswith("@@ "):
            _notes(console, next(told).findings)
    return stream.getvalue()


def _notes(console: Console, findings: Sequence[Finding]) -> None:
    """Why the lines below change, one after the other, beside a bar."""
    for finding in findings:
        reason = f" ({finding.reason})" if finding.reason else ""
        text = Text(one_line(f"{finding.code} {finding.message}{reason}"), "italic")
        for part in text.wrap(console, max(console.width - 2, 20)):
            part.rstrip()
            console.print(Text("▎ ", "cyan") + part, soft_wrap=True)


def _line(line: str, python: Syntax | None) -> Text:
    style = _style(line)
    if python is None or style not in _CODE:
        return Text(line, style)
    code = python.highlight(line[1:])
    code.rstrip()
    code.pad_right(len(line) - 1 - len(code))
    if style:
        code.stylize(_CODE[style])
    return Text(line[:1], style) + code


_CODE = {"": "", "green": "bold", "red": "dim"}


def _style(line: str) -> str:
    if line.startswith(("diff --git ", "--- ", "+++ ")):
        return "bold"
    return {"@": "cyan", "+": "green", "-": "red"}.get(line[:1], "")
