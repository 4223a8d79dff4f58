"""Runs one training script, trains modules alone, or looks at an installed Lightning; writes what it saw as JSON lines.

Started by path with another interpreter: `python harness.py SPEC.json`. Uses the standard library, torch, Lightning and
what lies beside it. Works on Lightning 1.4 to 2.x.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import random
import runpy
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

VALUES_EACH = 2000
VALUES_ALL = 200_000


Wrapped = Callable[..., Any]


class Record:
    """The file that events go to, one JSON object a line, written at once."""

    def __init__(self, path: str) -> None:
        self._stream = open(path, "a", encoding="utf-8")  # noqa: SIM115, PTH123

    def __call__(self, event: str, **values: Any) -> None:
        """Write one event."""
        self._stream.write(json.dumps({"event": event, **values}, default=str) + "\n")
        self._stream.flush()


def main(spec_path: str) -> int:
    """Do what the specification asks for."""
    spec = json.loads(Path(spec_path).read_text(encoding="utf-8"))
    record = Record(spec["record"])
    limit(spec)
    if spec["mode"] == "facts":
        sys.path.pop(0)
        with contextlib.suppress(ImportError):
            lend_operators()
        beside("facts").facts(spec["uses"], record)
        record("end")
        return 0
    return alone(spec, record) if spec["mode"] in ("search", "replay") else train(spec, record)


def limit(spec: dict[str, Any]) -> None:
    """Bound what this process and its children may use, and end with whoever started us."""
    with contextlib.suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        seconds = int(spec["seconds"]) * (os.cpu_count() or 1) + 10
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)


# -- training


def train(spec: dict[str, Any], record: Record) -> int:
    """Run the script with a Trainer that does little and tells what it does."""
    root = Path.cwd()
    script = root / spec["script"]
    sys.path[0] = str(script.parent)
    sys.path[1:1] = [str(root), str(root / "src")]
    sys.argv = [str(script), *spec["args"]]
    os.environ.update({"HYDRA_FULL_ERROR": "1", **spec.get("variables", {})})
    for words in spec.get("setup", ()):
        done = subprocess.run([sys.executable, *words], check=False)
        if done.returncode:
            told = f"`python {' '.join(words)}`, which is to be run first, ends with {done.returncode}"
            record("failure", type="SetupFailed", message=told, place=None)
            return 1
    watch = prepared(spec, record)
    return 3 if watch is None else execute(spec, root, script, record)


def prepared(spec: dict[str, Any], record: Record) -> Watch | None:
    """Put everything in place around torch and Lightning; None where Lightning does not load, which is recorded."""
    try:
        beside("lent").lend()
        packages = lightning_packages(spec["namespaces"])
    except BaseException as error:
        record("unusable", type=type(error).__name__, message=str(error)[:2000])
        return None
    watch = Watch(record, spec)
    beside("short").steady_loaders(spec["seed"])
    watch.patch_torch()
    watch.patch_warnings()
    for package in packages:
        watch.patch_lightning(package)
    watch.seed()
    record("start", versions=[package.__version__ for package in packages])
    return watch


def alone(spec: dict[str, Any], record: Record) -> int:
    """Search for recipes by which modules train alone, or train by such recipes, each with a record of its own."""
    root = Path.cwd()
    sys.path[:1] = [str(root / path) for path in spec["paths"]]
    sys.argv = ["train.py"]
    watch = prepared(spec, record)
    if watch is None:
        return 3
    tools = beside("alone")
    versions = [sys.modules[name].__version__ for name in spec["namespaces"]]
    bench = tools.Bench(watch, str(root), spec["seed"])
    if spec["mode"] == "search":
        tools.search(bench, spec, record)
        record("end")
        return 0
    for recipe in spec["recipes"]:
        own = Record(recipe["record"])
        watch.begin(own)
        own("start", versions=versions)
        try:
            tools.replay(bench, recipe)
        except BaseException as error:
            own("failure", type=type(error).__name__, message=str(error)[:4000], place=place(error, root))
            traceback.print_exc()
        own("loaded", files=loaded(root, root / recipe["path"]))
        own("end")
    record("end")
    return 0


def lightning_packages(names: list[str]) -> list[ModuleType]:
    """Import the Lightning packages that the project uses, on a torch and numpy that may be too new for them."""
    version = next((found for name in names if (found := installed(name))), "2")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < (1, 8):
        import numpy
        import torch

        schedulers: Any = torch.optim.lr_scheduler
        numbers: Any = numpy
        numbers.Inf, schedulers._LRScheduler = numpy.inf, schedulers.LRScheduler
    lend_operators()
    return [importlib.import_module(name) for name in names]


def lend_operators() -> None:
    """Declare the operators that torchvision names when it is imported, where its compiled part is not there."""
    import torch

    spec = importlib.util.find_spec("torchvision")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or list(folder.glob("_C*")):
        return
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError, AttributeError):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def installed(name: str) -> str | None:
    """The version of the distribution behind a package."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name.split(".")[0].replace("_", "-"))
    return None


