"""Builds a module and trains it on made-up batches, once: what a try is, how it ends and how far it came.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import signal
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any

from . import alone_batches as batches
from .alone_memory import bounded, held, is_refused, tidy
from .alone_shapes import Shape, beginnings
from .alone_stubs import Stubs
from .alone_values import Builder
from .alone_weights import blank

ONE_TRY_S = 25
PATIENCE = 3
LARGEST = 400_000_000
MISSING = 12
STEP_SCORE = 1_000_000
BATCHES, EPOCHS = 8, 2
"""As many as a proof trains."""
EVALUATIONS = {"validates": "validation_step", "tests": "test_step"}
"""What of a state says that a module is evaluated, and the step that does it."""


TAKE_BATCHES = ("training_step", "on_train_batch_start", "on_before_batch_transfer", "on_after_batch_transfer",
                "transfer_batch_to_device", "on_train_batch_end")  # fmt: skip


@dataclass(frozen=True)
class TryState:
    """What is tried: arguments, a batch (None: the module's first guess), hooks that are left out, attributes that
    the project's script would have set, or methods that it would have called, and whether the module is validated and
    tested too: left out at first, since a step on made-up batches is enough to find them, but a schedule may watch
    what is logged there. `weights` lets weights be random that the module would load from where they are not. `full`
    are the arguments that were too large or too slow here, None where these are no smaller ones; `slow` says that its
    training takes much of the time that there is. `shaped` says what of the project gave the shapes of the batch."""

    arguments: dict[str, Any]
    batch: dict[str, Any] | None = None
    skipped: tuple[str, ...] = ()
    datamodule: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    validates: bool = False
    tests: bool = False
    weights: bool = False
    full: dict[str, Any] | None = None
    slow: bool = False
    shaped: str = ""

    @property
    def key(self) -> str:
        return json.dumps(self.described, sort_keys=True, default=str)

    @property
    def described(self) -> dict[str, Any]:
        """All that is in it, as a recipe holds it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def of(cls, recipe: dict[str, Any]) -> TryState:
        """What a recipe describes."""
        return cls(**{name: recipe[name] for name in cls.__dataclass_fields__ if name != "skipped"},
                   skipped=tuple(recipe["skipped"]))  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """How a try ended: the error, if any, the frames that it passed, how far it came, and how long one batch took.
    `shaped` says what of the project gave the shapes of the batch; where it was chosen here, `others` come next."""

    error: BaseException | None
    frames: tuple[tuple[FrameType, int], ...] = ()
    score: float = 0.0
    module: Any = None
    spec: dict[str, Any] | None = None
    made: Any = None
    seconds: float = 0.0
    shaped: str = ""
    others: tuple[tuple[dict[str, Any], str], ...] = ()


@dataclass
class TryBench:
    """What both jobs work with: the watch around torch and Lightning, the project's folder, and `absent`: weights that
    a module would have loaded from where they are not. A try may not hold more `memory`, in bytes."""

    watch: Any
    root: str
    seed: int
    stubs: Stubs = field(default_factory=Stubs)
    absent: list[str] = field(default_factory=list)
    memory: float = float("inf")

    @property
    def builder(self) -> Builder:
        """What makes arguments of their descriptions."""
        return Builder(self.imported)

    def imported(self, name: str) -> ModuleType:
        """A module, with something in place of packages that are missing."""
        for _ in range(MISSING - 1):
            try:
                Stubs.loading = True
                return importlib.import_module(name)
            except ImportError as error:
                if not self.stubs.stands_in(error, self.root):
                    raise
            finally:
                Stubs.loading = False
        return importlib.import_module(name)


class NothingLearned(Exception):
    """A training that ended without an optimizer step on a finite loss."""


class Doubtful(Exception):
    """A training that ended, with a warning that its target is not of the size of what it is compared with."""


class TooLarge(Exception):
    """A module with more parameters than a short proof on this machine can train."""


class TooSlow(Exception):
    """A try that did not end in its time."""


def is_lightning(cls: type | None) -> bool:
    return cls is None or (
        cls.__name__ == "LightningModule" and cls.__module__.split(".")[0] in ("lightning", "pytorch_lightning")
    )


# -- trying


class _StepCounter:
    """Counts what a try does, in place of a record."""

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []
        self.began = time.monotonic()
        self.seconds = 0.0

    def __call__(self, event: str, **values: Any) -> None:
        if event == "batch":
            self.began = time.monotonic()
        elif event == "step":
            self.steps += 1
            self.seconds = time.monotonic() - self.began
        elif event == "loss":
            self.losses.append(values["value"])


def attempt(
    bench: TryBench,
    cls: type,
    state: TryState,
    module: Any,
    trainer: dict[str, Any],
    *,
    seconds: float = ONE_TRY_S,
    most: float = ONE_TRY_S,
    shapes: Sequence[Shape] = (),
) -> Attempt:
    """Build a module and train it on one batch, in at most so many `seconds`, of which it may compute `most`: on that
    of the state, else the first that its first layer and what the project writes down of `shapes` lead to."""
    seen = _StepCounter()
    spec, made, shaped = state.batch, None, state.shaped
    others: list[tuple[dict[str, Any], str]] = []
    forwards = [0]
    tidy(bench.memory)
    counter = _counting(forwards, bench.memory)
    try:
        with (
            bounded(bench.memory),
            _limit(min(seconds, most), seconds),
            blank(bench.absent if state.weights else None),
        ):
            if module is None:
                module = constructed(bench, cls, state.arguments)
            module.train()
            if spec is None:
                (spec, shaped), *others = beginnings(module, state.arguments, shapes)
            made = batches.make(spec, generator(bench.seed))
            bench.watch.begin(seen)
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                fit(bench, module, [made], state, {**trainer, "limit_train_batches": 1, "max_epochs": 1})
            _check(seen)
            doubt = next((str(one.message) for one in warned if "Using a target size" in str(one.message)), None)
            if doubt and not state.validates:
                raise Doubtful(doubt)
        return Attempt(None, (), 0.0, module, spec, made, seen.seconds, shaped)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        frames = tuple(traceback.walk_tb(raised.__traceback__))
        error = _too_large(bench.memory, raised) if is_refused(raised) else raised
        score = _score(error, frames, forwards[0], module, seen)
        return Attempt(error, frames, score, module, spec, made, seen.seconds, shaped, tuple(others))
    finally:
        counter.remove()


def constructed(bench: TryBench, cls: type, given: dict[str, Any]) -> Any:
    bench.watch.seed()
    module = cls(**{name: bench.builder.built(name, value) for name, value in given.items()})
    with contextlib.suppress(ValueError):
        size = sum(parameter.numel() for parameter in module.parameters())
        if size > LARGEST:
            raise TooLarge(f"{cls.__name__} has {size:,} parameters with these arguments")
    return module


def _check(seen: _StepCounter) -> None:
    if not seen.steps:
        raise NothingLearned("`fit` ends, but no optimizer stepped")
    if not seen.losses or not all(value == value and abs(value) != float("inf") for value in seen.losses):
        raise NothingLearned("`fit` ends, but there was no finite loss")
    if not any(seen.losses):
        raise NothingLearned("`fit` ends, but its loss is 0")


def takes_batch(frames: tuple[tuple[FrameType, int], ...]) -> bool:
    """Whether an error passed what is given a batch."""
    return any(frame.f_code.co_name in TAKE_BATCHES and not _is_torchs(frame) for frame, _ in frames)


def _is_torchs(frame: FrameType) -> bool:
    return "site-packages" in frame.f_code.co_filename


def _counting(forwards: list[int], most: float) -> Any:
    from torch.nn.modules.module import register_module_forward_hook

    def count(*_: Any) -> None:
        forwards[0] += 1
        if held() > most:
            raise _too_large(most)

    return register_module_forward_hook(count)


def _too_large(most: float, at: BaseException | None = None) -> TooLarge:
    error = TooLarge(f"a training on one batch needs more than {most / 2**30:.1f} GiB of memory")
    return error.with_traceback(at.__traceback__ if at else None)


def _score(
    error: BaseException, frames: tuple[tuple[FrameType, int], ...], forwards: int, module: Any, seen: _StepCounter
) -> float:
    """How far a try came: built, into the training step, through it, and by how many lines and layers."""
    if module is None and isinstance(error, TooLarge):
        return float(STEP_SCORE - 1)
    if module is None:
        depth = [line - frame.f_code.co_firstlineno for frame, line in frames if frame.f_code.co_name == "__init__"]
        return float(min(sum(depth), STEP_SCORE - 1))
    names = (*TAKE_BATCHES, "configure_optimizers")
    step = [line - frame.f_code.co_firstlineno for frame, line in frames if frame.f_code.co_name in names]
    stages = 1 + takes_batch(frames)
    after = 2 * STEP_SCORE if seen.losses else 0
    own = float(max(step, default=0)) * 1000 + (STEP_SCORE / 2 if isinstance(error, Doubtful) else 0)
    return stages * STEP_SCORE + after + min(own + min(forwards, 999), STEP_SCORE - 1)


def said(error: BaseException | None, root: str) -> str:
    """An error in one line, with its place in the project."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__ if error else None):
        name = frame.f_code.co_filename
        if name.startswith(root):
            where = f" at {name[len(root) :].lstrip('/')}:{line}"
    return f"{text if len(text) <= 200 else text[:199] + '…'}{where}"


@contextlib.contextmanager
def _limit(seconds: float, most: float) -> Iterator[None]:
    """End what runs longer; what other programs keep from computing gets up to `PATIENCE` times as long, within
    `most`."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    began, used = time.monotonic(), time.process_time()

    def over(*_: Any) -> None:
        left = min(seconds - (time.process_time() - used), min(most, PATIENCE * seconds) - (time.monotonic() - began))
        if left < 1:
            raise TooSlow(f"a single try takes more than {seconds:.0f} seconds")
        signal.setitimer(signal.ITIMER_REAL, left)

    old = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(1.0, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def generator(seed: int) -> Any:
    import torch

    return torch.Generator().manual_seed(seed)


# -- training


class RepeatedBatches(list[Any]):
    """Batches that are handed out as they were made, however often: a step may write to its batch."""

    def __init__(self, made: list[Any]) -> None:
        super().__init__(made)
        self.plain = copy.deepcopy(made)

    def __getitem__(self, number: Any) -> Any:
        found = super().__getitem__(number)
        self[number] = copy.deepcopy(self.plain[number])
        return found


def fit(bench: TryBench, module: Any, made: list[Any], state: TryState, trainer: dict[str, Any]) -> None:
    """Train a module on some batches, with a loader that hands them out as they are."""
    from torch.utils.data import DataLoader

    for name in state.skipped:
        setattr(module, name, _nothing)
    bench.builder.put_on(module, state.attributes)
    handed = RepeatedBatches(made)
    loader: Any = DataLoader(handed, batch_size=None, shuffle=False)  # type: ignore[arg-type]
    is_evaluated = state.validates or _has_own(module, "val_dataloader")  # up to 1.9 that is asked for a length, too
    evaluation: Any = DataLoader(handed, batch_size=None, shuffle=False) if is_evaluated else None  # type: ignore[arg-type]
    limits = {} if state.validates else {"limit_val_batches": 0, "num_sanity_val_steps": 0}
    package = _package(module)
    runner = package.Trainer(**{"log_every_n_steps": 1, **trainer, **limits})
    if state.datamodule:
        runner.fit(module, datamodule=_datamodule(package, loader, evaluation))
    elif evaluation is not None:
        runner.fit(module, loader, evaluation)
    else:
        runner.fit(module, loader)
    if state.tests:
        runner.test(module, loader)


def _has_own(module: Any, hook: str) -> bool:
    """Whether a module has a hook that is not Lightning's."""
    owner = next((base for base in type(module).__mro__ if hook in vars(base)), None)
    return owner is not None and owner.__module__.split(".")[0] not in ("lightning", "pytorch_lightning")


def _package(module: Any) -> ModuleType:
    """The Lightning package that a module derives from."""
    base = next(base for base in type(module).__mro__ if is_lightning(base))
    return importlib.import_module(
        "lightning.pytorch" if base.__module__.startswith("lightning.") else "pytorch_lightning"
    )


def _nothing(*_: Any, **__: Any) -> None:
    """In place of a hook that needs the project's data."""


def _datamodule(package: ModuleType, train: Any, evaluation: Any) -> Any:
    class MadeUp(package.LightningDataModule):  # type: ignore[name-defined, misc]
        batch_size = batches.BATCH
        num_classes = 2

        def train_dataloader(self) -> Any:
            return train

        def val_dataloader(self) -> Any:
            return evaluation if evaluation is not None else []

    return MadeUp()
