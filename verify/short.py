"""What makes a training short and steady: the arguments of its Trainer, and batches that do not depend on the release.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import random
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from .placement import placed

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


def smoke(given: dict[str, Any], names: frozenset[str], spec: dict[str, Any], package: ModuleType) -> dict[str, Any]:
    """The Trainer's arguments for a short run; what this version does not know stays to fail."""
    kept = {name: value for name, value in given.items() if name not in names or name not in PLACEMENT + UNWANTED}
    wanted: dict[str, Any] = {**QUIET, "default_root_dir": spec["scratch"]}
    wanted |= {"checkpoint_callback": False} if "enable_checkpointing" not in names else {}
    wanted |= {"progress_bar_refresh_rate": 0} if "enable_progress_bar" not in names else {}
    wanted |= {"weights_summary": None} if "enable_model_summary" not in names else {}
    for name in ("limit_train_batches", "limit_val_batches", "max_epochs"):
        wanted[name] = least(given.get(name), spec[name])
    for name in ("overfit_batches", "fast_dev_run"):
        if type(given.get(name)) is not bool and given.get(name):
            wanted[name] = least(given[name], spec["limit_train_batches"])
    wanted["num_sanity_val_steps"] = least(given.get("num_sanity_val_steps"), 2)
    if given.get("logger", True):
        wanted["logger"] = quiet_logger(package)
    elif given["logger"] is not None:
        wanted["logger"] = False
    kept |= {name: value for name, value in wanted.items() if name in names}
    for name, keep in (("callbacks", keeps_callback), ("plugins", keeps_plugin)):
        if kept.get(name) is not None:
            values = kept[name] if isinstance(kept[name], Iterable) else [kept[name]]
            kept[name] = [value for value in values if keep(value)]
    where = placed(given, names, spec)
    if "plugins" in where:
        where["plugins"] += kept.get("plugins") or []
    return kept | where


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


def without_checkpoint(original: Callable[..., Any]) -> Callable[..., Any]:
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


def steady_shares() -> None:
    """Let ranks share a shuffled epoch in one order: 1.7 to 1.9 shuffle anew what the loader's own sampler has shuffled
    already."""
    from torch.utils.data import DistributedSampler, RandomSampler, SequentialSampler

    build = DistributedSampler.__init__

    @functools.wraps(build)
    def init(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
        build(self, dataset, *args, **kwargs)
        wrapped: Any = getattr(dataset, "_sampler", None)
        plain = type(wrapped) is RandomSampler and not wrapped.replacement and len(wrapped) == len(wrapped.data_source)
        if self.shuffle and plain:
            dataset._sampler = SequentialSampler(wrapped.data_source)

    DistributedSampler.__init__ = init  # type: ignore[method-assign]
