"""What was done of each repository of a fleet, in one SQLite file that can be read while a fleet runs.

Every change is one transaction, so that a fleet which is killed finds what it had done.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fixer.errors import UsageError
from fixer.fleet.asked import Fleet, FleetOptions, FleetRepository, RepositoryOptions, structured, unstructured
from fixer.fleet.locking import LOCK
from fixer.fleet.words import State, Step

FILE = "fleet.sqlite"
_GONE = "it is not in the fleet any more"
_ASKED, _ID = "options", "id"
_VERSION = 3
_TABLES = """
CREATE TABLE repository (
    name TEXT PRIMARY KEY, address TEXT NOT NULL, options TEXT NOT NULL, position INTEGER NOT NULL,
    state TEXT NOT NULL, doing TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '',
    copy INTEGER NOT NULL DEFAULT 0, base TEXT, head TEXT, verdict TEXT NOT NULL DEFAULT '',
    ready INTEGER NOT NULL DEFAULT 0, branch TEXT, pull_request TEXT, summary TEXT NOT NULL DEFAULT '',
    changed REAL NOT NULL, switched_off TEXT, proves INTEGER NOT NULL, delivers INTEGER NOT NULL,
    resume TEXT NOT NULL DEFAULT '', again TEXT NOT NULL DEFAULT '', excused TEXT NOT NULL DEFAULT '',
    gone INTEGER NOT NULL DEFAULT 0, concludes INTEGER NOT NULL DEFAULT 0, pull_open INTEGER NOT NULL DEFAULT 0,
    pull_branch TEXT,
    next TEXT GENERATED ALWAYS AS (
        CASE CASE WHEN gone THEN '' ELSE state END
        WHEN 'queued' THEN 'clone'
        WHEN 'cloned' THEN 'plan'
        WHEN 'planned' THEN CASE WHEN proves THEN 'prove' WHEN delivers THEN 'deliver' ELSE '' END
        WHEN 'proven' THEN CASE WHEN delivers THEN 'deliver' ELSE '' END
        WHEN 'left out' THEN CASE WHEN concludes THEN 'deliver' ELSE '' END
        ELSE '' END
    ) VIRTUAL
);
CREATE INDEX repository_by_next ON repository (next, doing, position);
CREATE INDEX repository_by_state ON repository (state);
CREATE TABLE step (
    repository TEXT NOT NULL, step TEXT NOT NULL, tries INTEGER NOT NULL, started REAL NOT NULL, ended REAL,
    seconds REAL NOT NULL DEFAULT 0, cpu REAL NOT NULL DEFAULT 0, outcome TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '', PRIMARY KEY (repository, step)
);
CREATE TABLE finding (
    repository TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL, repaired INTEGER NOT NULL,
    places INTEGER NOT NULL, stops INTEGER NOT NULL, PRIMARY KEY (repository, code, reason, repaired)
);
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_AGAIN = "UPDATE repository SET state=again, again='', reason='', kind='' WHERE again<>'' AND doing=''"
_COLUMNS = (
    "name, address, options, state, doing, reason, kind, copy, base, head, verdict, ready, branch, pull_request, "
    "summary, changed, switched_off, gone, pull_open, pull_branch, concludes, excused"
)
_SETTABLE = frozenset(
    {"state", "doing", "reason", "kind", "copy", "base", "head", "verdict", "ready", "branch", "pull_request",
     "summary", "switched_off", "pull_open", "pull_branch", "concludes", "resume", "excused"}
)  # fmt: skip


@dataclass(frozen=True)
class FleetRow:
    """What is known of a repository. `doing` is the step that is being done ("" for none), `kind` what a failure has
    in common with others, `copy` the number of its clone, `base` the commit that was looked at, `head` the last commit
    of the branch that was made of it, `excused` the kind of failure after which it was put back for the next run.
    `pull_open` says whether its pull request, which is from `pull_branch`, was open when it was last seen, `concludes`
    whether that has served, since nothing is left to change. `ignored` are all rules that are left out, where some are
    switched off in a pull request. One that is `gone` is not named any more: it is shown as left out, and what was done
    of it is kept."""

    repository: FleetRepository
    state: State
    doing: str
    reason: str
    kind: str
    copy: int
    base: str | None
    head: str | None
    verdict: str
    ready: bool
    branch: str | None
    pull_request: str | None
    summary: str
    changed: float
    ignored: tuple[str, ...] | None = None
    gone: bool = False
    excused: str = ""
    pull_open: bool = False
    pull_branch: str | None = None
    concludes: bool = False

    @property
    def name(self) -> str:
        return self.repository.name

    @property
    def options(self) -> RepositoryOptions:
        """What is asked for, less what is switched off in the pull request."""
        asked = self.repository.options
        return asked if self.ignored is None else replace(asked, ignore=self.ignored)


