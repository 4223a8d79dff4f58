"""How much made-up data there has to be, by errors of code that counts it: it splits a set into numbers of samples that
it knows, or takes those with numbers that are not there.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

Entry = dict[str, Any]
MOST = {"rows": 200_000, "count": 4096}
"""The most rows of a table, and files of a folder, that are made."""
_BEYOND = re.compile(r"index (\d+) is out of bounds for (?:axis|dimension) 0 with size (\d+)")
_TOO_FEW = re.compile(
    r"(?s:^(?!index out of range in self|Target).*out of (?:bounds|range))|out-of-bounds"
    r"|larger (?:sample )?than population|smaller than the number of samples"
    r"|greater than the number of"
)
_OF_FIXED_SIZE = ("digits", "cifar")
"""Sets that are made small at first, and can be made as large as they are known to be."""
_OF_ANY_SIZE = ("celeba", "stl10", "svhn")
"""Sets of which fewer samples are made than they are known to have."""
_NO_BATCH = re.compile(r"returned 0 length|returns at least 1 batch|across ranks is zero")
_SAMPLES = 1024
"""More samples than a batch usually has."""


def following(
    error: BaseException, frames: Iterable[tuple[FrameType, int]], plan: Sequence[Entry]
) -> tuple[list[Entry], str] | None:
    """The plan with as many samples as an error asks for; None where it says nothing of that."""
    if split := _split(error, frames):
        return _whole(plan) or _more(plan, *split)
    if _NO_BATCH.search(str(error)):
        return beyond_a_batch(plan)
    if not isinstance(error, IndexError | ValueError) or not _TOO_FEW.search(str(error)):
        return None
    beyond = _BEYOND.search(str(error))
    found = _more(plan, int(beyond[2]), int(beyond[1]) + 1, is_split=False) if beyond else None
    return found or _whole(plan)


def beyond_a_batch(plan: Sequence[Entry]) -> tuple[list[Entry], str] | None:
    """The plan with more samples than a batch usually has, where a loader that drops what fills none gave no batch;
    None where there are as many."""
    made = [{**entry, **_enough(entry)} for entry in plan]
    return _told(made, plan)


def _enough(entry: Entry) -> Entry:
    """What an entry is to be given so that it has more samples than a batch."""
    if entry["kind"] in _OF_FIXED_SIZE:
        return {"whole": True}
    if entry["kind"] in _OF_ANY_SIZE:
        return {"samples": _SAMPLES}
    named = [key for key in MOST if key in entry and "called" not in entry and (key == "count" or "count" not in entry)]
    return {key: _SAMPLES for key in named if entry[key] < _SAMPLES}


def _split(error: BaseException, frames: Iterable[tuple[FrameType, int]]) -> tuple[int, int] | None:
    """How many samples a set has that torch is to split, and how many its parts are to have together."""
    if not isinstance(error, ValueError) or "Sum of input lengths" not in str(error):
        return None
    for frame, _ in frames:
        held = frame.f_locals
        if frame.f_code.co_name == "random_split" and {"dataset", "lengths"} <= {*held}:
            return len(held["dataset"]), int(sum(held["lengths"]))
    return None


def _whole(plan: Sequence[Entry]) -> tuple[list[Entry], str] | None:
    """The plan with sets of a known size as large as they are."""
    return _changed(plan, lambda entry: entry["kind"] in _OF_FIXED_SIZE, {"whole": True})


def _more(plan: Sequence[Entry], have: int, wanted: int, *, is_split: bool = True) -> tuple[list[Entry], str] | None:
    """The plan with as many of what there are `have` of as are wanted; of the one table that there is, where samples
    are split of which code makes another number."""
    for key, most in MOST.items():
        sized = [entry for entry in plan if key in entry and "called" not in entry]
        meant = [entry for entry in sized if entry[key] == have] or (sized if is_split and len(sized) == 1 else [])
        more = meant[0][key] + wanted - have if meant else 0
        if meant and 0 < more <= most:
            return _changed(plan, lambda entry: entry in meant, {key: more})  # noqa: B023
    return None


def _changed(plan: Sequence[Entry], meant: Callable[[Entry], bool], values: Entry) -> tuple[list[Entry], str] | None:
    return _told([{**entry, **values} if meant(entry) else entry for entry in plan], plan)


def _told(made: list[Entry], plan: Sequence[Entry]) -> tuple[list[Entry], str] | None:
    """A plan with the entries of it that are others than before, in words; None where none is."""
    named = [str(entry["path"]) for entry, before in zip(made, plan, strict=True) if entry != before]
    return (made, f"more of {', '.join(named)}") if named else None
