"""One run of a fleet at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fixer.errors import UsageError

LOCK = "run.lock"
_LOCKED = 4096


@contextmanager
def alone(top: Path) -> Iterator[None]:
    """Holds the lock of a fleet. Raises UsageError where another run does."""
    top.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (top / LOCK).open("a+") as stream:
        if not _lock(stream.fileno()):
            stream.seek(0)
            raise UsageError(
                f"{top}: process {stream.read().strip() or '?'} runs this fleet already; `fixer fleet status --watch` "
                "shows it, `fixer fleet stop` ends it"
            )
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def is_held(top: Path) -> bool:
    """Whether a run of a fleet is going on."""
    try:
        with (top / LOCK).open("a+") as stream:
            return not _lock(stream.fileno())
    except OSError:
        return False


def _lock(descriptor: int) -> bool:
    """Takes a lock that the system takes back when the file is closed; False where another process has it."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCKED, os.SEEK_SET)  # what is locked there cannot be read: a place behind the text
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
