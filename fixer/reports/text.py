"""The report for a person at a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from codemods.finding import Finding
from fixer.reports import words
from fixer.reports.diff import stat
from fixer.result import Result
from verify.evidence import Evidence, Verdict

_FEW = 10
_PIPE_WIDTH = 120
_LEVELS = {"safe": "green", "unsafe": "yellow", "manual": "magenta"}
_VERDICTS: dict[Verdict, str] = {
    "repaired": "bold green",
    "preserved": "bold green",
    "changed": "bold yellow",
    "inconclusive": "bold yellow",
    "regressed": "bold red",
}
_WORKFLOW_COMMAND = re.compile(r"^([^\S\n]*):(?=:)|##(?=\[)", re.MULTILINE)


def render(result: Result, *, color: bool, width: int | None, verbose: bool, quiet: bool) -> str:
    """The whole result, or with `quiet` its last line.

    Without `color`, what `diff` shows is fit for `git apply`. Without `width` no finding is wrapped.
    """
    page = _Page(color, width)
    if quiet:
        page.summary(result)
        return page.text()
    diffs = _diffs(result, color) if result.command == "diff" else ""
    if result.command in ("check", "diff"):
        _findings(page, result, words.standing(result), verbose)
    elif result.command == "fix":
        _findings(page, result, result.findings, verbose)
        _changes(page, result, verbose)
    else:
        _run(page, result, verbose)
    _skipped(page, result, verbose)
    _messages(page, result)
    _next(page, result)
    page.summary(result)
    return diffs + ("\n" if diffs else "") + page.text()


class _Page:
    """A console of one width that writes into a string, and the few shapes that a report is made of."""

    def __init__(self, color: bool, width: int | None) -> None:
        self._stream = io.StringIO()
        self._wraps = width is not None
        self._console = Console(
            file=self._stream,
            width=width or _PIPE_WIDTH,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        """All that was written. No line of it is a command to the log of a workflow on GitHub."""
        written = "\n".join(line.rstrip() for line in self._stream.getvalue().split("\n"))
        return _WORKFLOW_COMMAND.sub(lambda match: f"{match[0]} ", written)

    def line(self, text: Text, indent: int = 0, hang: int = 2) -> None:
        """One paragraph; on a terminal its further lines are indented by `hang` more."""
        if not self._wraps:
            self._console.print(Text(" " * indent) + text, soft_wrap=True)
            return
        room = max(self._console.width - indent - hang, 20)
        for number, part in enumerate(text.wrap(self._console, room)):
            part.rstrip()
            self._console.print(Text(" " * (indent + (hang if number else 0))) + part, soft_wrap=True)

    def heading(self, text: str) -> None:
        """A heading; it has a blank line above it unless it is the first line."""
        self.gap()
        self._console.print(Text(text, style="bold"))

    def gap(self) -> None:
        """A blank line, except at the top."""
        if self._stream.tell():
            self._console.print()

    def table(self, table: Table, indent: int) -> None:
        """A table, indented."""
        self._console.print(Padding(table, (0, 0, 0, indent), expand=False))

    def summary(self, result: Result) -> None:
        """The last line."""
        self.gap()
        style = "bold red" if result.error is not None else "bold"
        self.line(_prose(words.summary(result), style), hang=0)


def _prose(text: str, style: str = "") -> Text:
    """Text in which what stands between backticks is set off."""
    prose = Text(text, style=style)
    prose.highlight_regex(r"`[^`]+`", "cyan")
    return prose


def _run(page: _Page, result: Result, verbose: bool) -> None:
    if result.error is not None and not (result.findings or result.files or result.evidence):
        return
    base = f"  from {words.short(result.base)}" if result.base else ""
    page.line(Text.assemble((words.title(result), "bold"), (f"{base}  ({result.duration_s:.1f} s)", "dim")))
    if verbose and (repaired := words.repaired(result)):
        page.heading("Repaired")
        _findings(page, result, repaired, verbose, indent=2)
    _changes(page, result, verbose)
    _commits(page, result)
    _proof(page, result)
    if left := words.standing(result):
        page.heading("Left for you")
        _left(page, left)


def _findings(page: _Page, result: Result, findings: Iterable[Finding], verbose: bool, indent: int = 0) -> None:
    """One line a finding; below, why it is not simply repaired, once for neighbours with the same reason."""
    ordered = sorted(findings, key=lambda item: (item.path, item.cell or 0, item.span, item.code))
    for (reason, fix), neighbours in groupby(ordered, key=lambda item: (item.reason, item.fix)):
        for finding in neighbours:
            page.line(_finding(finding, words.is_done(result, finding)), indent, hang=4)
        if reason and (verbose or fix != "safe"):
            page.line(_prose(words.one_line(reason), "dim"), indent + 4, hang=0)


def _left(page: _Page, findings: Sequence[Finding]) -> None:
    """Kind by kind, so that each kind is thought about once."""
    kinds: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda item: (item.path, item.cell or 0, item.span, item.code)):
        kinds.setdefault((finding.code, finding.fix, finding.reason), []).append(finding)
    for (_, _, reason), places in kinds.items():
        for finding in places:
            page.line(_finding(finding), 2, hang=4)
        if reason:
            page.line(_prose(words.one_line(reason), "dim"), 6, hang=0)


def _finding(finding: Finding, done: bool = False) -> Text:
    path, rest = words.plain(finding.path), words.place(finding)[len(words.plain(finding.path)) :]
    return Text.assemble(
        (path, "bold"),
        (rest, "cyan"),
        " ",
        (words.one_line(finding.code), "bold red"),
        " ",
        _prose(words.one_line(finding.message)),
        " ",
        (f"[{finding.fix}, applied]" if done else f"[{finding.fix}]", _LEVELS[finding.fix]),
    )


def _changes(page: _Page, result: Result, verbose: bool) -> None:
    if not result.files:
        return
    page.heading(f"Changed  {words.totals(result)}")
    shown = result.files if verbose else result.files[: 2 * _FEW]
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for file in shown:
        counted = stat(file.diff)
        table.add_row(
            Text(words.plain(file.path)), Text(f"+{counted.added}", "green"), Text(f"-{counted.removed}", "red")
        )
    page.table(table, 2)
    _more(page, len(result.files) - len(shown))


def _commits(page: _Page, result: Result) -> None:
    if not result.commits:
        return
    page.heading(f"Commits on {words.plain(result.branch)}" if result.branch else "Commits")
    for commit in result.commits:
        subject = words.one_line(commit.subject)
        code = "" if subject.startswith(commit.code) else f"{words.one_line(commit.code)} "
        page.line(Text.assemble((f"{words.short(commit.id)} ", "yellow"), _prose(f"{code}{subject}")), 2)


def _proof(page: _Page, result: Result) -> None:
    if result.evidence:
        page.heading("Proof")
    for number, evidence in enumerate(result.evidence):
        if number:
            page.gap()
        style = _VERDICTS[evidence.verdict]
        codes = ", ".join(map(words.one_line, evidence.codes))
        group = words.one_line(evidence.group)
        told = f"  {group}" + (f": {codes}" if codes and codes != group else "")
        page.line(Text.assemble((evidence.verdict, style), f"  ({words.rung(evidence)})", (told, "dim")), 2)
        page.line(_prose(words.one_line(evidence.reason)), 2, hang=0)
        _numbers(page, evidence)
        _names(page, f"not in Lightning {words.plain(result.target)}, in changed files", evidence.problems)
        _names(page, f"not in Lightning {words.plain(result.target)}, in files that no rule changed", evidence.left)


def _numbers(page: _Page, evidence: Evidence) -> None:
    rows = words.comparison(evidence)
    difference = words.difference(evidence)
    if not rows and difference is None:
        return
    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    table.add_row("", Text("before", "bold"), Text("after", "bold"))
    for row in rows:
        table.add_row(row.name, Text(row.before), Text(row.after))
    page.gap()
    page.table(table, 4)
    if difference is not None:
        page.line(Text.assemble((f"{'max difference':<15}   ", "dim"), difference), 4)


def _names(page: _Page, title: str, names: Sequence[str]) -> None:
    if names:
        page.line(Text(f"{title}:", "yellow"), 4)
    for name in names:
        page.line(_prose(words.one_line(name)), 6)


def _skipped(page: _Page, result: Result, verbose: bool) -> None:
    if not result.skipped:
        return
    page.heading(f"Not read: {words.count(len(result.skipped), 'file')}")
    shown = result.skipped if verbose else result.skipped[:_FEW]
    for item in shown:
        page.line(Text.assemble(words.plain(item.path), (f"  {words.one_line(item.reason)}", "dim")), 2)
    _more(page, len(result.skipped) - len(shown))


def _more(page: _Page, number: int) -> None:
    if number > 0:
        page.line(Text(f"and {number} more; see them with --verbose", "dim"), 2)


def _messages(page: _Page, result: Result) -> None:
    """What to know besides; the summary line says the last message where there is nothing else to say."""
    nothing = not (result.findings or result.files or result.evidence or result.error)
    messages = result.messages[:-1] if nothing else result.messages
    if messages:
        page.gap()
    for message in messages:
        page.line(Text.assemble(("note: ", "cyan"), _prose(words.one_line(message))), hang=6)


def _next(page: _Page, result: Result) -> None:
    commands = words.next_commands(result)
    if commands:
        page.heading("Next")
    for command in commands:
        page.line(Text(command, "cyan"), 2)


def _diffs(result: Result, color: bool) -> str:
    diffs = "".join(file.diff for file in result.files)
    if not color:
        return diffs
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", no_color=False, width=_PIPE_WIDTH)
    for line in diffs.split("\n")[:-1]:
        shown = "\t".join(words.plain(part) for part in line.removesuffix("\r").split("\t"))
        console.print(Text(shown, _diff_style(line)), soft_wrap=True)
    return stream.getvalue()


def _diff_style(line: str) -> str:
    if line.startswith(("diff --git ", "--- ", "+++ ")):
        return "bold"
    return {"@": "cyan", "+": "green", "-": "red"}.get(line[:1], "")
