"""Tells which module of the project is asking.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import sys
from typing import Any


def asking(root: str) -> str:
    """The innermost module of the project at `root` whose code is running, `?` where none is."""
    frame: Any = sys._getframe(1)
    while frame and not frame.f_code.co_filename.startswith(root):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")) if frame else "?"
