"""A fleet whose plans and proofs are made in processes that have loaded fixer already: what comes of it is the same,
and what it costs besides them can be told."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from fixer.fleet.asked import FleetOptions, FleetRepository, read_fleet
from fixer.fleet.driver import Driver
from fixer.fleet.state import opened
from fixer.fleet.tasks import LOG, FleetTask, TaskOutcome
from fixer.fleet.words import Step
from fixer.tokens import take
from tests.fixer.fleet.organisation import in_process

_LOADED = ["fixer.cli", "fixer.proof", "tests.fixer.fleet.organisation"]


class WarmEngine:
    """Plans and proofs, so many at once, by copies of one process."""

    def __init__(self, at_once: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_LOADED)
        self._at_once, self._pool = at_once, ProcessPoolExecutor(at_once, context)

    def room(self, step: Step) -> int:
        """How many plans, or proofs, it takes at once."""
        return self._at_once

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done in one of the processes."""
        return self._pool.submit(_done, task)

    def has_gpus(self) -> bool:
        """None that a task could have for itself."""
        return False

    def close(self) -> None:
        """Ends what is being done."""
        self._pool.shutdown(cancel_futures=True)


def cost(file: Path, top: Path, at_once: int, variables: dict[str, str]) -> float:
    """Runs a fleet in a process of its own: the seconds of processors that a repository cost besides its plan and its
    proof, by the driver and the programs that it calls."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=_run, args=(file, top, at_once, variables, answers))
    process.start()
    told = answers.get()
    process.join()
    return float(told)


def _run(file: Path, top: Path, at_once: int, variables: dict[str, str], answers: multiprocessing.SimpleQueue) -> None:  # type: ignore[type-arg]
    os.environ.update(variables)
    tokens, fleet = take(), read_fleet([str(file)])
    _drive(top / "first", fleet.repositories[:1], fleet.options, at_once, tokens)  # what is loaded once
    before = _used()
    _drive(top, fleet.repositories, fleet.options, at_once, tokens)
    answers.put((_used() - before) / len(fleet.repositories))


def _drive(top: Path, every: Sequence[FleetRepository], options: FleetOptions, at_once: int, tokens: object) -> None:
    with opened(top, make=True) as state:
        state.enroll(every)
        Driver(top, state, WarmEngine(at_once), options, tokens, lambda line: None).run()  # type: ignore[arg-type]


def _used() -> float:
    found = [resource.getrusage(whom) for whom in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def _done(task: FleetTask) -> TaskOutcome:
    """Does a task, and keeps what it says in its log."""
    log = Path(task.folder) / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        for one in (1, 2):
            os.dup2(stream.fileno(), one)
    return in_process(task)
