"""Pickled objects made up for a script that loads what is not here, with pickle or torch: what they are is found by its
errors.

Runs in the target's interpreter, beside the harness: standard library, and numpy or pandas where such an object is one.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import data_shapes

Entry = dict[str, Any]
_OF_FRAMES = frozenset({
    "columns", "drop", "dropna", "groupby", "head", "iloc", "iterrows", "loc", "reset_index", "sample", "to_numpy",
})  # fmt: skip
_OF_ARRAYS = frozenset({
    "astype", "device", "dim", "dtype", "float", "long", "mean", "ndim", "numpy", "reshape", "shape", "size", "to", "T",
    "view",
})  # fmt: skip
_OF_DICTIONARIES = frozenset({"get", "items", "keys", "values"})
_LACKS = re.compile(r"'(?:list|dict|tuple)' object has no attribute '(\w+)'")
_PARTS = re.compile(r"(?:too many|not enough) values to unpack \(expected (\d+)")


_SAVED = re.compile(r"\.pth?$")
_OF_DATA = re.compile(
    r"(?:^|[/_.-])(?:data|datasets?|train|valid|val|dev|test|features?|embeddings?|graphs?|processed|inputs?|targets?"
    r"|labels?|samples?)(?=[/_.-])"
)
_OF_WEIGHTS = re.compile(
    r"ckpt|checkpoint|weight|model|state|best|last|epoch|pretrain|(?:^|[/_.-])net|optim|resume"
    r"|(?:extractor|encoder|decoder|backbone|classifier|generator|discriminator|teacher|student)\.pth?$"
)


def is_saved_data(path: str) -> bool:
    """Whether a file of torch's holds data and no weights, by how it is called."""
    name = "/".join(Path(path).parts[-2:]).lower()
    return all((_SAVED.search(name), _OF_DATA.search(name))) and not _OF_WEIGHTS.search(name)


def following(error: BaseException, plan: Sequence[Entry], line: str) -> Entry | None:
    """The last object of a plan as an error wants it to be; None where it says nothing of one."""
    entry = next((each for each in reversed(plan) if each.get("form") == "object"), None)
    if entry is None:
        return None
    what = entry.get("what", "rows")
    if (lacks := _LACKS.search(str(error))) and isinstance(error, AttributeError):
        if lacks[1] in _OF_FRAMES:
            return {**entry, "form": "pickle"}
        wanted = {**dict.fromkeys(_OF_ARRAYS, "array"), **dict.fromkeys(_OF_DICTIONARIES, "by name")}.get(lacks[1])
        return {**entry, "what": wanted} if wanted and what in ("rows", "parts") else None
    if (parts := _PARTS.search(str(error))) and "load" in line and what == "rows":
        return {**entry, "what": "parts", "count": int(parts[1])}
    return None


def told(entry: Entry) -> str:
    """What is pickled, in words; empty for records."""
    if entry["under"]:
        return f"arrays called {', '.join(entry['under'])}"
    kinds = {"array": "an array", "parts": f"{entry.get('count')} arrays", "by name": "arrays by name"}
    return kinds.get(entry.get("what", "rows"), "")


def write(entry: Entry, rows: list[dict[str, Any]], place: Path) -> None:
    """Pickle what an entry says: records, arrays by name or in a row, one array."""

    def array(seed: int, name: str = "") -> Any:
        return data_shapes.array(entry, len(rows), seed, name)

    what = entry.get("what", "rows")
    made: Mapping[str, Any] | Any = rows
    if entry["under"]:
        made = {name: array(seed, name) for seed, name in enumerate(entry["under"])}
    elif what == "array":
        made = array(0)
    elif what == "parts":
        made = tuple(array(seed) for seed in range(entry["count"]))
    elif what == "by name":
        made = {f"sample{seed:03}": array(seed)[0] for seed in range(len(rows))}
    if _SAVED.search(place.name.lower()):
        import torch

        torch.save(_as_tensors(made), place)
        return
    place.write_bytes(pickle.dumps(made))


def _as_tensors(made: Any) -> Any:
    """The same with tensors in place of arrays, which torch loads without being told to trust the file."""
    import torch

    if isinstance(made, dict):
        return {name: _as_tensors(value) for name, value in made.items()}
    if isinstance(made, tuple | list):
        return type(made)(map(_as_tensors, made))
    return torch.as_tensor(made) if hasattr(made, "dtype") else made
