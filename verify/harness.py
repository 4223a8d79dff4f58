"""Runs one training script, trains modules alone, or looks at an installed Lightning; writes what it saw as JSON lines.

Started by path with another interpreter: `python harness.py SPEC.json`. Uses the standard library, torch and
Lightning, and nothing that lies beside it. Works on Lightning 1.4 to 2.x.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

VALUES_EACH = 2000
VALUES_ALL = 200_000
PLACEMENT = (
    "gpus", "tpu_cores", "ipus", "num_processes", "num_nodes", "accelerator", "devices", "strategy",
    "distributed_backend", "auto_select_gpus", "auto_scale_batch_size", "auto_lr_find", "sync_batchnorm",
)  # fmt: skip
UNWANTED = (
    "profiler", "min_epochs", "min_steps", "max_time", "val_check_interval", "check_val_every_n_epoch",
    "checkpoint_callback", "weights_summary", "progress_bar_refresh_rate", "process_position",
    "weights_save_path", "flush_logs_every_n_steps", "log_gpu_memory",
)  # fmt: skip
QUIET = {
    "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False,
    "limit_test_batches": 2, "limit_predict_batches": 2,
}  # fmt: skip
DROPPED = frozenset({"Checkpoint", "ModelCheckpoint", "ProgressBar", "ProgressBarBase", "ModelSummary",
                     "DeviceStatsMonitor", "GPUStatsMonitor", "XLAStatsMonitor"})  # fmt: skip


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
        facts(spec["uses"], record)
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
        packages = lightning_packages(spec["namespaces"])
    except BaseException as error:
        record("unusable", type=type(error).__name__, message=str(error)[:2000])
        return None
    watch = Watch(record, spec)
    steady_loaders(spec["seed"])
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
                setattr(trainer, name, without_checkpoint(getattr(trainer, name)))
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
            original(this, **smoke(given, frozenset(names), self.spec, package))
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


def smoke(given: dict[str, Any], names: frozenset[str], spec: dict[str, Any], package: ModuleType) -> dict[str, Any]:
    """The Trainer's arguments for a short run on one device; what this version does not know stays to fail."""
    import torch

    gpu = torch.cuda.is_available()
    kept = {name: value for name, value in given.items() if name not in names or name not in PLACEMENT + UNWANTED}
    wanted: dict[str, Any] = {**QUIET, "default_root_dir": spec["scratch"]}
    if "devices" in names:
        wanted |= {"accelerator": "gpu" if gpu else "cpu", "devices": 1}
    elif gpu:
        wanted["gpus"] = 1
    wanted |= {"checkpoint_callback": False} if "enable_checkpointing" not in names else {}
    wanted |= {"progress_bar_refresh_rate": 0} if "enable_progress_bar" not in names else {}
    wanted |= {"weights_summary": None} if "enable_model_summary" not in names else {}
    for name in ("limit_train_batches", "limit_val_batches", "max_epochs"):
        wanted[name] = least(given.get(name), spec[name])
    wanted["num_sanity_val_steps"] = least(given.get("num_sanity_val_steps"), 2)
    if given.get("logger", True):
        wanted["logger"] = quiet_logger(package)
    kept |= {name: value for name, value in wanted.items() if name in names}
    for name, keep in (("callbacks", keeps_callback), ("plugins", keeps_plugin)):
        if kept.get(name) is not None:
            values = kept[name] if isinstance(kept[name], (list, tuple)) else [kept[name]]
            kept[name] = [value for value in values if keep(value)]
    return kept


def least(value: Any, limit: int) -> int:
    """A whole number that the user gave, where it is below the limit; the limit otherwise."""
    return value if type(value) is int and 0 <= value < limit else limit


def keeps_callback(callback: Any) -> bool:
    return not DROPPED & {base.__name__ for base in type(callback).__mro__}


def keeps_plugin(plugin: Any) -> bool:
    return any("Precision" in base.__name__ for base in type(plugin).__mro__)


