"""Files made up for a script that reads what is not in its repository: tables, arrays, pictures and whole folders.

A plan says what is made, an entry a path: both trees get the same files from it. Runs in the target's interpreter,
beside the harness: standard library, and of other packages what the script reads such files with.
"""

from __future__ import annotations

import csv
import io
import json
import pickle
import random
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .alone_files import write_file

Entry = dict[str, Any]
"""A path below the project's root, below the home or an absolute one, its `kind`, and what that kind has besides."""
FILES, CLASSES = 16, 2
ROWS = 64
_SIZE, _WIDE = 28, 32
_CIFAR = {"cifar-10-batches-py": ("labels", 10), "cifar-100-python": ("fine_labels", 100)}


def write(plan: Iterable[Entry], root: Path, where: Callable[[str, Path], Path] | None = None) -> None:
    """Make what a plan says that is not there yet: where the code looks for it, or `where` a path is to be."""
    for entry in plan:
        for place, make in _files(entry, (where or place_of)(entry["path"], root)):
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                make(place)


def place_of(path: str, root: Path) -> Path:
    """Where the path of an entry is: from the root, from the home, or as it is where it is absolute."""
    return root / Path(path).expanduser()


_HOME, _ROOT = "HOME", "ROOT"


def kept_place(path: str, folder: Path) -> Path:
    """Where a folder of data has what is at a path: below HOME what is in the home, below ROOT what is elsewhere on the
    machine, and all else as it lies in the project."""
    if path.startswith("~/"):
        return folder / _HOME / path[2:]
    return folder / _ROOT / path[1:] if path.startswith("/") else folder / path


def lay(folder: Path, root: Path, outside: Sequence[str]) -> list[str]:
    """Put the files of such a folder where the code looks for them, unless the project has one there or the machine's
    own files would be written: the paths at which they are now."""
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        head, *rest = file.relative_to(folder).parts
        said, top = {_HOME: ("~/", Path.home()), _ROOT: ("/", Path("/"))}.get(head, (f"{head}/", root / head))
        place = top.joinpath(*rest)
        is_ours = head != _ROOT or any(place.is_relative_to(each) for each in outside)
        if is_ours and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            found.append((said + "/".join(rest)).rstrip("/"))
    return found


def remove(entry: Entry, root: Path) -> None:
    """Take away the files of an entry, before others take their place."""
    for place, _ in _files(entry, place_of(entry["path"], root)):
        place.unlink(missing_ok=True)


def told(entry: Entry) -> str:
    """An entry in words."""
    if entry["kind"] == "table":
        return f"{entry['path']} ({entry['rows']} rows of {', '.join(entry['columns'])})"
    if entry["kind"] in ("folder", "numbered"):
        return f"{entry['path']} ({entry['count']} {entry['suffix']} files)"
    return str(entry["path"])


def table(path: str, form: str, separator: str = ",") -> Entry:
    """A table with one column, of which nothing is known yet."""
    return {"path": path, "kind": "table", "form": form, "separator": separator, "rows": ROWS, "under": [],
            "columns": {"column0": "number"}}  # fmt: skip


def accepted(root: Path) -> None:
    """Let torchvision take files below a folder that are there, whatever their digest is: made-up ones have another
    one than those that it would fetch."""
    try:
        from torchvision.datasets import cifar, mnist, utils  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except Exception:
        return
    plain = utils.check_integrity

    def check_integrity(fpath: Any, md5: str | None = None) -> bool:
        place = Path(fpath).resolve()
        return (root.resolve() in place.parents and place.is_file()) or bool(plain(fpath, md5))

    for module in (utils, cifar, mnist):
        if hasattr(module, "check_integrity"):
            module.check_integrity = check_integrity


