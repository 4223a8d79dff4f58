"""Leaves on the CPU what code asks to be put on CUDA, where there is none: many scripts write the device out.

Runs in the target's interpreter, beside the harness. Both trees get the same; only calls that would fail are answered
otherwise.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def stay_on_cpu(used: dict[str, None]) -> None:
    """Let tensors, and with them modules, be put on CUDA where there is none; who asks is added to `used`."""
    import torch

    if torch.cuda.is_available():
        return
    tensor: Any = torch.Tensor
    tensor.to = _patient(tensor.to, used)
    tensor.cuda = _patient(tensor.cuda, used, lambda self, *_, **__: self)


def _patient(original: Any, used: dict[str, None], instead: Callable[..., Any] | None = None) -> Any:
    """A method that does something else where it fails for the want of CUDA."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except (AssertionError, RuntimeError):
            here = [_here(value) for value in args], {name: _here(value) for name, value in kwargs.items()}
            if instead is None and here == (list(args), kwargs):
                raise
            used[_asking()] = None
            return instead(self) if instead else original(self, *here[0], **here[1])

    return method


def _here(value: Any) -> Any:
    """The CPU, where a device of CUDA is meant: by its name, as a device, or by its number."""
    import torch

    name = value if isinstance(value, str) else value.type if isinstance(value, torch.device) else ""
    return torch.device("cpu") if name.startswith("cuda") or type(value) is int else value


def _asking() -> str:
    """The module whose code is running, but for torch and this one."""
    frame: Any = sys._getframe(1)
    while frame and (name := str(frame.f_globals.get("__name__"))).split(".")[0] in ("torch", __name__.split(".")[0]):
        frame = frame.f_back
    return name if frame else "?"
