"""Made-up batches: what they are made of as JSON, how they are made, and what a training step seems to take.

Runs in the target's interpreter, beside the harness: standard library and torch alone. A batch is described by
`{"shape", "dtype", "high", "name"}` for a tensor, `{"items", "kind"}` for a list or tuple, `{"keys", "kind"}` for a
dict or an object with attributes, and `{"value"}` for anything that JSON holds.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import typing
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

Spec = dict[str, Any]
Place = tuple[Any, ...]

BATCH = 4
TIME = 12
SIDE = 32
DEPTH = 4

_TARGETS = ("y", "label", "target", "class", "gt", "truth", "tgt", "cls")
_MASKS = ("mask", "valid", "padding")
_LENGTHS = ("length", "lens", "_len", "size")
_TEXT = ("token", "input_id", "text", "word", "sentence", "caption", "char", "seq")
_OF_DICTS = frozenset({"items", "keys", "values", "get", "pop", "update", "copy"})
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
    return None


def natural(module: Any) -> Spec:
    """The input of the first layer of a module that says what it takes."""
    return next(filter(None, map(taken, module.modules())), leaf([BATCH, 8]))


def named(name: str, first: Spec) -> Spec:
    """What a part of a batch probably is, by its name and by the input that the module takes."""
    low = name.lower()
    first = {**first, "name": name}
    if low.endswith(_NAMES):
        return {"value": "made-up"}
    if any(word in low for word in _MASKS):
        return leaf([*first["shape"][:1], *first["shape"][-2:]], "float32", name=name)
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
    shape = _shape_of(type(module))
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


# -- what a step does with its batch, read in its source

_Shape = Any
"""None: a tensor; a name: a tensor called so; a list: a row of shapes; a dict: shapes by key, "." marks attributes."""


def _filled(shape: _Shape, first: Spec, name: str) -> Spec:
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


def _shape_of(cls: type) -> _Shape:
    """How the training step of a class takes its batch apart; None where it does not, or where that is not seen."""
    function = inspect.getattr_static(cls, "training_step", None)
    return _BatchReader(cls).read(function, 1, 0)


class _BatchReader:
    """Reads how functions take one of their parameters apart."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.seen: set[Any] = set()

    def read(self, function: Any, position: int | str, depth: int) -> _Shape:
        tree = source_of(function)
        if tree is None or depth > DEPTH or (function, position) in self.seen:
            return None
        self.seen.add((function, position))
        parameters = [parameter.arg for parameter in (*tree.args.posonlyargs, *tree.args.args)]
        if isinstance(position, str):
            name = position if position in parameters else None
        else:
            name = parameters[position] if position < len(parameters) else None
        return self._name(tree, name, depth) if name else None

    def _name(self, tree: ast.AST, name: str, depth: int) -> _Shape:
        """How a variable is taken apart."""
        found: _Shape = None
        for node in ast.walk(tree):
            new = self._one(tree, node, name, depth)
            found = _merged(found, new)
        return found

    def _one(self, tree: ast.AST, node: ast.AST, name: str, depth: int) -> _Shape:
        if isinstance(node, ast.Assign) and _is(node.value, name) and isinstance(node.targets[0], ast.Tuple | ast.List):
            return self._targets(tree, node.targets[0], depth)
        if isinstance(node, ast.Assign) and _is(node.value, name) and isinstance(node.targets[0], ast.Name):
            other = node.targets[0].id
            return self._name(tree, other, depth + 1) if other != name and depth < DEPTH else None
        if isinstance(node, ast.Subscript) and _is(node.value, name) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            if isinstance(key, str):
                return {key: self._inner(tree, node, depth)}
            if isinstance(key, int) and 0 <= key < 16:
                return [None] * key + [self._inner(tree, node, depth)]
        if isinstance(node, ast.Attribute) and _is(node.value, name) and node.attr not in _OF_DICTS:
            return None if hasattr(_tensor(), node.attr) else {".": None, node.attr: None}
        if isinstance(node, ast.Call):
            return self._call(node, name, depth)
        return None

    def _targets(self, tree: ast.AST, target: ast.Tuple | ast.List, depth: int) -> _Shape:
        shapes: list[_Shape] = []
        for item in target.elts:
            if isinstance(item, ast.Starred):
                continue
            if isinstance(item, ast.Tuple | ast.List):
                shapes.append(self._targets(tree, item, depth))
            elif isinstance(item, ast.Name) and item.id != "_":
                inner = self._name(tree, item.id, depth + 1) if depth < 2 else None
                shapes.append(inner if inner is not None and item.id != "self" else item.id)
            else:
                shapes.append(None)
        return shapes

    def _inner(self, tree: ast.AST, node: ast.Subscript, depth: int) -> _Shape:
        """The name, or how it is taken apart, of what is taken out of a batch."""
        for other in ast.walk(tree):
            if isinstance(other, ast.Assign) and other.value is node:
                target = other.targets[0]
                if isinstance(target, ast.Tuple | ast.List):
                    return self._targets(tree, target, depth)
                if isinstance(target, ast.Name):
                    return target.id
        return None

    def _call(self, node: ast.Call, name: str, depth: int) -> _Shape:
        """What a method of the class that is given the batch does with it."""
        called = node.func
        positions: list[int | str] = [number for number, item in enumerate(node.args) if _is(item, name)]
        positions += [keyword.arg for keyword in node.keywords if keyword.arg and _is(keyword.value, name)]
        stars = [item for item in node.args if isinstance(item, ast.Starred) and _is(item.value, name)]
        if not (isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name | ast.Call)):
            return None
        on_self = _is(called.value, "self") or (isinstance(called.value, ast.Call) and _is(called.value.func, "super"))
        function = inspect.getattr_static(self.cls, called.attr, None) if on_self else None
        if function is None:
            return None
        static = isinstance(function, staticmethod)
        function = getattr(function, "__func__", function)
        if stars:
            tree = source_of(function)
            return [item.arg for item in tree.args.args[1:] if item.arg] if tree else None
        found: _Shape = None
        for position in positions:
            moved = position if isinstance(position, str) or static else position + 1
            found = _merged(found, self.read(function, moved, depth + 1))
        return found


def source_of(function: Any) -> ast.FunctionDef | None:
    """The syntax tree of a function, also behind a decorator."""
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def _merged(one: _Shape, other: _Shape) -> _Shape:
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return other if one is None or (isinstance(one, str) and other is not None) else one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key)) for key in [*one, *(k for k in other if k not in one)]}
    if isinstance(one, list) and isinstance(other, list):
        size = max(len(one), len(other))
        padded = [[*row, *[None] * (size - len(row))] for row in (one, other)]
        return [_merged(left, right) for left, right in zip(*padded, strict=True)]
    return one


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _tensor() -> type:
    import torch

    return torch.Tensor