def cells(entry: Entry, name: str) -> list[Any]:
    """The values of one column of a table: the same for the same column."""
    drawn = random.Random(name)
    make: Mapping[str, Callable[[int], Any]] = {
        "name": lambda row: f"sample{row:03}",
        "class": lambda row: row % 2,
        "whole": lambda row: row,
        "words": lambda row: " ".join(drawn.sample(("one", "small", "line", "of", "words", "here"), 6)),
        "day": lambda row: f"2020-{1 + row // 28 % 12:02}-{1 + row % 28:02}",
        "number": lambda row: round(drawn.uniform(-1, 1), 4),
    }
    value = make[entry["columns"][name]]
    return [value(row) for row in range(entry["rows"])]


def _files(entry: Entry, place: Path) -> Iterator[tuple[Path, Callable[[Path], None]]]:
    kind = entry["kind"]
    if kind == "table":
        yield place, partial(_write_table, entry)
    elif kind == "file":
        yield place, partial(write_file, suffix=entry["suffix"], seed=entry["seed"])
    elif kind == "arrays":
        yield place, partial(_write_arrays, entry)
    elif kind in ("folder", "numbered"):
        for number in range(entry["count"]):
            yield place / _name(entry, number), partial(write_file, suffix=entry["suffix"], seed=number)
    elif kind == "digits":
        for part, count in (("train", 128), ("t10k", 64)):
            images = partial(_write_idx, shape=(count, _SIZE, _SIZE), below=256)
            yield place / f"{part}-images-idx3-ubyte", images
            yield place / f"{part}-labels-idx1-ubyte", partial(_write_idx, shape=(count,), below=10)
    elif kind == "cifar":
        for number, name in enumerate(entry["names"]):
            yield place / name, partial(_write_cifar, seed=number)


def _name(entry: Entry, number: int) -> str:
    """The name of a file in a folder: as a pattern has it, or in folders of classes, or plainly by its number."""
    if pattern := entry.get("pattern"):
        return str(pattern).replace("{}", entry["names"][number] if "names" in entry else str(number))
    folder = f"class{number % CLASSES}/" if entry.get("classes") else ""
    return f"{folder}{number}{entry['suffix']}"


def _write_table(entry: Entry, place: Path) -> None:
    columns = {name: cells(entry, name) for name in entry["columns"]}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if entry["form"] in ("parquet", "pickle", "feather"):
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

        getattr(pandas.DataFrame(columns), f"to_{entry['form']}")(place)
        return
    if entry["form"] == "json":
        text = json.dumps(dict.fromkeys(entry["under"], rows) if entry["under"] else rows)
    elif entry["form"] == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        written = io.StringIO()
        writer = csv.writer(written, delimiter=entry["separator"], lineterminator="\n")
        writer.writerows([list(columns), *(row.values() for row in rows)])
        text = written.getvalue()
    place.write_text(text, encoding="utf-8")


def _write_arrays(entry: Entry, place: Path) -> None:
    import numpy

    made: dict[str, Any] = {name: numpy.random.RandomState(seed).rand(ROWS, _WIDE).astype("float32")
            for seed, name in enumerate(entry["names"])}  # fmt: skip
    if entry["form"] == "npz":
        numpy.savez(place, **made)
        return
    import h5py  # type: ignore[import-not-found,unused-ignore]

    with h5py.File(place, "w") as file:
        for name, values in made.items():
            file[name] = values


def _write_idx(place: Path, shape: tuple[int, ...], below: int) -> None:
    """A file of MNIST's own format."""
    drawn = random.Random(place.name)
    count = 1
    for side in shape:
        count *= side
    head = struct.pack(">BBBB", 0, 0, 8, len(shape)) + b"".join(struct.pack(">I", side) for side in shape)
    place.write_bytes(head + bytes(drawn.randrange(below) for _ in range(count)))


def _write_cifar(place: Path, seed: int) -> None:
    import numpy

    label, classes = _CIFAR[place.parent.name]
    if place.name in ("meta", "batches.meta"):
        held = [f"class{number}" for number in range(classes)]
        made: dict[str, Any] = {"label_names": held, "fine_label_names": held}
    else:
        state = numpy.random.RandomState(seed)
        made = {
            "data": state.randint(0, 256, (ROWS, 3072)).astype("uint8"),
            label: list(state.randint(0, classes, ROWS)),
        }
    place.write_bytes(pickle.dumps(made))
