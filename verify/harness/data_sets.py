"""Data sets that a library fetches from a server, made up in its own format: torchvision's, and those of a hub.

Runs in the target's interpreter, beside the harness: standard library, and of other packages what reads such files.
"""

from __future__ import annotations

import importlib
import pickle
import random
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from .alone_files import write_file

ROWS = 64
PLANNED: dict[str, dict[str, Any]] = {}
"""The sets of a hub that a plan has, by what `load_dataset` is asked for."""
_SIZE = 28
_CIFAR = {"cifar-10-batches-py": ("labels", 10), "cifar-100-python": ("fine_labels", 100)}
_FORMATS = {"mnist": "digits", "cifar": "cifar", "svhn": "svhn", "stl10": "stl10", "celeba": "celeba"}
"""The modules of torchvision whose data sets can be made up."""
_OF_HUB: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (r"sst2|cola", ("sentence",), ("label", "idx")),
    (r"mrpc|rte|wnli|stsb", ("sentence1", "sentence2"), ("label", "idx")),
    (r"qqp", ("question1", "question2"), ("label", "idx")),
    (r"qnli", ("question", "sentence"), ("label", "idx")),
    (r"[msx]nli|multi_nli", ("premise", "hypothesis"), ("label", "idx")),
    (r"cnn_dailymail", ("article", "highlights"), ("id",)),
    (r"xsum", ("document", "summary"), ("id",)),
    (r"wikitext", ("text",), ()),
    (r"", ("text",), ("label",)),
)
"""Which texts and which numbers sets of the hub hold by their names, the first row that fits; what else is asked of
them is found by errors."""


def asked(
    error: BaseException, frames: Sequence[tuple[FrameType, int]], inside: Callable[[str], str | None]
) -> dict[str, Any] | None:
    """The set that a server was asked for when an error came, where its format is known; `inside` says where in a plan
    a path is."""
    for frame, _ in reversed(frames):
        file, held = frame.f_code.co_filename.replace("\\", "/"), frame.f_locals
        if frame.f_code.co_name == "load_dataset" and frame.f_globals.get("__name__") == "datasets.load":
            return _of_hub(held) if isinstance(error, OSError) else None
        name = Path(file).stem
        if "torchvision/datasets/" not in file or name not in _FORMATS or not hasattr(held.get("self"), "root"):
            continue
        this: Any = held["self"]
        folder = this.raw_folder if name == "mnist" else Path(this.root) / getattr(this, "base_folder", "")
        place = inside(str(folder))
        return {"path": place, "kind": _FORMATS[name], **_details(this, name)} if place else None
    return None


def _of_hub(held: Mapping[str, Any]) -> dict[str, Any] | None:
    path, name = held.get("path"), held.get("name")
    if not isinstance(path, str) or held.get("data_files") or Path(path).exists():
        return None
    called = f"{path}/{name}" if isinstance(name, str) else path
    texts, others = next((texts, others) for pattern, texts, others in _OF_HUB if re.search(pattern, called.lower()))
    columns = {**dict.fromkeys(texts, "words"), **{each: "class" if each == "label" else "whole" for each in others}}
    return {"path": called, "kind": "table", "form": "hub", "separator": "", "rows": ROWS, "under": [],
            "columns": columns}  # fmt: skip


def _details(this: Any, name: str) -> dict[str, Any]:
    """What a format has besides a folder."""
    if name == "mnist" and hasattr(this, "images_file") and hasattr(this, "split"):
        return {"prefix": f"emnist-{this.split}-"}
    if name != "cifar":
        return {}
    lists: Mapping[str, Any] = vars(type(this)) | {
        name: getattr(this, name) for name in ("train_list", "test_list", "meta")
    }
    return {"names": [name for name, *_ in (*lists["train_list"], *lists["test_list"])] + [lists["meta"]["filename"]]}


def accepted(outside: Sequence[str | Path]) -> None:
    """Let torchvision take the files that are in the project, in its home and in the run's own folders `outside` of
    these, whatever their digest is: made-up ones have another one than those that it would fetch."""
    try:
        modules: list[Any] = [importlib.import_module("torchvision.datasets.utils")]
    except Exception:
        return
    modules += [module for name, module in list(sys.modules.items()) if name.startswith("torchvision.datasets.")]
    plain = modules[0].check_integrity
    own = [root.resolve() for root in (Path.cwd(), Path.home(), *map(Path, outside))]

    def check_integrity(fpath: Any, md5: str | None = None) -> bool:
        place = Path(fpath).resolve()
        return (place.is_file() and any(root in place.parents for root in own)) or bool(plain(fpath, md5))

    for module in modules:
        if hasattr(module, "check_integrity"):
            module.check_integrity = check_integrity


# -- files


