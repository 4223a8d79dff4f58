"""A fleet in one view: its repositories, what rules did in how many of them, and why the rest is left by hand."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from fixer import __version__
from fixer.errors import UsageError
from fixer.fleet.state import FindingCount, FleetRow, FleetState, StepRow
from fixer.fleet.words import STATES
from fixer.reports.words import one_line

if TYPE_CHECKING:
    from jinja2 import Template

SCHEMA_VERSION = 1
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class ReportedRepository:
    """A repository in a report; `page` is the path of its own page, `seconds` and `cpu` what its steps took, by the
    clock and of processors."""

    name: str
    address: str
    state: str
    verdict: str
    ready: bool
    repaired: int
    left: int
    stops: int
    branch: str | None
    pull_request: str | None
    base: str | None
    head: str | None
    reason: str
    tries: int
    seconds: float
    cpu: float
    page: str | None


@dataclass(frozen=True)
class RuleCount:
    """What a rule did in a fleet: in how many repositories it repaired how many places, and where it left some."""

    code: str
    repaired_in: int
    repaired: int
    left_in: int
    left: int


@dataclass(frozen=True)
class ReasonCount:
    """Why places are left by hand, with how many repositories that holds up, and in how many it stops the move."""

    code: str
    reason: str
    repositories: int
    places: int
    stops: int


@dataclass(frozen=True)
class FleetReport:
    """All that is told of a fleet."""

    repositories: tuple[ReportedRepository, ...]
    states: tuple[tuple[str, int], ...]
    verdicts: tuple[tuple[str, int], ...]
    rules: tuple[RuleCount, ...]
    reasons: tuple[ReasonCount, ...]


def of_fleet(state: FleetState, top: Path) -> FleetReport:
    """The report of a fleet whose folder is given."""
    rows, findings = state.rows(), state.findings()
    steps: dict[str, list[StepRow]] = defaultdict(list)
    for step in state.steps():
        steps[step.repository].append(step)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in findings:
        counts[one.repository]["repaired" if one.repaired else "left"] += one.places
        counts[one.repository]["stops"] += one.stops
    told = tuple(_repository(row, steps[row.name], counts[row.name], top) for row in rows)
    states, verdicts = Counter(row.state for row in rows), Counter(row.verdict for row in rows if row.verdict)
    return FleetReport(
        told,
        tuple((state, states[state]) for state in STATES if states[state]),
        tuple(verdicts.most_common()),
        _rules(findings),
        _reasons(findings),
    )


def as_json(report: FleetReport) -> str:
    """The report as one JSON object."""
    document = {"schema_version": SCHEMA_VERSION, "fixer_version": __version__, **asdict(report)}
    document |= {"states": dict(report.states), "verdicts": dict(report.verdicts)}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_csv(report: FleetReport) -> str:
    """A line a repository. What a spreadsheet would take for a formula is marked as text."""
    stream = io.StringIO()
    names = list(ReportedRepository.__dataclass_fields__)
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for one in report.repositories:
        writer.writerow({name: _cell(value) for name, value in asdict(one).items()})
    return stream.getvalue()


def as_parquet(report: FleetReport) -> bytes:
    """A row a repository, with the columns of the table for a spreadsheet. Raises UsageError where pyarrow is not
    there."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("--parquet needs pyarrow; run `pip install 'fixer[parquet]'`") from None
    kinds = {"str": arrow.string(), "int": arrow.int64(), "float": arrow.float64(), "bool": arrow.bool_()}
    columns = [(one.name, kinds[str(one.type).partition(" ")[0]]) for one in fields(ReportedRepository)]
    rows = [{name: _text_of(value) for name, value in asdict(one).items()} for one in report.repositories]
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, schema=arrow.schema(columns)), stream)
    return stream.getvalue()


def _text_of(value: object) -> object:
    """A value, as UTF-8 where it is a text."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def as_html(report: FleetReport, folder: Path) -> str:
    """One page that needs nothing besides itself; the pages of the repositories are linked to, from a folder."""
    from markupsafe import Markup

    page = _template().render(
        report=report,
        version=__version__,
        rows=Markup(_data([_shown(one, folder) for one in report.repositories])),
        style=Markup(resources.files("fixer.reports").joinpath("report.css").read_text(encoding="utf-8")),
        script=Markup(_text("report.js")),
    )
    return page if page.endswith("\n") else f"{page}\n"


@cache
def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_text)
    )
    environment.filters["one_line"] = one_line
    return environment.get_template("report.html.jinja")


def _repository(row: FleetRow, steps: Iterable[StepRow], counts: Counter[str], top: Path) -> ReportedRepository:
    page, every = top / "pages" / f"{row.repository.key}.html", list(steps)
    return ReportedRepository(
        name=row.name,
        address=row.repository.address,
        state=row.state,
        verdict=row.verdict,
        ready=row.ready,
        repaired=counts["repaired"],
        left=counts["left"],
        stops=counts["stops"],
        branch=row.branch,
        pull_request=row.pull_request,
        base=row.base,
        head=row.head,
        reason=row.reason or row.summary,
        tries=max((step.tries for step in every), default=0),
        seconds=round(sum(step.seconds for step in every), 3),
        cpu=round(sum(step.cpu for step in every), 3),
        page=str(page) if page.is_file() else None,
    )


def _rules(findings: Iterable[FindingCount]) -> tuple[RuleCount, ...]:
    places: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for one in findings:
        places[one.code, one.repaired][one.repository] += one.places
    made = []
    for code in sorted({code for code, _ in places}):
        done, left = places[code, True], places[code, False]
        made.append(RuleCount(code, len(done), done.total(), len(left), left.total()))
    return tuple(sorted(made, key=lambda one: (-one.repaired_in - one.left_in, one.code)))


def _reasons(findings: Iterable[FindingCount]) -> tuple[ReasonCount, ...]:
    held: dict[tuple[str, str], list[FindingCount]] = defaultdict(list)
    for one in findings:
        if not one.repaired:
            held[one.code, one.reason].append(one)
    made = [
        ReasonCount(code, why, len(found), sum(one.places for one in found), sum(one.stops for one in found))
        for (code, why), found in held.items()
    ]
    return tuple(sorted(made, key=lambda one: (-one.repositories, -one.places, one.code, one.reason)))


def _shown(one: ReportedRepository, folder: Path) -> dict[str, object]:
    """What the page has of a repository; only addresses of the web become links."""
    link = one.pull_request if (one.pull_request or "").startswith(("http://", "https://")) else None
    page = quote(os.path.relpath(one.page, folder)) if one.page else None
    return {
        "name": one_line(one.name),
        "state": one.state,
        "verdict": one.verdict,
        "ready": one.ready,
        "repaired": one.repaired,
        "left": one.left,
        "reason": one_line(one.reason),
        "seconds": one.seconds,
        "link": link,
        "page": page,
    }


def _data(rows: list[dict[str, object]]) -> str:
    """JSON that can stand in a script of a page."""
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _text(name: str) -> str:
    return resources.files("fixer.fleet").joinpath(name).read_text(encoding="utf-8")
