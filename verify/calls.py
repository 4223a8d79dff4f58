"""Tells which functions of the project were called.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from types import FrameType
from typing import Any


class Calls:
    """The functions of the project at `root` that are called from `begin` on."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._inside: dict[str, bool] = {}
        self._seen: set[tuple[str, int]] = set()
        self._called = self._trace

    def begin(self) -> None:
        """Start anew, with nothing called yet."""
        self._seen.clear()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        inside = self._inside.get(code.co_filename)
        if inside is None:
            inside = self._inside[code.co_filename] = code.co_filename.startswith(self.root)
        if inside:
            self._seen.add((code.co_filename, code.co_firstlineno))

    def report(self) -> list[str] | None:
        """Each function as `path:line`, its first line or that of its first decorator. None where it is not known: the
        project traces its code itself, or calls of it were compiled into one."""
        if sys.gettrace() is not self._called or _compiles():
            return None
        real = os.path.realpath(self.root)
        found = set()
        for name, line in list(self._seen):
            with contextlib.suppress(ValueError):
                path = os.path.relpath(os.path.realpath(name), real).replace(os.sep, "/")
                found.add(f"{path}:{line}")
        return sorted(found)


def _compiles() -> bool:
    """Whether torch has compiled anything."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return bool(utils and utils.counters.get("frames"))
