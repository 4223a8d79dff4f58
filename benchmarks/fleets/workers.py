"""One worker and two: the same repositories in turn, with a loop that only counts for what the machine gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from statistics import median

from fixer.fleet.asked import FleetOptions, FleetRepository, RepositoryOptions
from fixer.fleet.driver import Driver
from fixer.fleet.state import opened
from fixer.fleet.tasks import FleetTask, TaskOutcome
from fixer.fleet.words import Step
from fixer.tokens import Tokens
from tests.fixer.fleet.stand_in import ended

ROOT = Path(__file__).resolve().parents[2]
_LOOP = "s = 0\nfor i in range(6_000_000): s += i * i"
_WAITS_S = 4.0


class WaitingEngine:
    """Plans that take no processors, but a time."""

    def __init__(self, at_once: int) -> None:
        self._at_once, self._threads = at_once, ThreadPoolExecutor(at_once)

    def room(self, step: Step) -> int:
        """How many it takes at once."""
        return self._at_once

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Waits, and tells of a plan."""
        return self._threads.submit(self._done, task)

    def has_gpus(self) -> bool:
        """None that a task could have for itself."""
        return False

    def close(self) -> None:
        """Ends what is being done."""
        self._threads.shutdown()

    def _done(self, task: FleetTask) -> TaskOutcome:
        time.sleep(_WAITS_S)
        return ended(task, branch="fixer/lightning-2.6.6")


def compare(addresses: Sequence[str], home: Path, rounds: int) -> None:
    """Prints the seconds of each run, the load of the machine then, and the ratios."""
    ways: dict[str, Callable[[int], None]] = {
        "counting": lambda many: _counts(many, len(addresses)),
        "planning": lambda many: _plans(addresses, home, many),
        "waiting": lambda many: _waits(addresses, home, many),
    }
    took: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            for many in (1, 2):
                began = time.monotonic()
                way(many)
                seconds = time.monotonic() - began
                took.setdefault((name, many), []).append(seconds)
                print(f"{name}, {many} at once: {seconds:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    for name in ways:
        one, two = (took[name, many] for many in (1, 2))
        print(f"{name}: two do {median(map(lambda a, b: a / b, one, two)):.2f} times what one does")


def _counts(at_once: int, many: int) -> None:
    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(lambda _: subprocess.run([sys.executable, "-c", _LOOP], check=True), range(many)))


def _plans(addresses: Sequence[str], home: Path, at_once: int) -> None:
    file, state = home / "FLEET.toml", home / "workers"
    every = "".join(f'[[repository]]\naddress = "{address}"\n' for address in addresses)
    file.write_text(f"[fleet]\nplans = {at_once}\n[defaults]\nprove = false\n{every}")
    command = [sys.executable, "-m", "fixer", "fleet", "run", str(file), "--state", str(state)]
    subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    shutil.rmtree(state)


def _waits(addresses: Sequence[str], home: Path, at_once: int) -> None:
    top, options = home / "workers", RepositoryOptions(prove=False)
    with opened(top, make=True) as state:
        state.enroll([FleetRepository(Path(one).stem, one, options) for one in addresses])
        Driver(top, state, WaitingEngine(at_once), FleetOptions(), Tokens(), lambda line: None).run()
    shutil.rmtree(top)
