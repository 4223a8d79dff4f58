"""Puts on the device at hand what `.to()` and `.cuda()` would put on CUDA, where there is none: many scripts write the
device out. What is created there fails as ever.

Runs in the target's interpreter, beside the harness. Both trees get the same; only calls that would fail are answered
otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .active_module import asking


def without_cuda(root: str, device: str, used: dict[str, None]) -> None:
    """Let tensors, and with them modules, be put on CUDA where there is none: they go to `device`; who of the project
    at `root` asks is added to `used`."""
    import torch

    if torch.cuda.is_available():
        return
    tensor: Any = torch.Tensor
    put = tensor.to
    here = functools.partial(_here, device=torch.device(device))
    tensor.to = _patient(put, root, used, here)
    tensor.cuda = _patient(tensor.cuda, root, used, here, lambda self: put(self, device))


def _patient(
    original: Any,
    root: str,
    used: dict[str, None],
    here: Callable[[Any], Any],
    instead: Callable[[Any], Any] | None = None,
) -> Any:
    """A method that does something else where it fails for the want of CUDA."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except (AssertionError, RuntimeError):
            other = [here(value) for value in args], {name: here(value) for name, value in kwargs.items()}
            if instead is None and other == (list(args), kwargs):
                raise
            used[asking(root)] = None
            return instead(self) if instead else original(self, *other[0], **other[1])

    return method


def _here(value: Any, device: Any) -> Any:
    """The device at hand, where one of CUDA is meant: by its name, as a device, or by its number."""
    name = value if isinstance(value, str) else value.type if isinstance(value, type(device)) else ""
    return device if name.startswith("cuda") or type(value) is int else value
