"""Keeps the project's own loggers, checkpoints and progress bars, and what they write within the run's own folders.

Runs in the target's interpreter, beside the harness. standins.py lists what answers otherwise than the real thing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .logger_calls import METHODS, Tell, told, watch_logger

FOLDERS = ("_save_dir", "_root_dir", "dirpath")
"""Where loggers and checkpoint callbacks keep the folder that they write to."""
EXPERIMENTS = {"CometLogger": ("comet_ml", "CometExperiment"), "LitLogger": ("litlogger", "Experiment")}
"""Lightning's loggers whose experiment works over the network alone, and the class of that."""
BARS = (".callbacks.progress.tqdm_progress", ".callbacks.progress")
WRITING = (
    "log_metrics", "log_hyperparams", "log_graph", "log_image", "log_table", "log_text", "log_audio", "log_video",
    "watch", "save", "finalize", "close", "after_save_checkpoint", "log_file", "log_model", "log_model_artifact",
)  # fmt: skip
"""The methods of loggers that write, or reach a network."""
CHECKPOINTING = ("enable_checkpointing", "checkpoint_callback")
_SEARCHES = re.compile(r"(?:^|[/\\])\.?(?:lr_find|scale_batch_size)_[\w-]*\.ckpt$")
"""What a Tuner calls the checkpoint to which it returns after a search."""
LARGE = 256 * 2**20
ROOM = 2**30
"""Bytes of one checkpoint, and of all, that are written."""


