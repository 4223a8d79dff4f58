"""Which violations a rewrite leaves, which it brings, and which of those that are left fixer names."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.finishing.files import Violation

NEAR = 3
NOT_OF_THE_MOVE = ("PIN", "IGN", "GRD")
"""Families whose findings say nothing of what Lightning refuses in the code."""


@dataclass(frozen=True)
class Left:
    """What is left of the violations of a tree after a rewrite, at their places before, and what it brought, at its
    places after."""

    left: tuple[Violation, ...]
    new: tuple[Violation, ...]


def left(before: Sequence[Violation], after: Sequence[Violation], old: Path, new: Path) -> Left:
    """Matched by file and class; where a class stands several times in a file, those stay that are nearest to lines
    that stayed."""
    groups: dict[tuple[str, str, str], list[Violation]] = defaultdict(list)
    for each in before:
        groups[each.key].append(each)
    stays: list[Violation] = []
    brought: list[Violation] = []
    for each in after:
        candidates = groups[each.key]
        if not candidates:
            brought.append(each)
            continue
        line = _before(each, old, new)
        same = min(candidates, key=lambda one: (one.cell != each.cell, abs(one.line - line)))
        candidates.remove(same)
        stays.append(same)
    return Left(tuple(sorted(stays, key=_place)), tuple(brought))


def _place(each: Violation) -> tuple[str, int, int, str]:
    return each.path, each.cell or 0, each.line, each.what


def _before(each: Violation, old: Path, new: Path) -> int:
    """The line of the tree before that a line after comes from."""
    if each.cell is not None or not (old / each.path).is_file():
        return each.line
    texts = [(root / each.path).read_text("utf-8", errors="replace").split("\n") for root in (old, new)]
    if texts[0] == texts[1]:
        return each.line
    line = each.line - 1
    for tag, start, end, begin, stop in difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if begin <= line < stop:
            return (start + line - begin if tag == "equal" else min(start + line - begin, end)) + 1
    return each.line


def named(findings: Iterable[Mapping[str, object]], skipped: Iterable[str]) -> Callable[[Violation], bool]:
    """Whether a finding speaks of a violation, at its place or, of several at once, elsewhere in the file; or whether
    fixer said that it did not read the file."""
    places: dict[tuple[object, object], list[tuple[int, int, str]]] = defaultdict(list)
    for each in findings:
        if not str(each["code"]).startswith(NOT_OF_THE_MOVE):
            start, end = int(str(each["line"])), int(str(each["end_line"]))
            places[each["path"], each["cell"]].append((start, max(start, end), f"{each['message']} {each['reason']}"))
    unread = set(skipped)

    def asked(each: Violation) -> bool:
        spoken = re.compile(rf"\b{re.escape(each.subject)}\b")
        quoted = re.compile(rf"`(?:\w+\.)*{re.escape(each.subject)}=?`")
        for start, end, told in places[each.path, each.cell]:
            here = start <= each.line <= end
            near = any(start - NEAR <= line <= end + NEAR for line in (each.line, each.also))
            if here or (near and spoken.search(told)) or quoted.search(told):
                return True
        return each.path in unread

    return asked
