"""Keeps wandb from starting a run that would go over the network, and tells what a project hands to a tracker of its
own.

Runs in the target's interpreter, beside the harness. Loggers start runs of wandb, some as soon as they are built, and
projects start runs and writers by themselves.
"""

from __future__ import annotations

import importlib.abc
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import MethodType, ModuleType
from typing import Any

from .logger_calls import Tell, telling

_WANDB = "wandb"
_WRITERS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")


class Changed(importlib.abc.MetaPathFinder):
    """Finds one module as the finders behind it do, and changes it once it was executed: libraries ask whether it is
    there before they import it."""

    def __init__(self, name: str, change: Callable[[Any], None]) -> None:
        self.name, self.change = name, change

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Nothing but that module."""
        if name != self.name:
            return None
        others = [other for other in sys.meta_path if other is not self and hasattr(other, "find_spec")]
        found = (other.find_spec(name, path, target) for other in others)
        spec = next(filter(None, found), None)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                loader.exec_module = execute
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                self.change(module)

            loader.exec_module = exec_module
        return spec


def watch_trackers(root: str, tell: Tell) -> None:
    """Have it so for what is imported from now on: runs of wandb are disabled, and the numbers that the project at
    `root` hands to them, and to writers of TensorBoard, are told."""
    os.environ.update({"WANDB_MODE": "disabled", "NEPTUNE_MODE": "debug", "MLFLOW_ALLOW_FILE_STORE": "true"})

    def disable(module: Any) -> None:
        if (original := getattr(module, "init", None)) is None:
            return

        def init(*args: Any, **kwargs: Any) -> Any:
            run: Any = original(*args, **{**kwargs, "mode": "disabled"})
            if isinstance(place := getattr(run, "dir", None), str):
                os.makedirs(place, exist_ok=True)  # noqa: PTH103
            if log := getattr(run, "log", None):
                told = telling(lambda run, *args, **kwargs: log(*args, **kwargs), "log", root, tell)
                run.log = module.log = MethodType(told, run)
            return run

        module.init = init
        module.login = lambda *args, **kwargs: True

    def watch_writer(module: Any) -> None:
        for method in ("add_scalar", "add_scalars"):
            if original := getattr(module.SummaryWriter, method, None):
                setattr(module.SummaryWriter, method, telling(original, method, root, tell))

    for name, change in {_WANDB: disable, **dict.fromkeys(_WRITERS, watch_writer)}.items():
        if name in sys.modules:
            change(sys.modules[name])
        else:
            sys.meta_path.insert(0, Changed(name, change))
