"""What batches look like that a module's own loader and the project's datamodules and datasets give.

Runs in the target's interpreter, beside the harness. Each is built and asked for a batch in a process of its own that
is ended with it, so that the search finds torch and the project's modules as they were. A batch becomes a description:
what a module is trained on is made up from that, in both trees.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import json
import os
import re
import select
import signal
import socket
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from . import alone_argument_errors as argument_errors
from . import alone_arguments as arguments
from .alone_arguments import ArgumentHints
from .alone_batches import BATCH, Spec, leaf
from .alone_files import MadeFiles, remove
from .alone_shapes import Shape, holds, is_recorded
from .alone_tries import TryBench, TryState, constructed, is_lightning

TRIES, CHILDREN = 10, 4
CANDIDATES, OWN, OFFERS = 4, 6, 2
SHARE, LONGEST_S = 1 / 3, 20.0
LARGEST = 16_000_000
_FETCHES = re.compile(r"download|urlopen|urlretrieve|requests|wget|gdown|load_dataset|from_pretrained|hub")
Load = Callable[[TryBench, Mapping[str, Any]], ModuleType]
Given = dict[str, Any]


class Undescribed(Exception):
    """A batch that no description is made for."""


class Offers:
    """The batches that loaders of the project give, for the modules of one file, within the time they get, and the
    `shapes` that the project writes down, for those that no loader gives a batch for."""

    def __init__(
        self, bench: TryBench, load: Load, data: Sequence[Mapping[str, Any]], shapes: Sequence[Shape] = ()
    ) -> None:
        self.bench, self.load, self.data, self.shapes = bench, load, data, shapes
        self.shared: list[tuple[Spec, str]] | None = None
        self.own: dict[str, list[tuple[Spec, str]]] = {}
        self.left = 0.0
        self.given: dict[str, Spec] = {}

    def begin(self, seconds: float) -> None:
        """Start with another class, which has so long."""
        self.own, self.left = {}, min(seconds * SHARE, LONGEST_S)

    def states(self, cls: type, state: TryState) -> list[TryState]:
        """A state with each of the batches of the class, the likeliest first."""
        return [replace(state, batch=spec, shaped=where) for spec, where in self.of(cls, state.arguments)]

    def of(self, cls: type, given: Given) -> list[tuple[Spec, str]]:
        """The batches of a class built with some arguments, the likeliest first, with where they come from."""
        if has_loader(cls) and not any(self.own.values()) and len(self.own) < OWN:
            key = json.dumps(given, sort_keys=True, default=str)
            if key not in self.own:
                found = self._asked(lambda made: self._of_module(cls, given, made), cls, "its own `train_dataloader`")
                self.own[key] = [found] if found else []
        own = next(filter(None, self.own.values()), [])
        if own:
            return own
        if self.shared is None:
            self.shared = self._of_project()
        return self.shared

    def _of_project(self) -> list[tuple[Spec, str]]:
        """What the datamodules, and then the datasets, that are near give."""
        found: list[tuple[Spec, str]] = []
        pairs = [(file, one) for kind in ("modules", "sets") for file in self.data for one in file[kind]]
        for file, name in pairs[:CANDIDATES]:
            one = self._asked(functools.partial(self._of_class, file, name), None, f"`{name}`", file)
            if one and all(one[0] != other for other, _ in found):
                found.append(one)
            if len(found) == OFFERS:
                break
        return found

    def _of_module(self, cls: type, given: Given, made: MadeFiles) -> Any:
        def build() -> Any:
            built = constructed(self.bench, cls, given)
            return _loaders(built)

        return _patient(build, made)

    def _of_class(self, file: Mapping[str, Any], name: str, made: MadeFiles) -> Any:
        """A batch of a class of the project, built as modules are: by its defaults, hints, names and errors."""
        cls = getattr(self.load(self.bench, file), name)
        if not _is_data(cls):
            raise Undescribed(name)
        held = file["hints"]
        hints = ArgumentHints(
            held["values"], tuple(held["calls"].get(name, ())), tuple(held.get("groups", ()))
        ).filled()
        queue = deque(_local(given) for given in arguments.starts(cls, hints))
        known: list[Given] = []
        while queue and len(known) < TRIES:
            given = queue.popleft()
            if given in known:
                continue
            known.append(given)
            try:
                return _patient(functools.partial(self._built, cls, given), made)
            except Exception as error:
                frames = list(traceback.walk_tb(error.__traceback__))
                own = [pair for pair in reversed(frames) if pair[0].f_code.co_filename.startswith(self.bench.root)]
                queue.extendleft(_as_tensors(cls, given, error))
                more = argument_errors.following(error, own, given, hints)
                with contextlib.suppress(Exception):
                    queue.extend(_local(one) for one in itertools.islice(more, CHILDREN))
        raise Undescribed(name)

    def _built(self, cls: type, given: Given) -> Any:
        self.bench.watch.seed()
        built = cls(**{name: self.bench.builder.build(value) for name, value in given.items()})
        return _loaders(built) if has_loader(cls) else _of_dataset(built)

    def _asked(
        self, job: Callable[[MadeFiles], Any], cls: type | None, what: str, file: Mapping[str, Any] | None = None
    ) -> tuple[Spec, str] | None:
        """The description of the batch that a job gives, or none where it fails."""
        if self.left <= 0:
            return None
        text = _source(cls) if cls else str(file["text"] if file else "")
        roots = [Path(self.bench.root), Path(tempfile.gettempdir())]
        began = time.monotonic()
        spec, paths = aside(lambda tell: described(job(MadeFiles(roots, text, tell))), self.left, self.bench.memory / 2)
        self.left -= time.monotonic() - began
        for path in paths:
            remove(path)
        if spec is None:
            return None
        where = f"{what} gives them" + (" on made-up files" if paths else "")
        self.given[where] = spec
        return spec, where

    def told(self, where: str, spec: Spec | None) -> str:
        """Where the shapes of a batch come from, in words."""
        if not where:
            return ""
        if is_recorded(where):
            changed = "" if holds(spec or {}, self.shapes, where) else ", changed until the training took it"
        else:
            changed = "" if self.given.get(where) == spec else ", changed until the training took them"
        return f", shaped as {where}{changed}"


def has_loader(cls: type) -> bool:
    """Whether a class itself says what it is trained on."""
    owner = next((base for base in cls.__mro__ if "train_dataloader" in base.__dict__), None)
    return owner is not None and not _is_lightnings(owner)


def _is_lightnings(cls: type) -> bool:
    return is_lightning(cls) or cls.__module__.split(".")[0] in ("lightning", "pytorch_lightning")


def _is_data(cls: Any) -> bool:
    from torch.utils.data import Dataset

    if not isinstance(cls, type) or inspect.isabstract(cls):
        return False
    is_module = any(base.__name__ == "LightningDataModule" and _is_lightnings(base) for base in cls.__mro__)
    return (is_module and has_loader(cls)) or issubclass(cls, Dataset)


def _source(cls: type) -> str:
    with contextlib.suppress(OSError, TypeError):
        return inspect.getsource(inspect.getmodule(cls) or cls)
    return ""


def _local(value: Any) -> Any:
    """Arguments whose paths lead into the copy of the project."""
    if isinstance(value, str) and value.startswith(("/", "~")):
        return f"made-up/{Path(value).name}"
    if isinstance(value, dict):
        return {name: _local(item) for name, item in value.items()}
    return [_local(item) for item in value] if isinstance(value, list) else value


def _as_tensors(cls: type, given: Given, error: Exception) -> list[Given]:
    """The arguments with a transform that makes tensors, where pictures are not put together otherwise."""
    if "PIL" not in str(error):
        return []
    known = inspect.signature(cls).parameters
    tensor = {"@": "call", "name": "torchvision.transforms.ToTensor", "kwargs": {}}
    return [{**given, name: tensor} for name in ("transform", "transforms") if name in known]


def _patient(build: Callable[[], Any], made: MadeFiles) -> Any:
    """What a function gives, once the files are made that it does not find."""
    while True:
        try:
            return build()
        except Exception as error:
            if not made.serves(error):
                raise


# -- batches


def _loaders(built: Any) -> Any:
    """The first batch of what a module or a datamodule trains on."""
    prepare = getattr(built, "prepare_data", None)
    if prepare and not _FETCHES.search(_text_of(prepare)):
        prepare()
    setup = getattr(built, "setup", None)
    if setup:
        setup("fit") if inspect.signature(setup).parameters else setup()
    return first_batch(built.train_dataloader())


def _text_of(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return "download"


def _of_dataset(built: Any) -> Any:
    from torch.utils.data import DataLoader

    return first_batch(DataLoader(built, batch_size=BATCH))


def first_batch(loader: Any) -> Any:
    """The first batch, of a few samples, that a loader gives; of several loaders, as they come together."""
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset

    if isinstance(loader, Mapping):
        return {name: first_batch(one) for name, one in loader.items()}
    if isinstance(loader, list | tuple):
        return [first_batch(one) for one in loader]
    if not isinstance(loader, DataLoader):
        return next(iter(loader))
    data: Any = loader.dataset
    collate: Any = loader.collate_fn
    if isinstance(data, IterableDataset):
        return collate(next(iter(data)) if loader.batch_size is None else list(itertools.islice(iter(data), BATCH)))
    if loader.batch_sampler is None:
        return collate(data[next(iter(loader.sampler))])
    chosen = list(itertools.islice(next(iter(loader.batch_sampler), range(min(BATCH, len(data)))), BATCH))
    if type(loader.batch_sampler) is BatchSampler and chosen and loader.batch_sampler.batch_size >= BATCH:
        chosen = list(itertools.islice(itertools.cycle(chosen), BATCH))
    return collate([data[index] for index in chosen])


def described(batch: Any) -> Spec:
    """The description of a batch: of what is in it, structure, shapes, types and the range of whole numbers. Raises
    Unsaid for what no description stands for."""
    import torch

    sizes: set[int] = set()

    def read(value: Any, name: str) -> Spec:
        if isinstance(value, torch.Tensor):
            return _tensor(value, name, sizes)
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {"keys": {key: read(item, key) for key, item in value.items()}, "kind": "dict"}
        if type(value) in (list, tuple) and len(value) <= 64:
            return {"items": [read(item, "") for item in value], "kind": type(value).__name__}
        if value is None or type(value) in (bool, int, float, str):
            return {"value": value}
        raise Undescribed(type(value).__name__)

    def look(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            sizes.update(value.shape[1:])
        for item in value.values() if isinstance(value, Mapping) else value if type(value) in (list, tuple) else ():
            look(item)

    look(batch)
    found = read(batch, "")
    if "value" in found or "shape" not in json.dumps(found):
        raise Undescribed(type(batch).__name__)
    return found


def _tensor(value: Any, name: str, sizes: set[int]) -> Spec:
    import torch

    if value.layout is not torch.strided or value.is_quantized or not 0 < value.numel() <= LARGEST:
        raise Undescribed(name)
    dtype = str(value.dtype).removeprefix("torch.")
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype is torch.bool:
        return leaf(value.shape, dtype, 2, name)
    least, most = int(value.min()), int(value.max())
    is_length = least == most > 1 and most in sizes and value.dim() <= 1
    return leaf(value.shape, dtype, -most if is_length else max(most, 0) + 1, name)


# -- a process of its own


def aside(job: Callable[[Callable[[str], None]], Any], seconds: float, memory: float) -> tuple[Any, list[str]]:
    """What a job gives that runs in a process of its own, None where it fails or takes longer, and the paths that it
    said it made."""
    if not hasattr(os, "fork"):
        return None, []
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.close(reading)
            _alone(memory)
            _tell(writing, {"found": job(lambda path: _tell(writing, {"made": path}))})
        os._exit(0)
    os.close(writing)
    text, end = b"", time.monotonic() + seconds
    try:
        while (left := end - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
            part = os.read(reading, 65536)
            if not part:
                break
            text += part
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    said = [json.loads(line) for line in text.decode().split("\n")[:-1]]
    return next((one["found"] for one in said if "found" in one), None), [one["made"] for one in said if "made" in one]


def _tell(writing: int, what: Mapping[str, Any]) -> None:
    data = (json.dumps(what) + "\n").encode()
    while data:
        data = data[os.write(writing, data) :]


def _alone(memory: float) -> None:
    """Take away what a process that reads a batch does not need: threads, servers and much memory."""
    import torch

    torch.set_num_threads(1)

    def refused(*_: Any) -> None:
        raise ConnectionError("data is asked for without a network")

    socket.socket.connect = refused  # type: ignore[method-assign]
    with contextlib.suppress(Exception):
        import resource

        size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (size + int(memory),) * 2)
