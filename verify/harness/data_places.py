"""Folders that a script writes to and that are not there: git keeps none that is empty.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from .alone_files import call_at

_WRITES = re.compile(
    r"\bopen\(.*,\s*(?:mode\s*=\s*)?['\"][wax]|\b\w*FileHandler\(|\.to_(?:csv|json|parquet|pickle)\(|\bsave\w*\("
    r"|\bimwrite\(|\bmkdir\(|\b(?:write_text|write_bytes|touch)\("
)


def lacking(error: BaseException, own: Sequence[FrameType]) -> str | None:
    """The folder that is not there and that something was to be written to when an error came; None for any other."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str | os.PathLike) or not own:
        return None
    folder = Path(error.filename).parent
    if folder.exists() or not (_WRITES.search(call_at(own[-1])) or _is_writing(error)):
        return None
    return str(folder)


def _is_writing(error: BaseException) -> bool:
    """Whether a file was to be opened for writing, as the innermost frame has it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    held = frames[-1].f_locals
    mode = held.get("mode", getattr(held.get("self"), "mode", None))
    return isinstance(mode, str) and mode[:1] in ("w", "a", "x")
