"""Trains LightningModules by themselves, on batches that are made up.

Runs in the target's interpreter, beside the harness. `search` finds, for each module, arguments to build it with and
batches that its training step takes; `replay` trains what was found, so that two trees can be compared on the same.
"""

from __future__ import annotations

import contextlib
import heapq
import importlib
import inspect
import itertools
import json
import re
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import FrameType, ModuleType
from typing import Any, TypeVar

from . import alone_arguments as arguments
from . import alone_batches as batches
from . import alone_errors as errors
from .alone_arguments import Hints
from .alone_stubs import PackageMissing, Stubs

T = TypeVar("T")
CHILDREN = 24
TRIES = 240
STUCK = 80
DOUBT = 20
ONE_TRY_S = 25
PATIENCE = 3
BATCHES = 8
LARGEST = 400_000_000
MISSING = 12
STEP_SCORE = 1_000_000
_EVALUATES = "validation_step"


@dataclass(frozen=True)
class State:
    """What is tried: arguments, a batch (None: the module's first guess), hooks that are left out, and attributes that
    the project's script would have set."""

    arguments: dict[str, Any]
    batch: dict[str, Any] | None = None
    skipped: tuple[str, ...] = ()
    datamodule: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        held = [self.arguments, self.batch, self.skipped, self.datamodule, self.attributes]
        return json.dumps(held, sort_keys=True, default=str)


@dataclass(frozen=True)
class Attempt:
    """How a try ended: the error, if any, the frames that it passed, and how far it came."""

    error: BaseException | None
    frames: tuple[tuple[FrameType, int], ...] = ()
    score: float = 0.0
    module: Any = None
    spec: dict[str, Any] | None = None
    made: Any = None


@dataclass
class Bench:
    """What both jobs work with: the watch around torch and Lightning, and the project's folder."""

    watch: Any
    root: str
    seed: int
    stubs: Stubs = field(default_factory=Stubs)


class NothingLearned(Exception):
    """A training that ended without an optimizer step on a finite loss."""


class Doubtful(Exception):
    """A training that ended, with a warning that its target is not of the size of what it is compared with."""


class TooLarge(Exception):
    """A module with more parameters than a short proof on this machine can train."""


class TooSlow(Exception):
    """A try that did not end in its time."""


# -- finding modules


def load(bench: Bench, names: list[str]) -> ModuleType:
    """Import a file of the project by the first of its names that works, standing in for packages that are missing."""
    told: Exception | None = None
    for name in names:
        last: Exception | None = None
        for _ in range(MISSING):
            try:
                Stubs.loading = True
                return importlib.import_module(name)
            except ImportError as error:
                last = error
                if not bench.stubs.stands_in(error, bench.root):
                    break
            except Exception as error:
                last = error
                break
            finally:
                Stubs.loading = False
        told = last if told is None or "relative import" in str(told) else told
    raise told or ImportError(f"{names[0]} cannot be imported")


def modules_of(module: ModuleType) -> Iterator[type]:
    """The LightningModules that a file defines and that can train."""
    for value in list(vars(module).values()):
        if (
            isinstance(value, type)
            and value.__module__ == module.__name__
            and any(_is_lightning(base) for base in value.__mro__)
            and not inspect.isabstract(value)
            and not _is_lightning(_owner(value, "training_step"))
        ):
            yield value


def _is_lightning(cls: type | None) -> bool:
    return cls is None or (
        cls.__name__ == "LightningModule" and cls.__module__.split(".")[0] in ("lightning", "pytorch_lightning")
    )


def _owner(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in base.__dict__), None)


# -- searching


def search(bench: Bench, spec: dict[str, Any], record: Callable[..., None]) -> None:
    """Find a recipe for each class of each file, and record it, or why there is none."""
    end = time.monotonic() + spec["budget"]
    for number, file in enumerate(spec["modules"]):
        try:
            module = load(bench, file["names"])
        except BaseException as error:
            record("unfound", path=file["path"], cls=None, why=f"it cannot be imported: {_said(error, bench.root)}")
            continue
        found = list(modules_of(module))
        order = {name: place for place, name in enumerate(file["classes"])}
        found.sort(key=lambda cls: order.get(cls.__name__, len(order)))
        for place, cls in enumerate(found):
            files_left, classes_left = len(spec["modules"]) - number, len(found) - place
            seconds = max(5.0, (end - time.monotonic()) / (files_left - 1 + classes_left))
            values = file["hints"]
            calls = tuple(values["calls"].get(cls.__name__, ()))
            hints = Hints(values["values"], calls, tuple(values.get("groups", ())))
            _search_one(bench, file, cls, hints, spec["trainer"], seconds, record)
            if time.monotonic() > end:
                return


