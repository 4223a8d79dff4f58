"""The files of a project changed in place: nothing that was there is lost, and an interruption leaves none of it half
done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fixer import undo
from fixer.errors import UsageError, of_the_system
from fixer.replacing import create_file, data_of, replace_file
from fixer.result import Skipped


@dataclass(frozen=True)
class Written:
    """The files that could not be written, and why what was written cannot be undone ("" where it can)."""

    refused: tuple[Skipped, ...] = ()
    no_undo: str = ""


def write(root: Path, after: Mapping[str, bytes], read: Mapping[str, bytes]) -> Written:
    """Gives files new content; `read` are those that were there, as they were read. A file that cannot be written is
    left and named.

    Raises UsageError, before anything is written, where a file is not as it was read, or a new one would take the place
    of one that git ignores.
    """
    if not after:
        return Written()
    _check(root, after, read)
    kept, no_undo = _kept(root, after, read)
    refused: list[Skipped] = []
    try:
        for path, data in sorted(after.items()):
            try:
                (replace_file if path in read else create_file)(root / path, data)
            except OSError as error:
                refused.append(Skipped(path, f"not written: {error.strerror}"))
    except BaseException:
        if kept:
            undo.put_back(kept)
        raise
    if kept and len(refused) == len(after):
        undo.forget(kept)
    return Written(tuple(refused), no_undo)


def _check(root: Path, after: Mapping[str, bytes], read: Mapping[str, bytes]) -> None:
    for path in sorted(after):
        if path in read and _now(root, path) != read[path]:
            raise UsageError(f"{path}: changed since fixer read it; run fixer again. Nothing was changed")
        if path not in read and os.path.lexists(root / path):
            raise UsageError(f"{path}: in the way of a file that the rewrite brings; move it away. Nothing was changed")


def _now(root: Path, path: str) -> bytes | None:
    try:
        return data_of(root, path)
    except OSError:
        return None


def _kept(root: Path, after: Mapping[str, bytes], read: Mapping[str, bytes]) -> tuple[undo.KeptImages | None, str]:
    """What is to be overwritten, kept, or why it could not be."""
    before = {path: read.get(path) for path in after}
    if sum(len(data) for data in before.values() if data is not None) > undo.ROOM:
        return (
            None,
            f"`fixer undo` cannot put the files back: they are larger than {undo.ROOM // 1_000_000} MB together",
        )
    try:
        kept = undo.keep(root, before, after)
    except OSError as error:
        return None, f"`fixer undo` cannot put the files back: {of_the_system(error)}"
    with suppress(OSError):  # another run may make room, too
        undo.make_room()
    return kept, ""
