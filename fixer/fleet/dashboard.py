"""One issue that says how a fleet stands: opened once, and brought up to date at the end of each run."""

from __future__ import annotations

from collections.abc import Callable

from fixer.errors import UsageError
from fixer.fleet.state import FleetRow
from fixer.fleet.status import headline
from fixer.fleet.words import State
from fixer.forge import place_of
from fixer.pulls.offer import connected
from fixer.reports.markdown import escape, list_item
from fixer.tokens import NAMES, Tokens

TITLE = "fixer: how the fleet stands"
_LISTED = 40
_LIMIT = 60_000
_PARTS: tuple[tuple[str, Callable[[FleetRow], bool]], ...] = (
    ("Open", lambda row: row.pull_open),
    ("Failed", lambda row: row.state == "failed"),
    ("Waiting to be delivered", lambda row: _waits(row)),
    ("Closed by their owners", lambda row: row.state == "closed"),
    ("Left out", lambda row: row.state == "left out" and not row.gone),
    ("Merged", lambda row: row.state == "merged"),
)


def mark_of(fleet: str) -> str:
    """The hidden line by which the issue of a fleet is found again."""
    return f"<!-- fixer: dashboard of the fleet {fleet} -->"


def body(rows: list[FleetRow], waits: str, mark: str) -> str:
    """The issue, in Markdown."""
    told = [mark, escape(headline(rows)) + "."]
    if waits:
        told.append(f"The rest waits for {escape(waits)}.")
    for heading, belongs in _PARTS:
        if theirs := [row for row in rows if belongs(row)]:
            more = [list_item(f"and {len(theirs) - _LISTED} more")] if len(theirs) > _LISTED else []
            told.append(f"## {heading}\n\n{''.join([*map(_line, theirs[:_LISTED]), *more])}".rstrip())
    text = "\n\n".join(told)
    return text if len(text) <= _LIMIT else f"{text[:_LIMIT]} [...]"


def keep_up(address: str, known: int | None, text: str, mark: str, tokens: Tokens) -> tuple[int, str]:
    """Brings the issue of a repository, which has a number or is found by its mark, to a text: its number, and what was
    done. One that people have closed is left as it is. Raises UsageError."""
    place = place_of(address)
    if place is None:
        raise UsageError(f"{address} is not known as GitHub or GitLab")
    token = tokens.of(place.kind)
    if token is None:
        raise UsageError(f"{address} needs a token; set {' or '.join(NAMES[place.kind])}")
    with tokens.hiding():
        forge = connected(place, place, token)
        issue = forge.issue(known) if known else forge.find_issue(mark)
        if issue is None:
            issue = forge.open_issue(TITLE, text)
            return issue.number, f"dashboard opened: {issue.url}"
        if not issue.is_open:
            return issue.number, f"dashboard is left as it is, since it was closed: {issue.url}"
        if issue.body != text:
            forge.rewrite_issue(issue.number, text)
            return issue.number, f"dashboard updated: {issue.url}"
        return issue.number, f"dashboard is up to date: {issue.url}"


def _waits(row: FleetRow) -> bool:
    done: State = "proven" if row.options.prove else "planned"
    return row.state == done and row.options.deliver != "nothing"


def _line(row: FleetRow) -> str:
    name = escape(row.name)
    if (row.pull_request or "").startswith(("http://", "https://")):
        name = f"[{name}]({row.pull_request})"
    return list_item("; ".join(filter(None, [name, row.verdict, escape(row.reason or row.summary)])))
