"""Watches in a training process which parameters gradients reach, and what takes values out of the graph.

Copied beside the harness and loaded by path: standard library and torch alone.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

WATCHED = 4
"""So many training steps are watched operation by operation: what cuts a graph does so in each."""
SITES = 200
AUTOMATIC = "training_step"
NODES = 20_000
FIRST_MODES = (1, 13)
"""The first torch in which a mode needs no other one."""
_SILENT = frozenset(
    {"grad", "shape", "dtype", "device", "grad_fn", "is_leaf", "requires_grad", "register_hook", "size", "dim",
     "backward", "_backward_hooks", "__repr__", "__format__", "layout", "names", "is_cuda", "zero_", "copy_",
     "retains_grad", "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like", "new_zeros",
     "new_ones", "new_tensor", "new_full", "new_empty"}
)  # fmt: skip
"""Operations whose result holds nothing of the values that they are given."""


@dataclass
class ParameterGradients:
    """What was seen of one parameter: how often a gradient arrived, whether each was zero, whether each was finite,
    its type, and from which losses."""

    reached: int = 0
    zero: bool = True
    finite: bool = True
    dtype: str | None = None
    losses: list[str] = field(default_factory=list)


@dataclass
class CutSite:
    """A line that takes values out of the graph: the place, the operation, the parameters behind the values, and
    whether the values went on to where gradients are computed, or to the loss (`matters`), or out of torch."""

    place: str
    operation: str
    behind: set[int] = field(default_factory=set)
    looked: int = 0
    matters: bool = False
    left: bool = False

    def __str__(self) -> str:
        return f"{self.operation} at {self.place}"


class Gradients:
    """What is seen of gradients in one run of `fit`."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") + "/"
        self.seen: dict[int, ParameterGradients] = {}
        self.sites: dict[tuple[str, str], CutSite] = {}
        self.lost: dict[str, str | None] = {}
        self.loss = AUTOMATIC
        self.steps = 0
        self.hooked: set[int] = set()
        self._returned: CutSite | None = None
        self._tainted: dict[int, tuple[Any, CutSite]] = {}
        self._numbers: dict[float, CutSite] = {}

    # -- gradients

    def hook(self, module: Any) -> None:
        """Learn of each gradient that arrives at a parameter of a module."""
        for parameter in module.parameters():
            if parameter.requires_grad and id(parameter) not in self.hooked:
                self.hooked.add(id(parameter))
                if hasattr(parameter, "register_post_accumulate_grad_hook"):
                    parameter.register_post_accumulate_grad_hook(self.arrived)
                else:
                    parameter.register_hook(functools.partial(self._arriving, parameter))

    def arrived(self, parameter: Any) -> None:
        """A gradient was added to a parameter."""
        self._arriving(parameter, parameter.grad)

    def _arriving(self, parameter: Any, gradient: Any) -> None:
        seen = self.seen.setdefault(id(parameter), ParameterGradients())
        seen.reached += 1
        if self.loss not in seen.losses:
            seen.losses.append(self.loss)
        self._look(seen, gradient)

    def stepped(self, optimizer: Any) -> None:
        """An optimizer is about to step: gradients may have come by ways that no hook sees."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and id(parameter) not in self.seen:
                    self.seen[id(parameter)] = seen = ParameterGradients(1)
                    self._look(seen, parameter.grad)

    @staticmethod
    def _look(seen: ParameterGradients, gradient: Any) -> None:
        import torch

        if gradient is None:
            return
        values = gradient.coalesce().values() if gradient.is_sparse else gradient
        with torch.no_grad(), contextlib.suppress(RuntimeError, NotImplementedError):
            seen.zero = seen.zero and not bool(values.any())
            seen.finite = seen.finite and bool(torch.isfinite(values).all())
        seen.dtype = str(gradient.dtype).removeprefix("torch.")

    def backward(self, loss: Any) -> None:
        """A loss is about to be differentiated."""
        self.loss = self._label()
        held = self._of(loss) or (self._returned if self.loss == AUTOMATIC else None)
        fails = not getattr(loss, "requires_grad", True)
        if (fails or held) and self.loss not in self.lost:
            site = held or self._likely()
            if site is not None:
                site.matters = True
            self.lost[self.loss] = str(site) if site else None

    def _likely(self) -> CutSite | None:
        """What a loss of which the way is not known was probably cut by: the first step out of torch, or the first
        operation at all."""
        sites = list(self.sites.values())
        return next(iter([*(site for site in sites if site.left), *sites]), None)

    def _label(self) -> str:
        """Which loss this is: the line that differentiates it, `training_step` where Lightning does so itself."""
        frame: FrameType | None = sys._getframe(2)
        place = None
        while frame is not None:
            code = frame.f_code
            place = place or self._inside(frame)
            if code.co_name == "training_step" and code.co_filename.startswith(self.root):
                return place or AUTOMATIC
            frame = frame.f_back
        return AUTOMATIC

    def report(self, module: Any) -> dict[str, Any]:
        """Every trainable parameter, and the losses that had no way back."""
        rows = []
        for name, parameter in module.named_parameters():
            if not parameter.requires_grad:
                continue
            seen = self.seen.get(id(parameter), ParameterGradients())
            cut = None if seen.reached else self._cutting(parameter)
            rows.append(
                {
                    "name": name,
                    "dtype": str(parameter.dtype).removeprefix("torch."),
                    "gradient": seen.dtype,
                    "reached": seen.reached,
                    "zero": bool(seen.reached) and seen.zero,
                    "finite": seen.finite,
                    "losses": seen.losses,
                    "cut": str(cut) if cut else None,
                }
            )
        return {"parameters": rows, "lost": [[loss, cut] for loss, cut in self.lost.items()]}

    def _cutting(self, parameter: Any) -> CutSite | None:
        """What took the values that were computed from a parameter out of the graph, on the way to the loss."""
        return next((site for site in self.sites.values() if site.matters and id(parameter) in site.behind), None)

    # -- operations

    def step(self, module: Any, call: Callable[[], Any]) -> Any:
        """Make a training step, and watch its operations if it is one of the first."""
        self.steps += 1
        self._returned = None
        if self.steps > WATCHED or not _can_be_watched(module):
            return call()
        self._tainted.clear()
        self._numbers.clear()
        with _mode(self._operation):
            result = call()
        loss = result.get("loss") if isinstance(result, dict) else result
        fails = loss is not None and not getattr(loss, "requires_grad", True)
        self._returned = self._of(loss) or (self._likely() if fails or _starts(loss) else None)
        return result

    def _operation(self, function: Any, arguments: Iterable[Any], result: Any) -> None:
        """See whether an operation took values out of the graph, or hands on such values."""
        name = _name(function)
        if name in _SILENT:
            return
        given = list(_tensors(arguments))
        results = list(_tensors([result]))
        if any(item.requires_grad for item in results) and not any(map(_starts, results)):
            for item in given:
                if not item.requires_grad and (site := self._of(item)):
                    site.matters = True
            return
        number = type(result) is float
        other = type(result).__module__ == "numpy" or isinstance(result, list)
        if not (results or number or other):
            return
        before = [item for item in given if item.requires_grad]
        if before:
            site = self._site(name)
            if site is None:
                return
            site.looked += 1
            if site.looked <= 2:
                for item in before:
                    site.behind |= set(_leaves(item))
        else:
            found = [self._of(item) for item in given]
            found += [self._numbers.get(item) for item in _numbers(arguments)]
            site = next(filter(None, found), None)
            if site is None:
                return
        site.left = site.left or number or other
        for item in results:
            self._tainted[id(item)] = (weakref.ref(item), site)
        for value in _numbers([result]):
            self._numbers[value] = site

    def _site(self, name: str) -> CutSite | None:
        import torch

        place = self._place()
        if place is None:
            return None
        if not torch.is_grad_enabled():
            name = f"{name} without gradients (no_grad or inference_mode)"
        key = (place, name)
        if key not in self.sites and len(self.sites) < SITES:
            self.sites[key] = CutSite(place, name)
        return self.sites.get(key)

    def _of(self, tensor: Any) -> CutSite | None:
        """What took a tensor, or what it was made of, out of the graph; nothing did where it came back into it, as what
        the forward of an autograd Function returns does, DDP's own among them."""
        held = self._tainted.get(id(tensor))
        return held[1] if held and held[0]() is tensor and tensor.grad_fn is None else None

    def _place(self) -> str | None:
        """The innermost line of the project that is running."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if place := self._inside(frame):
                return place
            frame = frame.f_back
        return None

    def _inside(self, frame: FrameType) -> str | None:
        name = frame.f_code.co_filename
        return f"{name[len(self.root) :]}:{frame.f_lineno}" if name.startswith(self.root) else None


def _mode(seen: Callable[[Any, Iterable[Any], Any], None]) -> Any:
    """A context in which every operation of torch is shown to `seen`."""
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            with contextlib.suppress(Exception):
                seen(function, [*args, *(kwargs or {}).values()], result)
            return result

    return Mode()


def _can_be_watched(module: Any) -> bool:
    """Whether no part of a module is compiled: a compiler would see the watching too."""
    import torch

    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    return version >= FIRST_MODES and not any(
        type(part).__name__ in ("OptimizedModule", "RecursiveScriptModule")
        or getattr(part, "_compiled_call_impl", None)
        for part in module.modules()
    )


def _starts(value: Any) -> bool:
    """Whether a tensor requires a gradient and comes from nowhere, without being a parameter."""
    import torch

    return (
        isinstance(value, torch.Tensor)
        and value.requires_grad
        and value.grad_fn is None
        and not isinstance(value, torch.nn.Parameter)
    )


def _name(function: Any) -> str:
    """What a person calls an operation."""
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    return str(getattr(owner, "__name__", name)) if name in ("__get__", "__set__") else str(name).strip("_")


def _tensors(values: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """The tensors among some values, also in lists and dicts."""
    import torch

    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif depth < 2 and isinstance(value, list | tuple):
            yield from _tensors(value, depth + 1)
        elif depth < 2 and isinstance(value, dict):
            yield from _tensors(value.values(), depth + 1)


def _numbers(values: Iterable[Any], depth: int = 0) -> Iterator[float]:
    for value in values:
        if type(value) is float:
            yield value
        elif depth < 2 and isinstance(value, list | tuple) and len(value) < 1000:
            yield from _numbers(value, depth + 1)


def _leaves(tensor: Any) -> Iterator[int]:
    """The parameters that a tensor was computed from."""
    if tensor.grad_fn is None:
        yield id(tensor)
        return
    stack: list[Any] = [tensor.grad_fn]
    done: set[Any] = set()
    while stack and len(done) < NODES:
        node = stack.pop()
        if node is None or node in done:
            continue
        done.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            yield id(variable)
        stack.extend(following for following, _ in node.next_functions)
