"""Weights that a module loads from a file or an address which is not here: what it would load them into stays random.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from .data_objects import is_saved_data

_UNREACHED = frozenset({
    "ConnectError", "ConnectionError", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "URLError", "gaierror",
})  # fmt: skip
_FETCHING = ("huggingface_hub", "timm")
_OF_OTHERS = ("datasets", "diffusers", "transformers")
"""What asks a hub for more than weights."""
_LIGHTNING = ("pytorch_lightning", "lightning", "lightning_fabric", "lightning_lite", "lightning_utilities")
_OURS = "_fixer_harness."
_READERS = (os.path.join("torch", "serialization.py"), os.path.join("torch", "hub.py"))  # noqa: PTH118

FETCHED: dict[str, str] = {}
"""Files that a server did not give, by where they were to be put: what was asked for."""


class Blank(dict[str, Any]):
    """What a file of weights would have held: whatever is asked of it by a name, and no weight."""

    def __missing__(self, name: str) -> Blank:
        return Blank()

    def get(self, name: str, default: Any = None) -> Any:
        return Blank()

    def pop(self, name: str, default: Any = None) -> Any:
        return Blank()


def wanted(error: BaseException | None, frames: tuple[tuple[FrameType, int], ...]) -> bool:
    """Whether an error is of weights that are not there: a file that is not found, an address that is not reached."""
    return isinstance(error, OSError) and any(frame.f_code.co_filename.endswith(_READERS) for frame, _ in frames)


def unreached(error: BaseException | None) -> bool:
    """Whether an error is of a server that does not answer: what a hub would have given is not here."""
    kinds = {base.__name__ for base in type(error).__mro__}
    return bool(kinds & _UNREACHED) or (isinstance(error, OSError) and "couldn't connect to" in str(error))


def is_missing(error: BaseException | None, frames: tuple[tuple[FrameType, int], ...]) -> bool:
    """Whether a script failed for weights that are not there, and that it loads itself, or a library does for it."""
    names = [str(frame.f_globals.get("__name__")) for frame, _ in frames]
    if unreached(error) and any(name.partition(".")[0] in _FETCHING for name in names):
        return not is_of_others(names)
    if isinstance(error, FileNotFoundError) and is_saved_data(str(error.filename)):
        return False
    reader = next((number for number, name in enumerate(names) if name in ("torch.serialization", "torch.hub")), 0)
    asking = next((name for name in reversed(names[:reader]) if not name.startswith(_OURS)), "")
    return wanted(error, frames) and not _is_lightnings(asking)


def is_of_others(names: Iterable[str]) -> bool:
    """Whether a library asks a hub that wants more of it than weights, by the modules whose code is running."""
    return any(name.partition(".")[0] in _OF_OTHERS for name in names)


def _is_lightnings(name: str) -> bool:
    return name.partition(".")[0] in _LIGHTNING


@contextlib.contextmanager
def blank(names: list[str] | None, spared: Callable[[str], bool] = lambda path: False) -> Iterator[None]:
    """Let weights be loaded that are not there, but for files that are `spared`; what stood in their place is added to
    `names`: None changes nothing."""
    import torch
    from torch import hub
    from torch.nn import Module

    if names is None:
        yield
        return
    modules: Any = Module
    nothing = io.BytesIO()
    torch.save({}, nothing)
    load, download, fill = torch.load, hub.download_url_to_file, modules.load_state_dict

    @functools.wraps(load)
    def loaded(source: Any, *args: Any, **kwargs: Any) -> Any:
        is_here = not isinstance(source, str | os.PathLike) or os.path.exists(source)  # noqa: PTH110
        is_here = is_here or spared(os.fspath(source))
        if is_here or _is_lightnings(str(sys._getframe(1).f_globals.get("__name__"))):
            return load(source, *args, **kwargs)
        name = FETCHED.get(os.fspath(source), str(source))
        if name not in names:
            names.append(name)
        nothing.seek(0)
        load(nothing, *args, **kwargs)  # what it is told besides has to be right
        return Blank()

    @functools.wraps(download)
    def downloaded(url: str, dst: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return download(url, dst, *args, **kwargs)
        except OSError:
            FETCHED[os.fspath(dst)] = url

    @functools.wraps(fill)
    def filled(self: Any, weights: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(weights, Blank) or (names and not weights):
            return fill(self, self.state_dict(), *args, **kwargs)
        return fill(self, weights, *args, **kwargs)

    modules.load_state_dict = filled
    put(load, loaded)
    put(download, downloaded)
    try:
        yield
    finally:
        modules.load_state_dict = fill
        put(loaded, load)
        put(downloaded, download)


def put(old: Any, new: Any) -> None:
    """Another function in the place of one, also where modules took it when they were imported."""
    for module in list(sys.modules.values()):
        held = getattr(module, "__dict__", {})
        if held.get(new.__name__) is old:
            held[new.__name__] = new
