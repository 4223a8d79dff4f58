"""Puts on the device at hand what is put or made on CUDA, where there is none: many scripts write the device out.

Runs in the target's interpreter, beside the harness. Both trees get the same; only calls that would fail are answered
otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .active_module import asking

_MAKERS = (
    "arange", "as_tensor", "empty", "empty_like", "eye", "full", "full_like", "linspace", "logspace", "normal",
    "ones", "ones_like", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "tensor",
    "zeros", "zeros_like",
)  # fmt: skip
_OF_ONE: dict[str, Any] = {
    "set_device": None, "synchronize": None, "current_device": 0, "get_device_name": "none", "ipc_collect": None,
    "reset_peak_memory_stats": None, "reset_accumulated_memory_stats": None, "reset_max_memory_allocated": None,
    "reset_max_memory_cached": None,
}  # fmt: skip
"""What a program is told of the one device that it takes for a GPU."""


def without_cuda(root: str, device: str, used: dict[str, None]) -> None:
    """Let tensors, and with them modules, be put and made on CUDA where there is none: they go to `device`; who of the
    project at `root` asks is added to `used`."""
    import torch

    if torch.cuda.is_available():
        return
    _makers(torch, root, device, used)
    cuda: Any = torch.cuda
    for name, answer in _OF_ONE.items():
        setattr(cuda, name, _answered(getattr(cuda, name), root, used, answer))
    tensor: Any = torch.Tensor
    put = tensor.to
    here = functools.partial(_here, device=torch.device(device))
    tensor.to = _patient(put, root, used, here)
    tensor.cuda = _patient(tensor.cuda, root, used, here, lambda self: put(self, device))


def _makers(torch: Any, root: str, device: str, used: dict[str, None]) -> None:
    """Let what is made on CUDA be made on `device`. Functions that torch compiles are made of its own all the same."""
    from torch.jit import _builtins

    with contextlib.suppress(ImportError, AttributeError):
        # torch looks here for what makes tensors, once: under `with torch.device(...)` it is asked of torch's own
        importlib.import_module("torch.utils._device")._device_constructors()
    known: Any = _builtins
    here = functools.partial(_here, device=torch.device(device))
    for name in _MAKERS:
        original = getattr(torch, name)
        made = _patient(original, root, used, here, only=("device",))
        setattr(torch, name, made)
        if builtin := known._find_builtin(original):
            known._register_builtin(made, builtin)


def _answered(original: Any, root: str, used: dict[str, None], answer: Any) -> Any:
    """A function of torch.cuda that says `answer` where it fails for the want of CUDA."""

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except (AssertionError, AttributeError, RuntimeError):
            used[asking(root)] = None
            return answer

    return function


def _patient(
    original: Any,
    root: str,
    used: dict[str, None],
    here: Callable[[Any], Any],
    instead: Callable[[Any], Any] | None = None,
    only: Sequence[str] = (),
) -> Any:
    """A method or function that does something else where it fails for the want of CUDA: with another device in any of
    its arguments, or in those called so `only`."""

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except (AssertionError, RuntimeError):
            named = {name: here(value) for name, value in kwargs.items() if not only or name in only}
            placed = args if only else (*args[:1], *map(here, args[1:]))
            is_same = all(map(operator.is_, placed, args)) and all(
                kwargs[name] is value for name, value in named.items()
            )
            if instead is None and is_same:
                raise
            used[asking(root)] = None
            return instead(args[0]) if instead else original(*placed, **{**kwargs, **named})

    return method


def _here(value: Any, device: Any) -> Any:
    """The device at hand, where one of CUDA is meant: by its name, as a device, or by its number."""
    name = value if isinstance(value, str) else value.type if isinstance(value, type(device)) else ""
    return device if name.startswith("cuda") or type(value) is int else value
