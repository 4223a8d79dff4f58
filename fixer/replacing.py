"""One file of a project read, given new content or taken away, in one step and through no symbolic link."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from fixer.tree import File, read_disk

_ANY_SIZE = 1 << 62


def data_of(root: Path, path: str) -> bytes | None:
    """What a file holds by now; None where there is none. Raises OSError for what is no file that can be read."""
    found = next(read_disk(root, [path], lambda _: True, lambda _: _ANY_SIZE), None)
    if found is None:
        return None
    if not isinstance(found, File):
        raise OSError(errno.EINVAL, "is no regular file that can be read", str(root / path))
    return found.data


def replace_file(place: Path, data: bytes) -> None:
    """Gives a file new content: a full disk or an interruption leaves the old one, and its mode stays."""
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
    new = beside(place)
    new.unlink(missing_ok=True)
    try:
        create_file(new, data)
        shutil.copymode(place, new)
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def create_file(place: Path, data: bytes) -> None:
    """Makes a file where there is none, whole or not at all. Raises FileExistsError."""
    with place.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except BaseException:
            place.unlink(missing_ok=True)
            raise


def beside(place: Path) -> Path:
    """Where new content of a file lies until it takes the file's place."""
    return place.with_name(f".{place.name}.fixer")