def _search_one(
    bench: Bench,
    file: dict[str, Any],
    cls: type,
    hints: Hints,
    trainer: dict[str, Any],
    seconds: float,
    record: Callable[..., None],
) -> None:
    state, tries, best = _climb(bench, cls, hints, trainer, seconds)
    about = {"path": file["path"], "cls": cls.__name__, "tries": tries}
    if state is None:
        why = _said(best.error, bench.root) if best and best.error else "there was no time to try it"
        record("unfound", **about, why=f"no arguments and batches were found in {tries} tries; the furthest: {why}")
        return
    validates = not _is_lightning(_owner(cls, _EVALUATES))
    recipe = {
        **about,
        "names": file["names"],
        "arguments": state.arguments,
        "batch": state.batch,
        "skipped": list(state.skipped),
        "datamodule": state.datamodule,
        "attributes": state.attributes,
        "validates": validates,
        "trainer": trainer,
        "stubs": list(bench.stubs.names),
        "told": {
            "arguments": arguments.told(state.arguments),
            "attributes": arguments.told(state.attributes),
            "batch": batches.told(state.batch or {"items": []}),
        },
    }
    note = ""
    if validates:
        whole = _attempt(bench, cls, state, None, trainer, validate=True)
        if whole.error is not None:
            recipe["validates"] = False
            note = f"{_EVALUATES} fails on these batches ({_said(whole.error, bench.root)}), so it was left out"
    record("recipe", **recipe, note=note)


def _climb(
    bench: Bench, cls: type, hints: Hints, trainer: dict[str, Any], seconds: float
) -> tuple[State | None, int, Attempt | None]:
    """The first state that trains, how many were tried, and the attempt that came furthest."""
    end = time.monotonic() + seconds
    queue: list[tuple[float, int, State, str]] = []
    known: set[str] = set()
    order = 0
    best: Attempt | None = None
    doubted: State | None = None
    said, since = "", 0
    built: tuple[str, Any] | None = None

    def push(score: float, state: State, text: str) -> None:
        nonlocal order
        if state.key not in known:
            known.add(state.key)
            order += 1
            heapq.heappush(queue, (-score, order, state, text))

    for given in arguments.starts(cls, hints):
        push(0.0, State(given), "")
    tries = 0
    while queue and tries < TRIES and time.monotonic() < end:
        _, _, state, before = heapq.heappop(queue)
        tries += 1
        held = json.dumps(state.arguments, sort_keys=True, default=str)
        made = built[1] if built and built[0] == held else None
        tried = _attempt(bench, cls, state, made, trainer, seconds=end - time.monotonic())
        built = (held, tried.module) if tried.module is not None and tries % 20 else None
        if tried.error is None:
            return replace(state, batch=tried.spec), tries, tried
        text = f"{type(tried.error).__name__}: {tried.error}"
        if best is None or tried.score > best.score:
            best = tried
        if isinstance(tried.error, Doubtful) and doubted is None:
            doubted, since = replace(state, batch=tried.spec), max(since, STUCK - DOUBT)
        since = since + 1 if text == said or tried.score < best.score else 0
        said = text
        if since > STUCK or _is_final(tried):
            break
        score = tried.score + (0.5 if text != before else 0.0)
        state = replace(state, batch=tried.spec)
        for child, back in _quietly(_children(bench, cls, state, tried, hints)):
            push(score - back, child, text)
    return doubted, tries, best


def _quietly(found: Iterator[T]) -> Iterator[T]:
    """The values of an iterator up to its end or its first error: what objects of the project do is not known."""
    with contextlib.suppress(Exception):
        yield from found


def _is_final(tried: Attempt) -> bool:
    """Whether no arguments and no batch will help."""
    return isinstance(tried.error, PackageMissing) or "empty parameter list" in str(tried.error)