@dataclass(frozen=True)
class StepRow:
    """How often a step was tried, when it began and ended the last time, and what all tries cost together, in seconds
    by the clock and of processors. `outcome` is `running`, `done`, `failed` or `interrupted`."""

    repository: str
    step: Step
    tries: int
    started: float
    ended: float | None
    seconds: float
    cpu: float
    outcome: str
    reason: str


@dataclass(frozen=True)
class FindingCount:
    """The places of a repository that a rule repaired, or left for one reason."""

    repository: str
    code: str
    reason: str
    repaired: bool
    places: int
    stops: bool


class FleetState:
    """The state file of a fleet, open in one thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fleet(self) -> Fleet:
        """What was asked for last, as far as the state says."""
        kept = self.note(_ASKED)
        held = json.loads(kept) if kept else {}
        options = FleetOptions(**{**held, "plugins": tuple(held.get("plugins", ()))})
        return Fleet(tuple(row.repository for row in self.rows() if not row.gone), options)

    def keep(self, options: FleetOptions) -> None:
        """Notes what is asked for the fleet as a whole."""
        self.set_note(_ASKED, json.dumps(asdict(options)))

    def enroll(self, repositories: Sequence[FleetRepository]) -> None:
        """Takes in what is asked for now: new repositories are queued, and those that are asked for otherwise looked
        at anew, but for what was merged or closed. Nothing more is done of those that are not named any more."""
        now = time.time()
        with self._connection:
            gone = {row.name for row in self.rows() if row.gone}
            self._connection.execute("UPDATE repository SET gone=0")
            known = {row.name: row for row in self.rows()}
            for position, one in enumerate(repositories):
                held, row = json.dumps(unstructured(one.options), sort_keys=True), known.pop(one.name, None)
                asked = (one.address, held, position, one.options.prove, one.options.deliver != "nothing", one.name)
                if row is None:
                    self._connection.execute(
                        "INSERT INTO repository (address, options, position, proves, delivers, name, state, changed)"
                        " VALUES (?,?,?,?,?,?,'queued',?)",
                        (*asked, now),
                    )
                    continue
                self._connection.execute(
                    "UPDATE repository SET address=?, options=?, position=?, proves=?, delivers=? WHERE name=?", asked
                )
                if row.name in gone and row.pull_request:  # what became of it meanwhile is looked up
                    self._set(one.name, {"pull_open": True})
                before, after = row.repository, one.options
                queued = {"state": "queued", "reason": "", "kind": ""}
                if before.identity != one.identity:
                    self._set(one.name, {**queued, "pull_request": None, "pull_open": False, "pull_branch": None})
                elif before.options.of_result != after.of_result and row.state not in ("merged", "closed"):
                    self._set(one.name, queued)
                elif row.state == "delivered" and before.options.deliver != after.deliver:
                    self._set(one.name, {"state": "proven" if after.prove else "planned", "reason": ""})
            for name in known:
                self._connection.execute("UPDATE repository SET gone=1 WHERE name=?", (name,))

    def recover(self) -> list[FleetRow]:
        """Puts right what a killed run was doing, which is done again; where it worked in a clone, that has to be made
        anew, and where it may have opened a pull request, one counts as open until the server is asked. The
        repositories that this concerns, as they were."""
        with self._connection:
            found = [row for row in self.rows() if row.doing]
            for row in found:
                fresh: dict[str, Any] = {}
                if row.doing not in ("deliver", "look"):
                    fresh = {"state": "queued", "copy": row.copy + 1}
                elif row.doing == "deliver" and row.options.deliver == "pull-request" and not row.pull_open:
                    fresh = {"pull_open": True, "pull_branch": row.branch}
                self._set(row.name, {"doing": "", **fresh})
                self._connection.execute(
                    "UPDATE step SET outcome='interrupted', ended=? WHERE repository=? AND outcome='running'",
                    (time.time(), row.name),
                )
            self._connection.execute(_AGAIN)
        return found

    def begin(self, name: str, step: Step) -> int:
        """Notes that a step is being done; how often it was begun, this time among them. 0 where another step is what
        is to be done next by now."""
        with self._connection:
            begun = self._connection.execute(
                "UPDATE repository SET doing=?, changed=? WHERE name=? AND doing='' AND (next=? OR ?='look')",
                (step, time.time(), name, step, step),
            )
            if not begun.rowcount:
                return 0
            self._connection.execute(
                "INSERT INTO step (repository, step, tries, started, outcome) VALUES (?,?,1,?,'running')"
                " ON CONFLICT (repository, step) DO UPDATE SET tries=tries+1, started=excluded.started, ended=NULL,"
                " outcome='running', reason=''",
                (name, step, time.time()),
            )
            held = self._connection.execute("SELECT tries FROM step WHERE repository=? AND step=?", (name, step))
            return int(held.fetchone()[0])

    def end(
        self,
        name: str,
        step: Step,
        outcome: str,
        values: Mapping[str, Any],
        cost: tuple[float, float] = (0.0, 0.0),
        findings: Iterable[FindingCount] | None = None,
        reason: str = "",
    ) -> None:
        """Notes how a step ended and why (without a `reason` of its own as its repository has it), what it makes of its
        repository, and what it cost."""
        with self._connection:
            self._connection.execute(
                "UPDATE step SET ended=?, outcome=?, reason=?, seconds=seconds+?, cpu=cpu+?"
                " WHERE repository=? AND step=?",
                (time.time(), outcome, reason or values.get("reason", ""), *cost, name, step),
            )
            self._set(name, {"doing": "", **values})
            self._connection.execute(f"{_AGAIN} AND name=?", (name,))
            if findings is not None:
                self._connection.execute("DELETE FROM finding WHERE repository=?", (name,))
                self._connection.executemany(
                    "INSERT INTO finding VALUES (?,?,?,?,?,?)",
                    [(one.repository, one.code, one.reason, one.repaired, one.places, one.stops) for one in findings],
                )

    def put(self, name: str, **values: Any) -> None:
        """Notes something of a repository outside of a step."""
        with self._connection:
            self._set(name, values)

    def rows(self) -> list[FleetRow]:
        """The repositories in their order."""
        return self._rows("")

    def next(self, step: Step, most: int = -1, *, offered: bool = False) -> list[FleetRow]:
        """The repositories with which a step is what is to be done next: all, or those with an open pull request."""
        return self._rows(f"WHERE next=? AND doing=''{' AND pull_open' if offered else ''}", step, most=most)

    def open_pulls(self) -> list[str]:
        """The repositories with an open pull request, those that have left too, but for those that are made anew."""
        return [row.name for row in self._rows("WHERE pull_open AND next IN ('', 'deliver')")]

    def waiting(self, step: Step) -> int:
        """With how many repositories a step is what is to be done next, or being done."""
        return int(self._connection.execute("SELECT count(*) FROM repository WHERE next=?", (step,)).fetchone()[0])

    def _rows(self, where: str, *given: Any, most: int = -1) -> list[FleetRow]:
        listing = self._connection.execute(
            f"SELECT {_COLUMNS} FROM repository {where} ORDER BY position LIMIT ?", (*given, most)
        )
        return [_row(values) for values in listing]

    def row(self, name: str) -> FleetRow:
        """What is known of one. Raises KeyError."""
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM repository WHERE name=?", (name,)).fetchone()
        if found is None:
            raise KeyError(name)
        return _row(found)

    def offered(self) -> tuple[int, int]:
        """How many were ever delivered or are being delivered, and of how many a pull request is or will be open."""
        ever, now = self._connection.execute(
            "SELECT sum(doing='deliver' OR pull_open OR pull_request IS NOT NULL OR state IN ('delivered', 'merged',"
            " 'closed')), sum(doing='deliver' OR pull_open) FROM repository"
        ).fetchone()
        return ever or 0, now or 0

    def begun_since(self, step: Step, since: float) -> list[str]:
        """The addresses of the repositories with which a step was begun since a time."""
        return [
            str(address)
            for (address,) in self._connection.execute(
                "SELECT address FROM step JOIN repository ON name=repository WHERE step=? AND started>=?", (step, since)
            )
        ]

    def steps(self, name: str | None = None) -> list[StepRow]:
        """The steps of a repository, or of all."""
        where, given = (" WHERE repository=?", (name,)) if name is not None else ("", ())
        listing = self._connection.execute(
            "SELECT repository, step, tries, started, ended, seconds, cpu, outcome, reason FROM step"
            f"{where} ORDER BY repository, started",
            given,
        )
        return [StepRow(*values) for values in listing]

    def findings(self) -> list[FindingCount]:
        """What was repaired and what was left, of all repositories."""
        listing = self._connection.execute(
            "SELECT repository, code, reason, repaired, places, stops FROM finding ORDER BY repository, code, reason"
        )
        return [
            FindingCount(name, code, why, bool(done), many, bool(stops))
            for name, code, why, done, many, stops in listing
        ]

    def put_back(self, names: Iterable[str]) -> None:
        """Puts repositories that failed back to where their step can be done again, and queues others; those of which
        something is being done, once that has ended."""
        with self._connection:
            for name in names:
                self._connection.execute(
                    "UPDATE repository SET again=CASE WHEN state='failed' AND resume<>'' THEN resume ELSE 'queued' END"
                    " WHERE name=?",
                    (name,),
                )
            self._connection.execute(_AGAIN)

    def renew(self) -> None:
        """Queues all repositories again."""
        with self._connection:
            self._connection.execute("UPDATE repository SET state='queued', reason='', kind='' WHERE NOT gone")

    def retry(self, names: Sequence[str]) -> list[str]:
        """Queues repositories again: those that are named, or all that failed. What was planned or proven and could not
        be delivered is delivered anew. Raises UsageError for a name that there is not."""
        known = {row.name: row for row in self.rows() if not row.gone}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(f"no repository of the fleet is called '{unknown[0]}'; `fixer fleet status` lists them")
        chosen = list(names) or [name for name, row in known.items() if row.state == "failed"]
        self.put_back(chosen)
        return chosen

    def note(self, name: str) -> str | None:
        """Something that was noted of the fleet as a whole."""
        found = self._connection.execute("SELECT value FROM note WHERE name=?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def set_note(self, name: str, value: str | None) -> None:
        """Notes something of the fleet as a whole, or forgets it."""
        with self._connection:
            self._connection.execute("DELETE FROM note WHERE name=?", (name,))
            if value is not None:
                self._connection.execute("INSERT INTO note VALUES (?,?)", (name, value))

    def id(self) -> str:
        """What tells this fleet from all others, made once."""
        if self.note(_ID) is None:
            self.set_note(_ID, uuid.uuid4().hex)
        return self.note(_ID) or ""

    def _set(self, name: str, values: Mapping[str, Any]) -> None:
        assert set(values) <= _SETTABLE, values
        given = {**values, "changed": time.time()}
        self._connection.execute(
            f"UPDATE repository SET {', '.join(f'{key}=?' for key in given)} WHERE name=?", (*given.values(), name)
        )


@contextmanager
def opened(folder: Path, *, make: bool = False) -> Iterator[FleetState]:
    """The state below a folder; it is made where there is none and `make` says so. Raises UsageError."""
    place = folder / FILE
    if not (make or place.is_file()):
        raise UsageError(f"{folder}: no fleet was run there; name the folder of one with --state")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if {one.name for one in folder.iterdir()} <= {LOCK}:  # a folder of our own
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
    connection = sqlite3.connect(place, timeout=60, isolation_level="IMMEDIATE")
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        _prepare(connection, place)
        yield FleetState(connection)
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{place}: {error}; fix that, or name another folder with --state") from None
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection, place: Path) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for table in _TABLES.split(";"):
                connection.execute(table)
            connection.execute(f"PRAGMA user_version={_VERSION}")
        elif version != _VERSION:
            raise UsageError(f"{place}: another fixer wrote it in another form; name another folder with --state")


def _row(values: Sequence[Any]) -> FleetRow:
    held = dict(zip(_COLUMNS.split(", "), values, strict=True))
    off = held.pop("switched_off")
    options = structured(json.loads(held.pop("options")))
    held |= {"state": "left out", "reason": _GONE} if held["gone"] else {}
    return FleetRow(
        repository=FleetRepository(held.pop("name"), held.pop("address"), options),
        ready=bool(held.pop("ready")),
        gone=bool(held.pop("gone")),
        pull_open=bool(held.pop("pull_open")),
        concludes=bool(held.pop("concludes")),
        ignored=None if off is None else tuple(json.loads(off)),
        **held,
    )
