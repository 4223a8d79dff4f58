"""Plans and proofs in a pool of processes on this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from fixer.fleet.tasks import FleetTask, TaskOutcome, run_task
from fixer.fleet.words import Step


class FleetEngine(Protocol):
    """Where plans and proofs are made."""

    def room(self, step: Step) -> int:
        """How many plans, or proofs, it takes at once."""

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done."""

    def has_gpus(self) -> bool:
        """Whether a task can be given a GPU of its own."""

    def close(self) -> None:
        """Ends what is being done."""


class ProcessPool:
    """Plans and proofs apart, each in a process of its own; a thread waits for each."""

    def __init__(self, plans: int | None, proofs: int | None) -> None:
        cores = os.cpu_count() or 1
        self._room: Mapping[str, int] = {"plan": plans or cores, "prove": proofs or max(1, cores // 2)}
        self._threads = {step: ThreadPoolExecutor(many, f"fleet-{step}") for step, many in self._room.items()}
        self._stop = threading.Event()

    def room(self, step: Step) -> int:
        """How many plans, or proofs, it takes at once."""
        return self._room[step]

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done in a process."""
        return self._threads[task.step].submit(run_task, task, self._stop)

    def has_gpus(self) -> bool:
        """Whether a task can be given a GPU of its own: here each sees all that there are."""
        return False

    def close(self) -> None:
        """Ends what is being done."""
        self._stop.set()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)
