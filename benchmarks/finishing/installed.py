"""What the Lightning that runs this has: names, signatures, members, the values that Trainer takes."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import logging
import types
import typing
import warnings
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("pytorch_lightning", "lightning", "lightning_fabric")
METRICS = "torchmetrics"
"""Where Lightning's metrics went: a call that it refuses is as broken as one that Lightning does."""
MISSING = object()
REPLACED = {
    "DDPPlugin": "DDPStrategy",
    "LightningLoggerBase": "Logger",
    "LoggerBase": "Logger",
    "ProgressBarBase": "ProgressBar",
    "TrainingTypePlugin": "Strategy",
    "BaseProfiler": "Profiler",
}
"""Old names of classes, so that what stands in subclasses of them is judged before they are renamed too."""
OUTSIDE = ("pytorch_lightning.metrics.",)
"""Modules that went to other packages whole: a class there is none of those that Lightning exports by its name, as
its plugin Precision is not the metric."""
TABLE_VALUES = ("accelerator", "strategy", "precision", "devices", "num_nodes", "plugins")
NOT_TRIED = frozenset({"logger", "callbacks", "default_root_dir", "max_time", *TABLE_VALUES})


@cache
def find(dotted: str) -> Any:
    """The object of a dotted name, or MISSING."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parent, _, name = dotted.rpartition(".")
        if not parent:
            return importlib.import_module(dotted) if dotted in (*PACKAGES, METRICS) else MISSING
        holder = find(parent)
        if holder is MISSING:
            return MISSING
        if (found := getattr(holder, name, MISSING)) is not MISSING or not inspect.ismodule(holder):
            return found
        try:
            return importlib.import_module(dotted)
        except Exception:
            return MISSING


def first_missing(dotted: str) -> str:
    """The shortest part of a dotted name that is not there; empty where all of it is, or where it leads out of
    modules and classes."""
    parts = dotted.split(".")
    for end in range(1, len(parts) + 1):
        found = find(".".join(parts[:end]))
        if found is MISSING:
            return ".".join(parts[:end])
        if not (inspect.ismodule(found) or inspect.isclass(found)):
            return ""
    return ""


@cache
def by_name() -> dict[str, Any]:
    """The classes that the packages of Lightning export, by their last name."""
    import pytorch_lightning as pl
    import pytorch_lightning.cli as cli

    modules = (cli, pl.accelerators, pl.plugins, pl.profilers, pl.strategies, pl.loggers, pl.callbacks, pl)
    return {name: item for module in modules for name, item in vars(module).items() if inspect.isclass(item)}


def class_of(dotted: str) -> type | None:
    """The class of a dotted name; by its last name where the module that held it is gone."""
    found = find(dotted)
    if found is MISSING and not dotted.startswith(OUTSIDE):
        name = dotted.rpartition(".")[2]
        found = by_name().get(REPLACED.get(name, name))
    return found if inspect.isclass(found) and "lightning" in found.__module__ else None


@cache
def families(item: type) -> tuple[str, ...]:
    """The names of a class and of its bases that are Lightning's."""
    return tuple(base.__name__ for base in item.__mro__ if "lightning" in base.__module__)


@cache
def _gone() -> dict[tuple[str, str], tuple[str, str]]:
    with Path(__file__).with_name("gone.csv").open(encoding="utf-8", newline="") as file:
        return {(row["class"], row["member"]): (row["kind"], row["last"]) for row in csv.DictReader(file)}


def gone(item: type, member: str) -> str:
    """`hook` or `member` where 1.x had it and the installed class has not; empty otherwise."""
    if hasattr(item, member) or ("Trainer" in families(item) and hasattr(live(), member)):
        return ""
    return next((_gone()[name, member][0] for name in families(item) if (name, member) in _gone()), "")


@cache
def live() -> Any:
    """A Trainer, to see what it holds."""
    import pytorch_lightning as pl

    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pl.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)


def signature(item: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(item)
    except (TypeError, ValueError):
        return None


def only_raises(item: type) -> bool:
    """Whether a class is there only to say that it is gone."""
    if not isinstance(vars(item).get("__init__"), types.FunctionType) or "lightning" not in item.__module__:
        return False
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(vars(item)["__init__"]))
    except OSError:  # written by a decorator, as that of a data class
        return False
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    return isinstance(body[-1], ast.Raise) and all(isinstance(each, ast.Expr | ast.Raise) for each in body)


@cache
def _accepted() -> dict[str, frozenset[Any]]:
    from lightning_fabric.plugins.precision import precision
    from pytorch_lightning.accelerators import AcceleratorRegistry
    from pytorch_lightning.strategies import StrategyRegistry

    numbers = (precision._PRECISION_INPUT_INT, precision._PRECISION_INPUT_STR, precision._PRECISION_INPUT_STR_ALIAS)
    return {
        "precision": frozenset({None, *(value for each in numbers for value in typing.get_args(each))}),
        "accelerator": frozenset({"auto", "gpu", *AcceleratorRegistry.available_accelerators()}),
        "strategy": frozenset({"auto", *StrategyRegistry.available_strategies()}),
    }


def refused(argument: str, value: Any) -> bool:
    """Whether Trainer refuses a value that is written out."""
    if argument in _accepted():
        value = value.lower() if argument == "strategy" and isinstance(value, str) else value
        return not isinstance(value, list | dict | set) and value not in _accepted()[argument]
    if argument == "devices":
        return value in ([], 0, "0") or value is None
    if argument == "num_nodes":
        return not isinstance(value, int) or value < 1
    if argument == "plugins":
        return any(isinstance(each, str) for each in (value if isinstance(value, list | tuple) else [value]))
    if argument == "accumulate_grad_batches":
        return not isinstance(value, int)
    if argument == "profiler" and value is True:
        return True
    return argument not in NOT_TRIED and _fails(argument, repr(value))


@cache
def _fails(argument: str, written: str) -> bool:
    import pytorch_lightning as pl

    base = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    live()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pl.Trainer(**{**base, argument: ast.literal_eval(written)})
        except Exception:
            return True
    return False
