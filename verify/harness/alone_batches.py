"""Made-up batches: what they are made of as JSON, how they are made, and what a training step seems to take.

Runs in the target's interpreter, beside the harness: standard library and torch alone. A batch is described by
`{"shape", "dtype", "high", "name"}` for a tensor, `{"items", "kind"}` for a list or tuple, `{"keys", "kind"}` for a
dict or an object with attributes, and `{"value"}` for anything that JSON holds.
"""

from __future__ import annotations

import copy
import inspect
import typing
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from .alone_steps import Shape, taken_apart

Spec = dict[str, Any]
Place = tuple[Any, ...]

BATCH = 4
TIME = 12
SIDE = 32

_TARGETS = ("y", "label", "target", "class", "gt", "truth", "tgt", "cls")
_MASKS = ("mask", "valid", "padding")
_KINDS = ("token_type", "segment_id")
_LENGTHS = ("length", "lens", "_len", "size")
_TEXT = ("token", "input_id", "text", "word", "sentence", "caption", "char", "seq")
_NAMES = ("path", "file", "fname", "name", "uri", "url")


class KeyedDict(dict[str, Any], Namespace):
    """A dict whose keys are attributes too; `vars`, `isinstance(..., Namespace)` and `isinstance(..., dict)` hold."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__ = self

    def __deepcopy__(self, memo: dict[int, Any]) -> KeyedDict:
        return type(self)({key: copy.deepcopy(value, memo) for key, value in self.items()})

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    __hash__ = None


def leaf(shape: Sequence[int], dtype: str = "float32", high: int = 2, name: str = "") -> Spec:
    """A tensor: uniform in [0, 1) where it holds floats, whole numbers from 0 to below `high` otherwise; of one
    number alone, -`high`, where that is below 0."""
    return {"shape": list(shape), "dtype": dtype, "high": high, "name": name}


_OF_GRAPHS: dict[str, Spec] = {
    "edge_index": leaf([2, TIME], "int64", BATCH),
    "edge_attr": leaf([TIME, 8]),
    "edge_weight": leaf([TIME]),
    "edge_type": leaf([TIME], "int64"),
    "batch": leaf([BATCH], "int64", 1),
    "num_nodes": {"value": BATCH},
    "num_graphs": {"value": 1},
}
"""What batches of torch_geometric hold besides their nodes, of which ours have as many as other batches samples."""


def make(spec: Spec, generator: Any) -> Any:
    """A batch of a description."""
    import torch

    if "items" in spec:
        made = [make(item, generator) for item in spec["items"]]
        return tuple(made) if spec["kind"] == "tuple" else made
    if "keys" in spec:
        held = {name: make(item, generator) for name, item in spec["keys"].items()}
        return KeyedDict(held) if spec["kind"] == "object" else held
    if "value" in spec:
        return copy.deepcopy(spec["value"])
    shape, dtype = spec["shape"], getattr(torch, spec["dtype"])
    if spec["high"] < 0:
        return torch.full(shape, -spec["high"]).to(dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.rand(shape, generator=generator).to(dtype)
    return torch.randint(0, max(1, spec["high"]), shape, generator=generator).to(dtype)


def leaves(spec: Spec, place: Place = ()) -> Iterator[tuple[Place, Spec]]:
    """Every tensor of a description with its place."""
    if "shape" in spec:
        yield place, spec
    for key, item in spec.get("keys", {}).items():
        yield from leaves(item, (*place, key))
    for number, item in enumerate(spec.get("items", ())):
        yield from leaves(item, (*place, number))


def at(spec: Spec, place: Place) -> Spec:
    """The part of a description at a place."""
    for step in place:
        spec = spec["keys"][step] if "keys" in spec else spec["items"][step]
    return spec


def replaced(spec: Spec, place: Place, new: Spec) -> Spec:
    """The description with another part at a place."""
    made = copy.deepcopy(spec)
    if not place:
        return new
    parent = at(made, place[:-1])
    (parent["keys"] if "keys" in parent else parent["items"])[place[-1]] = new
    return made


def sized(spec: Spec, side: tuple[int, int] | None) -> Spec:
    """The description with all images of another height and width."""
    for place, part in list(leaves(spec)) if side else ():
        if len(part["shape"]) == 4:
            spec = replaced(spec, place, {**part, "shape": [*part["shape"][:2], *(side or ())]})
    return spec


def told(spec: Spec) -> str:
    """A description in one line for people."""
    if "items" in spec:
        return f"({', '.join(map(told, spec['items']))})"
    if "keys" in spec:
        return "{" + ", ".join(f"{name}: {told(item)}" for name, item in spec["keys"].items()) + "}"
    if "value" in spec:
        return repr(spec["value"])
    shape = "x".join(map(str, spec["shape"])) or "scalar"
    return f"{spec['dtype']} {shape}" + (f" of {-spec['high']}" if spec["high"] < 0 else "")


# -- what a module takes


def taken(layer: Any) -> Spec | None:
    """The input of a layer that says what it takes."""
    import torch.nn as nn

    if isinstance(layer, nn.Embedding):
        return leaf([BATCH, TIME], "int64", layer.num_embeddings)
    if isinstance(layer, nn.Linear | nn.Bilinear):
        return leaf([BATCH, getattr(layer, "in_features", None) or getattr(layer, "in1_features")])  # noqa: B009
    if isinstance(layer, nn.Conv1d | nn.ConvTranspose1d):
        return leaf([BATCH, layer.in_channels, 2 * SIDE])
    if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
        return leaf([BATCH, layer.in_channels, SIDE, SIDE])
    if isinstance(layer, nn.Conv3d | nn.ConvTranspose3d):
        return leaf([BATCH, layer.in_channels, SIDE, SIDE, SIDE])
    if isinstance(layer, nn.RNNBase):
        order = [BATCH, TIME] if layer.batch_first else [TIME, BATCH]
        return leaf([*order, layer.input_size])
    width = getattr(layer, "in_channels", None) if type(layer).__module__.startswith("torch_geometric.") else None
    return leaf([BATCH, width]) if type(width) is int and width > 0 else None


def natural(module: Any) -> Spec:
    """The input of the first layer of a module that says what it takes."""
    return next(filter(None, map(taken, module.modules())), leaf([BATCH, 8]))


def named(name: str, first: Spec) -> Spec:
    """What a part of a batch probably is, by its name and by the input that the module takes."""
    low = name.lower()
    first = {**first, "name": name}
    if low in _OF_GRAPHS:
        return {**_OF_GRAPHS[low], "name": name} if "shape" in _OF_GRAPHS[low] else _OF_GRAPHS[low]
    if low.endswith(_NAMES):
        return {"value": "made-up"}
    if "attention" in low and len(first["shape"]) == 2:
        return leaf(first["shape"], "int64", -1, name)
    if any(word in low for word in _MASKS):
        size = first["shape"]
        return leaf(size if len(size) < 3 else [size[0], *size[-2:]], "float32", name=name)
    if any(word in low for word in _KINDS):
        return leaf(first["shape"][:2] if len(first["shape"]) > 1 else [BATCH, TIME], "int64", 2, name)
    if any(word in low for word in _LENGTHS):
        return leaf([BATCH], "int64", -first["shape"][-1 if len(first["shape"]) > 2 else 1], name)
    if any(low == word or (len(word) > 2 and word in low) for word in _TARGETS):
        return leaf([BATCH], "int64", 2, name)
    if any(word in low for word in _TEXT) and first["dtype"] == "float32" and len(first["shape"]) < 3:
        return leaf([BATCH, TIME], "int64", 8, name)
    return first


def guesses(module: Any, first: Spec | None = None) -> Iterator[Spec]:
    """What the batches of a module may be, the likeliest first, around the input that its first layer takes."""
    first = first or natural(module)
    shape = taken_apart(module)
    kinds = _kinds_of(type(module))
    example = getattr(module, "example_input_array", None)
    if example is not None:
        yield from _by_example(example, shape, first)
    if shape is not None:
        yield _typed(_filled(shape, first, ""), kinds)
    pair = [first, leaf([BATCH], "int64", 2, "y")]
    yield {"items": pair, "kind": "list"}
    yield first


def _kinds_of(cls: type) -> dict[str, str]:
    """What the fields of the class that a step says its batch to be are annotated with."""
    function = inspect.getattr_static(cls, "training_step", None)
    try:
        name = list(inspect.signature(function).parameters)[1]
        noted = typing.get_type_hints(function).get(name)
    except Exception:
        return {}
    return {key: str(value) for key, value in getattr(noted, "__annotations__", {}).items()}


def _typed(spec: Spec, kinds: dict[str, str]) -> Spec:
    """A batch whose tensors are of whole numbers or of floats as their class says."""
    for place, part in list(leaves(spec)):
        kind = kinds.get(str(place[-1]), "") if place else ""
        if "FloatTensor" in kind and not part["dtype"].startswith("float"):
            spec = replaced(spec, place, {**part, "dtype": "float32", "high": 2})
        elif "LongTensor" in kind and part["dtype"].startswith("float"):
            spec = replaced(spec, place, {**part, "dtype": "int64"})
    return spec


def _by_example(example: Any, shape: Any, first: Spec) -> Iterator[Spec]:
    """The module's own example, with what else the step takes."""
    import torch

    def described(value: Any) -> Spec:
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            high = int(value.max()) + 1 if value.numel() and not value.dtype.is_floating_point else 2
            size = list(value.shape)
            return leaf([BATCH, *size[1:]] if size and size[0] < BATCH else size, dtype, high)
        if isinstance(value, dict):
            return {"keys": {str(key): described(item) for key, item in value.items()}, "kind": "dict"}
        if isinstance(value, list | tuple):
            return {"items": [described(item) for item in value], "kind": "list"}
        return {"value": value if isinstance(value, int | float | str | bool) else None}

    found = described(example)
    if isinstance(shape, list) and shape and "shape" in found:
        rest = [_filled(part, first, "") for part in shape[1:]]
        yield {"items": [found, *rest], "kind": "list"}
    elif isinstance(shape, dict) and shape and "shape" in found:
        filled = _filled(shape, first, "")
        name = next(iter(filled["keys"]))
        yield replaced(filled, (name,), {**found, "name": name})
    yield found


# -- what a step does with its batch


def _filled(shape: Shape, first: Spec, name: str) -> Spec:
    if isinstance(shape, list):
        return {"items": [_filled(item, first, "") for item in shape], "kind": "list"}
    if isinstance(shape, dict):
        kind = "object" if "." in shape else "dict"
        keys = {key: _filled(value, first, key) for key, value in shape.items() if key != "."}
        return {"keys": keys, "kind": kind}
    found = named(name or (shape if isinstance(shape, str) else ""), first)
    if isinstance(shape, str) and name and found["dtype" if "dtype" in found else "value"] != "int64":
        return named(shape, first) if len(shape) > 1 else found
    return found
