"""Shapes of made-up arrays, by what the code that computes with them says of the first ones.

Runs in the target's interpreter, beside the harness: standard library, and numpy where arrays are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .alone_files import PICTURES

Entry = dict[str, Any]
_WHOLE = ((32, 32), (32, 32, 3), (3, 32, 32), (32,), (1, 32, 32, 3), (16, 16, 16))
"""What a file of one array may hold, in the order in which that is tried."""
_EACH = ((32,), (32, 32), (3, 32, 32), (32, 32, 3), ())
"""The same of one of many in a file."""
_LABELS = re.compile(r"label|target|class|^y$|^y_|_y$", re.IGNORECASE)
_PRODUCT = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
_LAST = re.compile(
    r"input\.size\(-1\) must be equal to input_size\. Expected (\d+)"
    r"|Given normalized_shape=\[(\d+)\]"
)
"""What the last side has to be."""
_BEYOND = re.compile(r"^index out of range in self$|Target \d+ is out of bounds")
"""What says that there are more of something than a model knows."""
_CHANNELS = re.compile(r"to have (\d+) channels, but got (\d+) channels")
_ABOUT = re.compile(
    r"dimension|too many indices|axes don't match|out of bounds for axis|values to unpack|size mismatch|broadcast"
    r"|must match the size|Expected [234]D|Expected \d-D|expected stride|same number of dimensions|is invalid for input"
    r"|cannot reshape|number of input channels|scalar variable|to have \d+ channels"
)


_CROP = re.compile(r"crop size \((\d+), (\d+)\) is larger than")
_LARGEST_SIDE, _FEWEST = 1024, 2


def following(error: BaseException, plan: Sequence[Entry], line: str) -> tuple[list[Entry], str] | None:
    """The plan with arrays in another shape, where an error is about one: the last that have a shape left, those behind
    them as at first again; with texts in those that the `line` at hand decodes; None where it says nothing of it."""
    if isinstance(error, AttributeError) and "has no attribute 'decode'" in str(error):
        return _texts(plan, line)
    if not isinstance(error, ValueError | RuntimeError | IndexError | TypeError):
        return None
    if crop := _CROP.search(str(error)):
        return _larger(plan, max(map(int, crop.groups())))
    behind: list[Entry] = []
    for number in reversed(range(len(plan))):
        entry = plan[number]
        if shapes_of(entry):
            if new := _next_of_one(str(error), entry, line) or _next(str(error), entry):
                return [*plan[:number], new, *behind], str(entry["path"])
            entry = {key: value for key, value in entry.items() if key not in ("shape", "shapes", "each")}
        behind = [entry, *behind]
    return None


def _texts(plan: Sequence[Entry], line: str) -> tuple[list[Entry], str] | None:
    """The plan with texts in the arrays that a line names."""
    asked = re.findall(r"\[['\"](\w+)['\"]\]", line)
    for number, entry in enumerate(plan):
        names = [name for name in asked if entry["kind"] == "arrays" and name in entry["names"]]
        if names and not {*names} <= {*entry.get("texts", ())}:
            return [*plan[:number], {**entry, "texts": names}, *plan[number + 1 :]], f"{entry['path']} with texts"
    return None


def _larger(plan: Sequence[Entry], side: int) -> tuple[list[Entry], str] | None:
    """The plan with pictures from which a part of this side can be cut out."""
    meant = [entry for entry in plan if entry.get("suffix") in PICTURES and entry.get("side", 0) < side]
    if not meant or side > _LARGEST_SIDE:
        return None
    made = [{**entry, "side": side} if entry in meant else entry for entry in plan]
    return made, f"{meant[-1]['path']} of {side} x {side}"


def _next(text: str, entry: Entry) -> Entry | None:
    """An entry with the shape that an error names, else with the next one that is usual."""
    now = shape_of(entry)
    tried = [tuple(each) for each in entry.get("shapes", ())] + [now]
    usual = shapes_of(entry) if _ABOUT.search(text) else ()
    new = next((shape for shape in (*_told(text, now), *usual) if shape not in tried), None)
    if new is None:
        return None
    return {**entry, "shape": list(new), "shapes": [list(each) for each in tried]}


def _next_of_one(text: str, entry: Entry, line: str) -> Entry | None:
    """The same for the one array of several that the `line` at hand speaks of, by its name."""
    names = _names(entry)
    for name in [name for name in names if re.search(rf"\b{re.escape(name)}\b", line)] if names[1:] else []:
        known = entry.get("each", {})
        if new := _next(text, _one(entry, name)):
            shapes = {key: new[key] for key in ("shape", "shapes")}
            return {**entry, "each": {**known, name: shapes}}
    return None


def _names(entry: Entry) -> Sequence[str]:
    """What the code calls the arrays of a file."""
    return [
        name for name in (entry["names"] if entry["kind"] == "arrays" else entry.get("under", ())) if name != "arr_0"
    ]


def _one(entry: Entry, name: str) -> Entry:
    """An entry as one of its arrays has it."""
    return {**entry, **entry.get("each", {}).get(name, {})}


def _told(text: str, now: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes that an error names, the likeliest first."""
    if (sides := _PRODUCT.search(text)) and now:
        return _multiplied(now, *map(int, sides.groups()))
    if _BEYOND.search(text) and len(now) > 1 and now[0] > _FEWEST:
        return ((now[0] // 2, *now[1:]),)
    if (last := _LAST.search(text)) and now:
        return ((*now[:-1], int(next(filter(None, last.groups())))),)
    if channels := _CHANNELS.search(text):
        wanted, got = map(int, channels.groups())
        if got in now:
            at = now.index(got)
            return ((*now[:at], wanted, *now[at + 1 :]),)
    return ()


def _multiplied(now: tuple[int, ...], left: int, right: int) -> tuple[tuple[int, ...], ...]:
    """The shapes with which an array can be multiplied: as what stands left, and as what stands right, turned round or
    not, where `left` and `right` are the sides that have to be as long as each other."""
    if right == now[-1] != left:
        return (*now[:-1], left), (left, *now[1:])
    return (*now[:-1], right), *([(left, right)] if now == (right, left) else [])


def shapes_of(entry: Entry) -> tuple[tuple[int, ...], ...]:
    """The shapes that arrays of an entry may have; none of one that has no arrays."""
    if entry.get("suffix") in (".npy", ".npz"):
        return _WHOLE
    is_array = entry["kind"] == "arrays" or (entry.get("form") == "object" and (entry["under"] or "what" in entry))
    return _EACH if is_array else ()


def shape_of(entry: Entry) -> tuple[int, ...]:
    """The shape of arrays of an entry: of the whole file, or of each of many in it."""
    return tuple(entry["shape"]) if "shape" in entry else shapes_of(entry)[0]


def array(entry: Entry, rows: int, seed: int, name: str = "") -> Any:
    """Many numbers of the shape of an entry; of what is called a label, classes."""
    import numpy

    state = numpy.random.RandomState(seed)
    if name in entry.get("texts", ()):
        return numpy.array([f"sample{row:03}".encode() for row in range(rows)])
    if _LABELS.search(name):
        return state.randint(0, 2, rows)
    return state.rand(rows, *shape_of(_one(entry, name))).astype("float32")
