"""The run of a fleet: every repository is brought from step to step, and none waits for another one.

One thread decides and writes the state. Clones and deliveries are made here, by threads that wait for git and servers;
plans and proofs are made by an engine, in processes that know no token.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixer.errors import UsageError, of_the_system
from fixer.fleet.asked import FleetOptions
from fixer.fleet.clones import discard, fetched, place_of_clone, tidy
from fixer.fleet.dashboard import body, keep_up, mark_of
from fixer.fleet.deliveries import FleetDelivery, conclude, deliver, left_out, looked
from fixer.fleet.failures import LOST, StepFailure, failure_of, host_of, is_around, is_passing
from fixer.fleet.manners import HOUR_S, paused, waits_for_hour, waits_to_begin
from fixer.fleet.needs import trains_on_gpu
from fixer.fleet.outcomes import reported
from fixer.fleet.pool import FleetEngine
from fixer.fleet.state import FleetRow, FleetState
from fixer.fleet.tasks import PAGE, REPORT, RUNS, FleetTask, TaskOutcome, arguments_of
from fixer.fleet.words import State, Step
from fixer.tokens import Tokens

STOP, RELEASED, DASHBOARD = "stop", "released", "dashboard"
CLONES = 4
SAME_FAILURES = 3
_LOOK_S = 0.5
_ORDER: tuple[Step, ...] = ("look", "deliver", "prove", "plan", "clone")


@dataclass(frozen=True)
class FleetEnd:
    """How a run of a fleet ended: what stopped it ("" where nothing did), and for what deliveries wait."""

    stopped: str = ""
    waits: str = ""


class Driver:
    """One run of a fleet, in a folder with its state."""

    def __init__(
        self,
        top: Path,
        state: FleetState,
        engine: FleetEngine,
        options: FleetOptions,
        tokens: Tokens,
        say: Callable[[str], None],
    ) -> None:
        self._top, self._state, self._engine, self._options = top, state, engine, options
        self._tokens, self._say = tokens, say
        self._hands = ThreadPoolExecutor(CLONES, "fleet-clone")
        self._courier = ThreadPoolExecutor(1, "fleet-deliver")
        self._running: dict[Future[Any], tuple[Step, FleetRow]] = {}
        self._rooms: Counter[Step] = Counter()
        self._to_look: list[str] = []
        self._held: set[str] = set()
        self._is_paused = False
        self._failures: dict[str, list[str]] = {}
        self._tries: Counter[tuple[str, Step]] = Counter()
        self._stopped = ""

    def run(self) -> FleetEnd:
        """Goes on until nothing is left that can be done, or something stops it."""
        for row in self._state.recover():
            self._say(f"{row.name}: {row.doing} was not finished by the run before, and is done again")
            if row.doing not in ("deliver", "look"):
                discard(self._clone(row))
        tidy(self._top)
        self._state.set_note(STOP, None)
        self._to_look = self._state.open_pulls()
        try:
            while True:
                if not self._stopped and self._state.note(STOP):
                    self._stopped = "it was asked to stop"
                if not self._stopped:
                    self._hand_out()
                if not self._running and self._is_paused and not self._stopped:
                    time.sleep(_LOOK_S)
                    continue
                if not self._running:
                    end = FleetEnd(self._stopped, "" if self._stopped else self._waits())
                    self._tell(end)
                    return end
                done, _ = wait(self._running, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                for future in done:
                    step, row = self._running.pop(future)
                    self._rooms[step] -= 1
                    self._take(step, row, future)
        finally:
            self._engine.close()
            for threads in (self._hands, self._courier):
                threads.shutdown(wait=True, cancel_futures=True)

    def _tell(self, end: FleetEnd) -> None:
        """Keeps the dashboard up, where one is asked for."""
        address = self._options.dashboard
        if address is None:
            return
        held, _, number = (self._state.note(DASHBOARD) or "").rpartition(" ")
        known = int(number) if held == address else None
        try:
            mark = mark_of(self._state.id())
            now, said = keep_up(address, known, body(self._state.rows(), end.waits, mark), mark, self._tokens)
        except UsageError as error:
            said = f"the dashboard is not up to date: {self._tokens.hidden(str(error))}"
        else:
            self._state.set_note(DASHBOARD, f"{address} {now}")
        self._say(said)

    def _hand_out(self) -> None:
        """Begins what there is room for, what is nearest to its end first."""
        for step in _ORDER:
            room = self._room(step) - self._rooms[step]
            for row in self._next(step, room) if room > 0 else ():
                if tries := self._state.begin(row.name, step):
                    self._running[self._begun(step, row, tries)] = (step, row)
                    self._rooms[step] += 1

    def _room(self, step: Step) -> int:
        if step in ("look", "deliver"):
            return 1
        if step == "clone":
            return max(0, min(CLONES, 2 * self._engine.room("plan") + CLONES - self._state.waiting("plan")))
        return self._engine.room(step)

    def _next(self, step: Step, most: int) -> list[FleetRow]:
        """The repositories with which a step is to be begun now."""
        self._is_paused &= step != "deliver"
        if step == "look":
            names, self._to_look = self._to_look[:most], self._to_look[most:]
            return [self._state.row(name) for name in names]
        if step != "deliver":
            return self._state.next(step, most)
        if self._to_look or self._rooms["look"] or waits_for_hour(self._options):
            return []
        full = self._full()
        many = -1 if full else most + len(self._held)
        every = self._state.next(step, many)
        if every and self._waits_to_begin():
            every = self._state.next(step, many, offered=True)
        free = [row for row in every if row.name not in self._held]
        found = [row for row in free if host_of(row.repository.address) not in full]
        self._is_paused = bool(free) and not found
        return found[:most]

    def _full(self) -> frozenset[str]:
        """The servers at which as much was delivered within the hour as may be."""
        if self._options.deliveries_per_hour is None:
            return frozenset()
        return paused(self._options, self._state.begun_since("deliver", time.time() - HOUR_S))

    def _waits(self) -> str:
        """What keeps the rest from being delivered."""
        if not self._state.next("deliver", 1):
            return ""
        if (
            self._held
            and not self._running
            and len(self._held) >= len(self._state.next("deliver", len(self._held) + 1))
        ):
            return f"pull requests of fixer's in {len(self._held)} repositories to be merged or closed"
        return waits_for_hour(self._options) or self._waits_to_begin()

    def _waits_to_begin(self) -> str:
        if not self._options.canary and self._options.open_pull_requests is None:
            return ""  # without a look at all repositories
        released = self._state.note(RELEASED) is not None
        return waits_to_begin(self._options, *self._state.offered(), released=released)

    def _begun(self, step: Step, row: FleetRow, tries: int) -> Future[Any]:
        self._say(f"{row.name}: {step}{f', try {tries}' if tries > 1 else ''}")
        place = self._clone(row)
        if step == "clone":
            return self._hands.submit(_prepared, row, place, self._tokens)
        if step == "deliver" and row.concludes:
            return self._courier.submit(conclude, row, place, self._kept(row), self._tokens)
        if step == "deliver":
            most = self._options.open_per_repository
            may_open = not (row.pull_open and self._waits_to_begin())
            return self._courier.submit(deliver, row, place, self._kept(row), self._tokens, most, may_open)
        if step == "look":
            return self._courier.submit(looked, row, place, self._tokens)
        plans = step == "plan"
        proof = (row.options.cpus, 0 if plans else self._gpus(row, place), row.options.memory)
        task = FleetTask(
            row.name,
            "plan" if plans else "prove",
            str(place),
            str(self._top / "tasks" / row.repository.key),
            arguments_of(row.options, plan=plans),
            row.options.seconds,
            *((1, 0, None) if plans else proof),
        )
        future = self._engine.submit(task)
        future.task = task  # type: ignore[attr-defined]
        return future

    def _gpus(self, row: FleetRow, clone: Path) -> int:
        """The GPUs that a proof is to have."""
        asked = row.options.gpus
        return int(self._engine.has_gpus() and trains_on_gpu(clone)) if asked is None else asked

    def _take(self, step: Step, row: FleetRow, future: Future[Any]) -> None:
        """Writes down how a step ended."""
        cost = (0.0, 0.0)
        try:
            came = future.result()
            if isinstance(came, TaskOutcome):
                cost = (came.seconds, came.cpu)
            values, findings = self._made(step, row, came, getattr(future, "task", None))
        except StepFailure as failure:
            self._fail(step, row, failure, cost)
        except OSError as error:
            self._fail(step, row, failure_of(of_the_system(error), row.repository.address), cost)
        except Exception as error:
            self._fail(step, row, StepFailure(f"a bug in fixer: {type(error).__name__}: {error}"), cost)
        else:
            self._failures = {
                kind: names for kind, names in self._failures.items() if not _is_answered(kind, step, row)
            }
            values |= {"excused": ""} if _is_answered(row.excused, step, row) else {}
            self._state.end(row.name, step, "done", values, cost, findings)
            if values.get("state") in ("failed", "left out", "closed"):
                self._say(f"{row.name}: {values['state']}: {values.get('reason', '')}")

    def _made(self, step: Step, row: FleetRow, came: Any, task: FleetTask | None) -> tuple[dict[str, Any], Any]:
        """What a step that went well makes of its repository."""
        if step == "clone":
            base, off = came
            if base is None:
                return {"state": "left out", "reason": "its default branch has no commit yet", "kind": ""}, None
            held = None if off is None else json.dumps(off)
            fresh = {"reason": "", "kind": "", "concludes": False}
            return {"state": "cloned", "base": base, "switched_off": held, **fresh}, None
        if step == "look":
            ends = not (came.is_open or row.gone) and row.state in ("delivered", "left out", "failed")
            ended = {"state": came.state, "reason": "", "kind": ""} if ends else {}
            return {**_pull_values(came), **ended}, None
        if step == "deliver":
            self._held |= {row.name} if came.waits else set()
            told = {"state": came.state, "reason": came.reason, "kind": "", "concludes": False}
            told |= {"pull_branch": row.branch} if came.is_open and not row.concludes else {}
            return {**told, **_pull_values(came)}, None
        assert task is not None
        options = row.options
        run = reported(task, came, proves=options.prove, require=options.require, address=row.repository.address)
        self._keep(task, row)
        concludes = run.needs_nothing and row.pull_open and options.deliver == "pull-request"
        return {**run.values(), "concludes": concludes}, run.findings

    def _keep(self, task: FleetTask, row: FleetRow) -> None:
        """Keeps what is shown of a repository, and what its delivery needs."""
        folder, key = Path(task.folder), row.repository.key
        for name, there in ((REPORT, "reports"), (PAGE, "pages")):
            place = self._top / there / f"{key}{Path(name).suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            if (folder / name).is_file():
                (folder / name).replace(place)
        kept = self._kept(row)
        shutil.rmtree(kept, ignore_errors=True)
        for found in (folder / RUNS).glob("*/*/result.json"):
            kept.mkdir(parents=True, exist_ok=True)
            found.replace(kept / "result.json")
        shutil.rmtree(folder, ignore_errors=True)

    def _fail(self, step: Step, row: FleetRow, failure: StepFailure, cost: tuple[float, float]) -> None:
        """Writes down a failure: what may pass is tried again, what is around for the third time stops the fleet."""
        self._tries[row.name, step] += 1
        again = is_passing(failure.kind) and self._tries[row.name, step] < self._options.tries and not self._stopped
        resume: State = "queued" if step in ("plan", "prove") or failure.kind == LOST else row.state
        if step in ("plan", "prove"):
            discard(self._clone(row))
            self._state.put(row.name, copy=row.copy + 1)
        values: dict[str, Any] = {}
        if step != "look":
            state = resume if again else "failed"
            values = {"state": state, "resume": resume, "reason": failure.reason, "kind": failure.kind}
        self._state.end(row.name, step, "failed", values, cost, reason=failure.reason)
        self._say(f"{row.name}: {step} failed: {failure.reason}")
        if is_around(failure.kind) and not again:
            same = self._failures.setdefault(failure.kind, [])
            same.append(row.name)
            if len(same) >= SAME_FAILURES:
                self._excuse(same, failure.kind)
                self._stopped = self._stopped or f"{len(same)} repositories failed for one reason: {failure.reason}"

    def _excuse(self, names: Sequence[str], kind: str) -> None:
        """Puts repositories that failed for what is around them back for the next run; what had failed so before may be
        their own fault, and stays."""
        rows = [self._state.row(name) for name in names]
        fresh = [row.name for row in rows if (row.state, row.kind) == ("failed", kind) and row.excused != kind]
        self._state.put_back(fresh)
        for name in fresh:
            self._state.put(name, excused=kind)

    def _clone(self, row: FleetRow) -> Path:
        return place_of_clone(self._top, row.repository, row.copy)

    def _kept(self, row: FleetRow) -> Path:
        return self._top / "results" / row.repository.key


def _prepared(row: FleetRow, place: Path, tokens: Tokens) -> tuple[str | None, tuple[str, ...] | None]:
    """Clones a repository: its commit (None: it has none), and the rules that its plan is to leave out, where that
    differs from what is asked for. Raises StepFailure."""
    commit = fetched(place, row.repository, tokens)
    return commit, left_out(row, place, tokens) if commit else None


def _pull_values(came: FleetDelivery) -> dict[str, Any]:
    """What is noted of the pull request that was seen."""
    seen = {"pull_request": came.pull_request, "pull_open": came.is_open}
    return {name: value for name, value in seen.items() if value is not None}


def _is_answered(kind: str, step: Step, row: FleetRow) -> bool:
    """Whether a step that went well shows that a failure of a kind was no matter of what is around."""
    if kind == "disk":
        return True
    if kind == "index":
        return step == "prove"
    return kind.endswith(f" {host_of(row.repository.address)}") and step in ("clone", "deliver", "look")
