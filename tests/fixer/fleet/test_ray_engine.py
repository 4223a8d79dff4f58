"""What is asked of Ray, by a stand-in for it that does each task in a thread: names, needs, and what is carried."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fixer.fleet import ray_engine
from fixer.fleet.failures import StepFailure
from fixer.fleet.parcels import Carried
from fixer.fleet.ray_engine import RayEngine
from fixer.fleet.tasks import FleetTask, TaskOutcome

ENDED = TaskOutcome(0, 1.0, 0.5)


class Gone(Exception):
    """A worker that was killed."""


@dataclass
class Ray:
    """Does tasks in threads, on what was pickled and unpickled, and remembers how they were asked for."""

    asked: list[dict[str, Any]] = field(default_factory=list)
    dies: int = 0

    exceptions = SimpleNamespace(RayTaskError=OSError)

    def init(self, **given: Any) -> None:
        self.threads = ThreadPoolExecutor(2)

    def remote(self, function: Any) -> Any:
        return SimpleNamespace(
            options=lambda **how: SimpleNamespace(remote=lambda *given: self.do(function, how, given))
        )

    def do(self, function: Any, how: dict[str, Any], given: tuple[Any, ...]) -> Any:
        self.asked.append({"function": function.__name__, **how})
        if self.dies:
            self.dies -= 1
            done: Future[Any] = Future()
            done.set_exception(Gone())
        else:
            done = self.threads.submit(function, *pickle.loads(pickle.dumps(given)))
        return SimpleNamespace(future=lambda: done)

    def nodes(self) -> list[Any]:
        return [{"Alive": True, "Resources": {"CPU": 4, "GPU": 1, "memory": 2**35}}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4}

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "second")

    def shutdown(self) -> None:
        self.threads.shutdown()


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    made = Ray()
    monkeypatch.setitem(sys.modules, "ray", made)  # type: ignore[arg-type]
    return made


def task(folder: Path, step: Any = "plan", **more: Any) -> FleetTask:
    (folder / "a").mkdir(exist_ok=True)
    (folder / "a" / "file").write_text("text")
    return FleetTask("acme/a", step, str(folder / "a"), str(folder / "task"), (), 100, **more)


def test_each_task_is_named_and_asks_for_what_it_needs(
    ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "run_here", lambda given: ENDED)
    engine = RayEngine(None)
    assert engine.submit(task(tmp_path)).result() == ENDED
    assert engine.submit(task(tmp_path, "prove", cpus=2, gpus=1, memory=16)).result() == ENDED
    plain = {"max_retries": 0, "function": "<lambda>"}
    assert ray.asked == [
        {**plain, "name": "plan acme/a", "num_cpus": 1},
        {**plain, "name": "prove acme/a", "num_cpus": 2, "num_gpus": 1, "memory": 2**34},
    ]
    ray.dies = 1
    assert engine.submit(task(tmp_path)).result().code == -9
    engine.close()


def test_what_a_node_does_not_see_is_carried_from_then_on(
    ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool, list[str]]] = []

    def blind(given: FleetTask) -> None:
        pass

    def apart(given: FleetTask, clone: bytes, environments: Any) -> Carried:
        seen.append((given.step, b"text" in clone, sorted(environments)))
        return Carried(ENDED, {"report.json": b"{}"}, b"", ("built",) if given.step == "prove" else ())

    monkeypatch.setattr(ray_engine, "run_here", blind)
    monkeypatch.setattr(ray_engine, "run_apart", apart)
    engine = RayEngine(None)
    for step in ("plan", "prove", "prove"):
        assert engine.submit(task(tmp_path, step)).result() == ENDED
        assert (tmp_path / "task" / "report.json").read_bytes() == b"{}"
    assert seen == [("plan", True, []), ("prove", True, []), ("prove", True, ["built"])]
    assert [one["function"] for one in ray.asked] == ["blind", *["_run_apart"] * 3]
    engine.close()


def test_a_clone_that_is_gone_everywhere_is_not_carried(
    ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = RayEngine(None)
    gone = FleetTask("acme/a", "plan", str(tmp_path / "gone"), str(tmp_path / "task"), (), 100)
    with pytest.raises(StepFailure, match="its clone is missing"):
        engine.submit(gone).result()
    engine.close()
