"""Plans and proofs in a pool of processes on this machine."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

from fixer.fleet.tasks import FleetTask, TaskOutcome, run_task
from fixer.fleet.words import Step


class FleetEngine(Protocol):
    """Where plans and proofs are made."""

    def room(self, step: Step) -> int:
        """How many plans, or proofs, it takes at once."""

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done."""

    def close(self) -> None:
        """Ends what is being done."""


class ProcessPool:
    """Plans and proofs apart, each in a process of its own; a thread waits for each."""

    def __init__(self, plans: int | None, proofs: int | None) -> None:
        cores = os.cpu_count() or 1
        self._room: Mapping[str, int] = {"plan": plans or cores, "prove": proofs or max(1, cores // 2)}
        self._threads = {step: ThreadPoolExecutor(many, f"fleet-{step}") for step, many in self._room.items()}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def room(self, step: Step) -> int:
        """How many plans, or proofs, it takes at once."""
        return self._room[step]

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done in a process."""
        return self._threads[task.step].submit(self._do, task)

    def close(self) -> None:
        """Ends what is being done."""
        with self._lock:
            self._closed = True
            for process in self._running:
                with suppress(OSError):
                    process.terminate()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)

    def _do(self, task: FleetTask) -> TaskOutcome:
        processes: list[subprocess.Popen[bytes]] = []

        def started(process: subprocess.Popen[bytes]) -> None:
            processes.append(process)
            with self._lock:
                self._running.add(process)
                if self._closed:
                    process.terminate()

        try:
            return run_task(task, started)
        finally:
            with self._lock:
                self._running.difference_update(processes)
