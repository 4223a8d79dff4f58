"""A Lightning that takes what the newest Trainer takes, records it and trains nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from codemods.lightning.arguments import current
from codemods.lightning.object_arguments import keywords

NEVER_NONE = frozenset(
    {"accelerator", "strategy", "devices", "max_steps", "overfit_batches", "accumulate_grad_batches"}
)
"""Arguments of which the newest release takes no None."""
USUAL = {
    "enable_progress_bar": True,
    "detect_anomaly": None,
    "enable_model_summary": True,
    "enable_checkpointing": True,
    "accumulate_grad_batches": 1,
    "profiler": None,
    "overfit_batches": 0.0,
    "reload_dataloaders_every_n_epochs": 0,
    "limit_train_batches": 1.0,
    "limit_val_batches": 1.0,
    "limit_test_batches": 1.0,
    "log_every_n_steps": None,
    "callbacks": [],
}
"""What is the same as nothing."""
IDLE = (("TQDMProgressBar", "process_position", 0), ("TQDMProgressBar", "refresh_rate", 1))
"""Callbacks that are there in any case, by what they are given."""
PACKAGES = ("pytorch_lightning", "lightning")


class _Anything:
    """What stands for torch, callbacks and the like: it can be called, and compared by what it was made of."""

    def __init__(self, name: str, *given: Any, **named: Any) -> None:
        self.__dict__["said"] = (name, given, tuple(sorted(named.items())))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: _Anything(name, *given, **named)

    def __repr__(self) -> str:
        return repr(self.said)


def _is_idle(item: _Anything) -> bool:
    if item.said[0] == "TQDMProgressBar" and any(value is None for _, value in item.said[2]):
        raise TypeError("a progress bar takes no None")
    return any(item.said == (name, (), ((word, value),)) for name, word, value in IDLE)


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("callbacks", "nn", "optim", "utils", "data", "tuner", "loggers", "strategies", "plugins"):
            return _Module(name)
        return lambda *given, **named: _Anything(name, *given, **named)


def _lightning(record: list[str]) -> ModuleType:
    class Trainer:
        def __init__(self, **given: Any) -> None:
            if unknown := sorted(given.keys() - current()):
                raise TypeError(f"Trainer has no argument {unknown[0]}")
            if none := sorted(name for name in NEVER_NONE & given.keys() if given[name] is None):
                raise TypeError(f"{none[0]} is None")
            if "callbacks" in given:
                given["callbacks"] = [item for item in given["callbacks"] or () if not _is_idle(item)]
            self.given = {name: value for name, value in given.items() if repr(value) != repr(USUAL.get(name, self))}

        def fit(self, model: Any, **given: Any) -> None:
            record.append(f"{sorted(self.given.items())!r} {sorted(given.items())!r}")

    class LightningModule:
        def parameters(self) -> list[Any]:
            return []

    made = _Module("pytorch_lightning")
    vars(made).update(Trainer=Trainer, LightningModule=LightningModule, __path__=[])
    return made


@contextmanager
def _installed(modules: Mapping[str, ModuleType], words: Sequence[str]) -> Iterator[None]:
    before, arguments = dict(sys.modules), sys.argv
    sys.modules.update(modules)
    sys.argv = ["train.py", *words]
    try:
        yield
    finally:
        sys.modules.clear()
        sys.modules.update(before)
        sys.argv = arguments


def used(files: Mapping[str, str]) -> list[str]:
    """What the callbacks, loggers and profilers were given that a script hands to `use` of `tools`. None of them takes
    what the newest release does not take."""
    record: list[str] = []
    tools = ModuleType("tools")
    vars(tools)["use"] = lambda made: record.append(repr(made.said))
    modules: dict[str, ModuleType] = {"tools": tools}
    for package in PACKAGES:
        modules[package] = _Module(package)
        vars(modules[package])["__path__"] = []
    for owner in {owner.rpartition(".")[0] for owner, _ in keywords()} - {"self"}:
        parts = owner.split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            modules[f"pytorch_lightning.{name}"] = module = _Classes(name)
            vars(module)["__path__"] = []
    _run(files, modules)
    return record


class _Classes(ModuleType):
    """A module of which every name is a class that keeps what it is given."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        gone = {keyword for owner, keyword in keywords() if owner == f"{self.__name__}.{name}"}

        def init(made: Any, **given: Any) -> None:
            if taken := sorted(gone & given.keys()):
                raise TypeError(f"{name} has no argument {taken[0]}")
            made.said = name, sorted((key, value) for key, value in given.items() if value is not None)

        made = type(name, (), {"__init__": init})
        setattr(self, name, made)
        return made


def trained(files: Mapping[str, str], words: Sequence[str] = ()) -> list[str]:
    """What the Trainers of a script were given, and their `fit`, where `train.py` runs beside the other files and is
    called with some words."""
    record: list[str] = []
    lightning = _lightning(record)
    modules: dict[str, ModuleType] = {"torch": _Module("torch")}
    for package in PACKAGES:
        modules[package] = lightning
    for name in ("callbacks", "tuner", "strategies", "plugins", "loggers"):
        modules |= {f"{package}.{name}": _Module(name) for package in ("pytorch_lightning", "lightning.pytorch")}
    modules["lightning.pytorch"] = lightning
    _run(files, modules, words)
    return record


def _run(files: Mapping[str, str], modules: Mapping[str, ModuleType], words: Sequence[str] = ()) -> None:
    """Runs `train.py` beside the other files."""
    with _installed(modules, words):
        for path in sorted(files, reverse=True):
            if path != "train.py":
                name = path.removesuffix(".py")
                sys.modules[name] = module = ModuleType(name)
                exec(compile(files[path], path, "exec"), vars(module))
        exec(compile(files["train.py"], "train.py", "exec"), {"__name__": "__main__"})
