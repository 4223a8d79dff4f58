"""Files made up for a script that reads what is not in its repository: tables, arrays, pictures and whole folders.

A plan says what is made, an entry a path: both trees get the same files from it. Runs in the target's interpreter,
beside the harness: standard library, and of other packages what the script reads such files with.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import data_keyed, data_objects, data_sets, data_shapes
from .alone_files import SIDE, write_file
from .data_sets import ROWS

Entry = dict[str, Any]
"""A path from the project's root, below the home or an absolute one, its `kind`, and what that kind has besides."""
FILES, CLASSES = 16, 2
_SIDES = re.compile(r"user|customer|item|movie|product|book|song|track|query|doc|session", re.IGNORECASE)
_PARTNERS = 16
"""So many things each of the few users has to do with, in a table of who has to do with what."""


def write(plan: Iterable[Entry], root: Path, where: Callable[[str, Path], Path] | None = None) -> None:
    """Make what a plan says that is not there yet: where the code looks for it, or `where` a path is to be. What cannot
    be written there is left out: the code says itself what it lacks."""
    entries = list(plan)
    data_sets.PLANNED.clear()
    data_sets.PLANNED.update({entry["path"]: entry for entry in entries if entry.get("form") == "hub"})
    for entry in entries:
        if entry["kind"] == "place":
            with contextlib.suppress(OSError):
                (where or place_of)(entry["path"], root).mkdir(parents=True, exist_ok=True)
        for place, make in _files(entry, (where or place_of)(entry["path"], root)):
            with contextlib.suppress(OSError):
                if not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    make(place)


def place_of(path: str, root: Path) -> Path:
    """Where the path of an entry is: from the root, from the home, or as it is where it is absolute."""
    return root / Path(path).expanduser()


_HOME, _ROOT, _BESIDE = "HOME", "ROOT", "BESIDE"


def kept_place(path: str, folder: Path) -> Path:
    """Where a folder of data has what is at a path: below HOME what is in the home, below BESIDE what lies beside the
    project, below ROOT what is elsewhere on the machine, and all else as it lies in the project."""
    if path.startswith("~/"):
        return folder / _HOME / path[2:]
    if path.startswith("../"):
        return folder / _BESIDE / path[3:]
    return folder / _ROOT / path[1:] if path.startswith("/") else folder / path


def lay(folder: Path, root: Path, outside: Sequence[str]) -> list[str]:
    """Put the files of such a folder where the code looks for them, unless the project has one there or the machine's
    own files would be written: the paths at which they are now."""
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        head, *rest = file.relative_to(folder).parts
        places = {_HOME: ("~/", Path.home()), _BESIDE: ("../", root.parent), _ROOT: ("/", Path("/"))}
        said, top = places.get(head, (f"{head}/", root / head))
        place = top.joinpath(*rest)
        is_ours = head != _ROOT or any(place.is_relative_to(each) for each in outside)
        if is_ours and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            found.append((said + "/".join(rest)).rstrip("/"))
    return found


def remove(entry: Entry, root: Path) -> None:
    """Take away the files of an entry, and the folders that they were in, before others take their place."""
    top = place_of(entry["path"], root)
    for place, _ in _files(entry, top):
        place.unlink(missing_ok=True)
        for folder in itertools.takewhile(lambda above: above != top and top in above.parents, place.parents):
            with contextlib.suppress(OSError):
                folder.rmdir()


def told(entry: Entry) -> str:
    """An entry in words."""
    many = f"{entry['count']} files of " if "pattern" in entry else ""
    if entry.get("form") == "object" and (what := data_objects.told(entry)):
        return f"{entry['path']} ({many}{what})"
    if entry["kind"] == "table":
        where = f"{entry['path']} of the Hugging Face hub" if entry["form"] == "hub" else entry["path"]
        return f"{where} ({many}{entry['rows']} rows of {', '.join(entry['columns'])})"
    if entry["kind"] == "place":
        return f"{entry['path']} (an empty folder)"
    if entry["kind"] in ("folder", "numbered"):
        return f"{entry['path']} ({entry['count']} {entry['suffix']} files)"
    return str(entry["path"])


def table(path: str, form: str, separator: str = ",") -> Entry:
    """A table with one column, of which nothing is known yet."""
    return {"path": path, "kind": "table", "form": form, "separator": separator, "rows": ROWS, "under": [],
            "columns": {"column0": "number"}}  # fmt: skip


