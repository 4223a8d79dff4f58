"""torch_scatter in torch's own operations, where no build of it is here: it comes as code to be compiled for one torch.

Runs in the target's interpreter, beside the harness: both trees get the same, and it is told. What each function takes,
fills empty places with and gives back is torch_scatter 2.1.2's, by 28,800 calls of both; sums are taken in another
order.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "torch_scatter"
PARTS = (NAME, f"{NAME}.scatter", f"{NAME}.composite", f"{NAME}.segment_csr", f"{NAME}.segment_coo")
_BETWEEN = ("importlib", "_frozen_importlib", __name__)


class Scatter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch_scatter for files of the project alone, behind all others: libraries do without what is not there."""

    def __init__(self, root: Path, used: dict[str, None]) -> None:
        self.root, self.used = root, used

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The package and its parts."""
        if name not in PARTS:
            return None
        asker = self._asking()
        if name == NAME and asker is None:
            return None
        if asker is not None:
            self.used[asker] = None
        return ModuleSpec(name, self, is_package=name == NAME)

    def _asking(self) -> str | None:
        """The file of the project that imports it, None where that is another."""
        frame: Any = sys._getframe(1)
        while frame and str(frame.f_globals.get("__name__")).startswith(_BETWEEN):
            frame = frame.f_back
        place = Path(frame.f_code.co_filename) if frame else self.root.parent
        return place.relative_to(self.root).as_posix() if place.is_relative_to(self.root) else None

    def exec_module(self, module: ModuleType) -> None:
        """Gives a module all functions, as the package has them."""
        module.__dict__.update(functions(), __version__="2.1.2")


def functions() -> dict[str, Callable[..., Any]]:
    """The functions of torch_scatter by name."""
    kinds = {"sum": _sum, "add": _sum, "mul": _mul, "mean": _mean, "min": _min, "max": _max}
    found: dict[str, Callable[..., Any]] = {f"scatter_{name}": made for name, made in kinds.items()}
    found |= {f"segment_{name}_csr": _segmented(_by_pointers, name) for name in kinds if name != "mul"}
    found |= {f"segment_{name}_coo": _segmented(_by_index, name) for name in kinds if name != "mul"}
    return found | {
        "scatter": scatter, "scatter_std": scatter_std, "scatter_softmax": scatter_softmax,
        "scatter_log_softmax": scatter_log_softmax, "scatter_logsumexp": scatter_logsumexp,
        "segment_csr": segment_csr, "segment_coo": segment_coo, "gather_csr": gather_csr, "gather_coo": gather_coo,
    }  # fmt: skip


def _broadcast(index: Any, src: Any, dim: int) -> Any:
    """An index for each element, of one for each place along a dimension."""
    dim = dim + src.dim() if dim < 0 else dim
    if index.dim() == 1:
        index = index.reshape(*[1] * dim, -1)
    return index.reshape(*index.shape, *[1] * (src.dim() - index.dim())).expand(src.size())


def _made(src: Any, index: Any, dim: int, dim_size: int | None, value: float) -> Any:
    """What is filled where nothing is given to fill: as long as the largest index asks for."""
    size = list(src.size())
    size[dim] = dim_size if dim_size is not None else int(index.max()) + 1 if index.numel() else 0
    return src.new_full(size, value)


def _sum(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    index = _broadcast(index, src, dim)
    out = _made(src, index, dim, dim_size, 0) if out is None else out
    return out.scatter_add_(dim, index, src)


def _mul(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    index = _broadcast(index, src, dim)
    out = _made(src, index, dim, dim_size, 1) if out is None else out
    return out.scatter_reduce(dim, index, src, "prod", include_self=True)


def _mean(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    out = _sum(src, index, dim, out, dim_size)
    count = _count(src, index, dim, out).clamp_(min=1)
    return out.true_divide_(count) if out.is_floating_point() else out.div_(count, rounding_mode="floor")


def _count(src: Any, index: Any, dim: int, out: Any) -> Any:
    """How many elements there are for each place."""
    import torch

    ones = torch.ones_like(src)
    return torch.zeros_like(out).scatter_add_(dim, _broadcast(index, src, dim), ones)


def _min(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    return _outermost(src, index, dim, out, dim_size, "amin")


def _max(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    return _outermost(src, index, dim, out, dim_size, "amax")


def _outermost(src: Any, index: Any, dim: int, out: Any, dim_size: int | None, kind: str) -> Any:
    """The extreme of each place and where it is first; 0 and the length where there is none. Only the first one has a
    gradient."""
    import torch

    index = _broadcast(index, src, dim)
    held = _made(src, index, dim, dim_size, 0) if out is None else out
    length = src.size(dim)
    with torch.no_grad():
        best = held.scatter_reduce(dim, index, src, kind, include_self=out is not None)
        place = _broadcast(torch.arange(length, device=src.device), src, dim)
        place = torch.where(src == best.gather(dim, index), place, length)
        where = torch.full_like(best, length, dtype=torch.long).scatter_reduce(dim, index, place, "amin")
    if not length:
        return held, where
    values = torch.where(where < length, src.gather(dim, where.clamp(max=length - 1)), held)
    return (values if out is None else out.copy_(values)), where


def scatter(
    src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None, reduce: str = "sum"
) -> Any:
    """Reduces the elements of each place by one of sum, add, mul, mean, min and max."""
    found = functions()[f"scatter_{reduce}"](src, index, dim, out, dim_size)
    return found[0] if reduce in ("min", "max") else found


def scatter_std(
    src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None, unbiased: bool = True
) -> Any:
    """The standard deviation of each place."""
    dim_size = out.size(dim) if out is not None else dim_size
    total = _sum(src, index, dim, dim_size=dim_size)
    count = _count(src, index, dim, total).clamp(1)
    index = _broadcast(index, src, dim)
    apart = src - total.div(count).gather(dim, index)
    squares = _sum(apart * apart, index, dim, out, dim_size)
    count = count.sub(1).clamp_(1) if unbiased else count
    return squares.div(count + 1e-6).sqrt()


def scatter_softmax(src: Any, index: Any, dim: int = -1, dim_size: int | None = None) -> Any:
    """The softmax over the elements of each place."""
    index = _broadcast(index, src, dim)
    largest = _max(src, index, dim, dim_size=dim_size)[0]
    raised = (src - largest.gather(dim, index)).exp()
    return raised / _sum(raised, index, dim, dim_size=dim_size).gather(dim, index)


def scatter_log_softmax(src: Any, index: Any, dim: int = -1, eps: float = 1e-12, dim_size: int | None = None) -> Any:
    """The logarithm of that."""
    index = _broadcast(index, src, dim)
    centred = src - _max(src, index, dim, dim_size=dim_size)[0].gather(dim, index)
    total = _sum(centred.exp(), index, dim, dim_size=dim_size)
    return centred - (total + eps).log().gather(dim, index)


def scatter_logsumexp(
    src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None, eps: float = 1e-12
) -> Any:
    """The logarithm of the sum of the exponentials of each place."""
    index = _broadcast(index, src, dim)
    dim_size = out.size(dim) if out is not None else dim_size
    largest = _max(src, index, dim, _made(src, index, dim, dim_size, float("-inf")).detach(), dim_size)[0]
    centred = src - largest.gather(dim, index)
    centred = centred.masked_fill(centred != centred, float("-inf"))
    begun = None if out is None else (out - largest).exp()
    return ((_sum(centred.exp(), index, dim, begun, dim_size) + eps).log() + largest).nan_to_num(neginf=0.0)


def _by_index(src: Any, index: Any, dim_size: int | None) -> tuple[Any, int, int | None]:
    """The index of each element along the last dimension that it has."""
    dim = index.dim() - 1
    return _broadcast(index.expand(src.size()[: dim + 1]), src, dim), dim, dim_size


def _by_pointers(src: Any, pointers: Any, _: int | None) -> tuple[Any, int, int]:
    """The same of segments, each told by where it begins and the next one does."""
    import torch

    dim = pointers.dim() - 1
    pointers = pointers.expand(*src.size()[:dim], -1).contiguous()
    places = torch.arange(src.size(dim), device=src.device).expand(*src.size()[:dim], -1).contiguous()
    index = torch.searchsorted(pointers, places, right=True) - 1
    return _broadcast(index, src, dim), dim, pointers.size(-1) - 1


def _segmented(indices: Callable[..., tuple[Any, int, Any]], kind: str) -> Callable[..., Any]:
    def reduced(src: Any, index: Any, out: Any = None, dim_size: int | None = None) -> Any:
        each, dim, size = indices(src, index, dim_size)
        return functions()[f"scatter_{kind}"](src, each, dim, out, size)

    return reduced


def segment_csr(src: Any, indptr: Any, out: Any = None, reduce: str = "sum") -> Any:
    """Reduces each segment between two pointers."""
    found = functions()[f"segment_{reduce}_csr"](src, indptr, out)
    return found[0] if reduce in ("min", "max") else found


def segment_coo(src: Any, index: Any, out: Any = None, dim_size: int | None = None, reduce: str = "sum") -> Any:
    """Reduces the elements of each place of a sorted index."""
    found = functions()[f"segment_{reduce}_coo"](src, index, out, dim_size)
    return found[0] if reduce in ("min", "max") else found


def gather_csr(src: Any, indptr: Any, out: Any = None) -> Any:
    """Gives each element of a segment what is held for that segment."""
    import torch

    dim, length = indptr.dim() - 1, int(indptr.flatten()[-1])
    size = [*src.size()[:dim], length, *src.size()[dim + 1 :]]
    index, _, _ = _by_pointers(src.new_empty(size), indptr, None)
    return torch.gather(src, dim, index, out=out) if out is not None else src.gather(dim, index)


def gather_coo(src: Any, index: Any, out: Any = None) -> Any:
    """Gives each element of a place what is held for that place."""
    import torch

    dim = index.dim() - 1
    each = index.expand(*src.size()[:dim], index.size(-1))
    each = each.reshape(*each.shape, *[1] * (src.dim() - each.dim())).expand(*each.shape, *src.size()[dim + 1 :])
    return torch.gather(src, dim, each, out=out) if out is not None else src.gather(dim, each)