class StandInExperiment:
    """Takes every call, and hands numbers on to those who tell them; with a `real` class, it has what that has."""

    def __init__(self, name: str, tells: Mapping[str, Callable[..., None]], real: Any = None) -> None:
        self.__dict__.update(stands_for=name, _tells=tells, _real=real)

    def __getattr__(self, name: str) -> Any:
        real, tells = self.__dict__["_real"], self.__dict__["_tells"]
        if (name.startswith("__") and name.endswith("__")) or (real is not None and not hasattr(real, name)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return functools.partial(tells[name], self) if name in tells else self._further()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._further()

    def __getitem__(self, key: Any) -> Any:
        return self._further()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Kept nowhere."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def _further(self) -> StandInExperiment:
        return StandInExperiment(self.stands_for, self._tells)


def tells(root: str, tell: Tell) -> dict[str, Callable[..., None]]:
    """The methods of a stand-in that tell numbers which the project hands on."""
    return {method: told(method, root, tell) for method in METHODS}


def quieted(logger: Any, name: str, methods: Mapping[str, Callable[..., None]], real: Any = None) -> None:
    """Make a logger one of a class derived from its own, which writes nothing."""
    kind = type(logger)
    if getattr(logger, "stands_for", None):
        return
    experiment = StandInExperiment(name, methods, real)
    members: dict[str, Any] = {"stands_for": name, "experiment": property(lambda this: experiment)}
    members |= {method: _nothing for method in WRITING if hasattr(kind, method)}
    for method, otherwise in (("name", "lightning_logs"), ("version", 0)):
        members[method] = _fixed(vars(logger).get(f"_{method}"), otherwise)
    alike = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    with contextlib.suppress(TypeError):
        logger.__class__ = type(kind.__name__, (kind,), {**members, **alike})


def _nothing(this: Any, *args: Any, **kwargs: Any) -> None:
    """Where the real one would write, or reach a network."""


def _fixed(value: Any, otherwise: Any) -> property:
    """What a logger says of itself where nobody tells it."""
    return property(lambda this: otherwise if value is None else value)


def alone_logger(package: ModuleType, methods: Mapping[str, Callable[..., None]]) -> Any:
    """One logger for a module that is trained alone: like every single logger, it can be neither iterated nor
    subscripted."""
    for place, name in ((".loggers.logger", "Logger"), (".loggers.base", "LightningLoggerBase")):
        with contextlib.suppress(ImportError, AttributeError):
            base = getattr(importlib.import_module(package.__name__ + place), name)
            folder = os.path.join(tempfile.gettempdir(), "lightning_logs")  # noqa: PTH118
            answers = {"name": "lightning_logs", "version": 0, "root_dir": folder, "save_dir": tempfile.gettempdir()}
            answers |= {"log_dir": f"{folder}/version_0", "experiment": StandInExperiment("alone", methods)}
            members = {name: _fixed(value, None) for name, value in answers.items()}
            writing = {"log_metrics": methods["log_metrics"], "log_hyperparams": _nothing}
            return type("StandInLogger", (base,), {"stands_for": "alone", **members, **writing})()
    return False


# -- what the project gives a Trainer


class Keeper:
    """Lets a Trainer have what the project gives it, for one run."""

    def __init__(self, spec: dict[str, Any], root: str, tell: Tell) -> None:
        self.spec, self.root, self.tell = spec, root, tell
        self.own = [Path(place).resolve() for place in (root, spec["scratch"], tempfile.gettempdir(), Path.home())]
        self.emptied: set[str] = set()
        self.written = 0

    @property
    def called(self) -> bool:
        """Whether the Trainer of a module alone has arguments that the project gives it."""
        return self.spec.get("mode") == "calls"

    @property
    def alone(self) -> bool:
        """Whether the Trainer is not the project's."""
        return self.spec.get("mode") in ("search", "replay")

    def folder(self, asked: Any) -> Any:
        """A folder to write to: the one that is asked for, where it is the run's own, else one in its place."""
        if not isinstance(asked, (str, os.PathLike)) or not str(asked):
            return asked
        plain = os.path.abspath(os.path.expandvars(os.path.expanduser(asked)))  # noqa: PTH100, PTH111
        if "://" not in str(asked) and any(Path(plain).resolve().is_relative_to(place) for place in self.own):
            return asked
        moved = Path(self.spec["scratch"], "elsewhere", str(asked).replace("://", "/").lstrip("/"))
        return str(moved) if isinstance(asked, str) else moved

    def keep(self, value: Any) -> None:
        """Have a logger or a callback write to folders of the run alone."""
        for name in FOLDERS:
            asked = vars(value).get(name) if hasattr(value, "__dict__") else None
            if (folder := self.folder(asked)) is not asked:
                setattr(value, name, folder)
                if hasattr(value, "_fs"):
                    value._fs = _local()

    def logger(self, value: Any) -> None:
        """The same of a logger, whose network is not there."""
        self.keep(value)
        kinds = [base.__name__ for base in type(value).__mro__]
        remote = next((name for name in EXPERIMENTS if name in kinds), None)
        if "loggers" in self.spec.get("quiet", ()):
            quieted(value, "loggers", tells(self.root, self.tell))
        elif remote:
            package, name = EXPERIMENTS[remote]
            real = getattr(sys.modules.get(package), name, None)
            quieted(value, "trackers", tells(self.root, self.tell), real)
        elif "MLFlowLogger" in kinds:
            self._local_mlflow(value)
        watch_logger(value, self.root, self.tell)

    def _local_mlflow(self, logger: Any) -> None:
        """Files in the place of a server."""
        if "://" in str(getattr(logger, "_tracking_uri", "")) and not str(logger._tracking_uri).startswith("file:"):
            logger._tracking_uri = Path(self.spec["scratch"], "mlruns").as_uri()
            if hasattr(logger, "_mlflow_client"):
                logger._mlflow_client = type(logger._mlflow_client)(logger._tracking_uri)

    def arguments(self, given: dict[str, Any], names: frozenset[str], package: ModuleType) -> None:
        """Change what a Trainer is given where it would write elsewhere, or is not the project's."""
        if self.alone:
            for name in CHECKPOINTING:  # without it, the callback that saves nothing would be refused
                given.pop(name, None)
            given |= self._of_alone(names, package)
            return
        if self.called:
            self._complete(given, names, package)
        for name in ("default_root_dir", "weights_save_path"):
            if given.get(name) is not None:
                given[name] = self.folder(given[name])
        for value in _each(given.get("logger")):
            self.logger(value)
        for value in _each(given.get("callbacks")):
            self.keep(value)

    def _complete(self, given: dict[str, Any], names: frozenset[str], package: ModuleType) -> None:
        """Give a Trainer besides the project's arguments what keeps it from writing."""
        ours = self._of_alone(names, package)
        if given.get("logger", True) is True:
            given["logger"] = ours["logger"]
        given.setdefault("default_root_dir", ours["default_root_dir"])
        if all(given.get(name, True) for name in CHECKPOINTING):
            given["callbacks"] = [*_each(given.get("callbacks")), *ours["callbacks"]]

    def _of_alone(self, names: frozenset[str], package: ModuleType) -> dict[str, Any]:
        """What the Trainer of a module alone is given in place of the project's, which nobody knows."""
        silent = importlib.import_module(package.__name__ + ".callbacks").ModelCheckpoint(save_top_k=0)
        wanted = {
            "logger": alone_logger(package, tells(self.root, self.tell)), "callbacks": [silent],
            "enable_progress_bar": False, "enable_model_summary": False, "default_root_dir": self.spec["scratch"],
        }  # fmt: skip
        if "enable_progress_bar" not in names:
            wanted["progress_bar_refresh_rate"] = 0
        if "enable_model_summary" not in names:
            wanted["weights_summary"] = None
        return {name: value for name, value in wanted.items() if name in names}

    # -- checkpoints

    def saving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Write an empty file for a checkpoint that is too large, unless a Tuner loads it again and takes it away."""

        @functools.wraps(original)
        def save(trainer: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
            if _SEARCHES.search(str(filepath)):
                return original(trainer, filepath, *args, **kwargs)
            size = _size(trainer)
            if size <= LARGE and self.written + size <= ROOM:
                self.written += size
                return original(trainer, filepath, *args, **kwargs)
            self.emptied.add(str(filepath))
            self.spec["emptied"] = True
            Path(filepath).parent.mkdir(parents=True, exist_ok=True)
            Path(filepath).touch()
            return None

        return save

    def evaluating(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Let an evaluation use the model at hand where the short training did not write the checkpoint that it asks
        for."""

        @functools.wraps(original)
        def call(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            if self._unwritten(trainer, bool(args) or kwargs.get("model") is not None, kwargs.get("ckpt_path")):
                kwargs["ckpt_path"] = None
                if not args and kwargs.get("model") is None:
                    kwargs["model"] = trainer.lightning_module
            return original(trainer, *args, **kwargs)

        return call

    def _unwritten(self, trainer: Any, with_model: bool, asked: Any) -> bool:
        if str(asked) in self.emptied:
            return True
        callback = getattr(trainer, "checkpoint_callback", None)
        model = getattr(trainer, "lightning_module", None)
        if callback is None or model is None or getattr(trainer, "fast_dev_run", False):
            return False
        if not getattr(getattr(trainer, "state", None), "finished", True):
            return False
        if asked not in ("best", "last", None) or (asked is None and with_model):
            return False
        best = getattr(callback, "best_model_path", None)
        return self.alone or best in self.emptied or (best == "" and getattr(callback, "save_top_k", 0) != 0)


def _each(given: Any) -> list[Any]:
    """What is given of several, or one."""
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else [given]
    return [value for value in several if value is not None and not isinstance(value, bool)]


def _size(trainer: Any) -> int:
    """About how many bytes a checkpoint has: the weights, and as much twice for an optimizer."""
    with contextlib.suppress(Exception):
        values = trainer.lightning_module.state_dict().values()
        return 3 * sum(int(value.numel() * value.element_size()) for value in values if hasattr(value, "numel"))
    return 0


def _local() -> Any:
    """The files of this machine, as Lightning sees them."""
    return importlib.import_module("fsspec.implementations.local").LocalFileSystem()


def quiet_bars(package: ModuleType) -> None:
    """Have the bars of a release write to nowhere."""
    for place in BARS:
        with contextlib.suppress(ImportError):
            module = importlib.import_module(package.__name__ + place)
            for kind in {vars(module).get("Tqdm"), vars(module).get("tqdm")} - {None}:
                if isinstance(kind, type) and kind.__module__ == module.__name__:
                    kind.__init__ = _nowhere(kind.__init__)  # type: ignore[misc]


def _nowhere(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(this: Any, *args: Any, **kwargs: Any) -> None:
        original(this, *args, **{**kwargs, "file": io.StringIO()})

    return init
