"""Trains one case after another in the interpreter that runs it: `python worker.py HARNESS PACKAGE...`.

Started by path. Reads a case a line from standard input and answers with a line of JSON. A case runs in a forked
child (one for each rank), which starts with torch and Lightning loaded and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import json
import os
import random
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

QUIET = {
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "accelerator": "cpu",
    "devices": 1,
    "log_every_n_steps": 1,
    "num_sanity_val_steps": 0,
}
OUTPUT = 4000


def main(harness: Any, names: list[str]) -> None:
    """Serve cases until standard input ends."""
    answers, nowhere = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    import torch

    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        import torch._dynamo  # as the first optimizer does, where Lightning has not
    packages = harness.lightning_packages(names)
    know_types()
    answers.write(json.dumps({"version": packages[0].__version__}) + "\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(serve(json.loads(line), harness, packages)) + "\n")
        answers.flush()


def know_types() -> None:
    """Let Python find out here, and not in each child, which of the abstract collections values belong to. Releases
    before 1.8 do so by themselves, at their own cost."""
    import torch

    values = [torch.zeros(1), torch.nn.Parameter(torch.zeros(1)), 1.0, 1, "text", None, (1,), {"name": 1}, {1}]
    with contextlib.suppress(ImportError):  # before Lightning 1.7
        from lightning_utilities.core.apply_func import apply_to_collection

        apply_to_collection([values, *values], torch.Tensor, torch.clone)


def serve(case: dict[str, Any], harness: Any, packages: list[Any]) -> list[dict[str, Any]]:
    """What each rank of a case saw."""
    folder = Path(tempfile.mkdtemp(prefix="fixer-case-")).resolve()
    try:
        for name, text in case["files"].items():
            (folder / "case" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "case" / name).write_text(text, encoding="utf-8")
        port = free_port() if case["processes"] > 1 else 0
        children = [start(case, harness, packages, folder, rank, port) for rank in range(case["processes"])]
        wait(children, case["seconds"])
        return [answer(folder, rank, case["seconds"]) for rank in range(case["processes"])]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(case: dict[str, Any], harness: Any, packages: list[Any], folder: Path, rank: int, port: int) -> int:
    """Fork the process of one rank."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        if port:
            os.environ.update(
                MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(case["processes"]), RANK=str(rank),
                LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(case["processes"]), GROUP_RANK="0", NODE_RANK="0",
                TORCHELASTIC_RUN_ID="case", PL_TORCH_DISTRIBUTED_BACKEND="gloo",
            )  # fmt: skip
        output = os.open(folder / f"{rank}.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        seen = run(case, harness, packages, folder / "case")
        (folder / f"{rank}.json").write_text(json.dumps(seen, default=str), encoding="utf-8")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def wait(children: list[int], seconds: float) -> None:
    """Wait for the children, and end what is left of them when the time is over or one of them failed."""
    deadline = time.monotonic() + seconds
    living = set(children)
    while living and time.monotonic() < deadline:
        for child in list(living):
            if os.waitpid(child, os.WNOHANG)[0]:
                living.discard(child)
        time.sleep(0.002)
    for child in children:
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        if child in living:
            os.waitpid(child, 0)


def answer(folder: Path, rank: int, seconds: float) -> dict[str, Any]:
    """What the process of a rank wrote, or that it did not."""
    output = (folder / f"{rank}.txt").read_text(encoding="utf-8", errors="replace")[-OUTPUT:]
    try:
        seen: dict[str, Any] = json.loads((folder / f"{rank}.json").read_text(encoding="utf-8"))
    except OSError:
        failure = {"type": "Ended", "message": f"no answer within {seconds:g} seconds", "place": None}
        seen = {"losses": [], "steps": [], "logged": [], "fit": None, "failure": failure, "returned": None}
    return {**seen, "output": output}


def run(case: dict[str, Any], harness: Any, packages: list[Any], root: Path) -> dict[str, Any]:
    """Run the case's script or function and return what was seen."""
    if case["proof"]:
        return proven(case["proof"], harness, root)
    watch = Watch(case)
    os.chdir(root)
    sys.path[:1] = [str(root), str(root / "src")]
    sys.argv = [case["script"] or "case"]
    sys.dont_write_bytecode = True
    os.environ["PYTHONHASHSEED"] = "0"
    harness.beside("short").plain_kernels()
    harness.beside("short").steady_loaders(case["seed"])
    watch.patch_torch()
    for package in packages:
        watch.patch_lightning(package)
    watch.seed()
    failure = returned = None
    try:
        if case["script"]:
            runpy.run_path(str(root / case["script"]), run_name="__main__")
        else:
            function = getattr(importlib.import_module(case["module"]), case["function"])
            returned = function(*case["arguments"])
    except BaseException as error:
        traceback.print_exc()
        failure = {
            "type": type(error).__name__,
            "message": str(error),
            "place": harness.place(traceback.walk_tb(error.__traceback__), root),
        }
    return {**watch.seen, "failure": failure, "returned": returned}


def proven(spec: dict[str, Any], harness: Any, root: Path) -> dict[str, Any]:
    """Let the proof's harness work in this process, and return what it records as it writes it."""
    os.chdir(root)
    record, written = root.with_name("record.jsonl"), root.with_name("spec.json")
    full = {**spec, "record": str(record), "scratch": str(root.with_name("scratch"))}
    written.write_text(json.dumps(full), encoding="utf-8")
    status = harness.main(str(written))
    return {"record": record.read_text(encoding="utf-8"), "status": status}


class Watch:
    """What is put around torch and Lightning, and what it has seen."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.seen: dict[str, Any] = {"losses": [], "steps": [], "logged": [], "fit": None}
        self.trainer: Any = None
        self.inside = False

    def seed(self) -> None:
        import numpy
        import torch

        random.seed(self.case["seed"])
        numpy.random.seed(self.case["seed"])
        torch.manual_seed(self.case["seed"])
        torch.use_deterministic_algorithms(True, warn_only=True)

    def patch_torch(self) -> None:
        """See plain backward passes and optimizer steps."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        tensors: Any = torch.Tensor
        original = tensors.backward

        @functools.wraps(original)
        def backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.inside and tensor.numel() == 1:
                self.seen["losses"].append(float(tensor.detach()))
            return original(tensor, *args, **kwargs)

        tensors.backward = backward
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self.step(optimizer))

    def step(self, optimizer: Any) -> None:
        """Note an optimizer's step: automatic optimization has run backward in it, so gradients are there after it."""
        known = [id(item) for item in getattr(self.trainer, "optimizers", [])]
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.seen["steps"].append({
            "optimizer": known.index(id(optimizer)) if id(optimizer) in known else None,
            "rates": [float(group["lr"]) for group in optimizer.param_groups if "lr" in group],
            "gradient": sum(float(p.grad.double().pow(2).sum()) for p in parameters if p.grad is not None) ** 0.5,
        })  # fmt: skip

    def patch_lightning(self, package: Any) -> None:
        """Give Trainers quiet defaults and see what they do."""
        trainer, strategy = package.Trainer, importlib.import_module(package.__name__ + ".strategies").Strategy
        init, fit, backward = trainer.__init__, trainer.fit, strategy.backward
        logger = recording_logger(package, self.seen["logged"])

        @functools.wraps(init)
        def quiet(this: Any, *args: Any, **kwargs: Any) -> None:
            given = {**QUIET, **kwargs, **self.case["trainer"]}
            if given.get("logger", True) is True:
                given["logger"] = logger
            init(this, *args, **{**given, "default_root_dir": str(Path.cwd())})

        @functools.wraps(fit)
        def seeded(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.seed()
            self.trainer = this
            try:
                return fit(this, *args, **kwargs)
            finally:
                self.seen["fit"] = state(this)

        @functools.wraps(backward)
        def seen(this: Any, closure_loss: Any, *args: Any, **kwargs: Any) -> Any:
            self.seen["losses"].append(float(closure_loss.detach().sum()))
            self.inside = True
            try:
                return backward(this, closure_loss, *args, **kwargs)
            finally:
                self.inside = False

        trainer.__init__, trainer.fit, strategy.backward = quiet, seeded, seen


def recording_logger(package: Any, seen: list[Any]) -> Any:
    """A logger that keeps what it is given."""
    loggers = importlib.import_module(package.__name__ + ".loggers.logger")

    class Recording(loggers.Logger):  # type: ignore[misc, name-defined]
        name = "recording"
        version = 0
        save_dir = log_dir = None

        def log_metrics(self, metrics: Any, step: Any = None) -> None:
            seen.append([step, {name: number(value) for name, value in metrics.items()}])

        def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
            return None

    return Recording()


def state(trainer: Any) -> dict[str, Any]:
    """What a Trainer holds."""
    module = trainer.lightning_module
    schedulers = [item.scheduler for item in getattr(trainer, "lr_scheduler_configs", [])]
    return {
        "global_step": int(trainer.global_step),
        "epoch": int(trainer.current_epoch),
        "automatic": bool(module.automatic_optimization),
        "metrics": {name: number(value) for name, value in trainer.callback_metrics.items()},
        "weights": {name: value.detach().double().flatten().tolist() for name, value in module.state_dict().items()},
        "schedulers": [[int(item.last_epoch), *map(float, getattr(item, "_last_lr", []))] for item in schedulers],
    }


def number(value: Any) -> Any:
    with contextlib.suppress(TypeError, ValueError, RuntimeError):
        return float(value)
    return repr(value)


def load_harness(path: str) -> Any:
    """The proof's harness, for how it loads Lightning and steadies batches."""
    spec = importlib.util.spec_from_file_location("fixer_harness", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(load_harness(sys.argv[1]), sys.argv[2:])
