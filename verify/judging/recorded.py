"""What the harness wrote, kept beyond the proof: the recordings of both trees, with an index that says what each is."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verify.given_data import KEPT, keep_made

INDEX = "index.jsonl"
ROOM = 32 * 2**20
"""Bytes of recordings that are kept of one run; what does not go in is named in the index."""


@dataclass(frozen=True)
class Started:
    """A start of the harness: in which tree, with what, and the file that it was told to write to."""

    side: str
    spec: Mapping[str, Any]
    record: Path


def keep(folder: Path, codes: Iterable[str], started: Iterable[Started]) -> None:
    """Copy what was recorded to a folder, beside what is there, and add a line each to its index.

    `codes` are the rules whose changes are in the tree after. The project's code could write where the recordings lie,
    so links are not followed. A disk that is full changes nothing of a proof.
    """
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for one in started:
            if one.spec["mode"] == "data":
                keep_made(one.record, folder)
            for record, told in _written(one):
                if record.is_file() and not record.is_symlink():
                    what = filter(None, (told["script"] or told["mode"], told["class"]))
                    place = _free(folder, "-".join([one.side, *what]))
                    why = _copied(record, place, ROOM - sum(path.stat().st_size for path in folder.iterdir()))
                    line = {"file": place.name, "side": one.side, **told, "codes": list(codes), "left_out": why}
                    with (folder / INDEX).open("a", encoding="ascii") as index:
                        index.write(f"{json.dumps(line)}\n")


def _written(started: Started) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files that one process of the harness writes, and what each is of."""
    spec = started.spec
    yield started.record, {
        "mode": spec["mode"], "script": spec.get("script"), "args": list(spec.get("args", ())), "class": None,
    }  # fmt: skip
    for recipe in spec.get("recipes", ()):
        of = {"mode": spec["mode"], "script": recipe["path"], "args": [], "class": recipe["cls"]}
        yield Path(recipe["record"]), of


def _free(folder: Path, stem: str) -> Path:
    """A file of this name that is not there yet: what ran more than once is numbered in the order in which it ran."""
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", stem)[:120]
    named = {json.loads(line)["file"] for line in _lines(folder)}
    number = 1
    while (name := f"{plain}{f'-{number}' if number > 1 else ''}.jsonl") in named:
        number += 1
    return folder / name


def _copied(record: Path, place: Path, room: int) -> str | None:
    """Why a recording was left out; None where it was copied."""
    size = record.stat().st_size
    if size > room:
        return f"{size} bytes, where {max(0, room)} of {ROOM} are left"
    try:
        shutil.copyfile(record, place, follow_symlinks=False)
    except OSError as error:
        place.unlink(missing_ok=True)
        return f"{error.strerror}"
    return None


def _lines(folder: Path) -> list[str]:
    index = folder / INDEX
    return index.read_text(encoding="ascii").splitlines() if index.is_file() else []


def told(folder: Path) -> str | None:
    """Where recordings are, in a line; None where there are none."""
    left = [bool(json.loads(line)["left_out"]) for line in _lines(folder)]
    if not left:
        return None
    out = f"; {sum(left)} left out, {INDEX} says why" if any(left) else ""
    data = f"; {KEPT} has the data that was made up" if (folder / KEPT).is_dir() else ""
    return f"{len(left) - sum(left)} recordings in {folder}, {INDEX} says what each is{out}{data}"
