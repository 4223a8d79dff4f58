"""Tells which of some functions of the project were called, and how often where Python counts that cheaply.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any


class Calls:
    """Which `functions` of the project at `root` are called from `begin` on: each as `path:line`, its first line or
    that of its first decorator. From Python 3.12 on calls are counted, which slows nothing but these functions. Older
    ones are slower while they are watched, so that ends with the last of them."""

    def __init__(self, root: str, functions: Iterable[str]) -> None:
        self.root = root
        self.functions = frozenset(functions)
        self._left: set[str] = set()
        self._times: dict[str, int] = {}
        self._counting = False
        self._paths: dict[str, str] = {}
        self._called = self._trace

    def begin(self) -> None:
        """Start anew, with nothing called yet."""
        self._left, self._times = set(self.functions), {}
        if self._left and not self._counting and not self._count():
            self._watch(self._called)

    def _count(self) -> bool:
        """Has Python tell of each call of these functions, and of no other after the first one; not before 3.12, and
        not where tools of the project have taken all places."""
        monitoring: Any = getattr(sys, "monitoring", None)
        for tool in (4, 3) if monitoring else ():
            with contextlib.suppress(ValueError):
                monitoring.use_tool_id(tool, "fixer")
                monitoring.register_callback(tool, monitoring.events.PY_START, self._started)
                monitoring.set_events(tool, monitoring.events.PY_START)
                self._counting = True
                break
        return self._counting

    def _started(self, code: CodeType, offset: int) -> Any:
        name = self._name(code)
        if name not in self.functions:
            return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]
        self._left.discard(name)
        self._times[name] = self._times.get(name, 0) + 1
        return None

    def _watch(self, how: Any) -> None:
        threading.settrace(how)
        sys.settrace(how)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> None:
        self._left.discard(self._name(frame.f_code))
        if not self._left:
            self._watch(None)  # of this thread, and of those that start

    def _name(self, code: CodeType) -> str:
        path = self._paths.get(code.co_filename)
        if path is None:
            path = self._paths[code.co_filename] = self._path(code.co_filename)
        return f"{path}:{code.co_firstlineno}" if path else ""

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
        unwatched = not self._counting and sys.gettrace() is not self._called
        if self._left and (unwatched or _compiles()):
            return None
        return sorted(self.functions - self._left)

    def times(self) -> dict[str, int] | None:
        """How often each of them was called; None where that was not counted, or calls were compiled into one."""
        return dict(self._times) if self._counting and not _compiles() else None


def _compiles() -> bool:
    """Whether torch has compiled anything."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return bool(utils and utils.counters.get("frames"))
