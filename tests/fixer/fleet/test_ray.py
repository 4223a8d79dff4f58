"""A fleet on Ray, on this machine: the same states and branches as with the pool of processes."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from fixer.errors import UsageError
from fixer.fleet.asked import FleetOptions, RepositoryOptions
from fixer.fleet.clones import fetched
from fixer.fleet.driver import Driver, FleetEnd
from fixer.fleet.failures import StepFailure
from fixer.fleet.pool import FleetEngine, ProcessPool
from fixer.fleet.ray_engine import RayEngine
from fixer.fleet.state import FleetRow, opened
from fixer.fleet.tasks import REPORT, FleetTask, TaskOutcome, arguments_of
from fixer.tokens import Tokens
from tests.fixer.command import Ask
from tests.fixer.fleet.stand_in import repositories
from tests.support import git


class RayWithAnAccident(RayEngine):
    """Kills the worker of the first task, once."""

    killed = ""

    def submit(self, task: FleetTask):  # type: ignore[no-untyped-def]
        came = super().submit(task)
        if not self.killed:
            self.killed = task.name
            came.add_done_callback(lambda done: self.outcomes.append(done.result()))
            kill_worker_of(task)
        return came

    @property
    def outcomes(self) -> list[TaskOutcome]:
        return self.__dict__.setdefault("_outcomes", [])


def kill_worker_of(task: FleetTask) -> None:
    """Kills the process of Ray that does a task."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in psutil.Process().children(recursive=True):
            try:
                if task.clone in child.cmdline():
                    child.parent().kill()  # type: ignore[union-attr]
                    return
            except psutil.Error:
                pass
        time.sleep(0.05)
    raise AssertionError("no worker was seen")


def ran(folder: Path, top: Path, engine: FleetEngine, names: list[str]) -> list[FleetRow]:
    with opened(top, make=True) as state:
        state.enroll(repositories(folder, names, RepositoryOptions(prove=False, gpus=0)))
        assert Driver(top, state, engine, FleetOptions(), Tokens(), lambda line: None).run() == FleetEnd()
        return state.rows()


def carried(folder: Path, engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task of a clone that its worker does not see: a path that is another one in each process."""
    engine.killed = "nothing"  # type: ignore[attr-defined]
    (one,) = repositories(folder, ["a"], RepositoryOptions(prove=False))
    assert fetched(folder / "a", one, Tokens())
    monkeypatch.chdir(folder)
    arguments = arguments_of(one.options, plan=True)
    task = FleetTask("a", "plan", "/proc/self/cwd/a", str(folder / "task"), arguments, 100)
    assert engine.submit(task).result().code == 0
    assert git(folder / "a", "rev-parse", "fixer/lightning-2.6.6") and (folder / "task" / REPORT).is_file()
    engine._carries = False


def test_ray_comes_to_the_same_as_the_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    engine = RayWithAnAccident(None, 3)
    assert engine.room("plan") == 3 < engine.room("prove")
    for needs in ({"cpus": 10_000}, {"gpus": 100}, {"memory": 2**20}):
        task = FleetTask("a", "prove", "", "", (), 1, **needs)
        with pytest.raises(StepFailure, match="no node of the cluster has what it needs"):
            RayEngine.submit(engine, task).result(0)
    carried(tmp_path, engine, monkeypatch)
    engine.killed = ""
    seen = ran(tmp_path, tmp_path / "ray", engine, ["a", "b"])
    assert engine.killed and [outcome.code for outcome in engine.outcomes] == [-9]
    pool = ran(tmp_path, tmp_path / "pool", ProcessPool(2, 1), ["a", "b"])
    assert [(row.state, row.verdict, row.base, row.head) for row in seen] == [
        (row.state, row.verdict, row.base, row.head) for row in pool
    ]
    assert all(row.head for row in seen)


def test_a_cluster_that_is_not_there(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ask("fleet", "run", tmp_path, "--address", "auto", "--state", tmp_path / "state")
    assert "--address auto: that is Ray's; give --engine ray with it" in said.complaint()
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(UsageError, match=r"--address nowhere: Ray cannot be reached.*, set RAY_AUTH_MODE=token$"):
        RayEngine("nowhere")
