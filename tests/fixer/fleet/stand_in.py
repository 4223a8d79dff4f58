"""An engine that makes no plans and proofs, but answers as told, and small repositories for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from fixer.fleet.asked import FleetOptions, FleetRepository, RepositoryOptions
from fixer.fleet.driver import Driver, FleetEnd
from fixer.fleet.state import FleetRow, opened
from fixer.fleet.tasks import LOG, PAGE, REPORT, FleetTask, TaskOutcome
from fixer.fleet.words import Step
from fixer.tokens import Tokens
from tests.fixer.command import OLD
from tests.support import commit_all

NO_TOKENS = Tokens()
Answer = Callable[[FleetTask], "TaskOutcome | None"]


def finding(code: str = "LIT101", *, applied: bool = True, stops: bool = False, reason: str = "") -> dict[str, Any]:
    """A finding of a report, at one place."""
    place = {"applied": applied, "stops": stops, "reason": reason}
    return {"code": code, **place, "places": [place]}


def report(task: FleetTask, **more: Any) -> dict[str, Any]:
    """A report as `fixer run` writes it: one change, repaired."""
    plans = task.step == "plan"
    evidence = [] if plans else [{"verdict": "repaired", "reason": "", "facts": []}]
    made = {
        "error": None,
        "findings": [finding()],
        "files": [{"path": "train.py", "diff": ""}],
        "commits": [{"id": "c" * 40}],
        "branch": None if plans else "fixer/lightning-2.6.6",
        "readiness": {"ready": True, "headline": "Ready to merge"},
        "evidence": evidence,
    }
    return {**made, **more}


def ended(task: FleetTask, code: int | None = 0, log: str = "", **more: Any) -> TaskOutcome:
    """A task that came to an end with a report; without one where it says so by `error=...`, or by a code below 0."""
    folder = Path(task.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG).write_text(log)
    if code in (0, 1) or "error" in more:
        (folder / REPORT).write_text(json.dumps(report(task, **more)))
        (folder / PAGE).write_text("<html></html>")
    return TaskOutcome(code, 0.5, 0.25)


class RecordedEngine:
    """Answers each task at once, as a function says."""

    def __init__(self, answer: Callable[[FleetTask], TaskOutcome] = ended, room: int = 2) -> None:
        self.answer, self.most = answer, room
        self.tasks: list[FleetTask] = []
        self.closed = False
        self.gpus = False

    def room(self, step: Step) -> int:
        return self.most

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        self.tasks.append(task)
        future: Future[TaskOutcome] = Future()
        try:
            future.set_result(self.answer(task))
        except Exception as error:
            future.set_exception(error)
        return future

    def has_gpus(self) -> bool:
        return self.gpus

    def close(self) -> None:
        self.closed = True


def repositories(folder: Path, names: Sequence[str], options: RepositoryOptions | None = None) -> list[FleetRepository]:
    """Repositories on this machine with one commit each."""
    found = []
    for name in names:
        place = folder / "origins" / name
        if not place.exists():
            place.mkdir(parents=True)
            (place / "train.py").write_bytes(OLD)
            commit_all(place)
        found.append(FleetRepository(name, str(place), options or RepositoryOptions()))
    return found


def run(
    folder: Path,
    every: Sequence[FleetRepository],
    engine: RecordedEngine,
    options: FleetOptions | None = None,
    said: list[str] | None = None,
    tokens: Tokens = NO_TOKENS,
) -> FleetEnd:
    """One run of a fleet, with its state in a folder."""
    lines = said if said is not None else []
    with opened(folder / "state", make=True) as state:
        state.enroll(every)
        return Driver(folder / "state", state, engine, options or FleetOptions(), tokens, lines.append).run()


def rows(folder: Path) -> Mapping[str, FleetRow]:
    """What is known of each repository."""
    with opened(folder / "state") as state:
        return {row.name: row for row in state.rows()}
