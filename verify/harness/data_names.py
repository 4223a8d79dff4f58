"""Files of many names, of which a script asks for one first: a name for each row of a table, for each line of a list
that the project has or that was made up, for each number.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from . import data_keyed
from .data_sets import ROWS
from .made_data import FILES, Entry, cells, place_of

MOST, LEAST = 4096, 8
"""The most files that are made by a list, and the fewest names that make one."""
_LISTS = (".txt", ".lst", ".list", ".csv", ".tsv", ".json")
_LARGEST, _READ = 4 * 2**20, 16 * 2**20
"""Bytes of a list of names, and of all that is read for one."""
_OF_LIST = re.compile(r"[\d./]")
"""What names of files have, and words of a vocabulary have not."""
_SPLIT = re.compile(r"[\s,;]+")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.){1,200})"')
_WAYS: tuple[Callable[[str], str], ...] = (
    lambda value: value,
    lambda value: value.rpartition(".")[0],
    lambda value: value.rpartition("/")[2],
    lambda value: value.rpartition("/")[2].rpartition(".")[0],
)
"""How a name of a list may stand in that of a file."""


def many(place: str, plan: Sequence[Entry], root: Path) -> Entry | None:
    """Where files like the one at `place` are, as a pattern and the names that it is filled with; None where nothing
    says that there are others."""
    return _of_rows(place, plan) or _of_lists(place, plan, root) or _of_numbers(place, plan)


def _filled(place: str, begin: int, end: int, names: Sequence[str]) -> Entry:
    """The entry for names in the place of a part of a path."""
    top = place[:begin].rpartition("/")[0]
    pattern = f"{place[len(top) : begin].lstrip('/')}{{}}{place[end:]}"
    return {"path": top or ".", "count": len(names), "pattern": pattern, "called": list(names)}


def _of_rows(place: str, plan: Sequence[Entry]) -> Entry | None:
    """Names by the cells of a made-up table, or by the texts of arrays."""
    folder = place.rpartition("/")[0]
    for entry in plan:
        if entry.get("texts") and (held := re.search(r"sample\d{3}", place)):
            return _filled(place, *held.span(), data_keyed.keys(ROWS))
        for column in entry["columns"] if entry["kind"] == "table" else ():
            if entry["columns"][column] not in ("name", "whole"):
                continue
            names = [str(value) for value in cells(entry, column)]
            begins = len(folder) if entry["columns"][column] == "whole" else 0
            cell = re.compile(rf"(?<!\d)0*(?:{'|'.join(map(re.escape, reversed(names)))})(?!\d)")
            held = cell.search(place, begins)
            if held:
                names = [value.zfill(len(held[0])) for value in names]
                return _filled(place, held.start(), held.end(), names)
    return None


def _of_numbers(place: str, plan: Sequence[Entry]) -> Entry | None:
    """Names by numbers, where a file with another one was made before."""
    folder, _, name = place.rpartition("/")
    number = re.search(r"\d+(?=\D*$)", name)
    if number is None:
        return None
    pattern = f"{name[: number.start()]}{{}}{name[number.end() :]}"
    same = re.compile(re.escape(pattern).replace(r"\{\}", r"\d+"))
    before = (PurePosixPath(each["path"]) for each in plan if "pattern" not in each and each["kind"] != "folder")
    if not any(each.parent == PurePosixPath(folder) and same.fullmatch(each.name) for each in before):
        return None
    names = [str(value).zfill(len(number[0])) for value in range(4 * FILES)]
    return {"path": folder or ".", "count": len(names), "pattern": pattern, "called": names}


# -- lists


def _of_lists(place: str, plan: Sequence[Entry], root: Path) -> Entry | None:
    """Names by the lines of a list: the longest name that stands in the path, of whatever list has it."""
    best: tuple[int, int, list[str]] = (0, 0, [])
    made = [place_of(entry["path"], root) for entry in plan if entry["kind"] == "file" and entry["suffix"] == ".txt"]
    for file in (*made, *_lists(root)):
        for column, way in itertools.product(_columns(file), _WAYS):
            cells = [cell for value in column if (cell := way(value)) and _stands(cell, place)]
            found = max(filter(None if file in made else _OF_LIST.search, cells), key=len, default="")
            if len(found) > best[0]:
                names = dict.fromkeys([found, *filter(_is_name, map(way, column))])
                best = (len(found), place.rfind(found), [*names])
    length, begin, called = best
    return _filled(place, begin, begin + length, called[:MOST]) if length else None


def _stands(cell: str, place: str) -> bool:
    """Whether a name is a part of a path, and more than a number that many have."""
    at = place.rfind(cell)
    if at < 0 or (len(cell) < 3 and cell.isdigit()) or len(cell) < 2:
        return False
    before, after = place[at - 1 : at], place[at + len(cell) : at + len(cell) + 1]
    return not (before.isalnum() or after.isalnum())


def _is_name(value: str) -> bool:
    parts = PurePosixPath(value).parts
    return 0 < len(value) <= 200 and not value.startswith("/") and ".." not in parts


def _lists(root: Path) -> Iterator[Path]:
    """The files of the project that may be a list of names."""
    left = _READ
    for top, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.lower().endswith(_LISTS) or name.lower().startswith(("readme", "requirements", "license")):
                continue
            size = Path(top, name).lstat().st_size
            if size <= min(_LARGEST, left):
                left -= size
                yield Path(top, name)


def _columns(file: Path) -> Iterator[list[str]]:
    """What may be names in a file: its lines, the columns of as many words as each line has, the texts of a JSON file;
    each where there are several that differ."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [[match[1] for match in _STRING.finditer(text)]] if file.suffix == ".json" else [lines]
    rows = [_SPLIT.split(line) for line in lines[:MOST]] if file.suffix != ".json" else []
    if rows and len(rows[-1]) > 1 and all(len(row) == len(rows[-1]) for row in rows):
        found += [list(column) for column in zip(*rows, strict=True)]
    for column in found:
        if len(set(column)) >= max(LEAST, len(column) // 2):
            yield column
