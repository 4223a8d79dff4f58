"""Made-up texts whose lines hold more than words: what is split out of them, as the errors of the code that does say.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .alone_files import WORDS
from .made_data import Entry, table

_WORD = rf"'(?:{'|'.join(WORDS)})\b"
_WHOLE = re.compile(rf"invalid literal for int\(\) with base 10: {_WORD}")
_NUMBER = re.compile(rf"could not convert string to float: {_WORD}")
_ARRAY = re.compile(rf"could not convert string {_WORD}[^']*' to (u?int|float)")
_PARTS = re.compile(r"(?:too many|not enough) values to unpack \(expected (\d+)")
_PLACE = re.compile(r"\bsplit\(\s*['\"](?:\\t|.)['\"]\s*\)\[(\d+)\]")
_KEPT = ("path", "count", "pattern", "called", "glob")
_SPLIT = re.compile(r"\bsplit\(\s*['\"](\\t|.)['\"]")
_MOST = 64


def following(error: BaseException, plan: Sequence[Entry], line: str) -> Entry | None:
    """The last text of a plan, with columns in its lines as an error of the `line` at hand wants them to be: a name and
    classes, or numbers. None where it says nothing of that."""
    entry = next((each for each in reversed(plan) if _is_text(each)), None)
    kinds = _kinds(error, line, len(entry.get("columns", WORDS))) if entry else None
    if entry is None or not kinds:
        return None
    apart = _SPLIT.search(line)
    held = entry.get("separator", " ")
    made = table(entry["path"], "txt", apart[1].replace("\\t", "\t") if apart else held)
    columns = {f"column{at}": kind for at, kind in enumerate(kinds)}
    return {**made, "bare": True, "columns": columns, **{key: entry[key] for key in _KEPT if key in entry}}


def _is_text(entry: Entry) -> bool:
    return entry.get("form") == "txt" or (entry["kind"] in ("file", "numbered") and entry.get("suffix") == ".txt")


def _kinds(error: BaseException, line: str, count: int) -> list[str]:
    """What the columns of a line hold, which has so many now; nothing where that is not said."""
    text = str(error)
    if isinstance(error, IndexError) and (asked := max(map(int, _PLACE.findall(line)), default=0)) and asked < _MOST:
        return ["name", *["class"] * asked]
    if (array := _ARRAY.search(text)) is not None:
        return ["number" if array[1] == "float" else "class"] * count
    if _NUMBER.search(text):
        return ["number"] * count
    if _WHOLE.search(text):
        return ["name", *["class"] * (count - 1)]
    parts: Any = _PARTS.search(text) if "split(" in line else None
    return ["name", *["class"] * (int(parts[1]) - 1)] if parts and int(parts[1]) <= _MOST else []