def quiet_logger(package: ModuleType) -> Any:
    """A logger of Lightning's own that takes every call and does nothing; in a list, since old ones are iterable."""
    for name in (".loggers.logger", ".loggers.base"):
        with contextlib.suppress(ImportError, AttributeError):
            return [importlib.import_module(package.__name__ + name).DummyLogger()]
    return False


def without_checkpoint(original: Wrapped) -> Wrapped:
    """Let an evaluation use the model at hand where it asks for a checkpoint, since none was written."""

    @functools.wraps(original)
    def call(trainer: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("ckpt_path") in ("best", "last"):
            kwargs["ckpt_path"] = None
        if not args and kwargs.get("model") is None and trainer.lightning_module is not None:
            kwargs["model"] = trainer.lightning_module
        return original(trainer, *args, **kwargs)

    return call


# -- batches


@contextlib.contextmanager
def own_random(seed: int) -> Iterator[None]:
    """Draw from generators that start at `seed`, and leave the global ones as they were."""
    import numpy
    import torch

    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.set_rng_state(states[2])


def steady_loaders(seed: int) -> None:
    """Make batches depend on their pass and number alone: versions fetch them at different moments."""
    from torch.utils.data import DataLoader, dataloader

    base: Any = dataloader._BaseDataLoaderIter
    build, start, fetch = DataLoader.__init__, base.__init__, base.__next__
    names = list(inspect.signature(build).parameters)[1:]

    @functools.wraps(build)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(names, args, strict=False)), **kwargs, "num_workers": 0}
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            given.pop(name, None)
        build(self, **given)

    def begin(self: Any, loader: Any) -> None:
        passes = loader.__dict__.get("_passes", 0)
        loader.__dict__["_passes"] = passes + 1
        self._own = seed + 1_000_003 * (passes + 1)
        with own_random(self._own):
            start(self, loader)

    def following(self: Any) -> Any:
        self._own += 1
        with own_random(self._own):
            return fetch(self)

    DataLoader.__init__ = init  # type: ignore[method-assign]
    base.__init__, base.__next__ = begin, following


# -- facts about the installed packages


def facts(uses: dict[str, Any], record: Record) -> None:
    """Say of every name whether it exists and how it is called, and of every hook what its base class has."""
    with contextlib.suppress(ImportError):
        lend_operators()
    for name in uses["names"]:
        found, missing = resolve(name)
        record("name", name=name, missing=missing, parameters=parameters(found), role=role(found))
    for base, method in uses["methods"]:
        function = getattr(resolve(base)[0], method, None)
        plain = function is getattr(plain_module(), method, None)
        record("method", base=base, method=method, exists=function is not None and not plain,
               parameters=parameters(function))  # fmt: skip


def resolve(name: str) -> tuple[Any, str | None]:
    """The object behind a dotted name, or why there is none."""
    parts = name.split(".")
    found: Any = None
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module and not module.startswith(f"{error.name}."):
                return None, f"{module} needs {error.name}, which is not installed"
            continue
        except Exception as error:
            return None, f"importing {module} fails: {type(error).__name__}: {error}"
        for at in range(count, len(parts)):
            try:
                found = getattr(found, parts[at])
            except AttributeError:
                return None, f"{'.'.join(parts[:at])} has no {parts[at]}"
        return found, None
    return None, f"there is no package {parts[0]}"


def parameters(function: Any) -> list[list[Any]] | None:
    """Name, kind and whether there is a default, of every parameter; None where this cannot be known."""
    if not callable(function):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, p.default is not p.empty] for p in signature.parameters.values()]


def role(found: Any) -> str | None:
    """Which of Lightning's base classes a class derives from."""
    if not isinstance(found, type):
        return None
    names = {base.__name__ for base in found.__mro__ if base.__module__.startswith(("lightning", "pytorch_light"))}
    return next(
        (name for name in ("LightningModule", "LightningDataModule", "Callback", "Trainer") if name in names), None
    )


def plain_module() -> Any:
    """The class whose methods are torch's own, not Lightning's."""
    import torch

    return torch.nn.Module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
