"""How a fleet stands, as text: counted, and by name what failed or is left out."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fixer.fleet.state import FleetRow, FleetState
from fixer.fleet.words import STATES
from fixer.reports.words import one_line

if TYPE_CHECKING:
    from rich.table import Table

_LISTED = 20
_PAUSE_S, _SHARE = 0.2, 20
"""A table stands so long at least, and so many times as long as it took to make."""
_REFRESH_S = 2.0


def text(state: FleetState, waits: str = "", *, every: bool = False) -> str:
    """The fleet in a few lines; `every` lists all repositories."""
    rows = state.rows()
    lines = [headline(rows)]
    verdicts = Counter(row.verdict for row in rows if row.verdict)
    if verdicts:
        lines.append(f"verdicts: {', '.join(f'{many} {verdict}' for verdict, many in verdicts.most_common())}")
    if waits:
        lines.append(f"the rest waits for {waits}")
    named = rows if every else [row for row in rows if row.doing or row.state in ("failed", "left out", "closed")]
    lines += [line(row) for row in (named if every else named[:_LISTED])]
    if len(named) > _LISTED and not every:
        lines.append(f"and {len(named) - _LISTED} more; --all lists every repository")
    return "".join(f"{one_line(each)}\n" for each in lines)


def headline(rows: list[FleetRow]) -> str:
    """How many repositories there are in each state."""
    counts = Counter(row.state for row in rows)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return f"{len(rows)} {'repository' if len(rows) == 1 else 'repositories'}: {told or 'none yet'}"


def line(row: FleetRow) -> str:
    """One repository: where it stands, and why."""
    doing = f", {row.doing} going on" if row.doing else ""
    parts = [row.verdict, row.pull_request or row.branch or "", row.reason or row.summary]
    return f"{row.name}: {row.state}{doing}{''.join(f'; {part}' for part in parts if part)}"


@contextmanager
def live(state: FleetState) -> Iterator[Callable[[str], None]]:
    """Tells of what is being done: a table that changes on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda message: print_line(message)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as shown:
        ready = [0.0]

        def say(message: str) -> None:
            began = time.monotonic()
            if began > ready[0]:
                shown.update(table(state.rows()), refresh=True)
                now = time.monotonic()
                ready[0] = now + max(_PAUSE_S, _SHARE * (now - began))

        yield say


def print_line(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"{one_line(message)}\n")
    sys.stderr.flush()


def table(rows: list[FleetRow]) -> Table:
    """The counts, and what is being done now, for a terminal."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=headline(rows), title_justify="left", box=None)
    for name in ("repository", "state", "step", "verdict"):
        shown.add_column(name, overflow="fold")
    for row in [row for row in rows if row.doing][:_LISTED]:
        shown.add_row(*(Text(one_line(part)) for part in (row.name, row.state, row.doing, row.verdict)))
    return shown


def watched(state: FleetState, is_going_on: Callable[[], bool]) -> None:
    """Shows how a fleet stands until its run ends."""
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), transient=True, auto_refresh=False) as shown:
        while is_going_on():
            shown.update(table(state.rows()), refresh=True)
            time.sleep(_REFRESH_S)
