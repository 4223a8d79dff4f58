"""Plans and proofs on a Ray cluster: each is a Ray task, named after its repository, with what it needs.

Where all nodes see the folder of the fleet, they work in it. From the first task on that comes to a node that does not,
clones and what comes of them are carried, and the environments that one node has built with them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fixer.errors import UsageError
from fixer.fleet.failures import LOST, StepFailure
from fixer.fleet.parcels import Carried, brought_back, pack_environment, packed, run_apart, run_here
from fixer.fleet.tasks import FleetTask, TaskOutcome, home
from fixer.fleet.words import Step

_MODE = "RAY_AUTH_MODE"
_KILLED = -9
_AHEAD = 4
_GIB = 2**30


class RayEngine:
    """Ray decides what is done where and when; a few tasks more than there are processors wait there."""

    def __init__(self, address: str | None, plans: int | None = None, proofs: int | None = None) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise UsageError("--engine ray needs Ray; run `pip install 'fixer[fleet]'`") from None
        self._ray = ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else Ray tells its makers of every use
        try:
            ray.init(
                address=address or "local",  # else Ray takes RAY_ADDRESS, or a cluster of this machine's
                log_to_driver=False,
                configure_logging=False,
                runtime_env={"env_vars": {"PYTHONPATH": home()}},
            )
        except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            asked = f"--address {address}" if address else "--engine ray"
            token = "" if _MODE in os.environ else f"; where the cluster wants a token, set {_MODE}=token"
            raise UsageError(f"{asked}: Ray cannot be reached: {error}; see `ray status`{token}") from None
        self._here, self._apart = ray.remote(run_here), ray.remote(_run_apart)
        self._carries = False
        self._environments: dict[str, str] = {}
        self._waiting: dict[Future[TaskOutcome], Any] = {}
        self._most = {"plan": plans, "prove": proofs}

    def room(self, step: Step) -> int:
        """How many plans, or proofs, are handed to Ray at once."""
        return self._most[step] or int(self._ray.cluster_resources().get("CPU", 1)) + _AHEAD

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done by Ray. One whose worker or node is gone ended from outside."""
        came: Future[TaskOutcome] = Future()
        try:
            if lacking := self._lacking(task):
                raise StepFailure(lacking)
            self._send(task, came)
        except (StepFailure, OSError) as failure:
            came.set_exception(failure)
        return came

    def _send(self, task: FleetTask, came: Future[TaskOutcome]) -> None:
        needs: dict[str, Any] = {"num_cpus": task.cpus, "max_retries": 0, "name": task.name}
        needs |= {"num_gpus": task.gpus} if task.gpus else {}
        needs |= {"memory": task.memory * _GIB} if task.memory else {}
        if not Path(task.clone).is_dir():
            raise StepFailure("its clone is missing; `fixer fleet retry` makes it again", LOST)
        if self._carries:
            known = dict(self._environments) if task.step == "prove" else {}
            reference = self._apart.options(**needs).remote(task, packed(Path(task.clone)), known)
        else:
            reference = self._here.options(**needs).remote(task)
        self._waiting[came] = reference
        reference.future().add_done_callback(lambda done: self._pass_on(task, done, came))

    def has_gpus(self) -> bool:
        """Whether a task can be given a GPU of its own."""
        return bool(self._ray.cluster_resources().get("GPU", 0) >= 1)

    def close(self) -> None:
        """Ends what is being done."""
        for reference in list(self._waiting.values()):
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _lacking(self, task: FleetTask) -> str:
        """That no node has what a task needs, for which Ray would wait without a word; "" where one has."""
        needs = {"CPU": task.cpus, "GPU": task.gpus, "memory": (task.memory or 0) * _GIB}
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        if any(all(node.get(name, 0) >= most for name, most in needs.items()) for node in nodes):
            return ""
        told = f"cpus = {task.cpus}, gpus = {task.gpus}" + (f", memory = {task.memory}" if task.memory else "")
        return f"no node of the cluster has what it needs ({told}); ask for less, or add one and `fixer fleet retry`"

    def _pass_on(self, task: FleetTask, done: Future[Any], came: Future[TaskOutcome]) -> None:
        error = done.exception()
        try:
            if error is None and done.result() is None:
                self._carries = True
                self._send(task, came)
                return
            if error is None:
                came.set_result(self._received(task, done.result()))
            elif isinstance(error, self._ray.exceptions.RayTaskError):
                came.set_exception(error)
            else:
                came.set_result(TaskOutcome(_KILLED, 0.0, 0.0))
        except Exception as wrong:
            came.set_exception(wrong)
        self._waiting.pop(came, None)

    def _received(self, task: FleetTask, result: Any) -> TaskOutcome:
        """What came of a task, with what it brought along put where it belongs."""
        if isinstance(result, TaskOutcome):
            return result
        node, carried = result
        self._environments.update(dict.fromkeys(carried.environments, node))
        return brought_back(task, carried)


def _run_apart(task: FleetTask, clone: bytes, environments: Mapping[str, str]) -> tuple[str, Carried]:
    """Does a task apart, and says on which node; `environments` are those of other nodes."""
    ray: Any = import_module("ray")
    fetch = {name: partial(_fetched, name, node) for name, node in environments.items()}
    return ray.get_runtime_context().get_node_id(), run_apart(task, clone, fetch)


def _fetched(name: str, node: str) -> bytes:
    """An environment of another node."""
    ray: Any = import_module("ray")
    there = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(node, soft=False)
    pack = ray.remote(num_cpus=0, max_retries=0)(pack_environment)
    held: bytes = ray.get(pack.options(scheduling_strategy=there, name=f"environment {name}").remote(name))
    return held
