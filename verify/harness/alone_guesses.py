"""The batches that may be tried where an error says nothing of the one that a training step was given.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .alone_batches import BATCH, SIDE, TIME, Spec
from .alone_changes import Trouble, changed, is_float, is_tensor, parts, swapped


def like_neighbours(trouble: Trouble) -> Iterator[Spec]:
    """A tensor of the batch gets the shape and type of another tensor in the same frame."""
    known = {id(value): place for place, value in parts(trouble.made) if is_tensor(value)}
    for frame, _ in trouble.own()[:2]:
        held = [value for value in list(frame.f_locals.values()) if is_tensor(value) and hasattr(value, "grad_fn")]
        for value in held:
            place = known.get(id(value))
            for other in held:
                if place is not None and other is not value and id(other) not in known:
                    dtype = str(other.dtype).removeprefix("torch.")
                    yield changed(trouble, place, shape=list(other.shape), dtype=dtype)


def numbers(trouble: Trouble) -> Iterator[Spec]:
    """Any two numbers of the text may be what is there and what should be."""
    found = list(dict.fromkeys(int(text) for text in re.findall(r"\d+", str(trouble.error)[:300])))[:4]
    for have in found:
        for want in found:
            if have > 1 and 0 < want < 5000:
                yield from swapped(have, want, trouble)


def menu(trouble: Trouble) -> Iterator[Spec]:
    """Shapes that are common."""
    shapes = ([BATCH, 8], [BATCH, 1], [BATCH], [BATCH, TIME, 8], [BATCH, 3, SIDE, SIDE], [BATCH, 1, 28, 28],
              [BATCH, 3, 224, 224], [BATCH, SIDE, SIDE], [BATCH, 16000], [BATCH, 1, 16000])  # fmt: skip
    for place, part in trouble.suspects():
        yield from (changed(trouble, place, shape=shape) for shape in shapes if shape != part["shape"])
        if is_float(part):
            yield changed(trouble, place, dtype="int64", high=2)
        else:
            yield changed(trouble, place, dtype="float32")
