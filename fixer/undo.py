"""`fixer undo`: what `fix` overwrote, kept outside the project until it is put back.

What a run of `fix` is about to overwrite is one file here, complete on disk before any file of the project is touched:
a line of JSON that names the files, and behind it their bytes as they were.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fixer.errors import UsageError, of_the_system
from fixer.files import shown
from fixer.replacing import beside, data_of, replace_file

KEPT = 10
DAYS = 30
ROOM = 200_000_000
"""Bytes of all that is kept; what is oldest goes first."""
_SUFFIX = ".undo"


@dataclass(frozen=True)
class Overwritten:
    """A file that was overwritten: its path from the root, how many bytes it had (None where there was no file), and
    what names its content before and after."""

    path: str
    size: int | None
    before: str
    after: str


@dataclass(frozen=True)
class KeptImages:
    """What one run of `fix` overwrote below a folder: the file that it is kept in, the folder, when that was, and the
    files."""

    place: Path
    root: str
    at: float
    files: tuple[Overwritten, ...]

    @property
    def days(self) -> float:
        """How long ago that was."""
        return (time.time() - self.at) / 86_400

    @property
    def when(self) -> str:
        return datetime.fromtimestamp(self.at).strftime("%Y-%m-%d %H:%M")

    def images(self) -> dict[str, bytes | None]:
        """The content of each file as it was. Raises UsageError where this is not what was kept."""
        with self.place.open("rb") as stream:
            stream.readline()
            found = {item.path: None if item.size is None else stream.read(item.size) for item in self.files}
        if any(_digest(found[item.path]) != item.before for item in self.files):
            raise UsageError(f"{self.place}: damaged; what it kept cannot be put back")
        return found


@dataclass(frozen=True)
class PutBack:
    """What became of an attempt to put files back: paths that are as they were, those that were removed since `fix` had
    made them, and why others were left."""

    kept: KeptImages
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    left: tuple[tuple[str, str], ...]

    def lines(self) -> tuple[str, ...]:
        """What was done, a line a file and one for all."""
        number = len(self.restored) + len(self.removed)
        are = "1 file is as it was" if number == 1 else f"{number} files are as they were"
        total = f"{are} before the `fixer fix` of {self.kept.when} in {self.kept.root}"
        done = (*(f"put back: {path}" for path in self.restored), *(f"removed: {path}" for path in self.removed))
        return tuple(map(shown, (*done, total))) if number or not self.left else ()

    def complaint(self) -> str:
        """What was left, and what to do."""
        files = ", ".join(f"{shown(path)} ({why})" for path, why in self.left)
        return f"left as they are: {files}; move your changes away and run `fixer undo` again, or keep them"


def folder() -> Path:
    """Where it is kept."""
    from platformdirs import user_state_path

    return user_state_path("fixer") / "undo"


def keep(root: Path, before: Mapping[str, bytes | None], after: Mapping[str, bytes]) -> KeptImages:
    """Keeps what is to be overwritten. It is on disk when this returns. Raises OSError."""
    files = tuple(
        Overwritten(path, None if (was := before[path]) is None else len(was), _digest(was), _digest(after[path]))
        for path in sorted(after)
    )
    top, at = folder(), time.time()
    top.mkdir(parents=True, exist_ok=True, mode=0o700)
    moment = datetime.fromtimestamp(at, timezone.utc).strftime("%Y%m%d-%H%M%S-%f")
    kept = KeptImages(top / f"{moment}-{os.getpid()}{_SUFFIX}", str(root.resolve()), at, files)
    told = {"root": kept.root, "at": at, "files": [asdict(item) for item in files]}
    new = kept.place.with_suffix(".new")
    try:
        new.touch(0o600, exist_ok=False)
        with new.open("wb") as stream:
            stream.write(json.dumps(told).encode("ascii") + b"\n")
            stream.writelines(data for item in files if (data := before[item.path]) is not None)
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(kept.place)
        _to_disk(top)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return kept


def make_room() -> None:
    """Forgets what is old, and what there is no room for; of each folder the last runs stay."""
    kept, room = everything(), ROOM
    seen: dict[str, int] = {}
    for number, item in enumerate(kept):
        seen[item.root] = seen.get(item.root, 0) + 1
        room -= item.place.stat().st_size
        if number and (seen[item.root] > KEPT or item.days > DAYS or room < 0):
            forget(item)
    for new in folder().glob("*.new"):
        with contextlib.suppress(OSError):
            if new.stat().st_mtime < time.time() - 86_400:
                new.unlink()


def forget(kept: KeptImages) -> None:
    kept.place.unlink(missing_ok=True)


def everything() -> list[KeptImages]:
    """All that is kept, the newest first; what cannot be read is not among it."""
    found = (_read(place) for place in folder().glob(f"*{_SUFFIX}"))
    return sorted((item for item in found if item), key=lambda item: (item.at, item.place.name), reverse=True)


def last_of(path: Path) -> KeptImages:
    """What the last run of `fix` that is not undone overwrote in the folder that a path lies in. Raises UsageError
    where there is nothing, naming folders below for which there is something."""
    place = path.resolve()
    kept = everything()
    for around in (place, *place.parents):
        if found := next((item for item in kept if item.root == str(around)), None):
            return found
    below = next((item.root for item in kept if Path(item.root).is_relative_to(place)), None)
    hint = f"; the last run was in {below}: `fixer undo {below}`" if below else ""
    raise NothingToUndo(f"nothing is left to undo in {place}{hint}")


class NothingToUndo(Exception):
    """There is nothing to put back; the text says where."""


def put_back(kept: KeptImages) -> PutBack:
    """Puts back each file that still is what fixer wrote; the others are left, and stay kept. What was put back before
    this was interrupted is no obstacle to going on."""
    images, root = kept.images(), Path(kept.root)
    restored: list[str] = []
    removed: list[str] = []
    left: list[tuple[str, str]] = []
    for item in kept.files:
        try:
            now, was = data_of(root, item.path), images[item.path]
            if now is not None:
                beside(root / item.path).unlink(missing_ok=True)
            if _digest(now) == item.before:
                continue
            if _digest(now) != item.after:
                left.append((item.path, "changed since" if now is not None else "not there any more"))
            elif was is None:
                (root / item.path).unlink()
                removed.append(item.path)
            else:
                replace_file(root / item.path, was)
                restored.append(item.path)
        except OSError as error:
            left.append((item.path, of_the_system(error)))
    if not left:
        forget(kept)
    return PutBack(kept, tuple(restored), tuple(removed), tuple(left))


def _read(place: Path) -> KeptImages | None:
    try:
        with place.open("rb") as stream:
            told: dict[str, Any] = json.loads(stream.readline())
        return KeptImages(place, told["root"], told["at"], tuple(Overwritten(**item) for item in told["files"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(data: bytes | None) -> str:
    return "" if data is None else blake2b(data, digest_size=16).hexdigest()


def _to_disk(place: Path) -> None:
    """Has the names in a folder written, where the system lets one ask for that."""
    with contextlib.suppress(OSError):
        opened = os.open(place, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
