"""Tells which of some functions of the project were called.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any


class Calls:
    """Which `functions` of the project at `root` are called from `begin` on: each as `path:line`, its first line or
    that of its first decorator. Python is slower while it is watched, so that ends with the last of them."""

    def __init__(self, root: str, functions: Iterable[str]) -> None:
        self.root = root
        self.functions = frozenset(functions)
        self._left: set[str] = set()
        self._paths: dict[str, str] = {}
        self._called = self._trace

    def begin(self) -> None:
        """Start anew, with nothing called yet."""
        self._left = set(self.functions)
        if self._left:
            self._watch(self._called)

    def _watch(self, how: Any) -> None:
        threading.settrace(how)
        sys.settrace(how)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        path = self._paths.get(code.co_filename)
        if path is None:
            path = self._paths[code.co_filename] = self._path(code.co_filename)
        if path:
            self._left.discard(f"{path}:{code.co_firstlineno}")
        if not self._left:
            self._watch(None)  # of this thread, and of those that start

    def _path(self, name: str) -> str:
        """A file of the project as its functions name it; empty for others."""
        if name.startswith(self.root):
            with contextlib.suppress(ValueError):
                real = os.path.realpath(self.root)
                return os.path.relpath(os.path.realpath(name), real).replace(os.sep, "/")
        return ""

    def report(self) -> list[str] | None:
        """The functions that were called. None where that is not known of all: the project traces its code itself, or
        calls of it were compiled into one."""
        if self._left and (sys.gettrace() is not self._called or _compiles()):
            return None
        return sorted(self.functions - self._left)


def _compiles() -> bool:
    """Whether torch has compiled anything."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return bool(utils and utils.counters.get("frames"))
