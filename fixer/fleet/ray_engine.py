"""Plans and proofs on a Ray cluster: each is a Ray task, named after its repository, with what it needs.

The folder of the fleet has to be on a path that all nodes see.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from fixer.errors import UsageError
from fixer.fleet.failures import StepFailure
from fixer.fleet.tasks import FleetTask, TaskOutcome, home, run_task
from fixer.fleet.words import Step

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
        except (ConnectionError, ValueError, RuntimeError) as error:
            asked = f"--address {address}" if address else "--engine ray"
            raise UsageError(f"{asked}: Ray cannot be reached: {error}; see `ray status`") from None
        self._run = ray.remote(run_task)
        self._waiting: dict[Future[TaskOutcome], Any] = {}
        self._most = {"plan": plans, "prove": proofs}

    def room(self, step: Step) -> int:
        """How many plans, or proofs, are handed to Ray at once."""
        return self._most[step] or int(self._ray.cluster_resources().get("CPU", 1)) + _AHEAD

    def submit(self, task: FleetTask) -> Future[TaskOutcome]:
        """Has a task done by Ray. One whose worker or node is gone ended from outside."""
        came: Future[TaskOutcome] = Future()
        if lacking := self._lacking(task):
            came.set_exception(StepFailure(lacking))
            return came
        needs: dict[str, Any] = {"num_cpus": task.cpus, "max_retries": 0, "name": task.name}
        needs |= {"num_gpus": task.gpus} if task.gpus else {}
        needs |= {"memory": task.memory * _GIB} if task.memory else {}
        reference = self._run.options(**needs).remote(task)
        self._waiting[came] = reference
        reference.future().add_done_callback(lambda done: self._pass_on(done, came))
        return came

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

    def _pass_on(self, done: Future[TaskOutcome], came: Future[TaskOutcome]) -> None:
        error = done.exception()
        if error is None:
            came.set_result(done.result())
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            came.set_exception(error)
        else:
            came.set_result(TaskOutcome(_KILLED, 0.0, 0.0))
        self._waiting.pop(came, None)
