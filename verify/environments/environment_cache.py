"""The environments that are kept: what they are, how much they hold, and when they were last used."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from verify.environments.building import MARKER, written
from verify.environments.installer import STORE
from verify.environments.remembered_names import FOLDER

DAY = 86400.0
SIZES = "fixer-sizes.json"


@dataclass(frozen=True)
class CachedEnvironment:
    """One environment, or what is left of one that was never finished: then `holds` is empty.

    `size` counts the files that it alone holds, in bytes: those that it shares with others or with the installer's
    own cache cost nothing here.
    """

    folder: Path
    holds: tuple[str, ...]
    size: int
    shared: int
    used: float

    @property
    def days(self) -> float:
        """Since it was last used."""
        return max(0.0, time.time() - self.used) / DAY


def kept(cache: Path) -> tuple[CachedEnvironment, ...]:
    """The environments below a folder, the one that was used last first."""
    found = []
    with contextlib.suppress(OSError):
        for folder in cache.iterdir():
            if folder.is_dir() and not folder.is_symlink() and folder.name not in (FOLDER, STORE):
                found.append(_read(folder))
    return tuple(sorted(found, key=lambda one: (-one.used, one.folder.name)))


def remove(chosen: Iterable[CachedEnvironment]) -> Iterator[CachedEnvironment]:
    """Remove environments but those that are being built at this moment; what was removed is yielded. The others
    share less now, so their sizes are forgotten."""
    for one in chosen:
        lock = one.folder.with_name(f"{one.folder.name}.lock")
        with _free(lock) as free:
            if free:
                (one.folder / MARKER).unlink(missing_ok=True)
                shutil.rmtree(one.folder, ignore_errors=True)
                lock.unlink(missing_ok=True)
                for other in one.folder.parent.glob(f"*/{SIZES}"):
                    other.unlink(missing_ok=True)
                yield one


def forget(cache: Path) -> None:
    """Remove what environments said of names and, unless one is being built, what was fetched to make them."""
    shutil.rmtree(cache / FOLDER, ignore_errors=True)
    with contextlib.ExitStack() as locks:
        if all(locks.enter_context(_free(lock)) for lock in cache.glob("*.lock")):
            shutil.rmtree(cache / STORE, ignore_errors=True)


def _read(folder: Path) -> CachedEnvironment:
    marker = folder / MARKER
    holds: tuple[str, ...] = ()
    used = folder.stat().st_mtime
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        asked = json.loads(marker.read_text(encoding="utf-8"))["asked"]
        holds = (f"Python {asked[0]}", *map(str, asked[2]))
        used = marker.stat().st_mtime
    return CachedEnvironment(folder, holds, *_sizes(folder), used)


def _sizes(folder: Path) -> tuple[int, int]:
    """What an environment holds alone and shares. To look at each of its files takes a second, so a finished one
    remembers it."""
    remembered = folder / SIZES
    with contextlib.suppress(OSError, ValueError, TypeError):
        own, shared = json.loads(remembered.read_text(encoding="utf-8"))
        return int(own), int(shared)
    found = _counted(str(folder))
    if (folder / MARKER).is_file():
        with contextlib.suppress(OSError):
            written(remembered, json.dumps(found))
    return found


def _counted(folder: str) -> tuple[int, int]:
    own = shared = 0
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        continue
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if status.st_nlink > 1:
                    shared += status.st_size
                else:
                    own += status.st_size
    return own, shared


@contextlib.contextmanager
def _free(lock: Path) -> Iterator[bool]:
    """Whether nobody builds what a lock stands for."""
    if sys.platform == "win32" or not lock.exists():
        yield True
        return
    import fcntl

    with lock.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
