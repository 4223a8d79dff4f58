"""Data besides that of the repository: a folder that the user names, and what was made up and is kept for the next."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

LARGEST = 256 * 2**20
"""Bytes of a folder of data that are copied for every run."""
MADE = "made"
"""Where the harness leaves what it made up, beside its record."""
KEPT = "data"
"""The folder that this is kept in, beside the recordings of a run."""
_ROOM = 64 * 2**20


def copy_of(data: Path, home: Path) -> str:
    """A copy of a folder that a run may do with as it likes. Its settings may be those of a stranger: links are not
    followed, and code and what git keeps are left out."""
    place = home / "given"
    place.mkdir(parents=True, exist_ok=True)
    _copy(data, place, LARGEST)
    return str(place)


def files_of(folder: Path) -> Iterator[Path]:
    """The files of a folder that are data, without links."""
    for top, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name != ".git")
        for name in sorted(files):
            place = Path(top, name)
            if place.suffix != ".py" and not place.is_symlink() and place.is_file():
                yield place


def keep_made(record: Path, folder: Path) -> None:
    """Copy what was made up beside a record to a folder, where it can be mended by hand and named as `data`. The
    project's code could write there: links are not followed, and no more is copied than there is room for."""
    made = record.parent / MADE
    if not made.is_symlink():
        _copy(made, folder / KEPT, _ROOM)


def _copy(folder: Path, to: Path, room: int) -> None:
    for place in files_of(folder):
        room -= place.lstat().st_size
        if room < 0:
            return
        new = to / place.relative_to(folder)
        with contextlib.suppress(OSError):
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, new, follow_symlinks=False)
