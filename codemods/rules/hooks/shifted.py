"""Hooks behind a batch that take the batch first, as up to Lightning 0.10."""

from __future__ import annotations

import re

from codemods.code.source import PythonFile
from codemods.code.syntax import Function, parameters
from codemods.rule import Match

ENDS = tuple(f"on_{stage}_batch_end" for stage in ("train", "validation", "test"))
_INDEX = re.compile(r"(^|_)(idx|index|ix|i|nb|num|number|no)$|^(i|idx|step)")


def shifted(file: PythonFile, method: Function, before: int) -> Match | None:
    """What is found of a hook that, behind `before` arguments of its own, takes a batch and its index, where Lightning
    gives what the step returned, the batch and the index."""
    names = parameters(method)[before : before + 2]
    if method.name not in ENDS or len(names) < 2 or method.args.vararg:
        return None
    batch, index = names
    if "batch" not in batch or "out" in batch or _INDEX.search(batch) or not _INDEX.search(index):
        return None
    message = f"`{batch}` of {method.name} is what the step returned since Lightning 1.0, and `{index}` is the batch"
    reason = f"Not rewritten: callers may give them by position. Write `outputs` before `{batch}`."
    return Match(file.head(method), message, "manual", reason)
