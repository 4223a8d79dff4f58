"""Leaves on the CPU what `.to()` and `.cuda()` would put on CUDA, where there is none: many scripts write the device
out. What is created there fails as ever.

Runs in the target's interpreter, beside the harness. Both trees get the same; only calls that would fail are answered
otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .asking import asking


def stay_on_cpu(root: str, used: dict[str, None]) -> None:
    """Let tensors, and with them modules, be put on CUDA where there is none; who of the project at `root` asks
    is added to `used`."""
    import torch

    if torch.cuda.is_available():
        return
    tensor: Any = torch.Tensor
    tensor.to = _patient(tensor.to, root, used)
    tensor.cuda = _patient(tensor.cuda, root, used, lambda self, *_, **__: self)


def _patient(original: Any, root: str, used: dict[str, None], instead: Callable[..., Any] | None = None) -> Any:
    """A method that does something else where it fails for the want of CUDA."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except (AssertionError, RuntimeError):
            here = [_here(value) for value in args], {name: _here(value) for name, value in kwargs.items()}
            if instead is None and here == (list(args), kwargs):
                raise
            used[asking(root)] = None
            return instead(self) if instead else original(self, *here[0], **here[1])

    return method


def _here(value: Any) -> Any:
    """The CPU, where a device of CUDA is meant: by its name, as a device, or by its number."""
    import torch

    name = value if isinstance(value, str) else value.type if isinstance(value, torch.device) else ""
    return torch.device("cpu") if name.startswith("cuda") or type(value) is int else value