def _children(bench: Bench, cls: type, state: State, tried: Attempt, hints: Hints) -> Iterator[tuple[State, float]]:
    """What to try after an attempt that failed, and how far each is to be put back."""
    error = tried.error
    if isinstance(error, TooSlow) and state.batch and tried.module is not None:
        yield replace(state, batch=batches.sized(state.batch, (batches.SIDE, batches.SIDE))), 0
    if error is None or isinstance(error, TooLarge | TooSlow):
        return
    own = [pair for pair in reversed(tried.frames) if pair[0].f_code.co_filename.startswith(bench.root)]
    hooks = [frame.f_code.co_name for frame, _ in own if frame.f_code.co_name in ("setup", "prepare_data")]
    if hooks and hooks[0] not in state.skipped:
        yield replace(state, skipped=(*state.skipped, hooks[0])), 0
    if "datamodule" in str(error) or any("datamodule" in _line(pair) for pair in own[:1]):
        yield replace(state, datamodule=True), 0
    lacking = re.match(rf"'{cls.__name__}' object has no attribute '(\w+)'", str(error))
    if lacking and lacking[1] not in state.attributes:
        value = arguments.guess(lacking[1], hints)
        yield replace(state, attributes={**state.attributes, lacking[1]: value}), 0
    given = _quietly(arguments.following(error, own, state.arguments, hints))
    in_step = any(frame.f_code.co_name == "training_step" for frame, _ in tried.frames)
    if state.batch is None or tried.module is None or not (in_step or isinstance(error, NothingLearned | Doubtful)):
        yield from ((replace(state, arguments=found, batch=None), 0) for found in given)
        return
    trouble = errors.Trouble(error, tried.frames, state.batch, tried.made, tried.module, bench.root)
    other = ((replace(state, batch=found), back) for found, back in _quietly(errors.following(trouble)))
    inside = ((replace(state, arguments=found), 0.0) for found in given)
    first = errors.is_about_inputs(trouble.text) or isinstance(error, NothingLearned)
    yield from itertools.islice(other if first else inside, CHILDREN * 2 // 3)
    yield from itertools.islice(inside if first else other, CHILDREN)
    for pair in arguments.sides(state.arguments, hints):
        yield replace(state, batch=batches.sized(state.batch, pair)), 0
    yield from ((replace(state, batch=found), 0) for found in list(batches.guesses(tried.module))[1:])


def _line(pair: tuple[FrameType, int]) -> str:
    import linecache

    return linecache.getline(pair[0].f_code.co_filename, pair[1])


def _said(error: BaseException | None, root: str) -> str:
    """An error in one line, with its place in the project."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__ if error else None):
        name = frame.f_code.co_filename
        if name.startswith(root):
            where = f" at {name[len(root) :].lstrip('/')}:{line}"
    return f"{text if len(text) <= 200 else text[:199] + '…'}{where}"


# -- trying


class _Seen:
    """Counts what a try does, in place of a record."""

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []

    def __call__(self, event: str, **values: Any) -> None:
        if event == "step":
            self.steps += 1
        elif event == "loss":
            self.losses.append(values["value"])


def _attempt(
    bench: Bench,
    cls: type,
    state: State,
    module: Any,
    trainer: dict[str, Any],
    *,
    validate: bool = False,
    seconds: float = ONE_TRY_S,
) -> Attempt:
    """Build a module and train it on one batch."""
    seen = _Seen()
    spec, made = state.batch, None
    forwards = [0]
    counter = _counting(forwards)
    try:
        with _limit(min(seconds, ONE_TRY_S), seconds):
            if module is None:
                module = _built(bench, cls, state.arguments)
            module.train()
            if spec is None:
                found = arguments.sides(state.arguments)
                spec = batches.sized(next(batches.guesses(module)), found[0] if found else None)
            made = batches.make(spec, _generator(bench.seed))
            bench.watch.begin(seen)
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                fit(module, [made], state, validate, {**trainer, "limit_train_batches": 1, "max_epochs": 1})
            _check(seen)
            doubt = next((str(one.message) for one in warned if "Using a target size" in str(one.message)), None)
            if doubt and not validate:
                raise Doubtful(doubt)
        return Attempt(None, (), 0.0, module, spec, made)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        frames = tuple(traceback.walk_tb(error.__traceback__))
        return Attempt(error, frames, _score(error, frames, forwards[0], module, seen), module, spec, made)
    finally:
        counter.remove()


def _built(bench: Bench, cls: type, given: dict[str, Any]) -> Any:
    bench.watch.seed()
    module = cls(**{name: arguments.build(value) for name, value in given.items()})
    with contextlib.suppress(ValueError):
        size = sum(parameter.numel() for parameter in module.parameters())
        if size > LARGEST:
            raise TooLarge(f"{cls.__name__} has {size:,} parameters with these arguments")
    return module


def _check(seen: _Seen) -> None:
    if not seen.steps:
        raise NothingLearned("`fit` ends, but no optimizer stepped")
    if not seen.losses or not all(value == value and abs(value) != float("inf") for value in seen.losses):
        raise NothingLearned("`fit` ends, but there was no finite loss")


def _counting(forwards: list[int]) -> Any:
    from torch.nn.modules.module import register_module_forward_hook

    def count(*_: Any) -> None:
        forwards[0] += 1

    return register_module_forward_hook(count)


def _score(
    error: BaseException, frames: tuple[tuple[FrameType, int], ...], forwards: int, module: Any, seen: _Seen
) -> float:
    """How far a try came: built, into the training step, through it, and by how many lines and layers."""
    if module is None:
        depth = [line - frame.f_code.co_firstlineno for frame, line in frames if frame.f_code.co_name == "__init__"]
        return float(min(sum(depth), STEP_SCORE - 1))
    names = ("training_step", "configure_optimizers")
    step = [line - frame.f_code.co_firstlineno for frame, line in frames if frame.f_code.co_name in names]
    stages = 1 + any(frame.f_code.co_name == names[0] for frame, _ in frames)
    after = 2 * STEP_SCORE if seen.losses else 0
    own = float(max(step, default=0)) * 100 + (STEP_SCORE / 2 if isinstance(error, Doubtful) else 0)
    return stages * STEP_SCORE + after + min(own + min(forwards, 99), STEP_SCORE - 1)


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


def _generator(seed: int) -> Any:
    import torch

    return torch.Generator().manual_seed(seed)


# -- training


def fit(module: Any, made: list[Any], state: State, validate: bool, trainer: dict[str, Any]) -> None:
    """Train a module on some batches, with a loader that hands them out as they are."""
    from torch.utils.data import DataLoader

    for name in state.skipped:
        setattr(module, name, _nothing)
    for name, value in state.attributes.items():
        setattr(module, name, arguments.build(value))
    loader: Any = DataLoader(made, batch_size=None, shuffle=False)  # type: ignore[arg-type]
    evaluation: Any = DataLoader(made, batch_size=None, shuffle=False) if validate else None  # type: ignore[arg-type]
    limits = {} if validate else {"limit_val_batches": 0, "num_sanity_val_steps": 0}
    package = _package(module)
    runner = package.Trainer(log_every_n_steps=1, **{**trainer, **limits})
    if state.datamodule:
        runner.fit(module, datamodule=_datamodule(package, loader, evaluation))
    elif evaluation is not None:
        runner.fit(module, loader, evaluation)
    else:
        runner.fit(module, loader)


def _package(module: Any) -> ModuleType:
    """The Lightning package that a module derives from."""
    base = next(base for base in type(module).__mro__ if _is_lightning(base))
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


def replay(bench: Bench, recipe: dict[str, Any]) -> None:
    """Build a module as a recipe says and train it on its batches; errors are the caller's to record."""
    module = getattr(load(bench, recipe["names"]), recipe["cls"])
    skipped = tuple(recipe["skipped"])
    state = State(recipe["arguments"], recipe["batch"], skipped, recipe["datamodule"], recipe["attributes"])
    built = _built(bench, module, state.arguments)
    made = [batches.make(recipe["batch"], _generator(bench.seed + number)) for number in range(BATCHES)]
    fit(built, made, state, recipe["validates"], dict(recipe["trainer"]))


__all__ = ["Bench", "replay", "search"]