def cells(entry: Entry, name: str) -> list[Any]:
    """The values of one column of a table: the same for the same column."""
    drawn = random.Random(name)
    sides = [each for each, kind in entry["columns"].items() if kind == "whole" and _SIDES.search(each)]
    make: Mapping[str, Callable[[int], Any]] = {
        "name": lambda row: f"sample{row:03}",
        "class": lambda row: row % 2,
        "whole": _key(name, sides, max(1, entry["rows"] // _PARTNERS)),
        "words": lambda row: " ".join(drawn.sample(("one", "small", "line", "of", "words", "here"), 6)),
        "molecule": lambda row: f"{'C' * (1 + row % 16)}{'NO'[row // 16 % 2]}",
        "day": lambda row: f"2020-{1 + row // 28 % 12:02}-{1 + row % 28:02}",
        "number": lambda row: round(drawn.uniform(-1, 1), 4),
    }
    value = make[entry["columns"][name]]
    return [value(row) for row in range(entry["rows"])]


def _key(name: str, sides: Sequence[str], users: int) -> Callable[[int], int]:
    """What numbers a row: itself, or in a table of who has to do with what one of the `users` and one of the others."""
    if len(sides) < 2 or name not in sides:
        return lambda row: row
    return (lambda row: row % users) if name == sides[0] else (lambda row: row // users)


def _files(entry: Entry, place: Path) -> Iterator[tuple[Path, Callable[[Path], None]]]:
    kind = entry["kind"]
    if entry.get("form") == "hub" or kind == "place":
        return
    if kind in ("table", "arrays"):
        for name in [_name(entry, number) for number in range(entry["count"])] if "pattern" in entry else [""]:
            yield place / name, partial(_write_table if kind == "table" else _write_arrays, entry)
    elif kind == "file":
        yield place, partial(write_file, suffix=entry["suffix"], seed=entry["seed"], shape=_shape(entry))
    elif kind in ("folder", "numbered"):
        for number in range(entry["count"]):
            make = partial(write_file, suffix=entry["suffix"], seed=number, shape=_shape(entry))
            yield place / _name(entry, number), make
    else:
        yield from data_sets.files(entry, place)


def _shape(entry: Entry) -> tuple[int, ...]:
    if "side" in entry:
        return (entry["side"], entry["side"])
    return data_shapes.shape_of(entry) if data_shapes.shapes_of(entry) else ()


def _name(entry: Entry, number: int) -> str:
    """The name of a file in a folder: as a pattern has it, or in folders of classes, or plainly by its number."""
    if pattern := entry.get("pattern"):
        return str(pattern).replace("{}", entry["called"][number] if "called" in entry else str(number))
    folder = f"class{number % CLASSES}/" if entry.get("classes") else ""
    return f"{folder}{number}{entry['suffix']}"


def _write_table(entry: Entry, place: Path) -> None:
    columns = {name: cells(entry, name) for name in entry["columns"]}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if entry["form"] in ("parquet", "pickle", "feather"):
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        getattr(pandas.DataFrame(columns), f"to_{entry['form']}")(place)
        return
    if entry["form"] == "object":
        data_objects.write(entry, rows, place)
        return
    if entry["form"] == "coco":
        text = json.dumps(_coco(entry))
    elif entry["form"] == "json":
        words = cells({**entry, "columns": {"words": "words"}}, "words")
        text = json.dumps(data_keyed.whole(entry, rows, words))
    elif entry["form"] == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        written = io.StringIO()
        writer = csv.writer(written, delimiter=entry["separator"], lineterminator="\n")
        head = [] if entry.get("bare") else [list(columns)]
        writer.writerows([*head, *(row.values() for row in rows)])
        text = written.getvalue()
    place.write_text(text, encoding="utf-8")


def _coco(entry: Entry) -> dict[str, Any]:
    """Annotations as COCO has them: a box and its outline for each picture."""
    numbers = range(entry["rows"])
    names = cells(entry, "file_name")
    box = [8, 8, 16, 16]
    outline = [8, 8, 24, 8, 24, 24, 8, 24]
    return {
        "images": [{"id": at, "file_name": f"{names[at]}.jpg", "width": SIDE, "height": SIDE} for at in numbers],
        "annotations": [
            {"id": at + 1, "image_id": at, "category_id": 1 + at % CLASSES, "bbox": box, "area": 256, "iscrowd": 0,
             "segmentation": [outline], "caption": "one small line of words"} for at in numbers
        ],
        "categories": [{"id": 1 + at, "name": f"class{at}", "supercategory": "class"} for at in range(CLASSES)],
    }  # fmt: skip


def _write_arrays(entry: Entry, place: Path) -> None:
    import numpy

    made = {name: data_shapes.array(entry, ROWS, seed, name) for seed, name in enumerate(entry["names"])}
    if entry["form"] == "npz":
        numpy.savez(place, **made)
        return
    if entry["form"] == "mat":
        import scipy.io  # type: ignore[import-untyped,import-not-found,unused-ignore]

        scipy.io.savemat(place, made)
        return
    import h5py  # type: ignore[import-not-found,unused-ignore]

    with h5py.File(place, "w") as file:
        for name, values in made.items():
            file[name] = values
