"""Keeps wandb from starting a run that would go over the network: a proof needs none of its logs.

Runs in the target's interpreter, beside the harness. Lightning's own loggers are left out by the Trainer; some start
a run as soon as they are built, and projects start some by themselves.
"""

from __future__ import annotations

import importlib.abc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_NAME = "wandb"


class Silence(importlib.abc.MetaPathFinder):
    """Finds wandb as the finders behind it do, and has it start disabled runs whatever it is asked for."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Nothing but wandb, until it was executed: libraries ask whether it is there before they import it."""
        if name != _NAME:
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
                _disable(module)

            loader.exec_module = exec_module
        return spec


def silence() -> None:
    """Have it so for what is imported from now on."""
    os.environ["WANDB_MODE"] = "disabled"
    if _NAME not in sys.modules:
        sys.meta_path.insert(0, Silence())


def _disable(module: Any) -> None:
    original = getattr(module, "init", None)
    if original is not None:
        module.init = lambda *args, **kwargs: original(*args, **{**kwargs, "mode": "disabled"})
