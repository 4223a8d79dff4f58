"""What Lightning took before 1.4, lent to 1.4: of the releases before it none installs any more, and code that was
written for one is run on it. No later release is lent anything.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Container
from types import ModuleType
from typing import Any

EARLIER: dict[str, None] = {}
"""What was taken all the same."""
_RENAMED = {
    "default_save_path": "default_root_dir", "gradient_clip": "gradient_clip_val", "max_nb_epochs": "max_epochs",
    "min_nb_epochs": "min_epochs", "nb_gpu_nodes": "num_nodes", "nb_sanity_val_steps": "num_sanity_val_steps",
    "num_tpu_cores": "tpu_cores", "overfit_pct": "overfit_batches", "row_log_interval": "log_every_n_steps",
    "test_percent_check": "limit_test_batches", "train_percent_check": "limit_train_batches",
    "val_percent_check": "limit_val_batches",
}  # fmt: skip
"""Arguments of Trainer that have another name by 1.4."""
_WITHOUT = (
    "automatic_optimization", "enable_pl_optimizer", "log_save_interval", "print_nan_grads", "show_progress_bar",
)  # fmt: skip
"""Those that are gone by then, and change nothing of what a short training computes."""
_CALLBACKS = ("checkpoint_callback", "early_stop_callback")


def is_wanted(names: Container[str]) -> bool:
    """Whether a Trainer, by the names of its arguments, is that of 1.4."""
    return "strategy" not in names and "checkpoint_callback" in names


def lend(package: ModuleType) -> None:
    """Let modules be given `hparams`, datamodules keep the very object, and callbacks take what they took."""
    held: Any = package
    callbacks = held.callbacks

    def of_module(self: Any, value: Any) -> None:
        EARLIER["self.hparams = ..."] = None
        self._set_hparams(value)

    def of_data(self: Any, value: Any) -> None:
        EARLIER["self.hparams = ... of a datamodule"] = None
        self._hparams = value

    for kind, given in ((held.LightningModule, of_module), (held.LightningDataModule, of_data)):
        if kind.hparams.fset is None:
            kind.hparams = property(kind.hparams.fget, given)
    for kind, change in ((callbacks.ModelCheckpoint, _checkpoint), (callbacks.EarlyStopping, _stopping)):
        kind.__init__ = _changed(kind.__init__, change)


def _changed(original: Any, change: Callable[[dict[str, Any]], None]) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        change(kwargs)
        original(self, *args, **kwargs)

    return init


def _checkpoint(given: dict[str, Any]) -> None:
    """A path for a folder that is there, or for a folder and a name; a prefix goes before the name."""
    if "filepath" in given:
        EARLIER["ModelCheckpoint(filepath=...)"] = None
        path = given.pop("filepath") or ""
        folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)  # noqa: PTH112
        given |= {"dirpath": folder or None, "filename": name or None}
    if "prefix" in given:
        EARLIER["ModelCheckpoint(prefix=...)"] = None
        prefix = given.pop("prefix")
        given["filename"] = f"{prefix}-{given.get('filename') or '{epoch}'}" if prefix else given.get("filename")
    _stopping(given)


def _stopping(given: dict[str, Any]) -> None:
    """A direction that is read from the name of what is watched."""
    if given.get("mode") == "auto":
        EARLIER['mode="auto" of callbacks'] = None
        watched = str(given.get("monitor") or "")
        given["mode"] = "max" if "acc" in watched or watched.startswith("fmeasure") else "min"


def translated(given: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    """The arguments of a Trainer under their names of 1.4."""
    made = dict(given)
    for name in [*_RENAMED, *_WITHOUT, *_CALLBACKS]:
        if name not in made or (name in names and (name not in _CALLBACKS or isinstance(made[name], bool))):
            continue
        if name == "automatic_optimization" and made[name] is False:
            continue  # it made every module optimize manually
        value = made.pop(name)
        EARLIER[f"Trainer({name}=...)"] = None
        if name in _RENAMED:
            made[_RENAMED[name]] = value
        elif name in _CALLBACKS and not isinstance(value, bool) and value is not None:
            own = made.get("callbacks") or []
            made["callbacks"] = [*(own if isinstance(own, list) else [own]), value]
        elif name == "checkpoint_callback" and value is None:
            made[name] = False
    return made
