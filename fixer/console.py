"""Where output goes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fixer.pipeline import Progress
from fixer.reports import OutputFormat, Style, render
from fixer.reports.rule_text import rule_texts
from fixer.reports.words import one_line
from fixer.result import Result

SELDOM_S = 30.0


def show(
    result: Result, format: OutputFormat, *, verbose: bool = False, quiet: bool = False, statistics: bool = False
) -> None:
    """Writes the report of a result to standard output."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    how = Style(is_colored(sys.stdout), width, verbose, quiet, statistics)
    text = render(result, format, rule_texts() if result.findings else {}, how)
    sys.stdout.buffer.write(_bytes(text))
    sys.stdout.flush()


def is_colored(stream: TextIO) -> bool:
    """Whether what is written to a stream has colours: on a terminal that can do them, or where FORCE_COLOR asks for
    them; never where NO_COLOR is set."""
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def save(result: Result, files: Sequence[tuple[OutputFormat, Path]]) -> None:
    """Writes the report of a result to files, in the format of each. Raises OSError."""
    rules = rule_texts() if files else {}
    for format, path in files:
        path.write_bytes(_bytes(render(result, format, rules, Style(verbose=True))))


def remember(result: Result, records: Path, of: Path | None, quiet: bool) -> None:
    """Keeps a result with its recordings for `fixer report`, among those of the project that a path lies in (None for
    the demo), and says where; a folder that cannot be written is no
    reason to fail."""
    from fixer.kept_runs import DEMO, identity
    from fixer.runs import keep

    try:
        name = keep(result, identity(of) if of else DEMO, records)
    except OSError as error:
        complain(f"the run is not kept for `fixer report`: {error.filename}: {error.strerror}")
    else:
        if not quiet:
            sys.stderr.write(f"kept: `fixer report {name} --html FILE` shows this again\n")


def _bytes(text: str) -> bytes:
    """The text as UTF-8, with the bytes of a diff that are not UTF-8 as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def aside(message: str) -> None:
    """Writes what is no part of a report to standard error, on one line."""
    sys.stderr.write(f"{one_line(message)}\n")


def complain(message: str) -> None:
    """Writes one error to standard error, on one line."""
    sys.stderr.write(f"fixer: {one_line(message)}\n")


@contextmanager
def progress(quiet: bool, *, plain: bool = False) -> Iterator[Progress]:
    """What is being done, on standard error: a line that changes on a terminal, plain lines elsewhere and where
    `plain` asks for them. Of those that the next one makes stale a log gets few."""
    if quiet:
        yield lambda message: None
    elif sys.stderr.isatty() and not plain:
        with _changing_line() as change:
            yield change
    else:
        yield _PlainConsole(time.monotonic())


@contextmanager
def _changing_line() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    time_taken = TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=len("0:00:00")))
    told = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, overflow="fold"))
    with Progress(SpinnerColumn(), time_taken, told, console=Console(stderr=True), transient=True, expand=True) as line:
        task = line.add_task("")
        yield lambda message: line.update(task, description=one_line(message))


@dataclass
class _PlainConsole:
    """Writes lines; `at` is when the last one was written."""

    at: float

    def __call__(self, message: str) -> None:
        from verify.follow import PassingLine

        if not isinstance(message, PassingLine) or time.monotonic() - self.at >= SELDOM_S:
            self.at = time.monotonic()
            sys.stderr.write(f"{one_line(message)}\n")
            sys.stderr.flush()
