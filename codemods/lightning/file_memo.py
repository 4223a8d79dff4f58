"""What was worked out of a file with the facts of its project, kept as long as the file is."""

from __future__ import annotations

from typing import Any

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts

KEPT = 3
"""A file is looked at with so many facts in turns: as it is written, with others in their normal form, and with what
its own normal form says."""


def memo_of(file: PythonFile, facts: Facts) -> dict[str, Any]:
    """What was worked out of a file with these facts, under a name each; it is forgotten once the file was looked at
    with `KEPT` others. What holds nodes of the file is kept here rather than with the facts, which outlive it."""
    every: list[tuple[Facts, dict[str, Any]]] = file.memo.setdefault("facts", [])
    for known, memo in every:
        if known is facts:
            return memo
    every.insert(0, (facts, {}))
    del every[KEPT:]
    return every[0][1]
