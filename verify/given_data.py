"""Data besides that of the repository: a folder that the user names, and what was made up and is kept for the next."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

LARGEST = 256 * 2**20
"""Bytes of a folder of data that are copied for every run."""
MADE = "made"
"""Where the harness leaves what it made up, beside its record."""
KEPT = "data"
"""The folder that this is kept in, beside the recordings of a run."""
_ROOM = 64 * 2**20


def copy_of(data: Path, home: Path) -> str:
    """A copy of a folder that a run may do with as it likes, without links that leave it: its settings may be those of
    a stranger."""
    place, own = home / "given", data.resolve()

    def leaving(folder: str, names: list[str]) -> list[str]:
        places = {name: Path(folder, name) for name in names}
        return [name for name, at in places.items() if at.is_symlink() and not at.resolve().is_relative_to(own)]

    shutil.copytree(data, place, dirs_exist_ok=True, ignore=leaving)
    return str(place)


def keep_made(record: Path, folder: Path) -> None:
    """Copy what was made up beside a record to a folder, where it can be mended by hand and named as `data`. The
    project's code could write there: links are not followed, and no more is copied than there is room for."""
    room = _ROOM
    made = record.parent / MADE
    if made.is_symlink():
        return
    for top, names, files in os.walk(made):
        names[:] = [name for name in names if not Path(top, name).is_symlink()]
        for name in files:
            place = Path(top, name)
            room -= place.lstat().st_size
            if place.is_symlink() or not place.is_file() or room < 0:
                continue
            new = folder / KEPT / place.relative_to(made)
            with contextlib.suppress(OSError):
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(place, new, follow_symlinks=False)
