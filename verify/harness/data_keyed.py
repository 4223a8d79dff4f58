"""Records that a script takes by their keys and not by their numbers: what a file holds, or what a record has in it.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

Entry = dict[str, Any]
FEW = 3
"""So many things are in each record that holds things by their keys."""
_ASKED = re.compile(r"'(list|float|int|str)' object has no attribute '(?:get|items|keys|values)'")
_BY_TEXT = re.compile(r"(?:string|list) indices must be integers")


def keys(count: int) -> list[str]:
    """The keys of so many records."""
    return [f"sample{number:03}" for number in range(count)]


def following(error: BaseException, plan: Sequence[Entry], own: Sequence[FrameType]) -> Entry | None:
    """The last file of records as an error wants them to be held: None where it says nothing of that."""
    files = (entry for entry in reversed(plan) if entry["kind"] == "table" and entry["form"] == "json")
    return next(filter(None, (_held(error, entry, own) for entry in files)), None)


def _held(error: BaseException, entry: Entry, own: Sequence[FrameType]) -> Entry | None:
    asked = _ASKED.search(str(error)) if isinstance(error, AttributeError) else None
    if asked and asked[1] == "list":
        return {**entry, "keyed": True} if "keyed" not in entry else None
    held = dict(entry.get("held", {}))
    if asked and (column := _column(own, entry, {*held})):
        return {**entry, "held": {**held, column: []}}
    if isinstance(error, TypeError) and _BY_TEXT.search(str(error)):
        inner = [each for each in _asked_of(own) if each not in entry["columns"]]
        column = next((name for name in reversed([*held]) if not held[name]), None)
        if inner and column:
            return {**entry, "held": {**held, column: inner}}
    return None


def whole(entry: Entry, made: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Any:
    """What a file holds: a list of its records or each by its key, below the keys of the file where it has any."""
    inner: Mapping[str, Sequence[str]] = entry.get("held", {})
    rows = [
        dict(row) | {name: dict.fromkeys(keys(FEW), dict.fromkeys(each, text) or text) for name, each in inner.items()}
        for row, text in zip(made, words, strict=True)
    ]
    held: Any = dict(zip(keys(len(rows)), rows, strict=True)) if "keyed" in entry else rows
    return dict.fromkeys(entry["under"], held) if entry["under"] else held


def _column(own: Sequence[FrameType], entry: Entry, known: set[str]) -> str | None:
    """The column whose value was asked for keys: the one that the line names, or that was put under the name in it."""
    named = [each for each in _asked_of(own) if each in entry["columns"] and each not in known]
    if named or not own:
        return named[0] if named else None
    text = "".join(linecache.getlines(own[-1].f_code.co_filename))
    for name in re.findall(r"\b(\w+)\.(?:get|items|keys|values)\(", _line(own)):
        for column in re.findall(rf"\b{name}\s*=[^=\n]*\[['\"](\w+)['\"]\]", text):
            if column in entry["columns"] and column not in known:
                return str(column)
    return None


def _asked_of(own: Sequence[FrameType]) -> list[str]:
    """The keys that the line at hand asks for, in the order in which they stand."""
    return re.findall(r"\[['\"](\w+)['\"]\]", _line(own))


def _line(own: Sequence[FrameType]) -> str:
    return linecache.getline(own[-1].f_code.co_filename, own[-1].f_lineno) if own else ""
