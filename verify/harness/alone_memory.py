"""How much memory a try may hold: what asks for more fails there, before the whole process is ended for it.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

_LEAST = 2**28
"""What a try may add to what others before it have left, in bytes."""
_REFUSED = re.compile(r"(not enough|can't allocate|cannot allocate|could not allocate|out of) memory|bad_alloc", re.I)


def held() -> int:
    """The memory of this process, in bytes; 0 where the system does not say."""
    return _pages(1)


def is_refused(error: BaseException) -> bool:
    """Whether an error says that there was no memory for what was asked."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | OSError) and bool(_REFUSED.search(str(error)))
    )


def tidy(most: float) -> None:
    """Give back what tries before have left: errors hold frames, and these what was built. Where that is much of the
    `most` bytes that a try may hold, what the allocator keeps goes too."""
    gc.collect()
    if held() > most / 2:
        with contextlib.suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).malloc_trim(0)


def settle() -> None:
    """Leave what is loaded by now out of all that `tidy` looks at, which takes a tenth of a second otherwise."""
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def bounded(most: float) -> Iterator[None]:
    """Let an allocation fail that would take this process above `most` bytes, where the process has a bound already:
    beside an accelerator it has none, since drivers set aside far more than they use."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, AttributeError):
        yield
        return
    if hard == resource.RLIM_INFINITY or most == float("inf"):
        yield
        return
    room = _pages(5) + int(max(most - held(), _LEAST))
    resource.setrlimit(resource.RLIMIT_DATA, (min(room, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _pages(place: int) -> int:
    """One of the sizes of this process: 1 is what it holds, 5 what it may write to, used or not."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[place]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
