"""Paths that a script looked for and did not find before it said so in words of its own, which name none.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

UNFOUND: dict[str, tuple[str, int]] = {}
"""The paths that were not there when the project asked, with the file and the line that did, the last one last."""
_SAYING = (AssertionError, Exception, FileNotFoundError, OSError, RuntimeError, ValueError)
_ABOVE = 4
"""So many lines above the one that says so is looked."""
_OF_SYSTEM, _OF_PATHS = ("exists", "isdir", "isfile"), ("exists", "is_dir", "is_file")


def watch(root: str) -> None:
    """Note what files of the project below `root` look for and do not find."""
    system: Any = os.path
    for holder, names in ((system, _OF_SYSTEM), (Path, _OF_PATHS)):
        for name in names:
            _note(holder, name, f"{os.path.realpath(root)}{os.sep}")


def _note(holder: Any, name: str, root: str) -> None:
    plain = getattr(holder, name)

    @functools.wraps(plain)
    def noted(path: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain(path, *args, **kwargs)
        if not found:
            asking = sys._getframe(1)
            if asking.f_code.co_filename.startswith(root) and isinstance(path, str | Path):
                UNFOUND.pop(str(path), None)
                UNFOUND[str(path)] = (asking.f_code.co_filename, asking.f_lineno)
        return found

    setattr(holder, name, noted)


def paths(error: BaseException, own: Sequence[FrameType]) -> list[str]:
    """The path that the project looked for just above a line of its own which raised an error; none for any other."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not own or frames[-1] is not own[-1] or type(error) not in _SAYING:
        return []
    line, file = own[-1].f_lineno, own[-1].f_code.co_filename
    if not linecache.getline(file, line).lstrip().startswith(("raise", "assert")):
        return []
    near = [path for path, (asker, at) in UNFOUND.items() if asker == file and line - _ABOVE <= at <= line]
    return near[-1:]
