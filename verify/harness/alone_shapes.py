"""The batches that a module is tried with first: of shapes that the project's code writes down, and the first guess.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .alone_batches import BATCH, Spec, guesses, leaves, sized, taken
from .alone_sizes import sides
from .alone_values import Arguments

Shape = Mapping[str, Any]
"""`{"sizes", "dtype", "sides", "where"}`, as the project writes it at a place: of a sample or of a batch, or, where
`sides`, of an image's height and width."""
FIRST = 3
"""How many recorded shapes are tried for the same arguments."""
LARGEST = BATCH * 3 * 336 * 336
"""As many numbers as a batch may have that a short training on this machine can afford."""
_HAS = " has it"


def beginnings(module: Any, arguments: Arguments, shapes: Sequence[Shape]) -> list[tuple[Spec, str]]:
    """The batches to begin with, each with what gave its shape: recorded ones whose first input fits the module, and
    then the guess. The guess comes before them where the arguments say how large images are: they are this
    module's, while a shape that is written down may be another's."""
    pair = next(iter(sides(arguments)), None)
    guess = sized(next(guesses(module)), pair)
    if getattr(module, "example_input_array", None) is not None:
        return [(guess, "")]
    found: list[tuple[Spec, str]] = []
    for first, where in fitting(module, shapes):
        spec = next(guesses(module, first))
        if any(part["shape"] == first["shape"] for _, part in leaves(spec)) and all(spec != one for one, _ in found):
            found.append((spec, where + _HAS))
    if pair and any(len(part["shape"]) == 4 for _, part in leaves(guess)):
        return [(guess, ""), *(one for one in found if one[0] != guess)][: FIRST + 1]
    return [*found[:FIRST], *([(guess, "")] if all(guess != one for one, _ in found[:FIRST]) else [])]


def is_recorded(shaped: str) -> bool:
    """Whether the shapes of a batch are those that the project writes down, rather than those that a loader gives."""
    return shaped.endswith(_HAS)


def holds(spec: Spec, shapes: Sequence[Shape], shaped: str) -> bool:
    """Whether some input of a batch is still of the shape that is written down at a place."""
    for shape in shapes:
        sizes = tuple(shape["sizes"])
        samples = {sizes[-2:]} if shape["sides"] else {sizes, sizes[1:], (*sizes[:1], *sizes[2:])}
        for _, part in leaves(spec) if shape["where"] + _HAS == shaped else ():
            size = tuple(part["shape"])
            if size[-2:] in samples if shape["sides"] else {size[1:], (*size[:1], *size[2:])} & samples:
                return True
    return False


def fitting(module: Any, shapes: Sequence[Shape]) -> Iterator[tuple[Spec, str]]:
    """The inputs of recorded shapes that a module takes, each with its place: those that fit its first layer, and whole
    ones that fit a convolution of it, as the first layer that is defined need not be the first that is called."""
    layers = [(layer, spec) for layer in module.modules() if (spec := taken(layer))]
    for shape in shapes:
        for number, (layer, natural) in enumerate(layers):
            size = _fitted(layer, natural, shape) if number == 0 or _is_entrance(layer, shape) else None
            if size is not None and math.prod(size) <= LARGEST:
                yield {**natural, "shape": size}, shape["where"]
                break


def _is_entrance(layer: Any, shape: Shape) -> bool:
    """Whether a layer after the first may be the one that gets what has a recorded shape."""
    return hasattr(layer, "kernel_size") and not shape["sides"]


def _fitted(layer: Any, natural: Spec, shape: Shape) -> list[int] | None:
    """A recorded shape with our number of samples, where a layer takes that and what it holds."""
    if shape["dtype"] != natural["dtype"] and (shape["dtype"] or natural["dtype"] == "int64"):
        return None
    return (_of_image if shape["sides"] else _whole)(layer, natural, shape["sizes"])


def _of_image(layer: Any, natural: Spec, side: list[int]) -> list[int] | None:
    """The shape of images of a height and width, also where they are flattened before the first layer."""
    import torch.nn as nn

    if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
        return [*natural["shape"][:2], *side]
    if isinstance(layer, nn.Linear):
        found = (channels for channels in (1, 3) if channels * math.prod(side) == layer.in_features)
        return next(([BATCH, channels, *side] for channels in found), None)
    return None


def _whole(layer: Any, natural: Spec, sizes: list[int]) -> list[int] | None:
    """A recorded shape with our number of samples, where it is one that a layer takes."""
    import torch.nn as nn

    free = natural["shape"]
    if isinstance(layer, nn.Embedding):
        return [BATCH, sizes[1]] if len(sizes) == 2 else None
    if isinstance(layer, nn.RNNBase):
        steps = sizes[-2] if layer.batch_first or len(sizes) == 2 else sizes[0]
        order = [BATCH, steps] if layer.batch_first else [steps, BATCH]
        return [*order, sizes[-1]] if len(sizes) in (2, 3) and sizes[-1] == free[-1] else None
    if isinstance(layer, nn.Linear):
        return _of_linear(layer, sizes)
    if isinstance(layer, nn.Bilinear):
        return None
    sample = sizes[len(sizes) - len(free) + 1 :] if len(sizes) in (len(free), len(free) - 1) else []
    return [BATCH, *sample] if sample and sample[0] == free[1] else None


def _of_linear(layer: Any, sizes: list[int]) -> list[int] | None:
    """Rows of what a linear layer takes, or samples that it takes when they are flattened; a batch of single rows is
    the guess."""
    wanted = layer.in_features
    if len(sizes) > 2 and sizes[-1] == wanted:
        return [BATCH, *sizes[1:]]
    sample = next((part for part in (sizes, sizes[1:]) if len(part) > 1 and math.prod(part) == wanted), None)
    return [BATCH, *sample] if sample else None