def execute(spec: dict[str, Any], root: Path, script: Path, record: Record) -> int:
    """Run the script as `__main__` and record how it ended, and which files of the project it loaded."""
    try:
        return run_script(spec, root, script, record)
    finally:
        record("loaded", files=loaded(root, script))


def loaded(root: Path, script: Path) -> list[str]:
    """The project's files that were executed, relative to its root."""
    origins = [str(script), *(getattr(module, "__file__", None) for module in list(sys.modules.values()))]
    found = set()
    for origin in filter(None, origins):
        with contextlib.suppress(ValueError, OSError):
            found.add(Path(origin).resolve().relative_to(root.resolve()).as_posix())
    return sorted(found)


def run_script(spec: dict[str, Any], root: Path, script: Path, record: Record) -> int:
    """Run the script and return the status to end with."""
    try:
        if spec["module"]:
            runpy.run_module(spec["module"], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            record("failure", type="SystemExit", message=str(stop.code), place=None)
            return 1
    except BaseException as error:
        record("failure", type=type(error).__name__, message=str(error)[:4000], place=place(error, root))
        traceback.print_exc()
        return 1
    record("end")
    return 0


def place(error: BaseException, root: Path) -> str | None:
    """The innermost line of the project that an exception passed."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        with contextlib.suppress(ValueError, OSError):
            path = Path(frame.f_code.co_filename).resolve().relative_to(root.resolve())
            found = f"{path.as_posix()}:{line}"
    return found


def beside(name: str) -> Any:
    """A module that lies beside this file, in a package of its own: the project may have one of that name."""
    if (package := "_fixer_harness") not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(Path(__file__).parent)]
    return importlib.import_module(f"{package}.{name}")


class Watch:
    """What is put around torch and Lightning, and what it has seen."""

    def __init__(self, record: Record, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.short = beside("short")
        self.begin(record)

    def begin(self, record: Callable[..., None]) -> None:
        """Record into another place from here on, with nothing seen yet."""
        self.record = record
        self.inside_backward = False
        self.began = time.monotonic()
        self.steps = self.losses = 0
        self.asked: dict[str, Any] = {}
        self.autocast: str | None = None
        self.warned: list[str] = []
        self.measures = beside("measures")
        self.gradients = beside("gradients").Gradients(str(Path.cwd()))

    def seed(self) -> None:
        """Start every random generator anew; up to 1.5 Lightning itself does so from the environment in `fit`."""
        import numpy
        import torch

        os.environ["PL_GLOBAL_SEED"] = str(self.spec["seed"])
        random.seed(self.spec["seed"])
        numpy.random.seed(self.spec["seed"])
        torch.manual_seed(self.spec["seed"])
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False

    def patch_torch(self) -> None:
        """Record plain backward passes and optimizer steps."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        tensors: Any = torch.Tensor
        backward = tensors.backward

        @functools.wraps(backward)
        def recorded(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if self.inside_backward:
                return backward(tensor, *args, **kwargs)
            self.gradients.backward(tensor)
            if tensor.numel() == 1:
                self.record("loss", value=float(tensor.detach()), **self.measured(tensor))
            self.inside_backward = True  # what watches operations lets torch call the method a second time
            try:
                return backward(tensor, *args, **kwargs)
            finally:
                self.inside_backward = False

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.gradients.stepped(optimizer)

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.steps += 1
            rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
            self.record(
                "step", rates=rates, norm=self.measures.norm(optimizer), at=round(time.monotonic() - self.began, 4)
            )

        tensors.backward = recorded
        register_optimizer_step_pre_hook(before)
        register_optimizer_step_post_hook(after)

    def patch_lightning(self, package: ModuleType) -> None:
        """Put the smoke arguments and the recording around the Trainer and the backward of a package."""
        trainer: Any = package.Trainer
        self.patch_init(trainer, package)
        self.patch_log(package.LightningModule)
        self.patch_fit(trainer)
        for name in ("validate", "test", "predict"):
            if hasattr(trainer, name):
                setattr(trainer, name, self.short.without_checkpoint(getattr(trainer, name)))
        with contextlib.suppress(ImportError, AttributeError):
            strategy = importlib.import_module(package.__name__ + ".strategies").Strategy
            self.patch_backward(strategy)
            self.patch_step(strategy)

    def patch_init(self, trainer: Any, package: ModuleType) -> None:
        original = trainer.__init__
        names = list(inspect.signature(original).parameters)[1:]

        @functools.wraps(original)
        def init(this: Any, *args: Any, **kwargs: Any) -> None:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            original(this, **self.short.smoke(given, frozenset(names), self.spec, package))
            self.asked = {name: given.get(name) for name in self.measures.ASKED}

        trainer.__init__ = init

    def patch_log(self, module: Any) -> None:
        """Record what a module logs, each time, unseen by those who watch operations."""
        import torch

        original = module.log

        @functools.wraps(original)
        def log(this: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                number = scalar(value)
            if number is not None:
                self.record("logged", name=str(name), value=number)
            return original(this, name, value, *args, **kwargs)

        module.log = log

    def patch_warnings(self) -> None:
        """Keep what is warned of."""
        original = warnings.showwarning

        @functools.wraps(original)
        def show(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
            self.warned.append(f"{category.__name__}: {message}")
            original(message, category, *args, **kwargs)

        warnings.showwarning = show

    def patch_fit(self, trainer: Any) -> None:
        original = trainer.fit

        @functools.wraps(original)
        def fit(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.seed()
            try:
                result = original(this, *args, **kwargs)
            finally:
                with contextlib.suppress(Exception):
                    unheld = self.measures.unheld(this)
                    self.record("gradients", unheld=unheld, **self.gradients.report(this.lightning_module))
            self.record("fitted", **self.state(this))
            return result

        trainer.fit = fit

    def patch_backward(self, strategy: Any) -> None:
        original = strategy.backward

        @functools.wraps(original)
        def backward(this: Any, closure_loss: Any, *args: Any, **kwargs: Any) -> Any:
            self.gradients.hook(this.lightning_module)
            self.gradients.backward(closure_loss)
            self.record("loss", value=float(closure_loss.detach().sum()), **self.measured(closure_loss))
            self.inside_backward = True
            try:
                return original(this, closure_loss, *args, **kwargs)
            finally:
                self.inside_backward = False

        strategy.backward = backward

    def patch_step(self, strategy: Any) -> None:
        original = strategy.training_step

        @functools.wraps(original)
        def training_step(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.gradients.hook(this.lightning_module)
            with contextlib.suppress(Exception):
                number, most = self.measures.batch(this.lightning_module.trainer)
                self.record("batch", number=number, of=most)
            with self.measures.first_layer(self.gradients.steps < 2, self.look):
                return self.gradients.step(this.lightning_module, lambda: original(this, *args, **kwargs))

        strategy.training_step = training_step

    def state(self, trainer: Any) -> dict[str, Any]:
        """What a Trainer holds at the end of `fit`."""
        module = trainer.lightning_module
        named = list(module.named_parameters())
        each = max(16, min(VALUES_EACH, VALUES_ALL // max(1, len(named))))
        unreached = [name for name, p in named if p.requires_grad and id(p) not in self.gradients.seen]
        metrics = {**trainer.logged_metrics, **trainer.callback_metrics}
        return {
            "global_step": int(trainer.global_step),
            "epochs": int(trainer.current_epoch),
            "metrics": {str(name): number for name, value in metrics.items() if (number := scalar(value)) is not None},
            "weights": [[name, *sample(p, each)] for name, p in named],
            "unreached": unreached,
            "device": str(getattr(module, "device", "")),
            "precision": str(getattr(trainer, "precision", "")),
            **self.further(trainer),
        }

    def look(self) -> None:
        """A layer is about to work, inside a training step."""
        self.autocast = self.measures.autocast()

    def measured(self, loss: Any) -> dict[str, Any]:
        """What is looked at of a loss: of the first ones, since it costs time."""
        self.losses += 1
        if self.losses > self.measures.LOOKED:
            return {}
        with contextlib.suppress(Exception):
            nodes, casts = self.measures.graph(loss)
            return {"nodes": nodes, "casts": casts, "autocast": self.autocast}
        return {}

    def further(self, trainer: Any) -> dict[str, Any]:
        """What else is looked at at the end; a release or a module that does not know it leaves it out."""
        looks: dict[str, Callable[[], Any]] = {
            "digest": lambda: self.measures.digest(trainer.lightning_module),
            "peak_memory": self.measures.memory,
            "schedulers": lambda: self.measures.schedulers(trainer),
            "planned": lambda: self.measures.planned(trainer, self.asked, self.steps),
            "warnings": lambda: self.measures.short(iter(self.warned)),
        }
        found = {}
        for name, look in looks.items():
            with contextlib.suppress(Exception):
                found[name] = look()
        return found


def scalar(value: Any) -> float | None:
    """A number, where the value is one."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def sample(parameter: Any, count: int) -> tuple[float, list[float]]:
    """The norm of a parameter and up to `count` of its values, evenly spaced."""
    import torch

    try:
        flat = parameter.detach().flatten().double().cpu()
        at = torch.linspace(0, max(0, flat.numel() - 1), min(count, flat.numel())).long()
        return float(flat.norm()), flat[at].tolist()
    except (RuntimeError, ValueError, TypeError):
        return float("nan"), []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
