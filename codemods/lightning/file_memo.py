"""What was worked out of a file with the facts of its project, kept as long as the file is."""

from __future__ import annotations

from typing import Any

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts


def memo_of(file: PythonFile, facts: Facts) -> dict[str, Any]:
    """What was worked out of a file with these facts, under a name each; with other facts it begins anew. What holds
    nodes of the file is kept here rather than with the facts, which outlive it."""
    known, memo = file.memo.get("facts", (None, None))
    if known is not facts:
        memo = dict[str, Any]()
        file.memo["facts"] = facts, memo
    found: dict[str, Any] = memo
    return found
