"""What makes a training short and steady: the arguments of its Trainer, and batches that do not depend on the release.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import importlib
import inspect
import random
import sys
from collections.abc import Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any

from .placement import placed

PLACEMENT = (
    "gpus", "tpu_cores", "ipus", "num_processes", "num_nodes", "accelerator", "devices", "strategy",
    "distributed_backend", "auto_select_gpus", "auto_scale_batch_size", "auto_lr_find", "sync_batchnorm",
)  # fmt: skip
UNWANTED = (
    "profiler", "min_epochs", "min_steps", "max_time", "val_check_interval", "check_val_every_n_epoch",
    "log_gpu_memory",
)  # fmt: skip
FEW = {"limit_test_batches": 2, "limit_predict_batches": 2}
DROPPED = frozenset({"DeviceStatsMonitor", "GPUStatsMonitor", "XLAStatsMonitor"})


def smoke(given: dict[str, Any], names: frozenset[str], spec: dict[str, Any]) -> dict[str, Any]:
    """The Trainer's arguments for a short run; what this version does not know stays to fail."""
    kept = {name: value for name, value in given.items() if name not in names or name not in PLACEMENT + UNWANTED}
    wanted: dict[str, Any] = dict(FEW)
    for name in ("limit_train_batches", "limit_val_batches", "max_epochs"):
        wanted[name] = least(given.get(name), spec[name])
    for name in ("overfit_batches", "fast_dev_run"):
        if type(given.get(name)) is not bool and given.get(name):
            wanted[name] = least(given[name], spec["limit_train_batches"])
    wanted["num_sanity_val_steps"] = least(given.get("num_sanity_val_steps"), 2)
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


def is_placed(given: dict[str, Any]) -> bool:
    """Whether a Trainer was asked for more than the device that is here."""
    return any(given.get(name) not in (None, False, 0, 1, "auto", "cpu") for name in PLACEMENT if name in given)


def keeps_plugin(plugin: Any) -> bool:
    return any("Precision" in base.__name__ for base in type(plugin).__mro__)


def leave_out_searches(package: ModuleType) -> None:
    """Search for no learning rate and no size of batches where a script asks a Tuner for one and does nothing with the
    answer: what a release up to 1.9 searches by an argument of its Trainer is left out, too. The rate or the size that
    it would set stays as it is."""
    try:
        tuner: Any = importlib.import_module(f"{package.__name__}.tuner.tuning").Tuner
    except (ImportError, AttributeError):
        return

    def left_out(original: Any) -> Any:
        @functools.wraps(original)
        def search(*args: Any, **kwargs: Any) -> Any:
            if not _is_dropped(sys._getframe(1)):
                return original(*args, **kwargs)
            inspect.signature(original).bind(*args, **kwargs)
            return None

        return search

    for name in ("lr_find", "scale_batch_size"):
        if hasattr(tuner, name):
            setattr(tuner, name, left_out(getattr(tuner, name)))


def _is_dropped(frame: FrameType) -> bool:
    """Whether the value of the call that a frame is at is dropped."""
    behind = (each for each in dis.get_instructions(frame.f_code) if each.offset > frame.f_lasti)
    return next((each.opname for each in behind if each.opname != "NOP"), "") == "POP_TOP"


# -- batches


@contextlib.contextmanager
def own_random(seed: int) -> Iterator[None]:
    """Draw from generators that start at `seed`, and leave the global ones as they were, those of GPUs too: what a
    project does in a worker of a loader may seed them all."""
    import numpy
    import torch

    states = random.getstate(), numpy.random.get_state()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        torch.default_generator.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(states[0])
            numpy.random.set_state(states[1])


def plain_kernels() -> None:
    """Leave oneDNN out where it cannot compute in bfloat16, as on a CPU without AVX-512: torch asks it all the same,
    for an LSTM for one, and it refuses."""
    import torch

    with contextlib.suppress(AttributeError, RuntimeError):  # torch that does not know, which does not ask either
        if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            kernels: Any = torch.backends.mkldnn
            kernels.set_flags(False)


def steady_sanity_check(trainer: Any, seed: int) -> None:
    """Keep what a sanity check draws from what the training draws: up to 1.5 Lightning went on with the seed of the
    environment behind it, up to 1.7 it gave back the generators of the CPU alone, since 1.8 those of GPUs too."""
    original = getattr(trainer, "_run_sanity_check", None)
    if original is None:
        return

    @functools.wraps(original)
    def checked(this: Any, *args: Any, **kwargs: Any) -> Any:
        with own_random(seed):
            return original(this, *args, **kwargs)

    trainer._run_sanity_check = checked


def steady_loaders(seed: int, *, workers: bool = False) -> None:
    """Make batches depend on their pass and number alone: versions fetch them at different moments. Without `workers`
    this process fetches what theirs would; the loader keeps all that it was given."""
    from torch.utils.data import DataLoader, dataloader

    base: Any = dataloader._BaseDataLoaderIter
    single: Any = dataloader._SingleProcessDataLoaderIter
    start, fetch = base.__init__, base.__next__

    def begin(self: Any, loader: Any) -> None:
        passes = loader.__dict__.get("_passes", 0)
        loader.__dict__["_passes"] = passes + 1
        self._own = seed + 1_000_003 * (passes + 1)
        self._as_worker = bool(loader.num_workers) and isinstance(self, single)
        with own_random(self._own), as_worker(loader.dataset, self._own, self._as_worker):
            start(self, loader)
            if self._as_worker:
                self._num_workers = self._timeout = 0
                if loader.worker_init_fn is not None:
                    loader.worker_init_fn(0)

    def following(self: Any) -> Any:
        self._own += 1
        with own_random(self._own), as_worker(self._dataset, self._own, self._as_worker):
            return fetch(self)

    def single_process(self: Any, loader: Any) -> None:
        with as_worker(loader.dataset, seed, bool(loader.num_workers)):
            build(self, loader)

    build = single.__init__
    base.__init__, base.__next__, single.__init__ = begin, following, single_process
    if not workers:
        loaders: Any = DataLoader
        loaders._get_iterator = lambda self: single(self)
        loaders.__iter__ = lambda self: self._get_iterator()


def few_samples(most: int) -> None:
    """Let every loader that is made put no more than so many samples into a batch, and keep how many it was to."""
    from torch.utils.data import DataLoader

    loaders: Any = DataLoader
    build = loaders.__init__

    @functools.wraps(build)
    def init(self: Any, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
        is_large = isinstance(batch_size, int) and batch_size > most
        build(self, dataset, most if is_large else batch_size, *args, **kwargs)
        if is_large:
            self.__dict__["_asked"] = batch_size

    loaders.__init__ = init


@contextlib.contextmanager
def as_worker(dataset: Any, seed: int, wanted: bool) -> Iterator[None]:
    """Let a data set see itself in the one worker of its loader, where the loader was given any."""
    from torch.utils.data._utils import worker

    held: Any = worker
    before = held._worker_info
    if wanted:
        held._worker_info = worker.WorkerInfo(id=0, num_workers=1, seed=seed, dataset=dataset)
    try:
        yield
    finally:
        held._worker_info = before


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
