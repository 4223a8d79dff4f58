"""A unified diff as SARIF's replacements of regions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_BARE = "\\ No newline at end of file"


@dataclass(frozen=True)
class _LineChange:
    """Lines of the old file, the first one counted from 1, and those in their place; with their line feeds."""

    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


def replacements(diff: str) -> list[dict[str, Any]]:
    """What a diff made by `fixer.reports.diff.unified` replaces in the old file; none where SARIF cannot say it: what
    is changed is not UTF-8, or begins with a byte order mark, which regions do not count."""
    changes = list(_changes(diff))
    for text in (line for change in changes for line in (*change.removed, *change.added)):
        if text.startswith("\ufeff") or not _is_unicode(text):
            return []
    return [
        {"deletedRegion": _region(change), "insertedContent": {"text": "".join(change.added)}} for change in changes
    ]


def _changes(diff: str) -> Iterator[_LineChange]:
    removed: list[str] = []
    added: list[str] = []
    line, in_hunk, mark = 1, False, ""
    for text in (*diff.split("\n"), "@@"):
        if text == _BARE and in_hunk:
            for lines in [removed] * (mark == "-") + [added] * (mark == "+"):
                lines[-1] = lines[-1].removesuffix("\n")
            continue
        mark = text[:1]
        if in_hunk and mark in ("-", "+"):
            (removed if mark == "-" else added).append(f"{text[1:]}\n")
            continue
        if removed or added:
            yield _LineChange(line, tuple(removed), tuple(added))
            line += len(removed)
            removed, added = [], []
        if header := _HEADER.match(text):
            in_hunk, line = True, int(header[1]) + (header[2] == "0")
        else:
            line += 1


def _region(change: _LineChange) -> dict[str, int]:
    end, column = change.line + len(change.removed), 1
    if change.removed and not change.removed[-1].endswith("\n"):
        end, column = end - 1, len(change.removed[-1]) + 1
    return {"startLine": change.line, "startColumn": 1, "endLine": end, "endColumn": column}


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
