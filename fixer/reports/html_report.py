"""One HTML file that needs nothing besides itself: no script, no font, no picture and no address to load from. Links to
Lightning's own pages are all that leads out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from codemods.finding import Finding
from fixer import __version__
from fixer.origin import rule_page
from fixer.reports import words
from fixer.reports.causes import causes
from fixer.reports.chart import HEIGHT, WIDTH, Chart, chart
from fixer.reports.diff import stat
from fixer.reports.evidence_list import EvidenceLine, coverage_line, lines, outcome_of, share_lines, share_of
from fixer.reports.glossary import paragraphs
from fixer.reports.hunks import Hunk, hunks
from fixer.reports.merge_answer import merge_answer
from fixer.reports.rule_text import Rules
from fixer.reports.upstream import UpstreamChange, upstream_changes
from fixer.result import FileDiff, Result
from verify.evidence import Evidence, FileCoverage, Gradient, Share

_OPEN_FILES = 20


_BADGES = {
    "read": "read by a run",
    "installed": "installed",
    "same code": "nothing to run",
    "document": "nothing to run",
}
"""What stands beside the name of a changed file that was not itself executed, and of which nothing is left to run."""


@dataclass(frozen=True)
class _HunkNote:
    """What a reviewer wants to know beside a hunk: the finding that it repairs, the change in Lightning behind it, and
    what the proof saw of the file for this rule (empty where nothing was run)."""

    finding: Finding
    upstream: UpstreamChange | None
    proof: str


@dataclass(frozen=True)
class _FileSection:
    """A changed file: its hunks with their notes, and the notes on findings in it that no hunk shows the line of.

    `executed` is what its badge says, None where nothing was run, and `covered` whether that leaves nothing to run.
    `codes` are the rules that repair something in it, `same` are files with the same change, which is shown once.
    """

    path: str
    added: int
    removed: int
    hunks: tuple[tuple[Hunk, tuple[_HunkNote, ...]], ...]
    besides: tuple[_HunkNote, ...]
    executed: str | None
    covered: bool
    codes: tuple[str, ...]
    same: tuple[_FileSection, ...] = ()


@dataclass(frozen=True)
class _ProofSection:
    """The proof of one group, with what is drawn of it."""

    evidence: Evidence
    rows: tuple[words.ComparisonRow, ...]
    chart: Chart | None
    flow: tuple[str, ...]
    alone: tuple[str, ...]
    facts: tuple[EvidenceLine, ...]
    shares: tuple[tuple[Share, tuple[EvidenceLine, ...]], ...]
    difference: str | None
    gradients: tuple[tuple[Gradient, ...], tuple[Gradient, ...]]


def render(result: Result, rules: Rules) -> str:
    """The whole result as a page, for a browser or a printer."""
    repaired = words.repaired(result)
    files = _alike([_file(file, repaired, result.evidence) for file in result.files])
    page = _template().render(
        result=result,
        rules=rules,
        version=__version__,
        title=words.title(result),
        summary=words.summary(result),
        short=words.short,
        outcomes={commit.id: outcome_of(result, commit) for commit in result.commits},
        groups=[_group(evidence) for evidence in result.evidence],
        answer=merge_answer(result),
        meanings=[(word, paragraphs(word)) for word in ("verdict", "rung", "level")],
        rule_page=rule_page,
        files=files,
        open_files=len(files) <= _OPEN_FILES,
        left=causes(words.standing(result), rules),
        ways=words.WAYS,
        totals=words.totals(result),
        commands=_commands(result),
        width=WIDTH,
        height=HEIGHT,
        style=Markup(_text("report.css")),
    )
    return page if page.endswith("\n") else f"{page}\n"


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_text)
    )
    environment.filters |= {"plain": words.plain, "one_line": words.one_line, "prose": _prose, "place": words.place}
    return environment.get_template("report.html.jinja")


def _text(name: str) -> str:
    return resources.files("fixer.reports").joinpath(name).read_text(encoding="utf-8")


def _prose(text: str) -> Markup:
    """Text on one line; what stands between backticks becomes code."""
    parts = words.one_line(text).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    pieces = (
        Markup("<code>{}</code>").format(part) if at % 2 else Markup.escape(part) for at, part in enumerate(parts)
    )
    return Markup("").join(pieces)


def _file(file: FileDiff, repaired: Sequence[Finding], evidence: Sequence[Evidence]) -> _FileSection:
    here = [finding for finding in repaired if finding.path == file.path]
    shown = hunks(file.diff, here)
    held = {finding.id for hunk in shown for finding in hunk.findings}
    counted = stat(file.diff)
    touched = [one for item in evidence for one in item.touched if one.path == file.path]
    return _FileSection(
        file.path,
        counted.added,
        counted.removed,
        tuple((hunk, tuple(_note(finding, evidence) for finding in hunk.findings)) for hunk in shown),
        tuple(_note(finding, evidence) for finding in here if finding.id not in held),
        _executed(touched),
        any(one.is_covered for one in touched),
        tuple(sorted({finding.code for finding in here})),
    )


def _executed(touched: Sequence[FileCoverage]) -> str | None:
    if not touched:
        return None
    best = max(touched, key=lambda one: (one.is_covered, len(one.called)))
    if not best.is_covered:
        return "not run"
    whole = all(one.is_covered and not one.idle for one in touched)
    return _BADGES.get(best.how, "executed" if whole else "executed in part")


def _note(finding: Finding, evidence: Sequence[Evidence]) -> _HunkNote:
    shares = [share for item in evidence if (share := share_of(item, finding.code))]
    seen = [coverage_line(file) for share in shares for file in share.files if file.path == finding.path]
    return _HunkNote(finding, upstream_changes().get(finding.row or ""), "; ".join(dict.fromkeys(seen)))


def _alike(files: Sequence[_FileSection]) -> list[_FileSection]:
    """The files, those with the same change under the first of them."""
    found: dict[tuple[object, ...], list[_FileSection]] = {}
    for file in files:
        changed = tuple(
            (row.before and row.before.text, row.after and row.after.text)
            for hunk, _ in file.hunks
            for row in hunk.rows
            if not row.same
        )
        notes = (*file.besides, *(note for _, notes in file.hunks for note in notes))
        said = tuple((note.finding.code, note.finding.fix, note.finding.message, note.finding.reason) for note in notes)
        found.setdefault((changed, said, file.executed), []).append(file)
    return [replace(first, same=tuple(others)) for first, *others in found.values()]


def _group(evidence: Evidence) -> _ProofSection:
    before, after = evidence.before, evidence.after
    return _ProofSection(
        evidence,
        tuple(words.comparison(evidence)),
        chart(before.losses if before else (), after.losses if after else ()),
        tuple(words.flow(evidence)),
        tuple(words.alone(evidence)),
        tuple(lines(evidence)),
        tuple((share, tuple(share_lines(share))) for share in evidence.shares),
        words.difference(evidence),
        (before.gradients if before else (), after.gradients if after else ()),
    )


def _commands(result: Result) -> list[str]:
    if result.base is None or result.command not in ("run", "demo"):
        return []
    install, again = words.reproduction(result)
    return [
        install,
        f"git switch --detach {words.plain(result.base)}",
        again,
        *words.next_commands(result),
    ]
