"""One HTML file that needs nothing besides itself: no script, no font, no picture and no address to load from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from codemods.finding import Finding
from fixer import __version__
from fixer.reports import words
from fixer.reports.causes import causes
from fixer.reports.chart import HEIGHT, WIDTH, Chart, chart
from fixer.reports.diff import stat
from fixer.reports.evidence_list import EvidenceLine, lines, outcome_of, share_lines
from fixer.reports.hunks import Hunk, hunks
from fixer.reports.rule_text import Rules
from fixer.result import FileDiff, Result
from verify.evidence import Evidence, Gradient, Share

_OPEN_FILES = 20


@dataclass(frozen=True)
class _FileSection:
    """A changed file: its hunks, and the findings in it that no hunk shows the line of."""

    path: str
    added: int
    removed: int
    hunks: tuple[Hunk, ...]
    besides: tuple[Finding, ...]


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
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_text)
    )
    environment.filters |= {"plain": words.plain, "one_line": words.one_line, "prose": _prose, "place": words.place}
    repaired = words.repaired(result)
    page = environment.get_template("report.html.jinja").render(
        result=result,
        rules=rules,
        version=__version__,
        title=words.title(result),
        summary=words.summary(result),
        short=words.short,
        outcomes={commit.id: outcome_of(result, commit) for commit in result.commits},
        groups=[_group(evidence) for evidence in result.evidence],
        files=[_file(file, repaired) for file in result.files],
        open_files=len(result.files) <= _OPEN_FILES,
        left=causes(words.standing(result), rules),
        ways=words.WAYS,
        totals=words.totals(result),
        commands=_commands(result),
        width=WIDTH,
        height=HEIGHT,
        style=Markup(_text("report.css")),
    )
    return page if page.endswith("\n") else f"{page}\n"


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


def _file(file: FileDiff, repaired: Sequence[Finding]) -> _FileSection:
    here = [finding for finding in repaired if finding.path == file.path]
    shown = hunks(file.diff, here)
    held = {finding.id for hunk in shown for finding in hunk.findings}
    counted = stat(file.diff)
    besides = tuple(finding for finding in here if finding.id not in held)
    return _FileSection(file.path, counted.added, counted.removed, shown, besides)


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
