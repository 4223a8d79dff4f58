"""A made-up batch after an error, and how its tensors are given other shapes and types.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeGuard

from .alone_batches import BATCH, SIDE, TIME, Place, Spec, at, leaf, leaves, natural, replaced

LARGEST = 4_000_000
MUCH = 8
_PIECE = 2
_LENGTH = re.compile(r"(\w+?)s?_?len(?:s|gths?)?$")
_SIDES = (28, 64, 96, 128, 224, 256, 16, 299, 384, 512)


@dataclass(frozen=True)
class Trouble:
    """An error, the frames that it passed (the outermost first), the batch at hand as described and as made, and the
    module that was given it. `root` is the project's folder."""

    error: BaseException
    frames: tuple[tuple[FrameType, int], ...]
    spec: Spec
    made: Any
    module: Any
    root: str

    @property
    def text(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"

    def own(self) -> list[tuple[FrameType, int]]:
        """The frames of the project, the innermost first."""
        return [pair for pair in reversed(self.frames) if pair[0].f_code.co_filename.startswith(self.root)]

    def line(self) -> str:
        """The project's innermost line."""
        found = self.own()
        return linecache.getline(found[0][0].f_code.co_filename, found[0][1]).strip() if found else ""

    def tensors_with_keys(self) -> list[Any]:
        """The tensors that the project's innermost line asks for a text."""
        try:
            tree = ast.parse(self.line().rstrip(",:"))
        except SyntaxError:
            return []
        held = self.own()[0][0].f_locals if self.own() else {}
        return [held[name] for name, _ in keyed(tree) if is_tensor(held.get(name))]

    def suspects(self) -> list[tuple[Place, Spec]]:
        """The tensors of the batch: those that the innermost frames hold come first, of one frame those of floats."""
        known = {memory(value): place for place, value in parts(self.made) if is_tensor(value)}
        every = dict(leaves(self.spec))
        order: dict[Place, None] = {}
        for frame, _ in reversed(self.frames):
            held = [known.get(memory(value)) for value in list(frame.f_locals.values()) if is_tensor(value)]
            mine = [place for place in held if place is not None and place in every]
            order.update((place, None) for place in sorted(mine, key=lambda place: not is_float(every[place])))
        order.update(dict.fromkeys(every))
        return [(place, every[place]) for place in order]


def sane(specs: Iterable[Spec]) -> Iterator[Spec]:
    for spec in specs:
        if all(math.prod(part["shape"]) <= LARGEST and min(part["shape"], default=1) > 0 for _, part in leaves(spec)):
            yield spec


def parts(made: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    yield place, made
    if isinstance(made, dict):
        for key, value in made.items():
            yield from parts(value, (*place, key))
    elif isinstance(made, list | tuple):
        for number, value in enumerate(made):
            yield from parts(value, (*place, number))


def memory(value: Any) -> int:
    """Where the values of a tensor lie, which is where those of what it was cut from lie."""
    found: int = value.untyped_storage().data_ptr()
    return found


# -- changing one tensor


def changed(trouble: Trouble, place: Place, **changes: Any) -> Spec:
    """The batch with another tensor at a place; lengths beside it that are its own stay so."""
    old = at(trouble.spec, place)
    made = replaced(trouble.spec, place, {**old, **changes})
    had, has = old["shape"], changes.get("shape")
    if not had or not has or had[-1] == has[-1]:
        return made
    called = _called(place, old)
    for beside, part in leaves(trouble.spec):
        stem = _LENGTH.match(_called(beside, part))
        if stem and beside[:-1] == place[:-1] and called.startswith(stem[1]) and part["high"] == -had[-1]:
            made = replaced(made, beside, {**part, "high": -has[-1]})
    return made


def _called(place: Place, part: Spec) -> str:
    return str(place[-1] if place and isinstance(place[-1], str) else part["name"]).lower()


def shaped(old: Spec, count: int, module: Any) -> list[int]:
    """A shape of another number of dimensions."""
    shape: list[int] = old["shape"]
    first = natural(module)["shape"]
    if len(first) == count:
        return list(first)
    last = shape[-1] if shape else 8
    ready = {0: [], 1: [BATCH], 2: [BATCH, last], 3: [BATCH, TIME, last], 4: [BATCH, 3, SIDE, SIDE],
             5: [BATCH, 3, 8, SIDE, SIDE]}  # fmt: skip
    if count == 3 and len(shape) == 4:
        return [shape[0], *shape[2:]]
    if count == 4 and len(shape) == 3:
        return [BATCH, *shape] if shape[0] in (1, 3) else [shape[0], 1, *shape[1:]]
    return ready.get(count, [BATCH] * count)


def dimensions(count: int, trouble: Trouble, only: int | None = None) -> Iterator[Spec]:
    for place, part in trouble.suspects():
        if len(part["shape"]) != count and only in (None, len(part["shape"])):
            yield changed(trouble, place, shape=shaped(part, count, trouble.module))


def swapped(have: int, want: int, trouble: Trouble, dimension: int | None = None) -> Iterator[Spec]:
    """Every tensor with a dimension of one size gets the other there; a much larger one first where it costs least.
    Pictures and volumes whose sides are all of that size get the other for all of them first."""
    suspects = trouble.suspects()
    if want > MUCH * have:
        suspects.sort(key=lambda pair: (not is_float(pair[1]), math.prod(pair[1]["shape"])))
    for place, part in suspects:
        shape = part["shape"]
        if len(shape) > 3 and set(shape[2:]) == {have} != {want} and dimension is None:
            yield changed(trouble, place, shape=[*shape[:2], *[want] * len(shape[2:])])
        for number in reversed(range(len(shape))):
            if shape[number] == have != want and dimension in (None, number, number - len(shape)):
                yield changed(trouble, place, shape=[*shape[:number], want, *shape[number + 1 :]])


def stretched(one: int, other: int, trouble: Trouble) -> Iterator[Spec]:
    """Where a part of a sample is stretched before it meets the rest: a short piece of that part, and as much of the
    rest as it becomes."""
    have, ratio = min(one, other), max(one, other) // max(1, min(one, other))
    met = _met(trouble)
    held = [(place, part) for place, part in trouble.suspects() if have > 1 and have in part["shape"][1:]]
    held.sort(key=lambda pair: pair[0] in met)
    for short, _ in held if ratio > 1 and max(one, other) % have == 0 else ():
        new = trouble.spec
        for place, part in held:
            size = _PIECE if place == short else _PIECE * ratio
            first, *rest = part["shape"]
            new = replaced(new, place, {**part, "shape": [first, *(size if was == have else was for was in rest)]})
        yield new


def _met(trouble: Trouble) -> set[Place]:
    """The parts of the batch that a line on the way names itself: it is what is made of others that was stretched."""
    known = {memory(value): place for place, value in parts(trouble.made) if is_tensor(value)}
    found: set[Place] = set()
    for frame, line in trouble.own():
        for node in taken_from(linecache.getline(frame.f_code.co_filename, line)):
            value = frame.f_locals.get(node.value.id) if isinstance(node.value, ast.Name) else None
            with contextlib.suppress(LookupError, TypeError, ValueError):
                held = value[ast.literal_eval(node.slice)] if isinstance(value, list | tuple | dict) else None
                if is_tensor(held) and memory(held) in known:
                    found.add(known[memory(held)])
    return found


def single(trouble: Trouble) -> Iterator[Spec]:
    """A batch of one sample, where an assertion or an error that speaks of batches may be of their size."""
    new = trouble.spec
    for place, part in leaves(trouble.spec):
        if part["shape"][:1] == [BATCH]:
            new = replaced(new, place, {**part, "shape": [1, *part["shape"][1:]]})
    if new != trouble.spec and (isinstance(trouble.error, AssertionError) or "batch" in str(trouble.error).lower()):
        yield new


def typed(trouble: Trouble, dtype: str, old: Callable[[Spec], bool]) -> Iterator[Spec]:
    sizes = [layer.num_embeddings for layer in trouble.module.modules() if hasattr(layer, "num_embeddings")]
    high = min(sizes, default=2)
    for place, part in trouble.suspects():
        if part["dtype"] != dtype and old(part):
            more = {"high": high} if dtype.startswith("int") else {}
            yield changed(trouble, place, dtype=dtype, **more)


def is_float(part: Spec) -> bool:
    return str(part["dtype"]).startswith("float")


def folded(shape: list[int], want: int) -> Iterator[list[int]]:
    """Shapes of a sample that hold so many values."""
    if len(shape) >= 3:
        for channels in dict.fromkeys((shape[1], 1, 3)):
            side = math.isqrt(want // channels) if want % channels == 0 else 0
            if side * side * channels == want:
                yield [shape[0], channels, side, side]
    if len(shape) == 3 and want % shape[2] == 0:
        yield [shape[0], want // shape[2], shape[2]]
    yield [shape[0], want]


def scaled(shape: list[int], factor: float) -> Iterator[list[int]]:
    side = shape[-1]
    exact = round(side * math.sqrt(factor))
    wanted = [exact, exact + 1, exact - 1, *_SIDES]
    yield from ([*shape[:2], new, new] for new in dict.fromkeys(wanted) if new != side and new > 0)


def row(old: Spec, count: int, module: Any) -> Spec:
    """A part of a batch as a row of `count` parts."""
    held = list(old["items"]) if "items" in old else [old] if "shape" in old else [natural(module)]
    while len(held) < count:
        held.append(leaf([BATCH], "int64", 2, "y") if len(held) == count - 1 else dict(held[0]))
    return {"items": held[:count], "kind": "list"}


def fitting(given: Any, target: Any, classes: bool, trouble: Trouble) -> Iterator[Spec]:
    """A target of the size of what it is compared with, or of whole numbers for its classes; where a batch is cut into
    pieces, of the whole's size."""
    size, had = list(given.shape), list(target.shape)
    every = trouble.suspects()
    shapes: list[tuple[list[int], str]] = [(size, "float32")]
    if classes and len(size) > 1:
        shapes.insert(0, ([size[0], *size[2:]], "int64"))
    found = memory(target)
    own = [place for place, value in parts(trouble.made) if is_tensor(value) and memory(value) == found]
    for place, _ in sorted(every, key=lambda pair: (pair[0] not in own, bool(pair[1]["shape"] != had))):
        for shape, dtype in shapes:
            yield changed(trouble, place, shape=shape, dtype=dtype, high=size[1] if len(size) > 1 else 2)
            for other, part in every:
                whole = part["shape"]
                for number in range(min(len(shape), len(whole)) if other != place else 0):
                    if whole[number] > shape[number]:
                        longer = [*shape[:number], whole[number], *shape[number + 1 :]]
                        yield changed(trouble, place, shape=longer, dtype=dtype)


def is_tensor(value: Any) -> TypeGuard[Any]:
    import torch

    return isinstance(value, torch.Tensor) and not value.is_sparse


def keyed(tree: ast.AST) -> list[tuple[str, str]]:
    """Which variables are asked for which keys that are texts."""
    return [
        (node.value.id, node.slice.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    ]  # fmt: skip


def taken_from(line: str) -> list[ast.Subscript]:
    """What a line takes out of something."""
    tree = _tree_of(line)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)] if tree else []


def names_in(line: str) -> list[str]:
    if (tree := _tree_of(line)) is None:
        return re.findall(r"[A-Za-z_]\w*", line)
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _tree_of(line: str) -> ast.Module | None:
    """A line of a program by itself; None where it is no statement."""
    try:
        return ast.parse(line.strip().rstrip(":"))
    except SyntaxError:
        return None


def listed(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]