def files(entry: Mapping[str, Any], place: Path) -> Iterator[tuple[Path, Callable[[Path], None]]]:
    """The files of a set of torchvision's in a folder, and how each is written."""
    kind, rows = entry["kind"], entry.get("samples", ROWS)
    if kind == "digits":
        for part, count in (
            (("train", 60_000), ("t10k", 10_000)) if entry.get("whole") else (("train", 128), ("t10k", 64))
        ):
            images, called = partial(_write_idx, shape=(count, _SIZE, _SIZE), below=256), entry.get("prefix", "") + part
            yield place / f"{called}-images-idx3-ubyte", images
            yield place / f"{called}-labels-idx1-ubyte", partial(_write_idx, shape=(count,), below=10)
    elif kind == "cifar":
        for number, name in enumerate(entry["names"]):
            yield place / name, partial(_write_cifar, seed=number, whole=bool(entry.get("whole")))
    elif kind == "svhn":
        for number, part in enumerate(("train", "test", "extra")):
            yield place / f"{part}_32x32.mat", partial(_write_mat, seed=number, rows=rows)
    elif kind == "stl10":
        yield place / "class_names.txt", partial(_write_lines, lines=[f"class{number}" for number in range(10)])
        yield place / "fold_indices.txt", partial(_write_lines, lines=[" ".join(map(str, range(rows)))] * 10)
        for part in ("train", "test", "unlabeled"):
            yield place / f"{part}_X.bin", partial(_write_bytes, count=rows * 3 * 96 * 96, below=256)
            yield place / f"{part}_y.bin", partial(_write_bytes, count=rows, below=10, first=1)
    elif kind == "celeba":
        yield from _faces(place, rows)


def _faces(place: Path, rows: int) -> Iterator[tuple[Path, Callable[[Path], None]]]:
    names = [f"{number:06}.jpg" for number in range(1, rows + 1)]
    drawn = random.Random(0)
    marks = [f"mark{number}" for number in range(40)]
    tables: Mapping[str, tuple[Sequence[str], Callable[[int], Sequence[int]]]] = {
        "list_attr_celeba.txt": ((str(rows), " ".join(marks)), lambda row: [drawn.choice((-1, 1)) for _ in marks]),
        "identity_CelebA.txt": ((), lambda row: [1 + row % 8]),
        "list_bbox_celeba.txt": ((str(rows), "image_id x_1 y_1 width height"), lambda row: [4, 4, 40, 40]),
        "list_landmarks_align_celeba.txt": ((str(rows), " ".join(marks[:10])), lambda row: [row % 32] * 10),
        "list_eval_partition.txt": ((), lambda row: [row % 3]),
    }
    for file, (head, values) in tables.items():
        lines = [f"{name} {' '.join(map(str, values(row)))}" for row, name in enumerate(names)]
        yield place / file, partial(_write_lines, lines=[*head, *lines])
    for number, name in enumerate(names):
        yield place / "img_align_celeba" / name, partial(write_file, suffix=".png", seed=number)


def _write_lines(place: Path, lines: Sequence[str]) -> None:
    place.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def _write_bytes(place: Path, count: int, below: int, first: int = 0) -> None:
    drawn = random.Random(place.name)
    if below == 256 and not first:
        place.write_bytes(drawn.randbytes(count))
        return
    place.write_bytes(bytes(first + drawn.randrange(below) for _ in range(count)))


def _write_idx(place: Path, shape: tuple[int, ...], below: int) -> None:
    """A file of MNIST's own format."""
    drawn = random.Random(place.name)
    count = 1
    for side in shape:
        count *= side
    head = struct.pack(">BBBB", 0, 0, 8, len(shape)) + b"".join(struct.pack(">I", side) for side in shape)
    drawn_bytes = drawn.randbytes(count)
    place.write_bytes(head + (drawn_bytes if below == 256 else bytes(each % below for each in drawn_bytes)))


def _write_cifar(place: Path, seed: int, whole: bool) -> None:
    import numpy

    label, classes = _CIFAR[place.parent.name]
    rows = (50_000 if place.name == "train" else 10_000) if whole else ROWS
    if place.name in ("meta", "batches.meta"):
        held = [f"class{number}" for number in range(classes)]
        made: dict[str, Any] = {"label_names": held, "fine_label_names": held}
    else:
        state = numpy.random.RandomState(seed)
        made = {
            "data": state.randint(0, 256, (rows, 3072), "uint8"),
            label: list(state.randint(0, classes, rows)),
        }
    place.write_bytes(pickle.dumps(made))


def _write_mat(place: Path, seed: int, rows: int) -> None:
    import numpy
    import scipy.io  # type: ignore[import-untyped,import-not-found,unused-ignore]

    state = numpy.random.RandomState(seed)
    made = {"X": state.randint(0, 256, (32, 32, 3, rows)).astype("uint8"), "y": state.randint(1, 11, (rows, 1))}
    scipy.io.savemat(place, made)
