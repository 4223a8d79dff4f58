"""Weights that a module loads from a file or an address which is not here: what it would load them into stays random.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from types import FrameType
from typing import Any

_READERS = (os.path.join("torch", "serialization.py"), os.path.join("torch", "hub.py"))  # noqa: PTH118


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


@contextlib.contextmanager
def blank(names: list[str] | None) -> Iterator[None]:
    """Let weights be loaded that are not there; what stood in their place is added to `names`: None changes nothing."""
    import torch
    from torch import hub
    from torch.nn import Module

    if names is None:
        yield
        return
    held: Any = torch
    hubs: Any = hub
    modules: Any = Module
    originals = held.load, hubs.load_state_dict_from_url, modules.load_state_dict

    def said(name: Any) -> Blank:
        if str(name) not in names:
            names.append(str(name))
        return Blank()

    @functools.wraps(originals[0])
    def load(source: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(source, str | os.PathLike) and not os.path.exists(source):  # noqa: PTH110
            return said(source)
        return originals[0](source, *args, **kwargs)

    @functools.wraps(originals[1])
    def download(url: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return originals[1](url, *args, **kwargs)
        except OSError:
            return said(url)

    @functools.wraps(originals[2])
    def fill(self: Any, weights: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(weights, Blank) or (names and not weights):
            return originals[2](self, self.state_dict())
        return originals[2](self, weights, *args, **kwargs)

    held.load, hubs.load_state_dict_from_url, modules.load_state_dict = load, download, fill
    try:
        yield
    finally:
        held.load, hubs.load_state_dict_from_url, modules.load_state_dict = originals
