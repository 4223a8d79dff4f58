"""Files for the patterns that a script found nothing by, and for folders that it walked and that are not there.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import itertools
import linecache
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from types import FrameType

from .alone_files import SUFFIXES
from .made_data import FILES, Entry

_EMPTY = re.compile(
    r"num_samples should be|empty (?:iterable|sequence|range|list|dataset)|at least one array"
    r"|iterable argument is empty|Found 0 |\b[Nn]o (?:images|files|data)\b|index out of range(?! in self)"
    r"|division by zero|need at least one|With n_samples=0|across ranks is zero|[Dd]ataset not found"
    r"|\b[Nn]o (?:\w+ )?(?:files|images|samples|pictures|audio)\b.{0,12}\bfound"
    r"|(?:dataset|folder|directory|list) is empty|\bempty (?:folder|directory)"
)
_COUNTED = re.compile(r"\bassert\b.*\blen\([^()]*\)\s*(?:$|,|>\s*0|!=\s*0|>=\s*1\b)")
"""What a line says that wants some of what it looked for."""


def is_empty(error: BaseException, line: str) -> bool:
    """Whether an error says that there is nothing of something; `line` is the project's own that it passed last."""
    if isinstance(error, AssertionError) and _COUNTED.search(line):
        return True
    return bool(_EMPTY.search(f"{type(error).__name__} {error}"))


def filled(
    plan: Sequence[Entry],
    patterns: Iterable[str],
    own: Sequence[FrameType],
    inside: Callable[[str], str | None],
    made_as: Callable[[str], Entry | None],
) -> tuple[list[Entry], str] | None:
    """The plan with files for patterns; `inside` says where a plan has a path, and `made_as` what a file of that name
    is where it is none of the plain ones."""
    made = list(plan)
    for pattern in patterns:
        if deeper := _deeper(made, pattern):
            return deeper
        place = inside(pattern)
        if place is None or any(each["path"] == place or each.get("glob") == pattern for each in plan):
            continue
        if entry := _entry(place, pattern, own, made_as):
            made.append(entry)
    return (made, made[-1]["path"]) if len(made) > len(plan) else None


def _entry(place: str, pattern: str, own: Sequence[FrameType], made_as: Callable[[str], Entry | None]) -> Entry | None:
    """Files of what a pattern ends with; None where that is nothing that can be made."""
    parts = PurePosixPath(place).parts
    fixed = list(itertools.takewhile(lambda part: "*" not in part and "?" not in part, parts))
    wild = [{"**": "part"}.get(part, part) for part in parts[len(fixed) :]]
    suffix = PurePosixPath(place).suffix.lower() if wild else ""
    is_plain = suffix in SUFFIXES or not suffix.strip(".*?")
    other = None if is_plain else made_as(place)
    if not is_plain and other is None:
        return None
    suffix = suffix if suffix in SUFFIXES or other else suffix_of(own)
    if not wild:
        return {"path": place, "kind": "folder", "suffix": suffix, "count": FILES, "classes": False}
    last = wild[-1].replace("*", "{}", 1).replace("*", "").replace("?", "0")
    last = last if "{}" in last else f"{last}{{}}"
    last = last if PurePosixPath(last).suffix.lower() == suffix else last + suffix
    folders = [part.replace("*", "a").replace("?", "a") for part in wild[:-1]]
    many = {"path": "/".join(fixed) or ".", "count": FILES, "pattern": "/".join([*folders, last]), "glob": pattern}
    return {**other, **many} if other else {"kind": "numbered", "suffix": suffix, **many}


def _deeper(plan: Sequence[Entry], pattern: str) -> tuple[list[Entry], str] | None:
    """The plan with folders that hold one file each, in place of the files that a pattern looks for others below."""
    for number, entry in enumerate(plan):
        if entry["kind"] != "numbered" or not entry.get("glob") or "below" in entry:
            continue
        outer = re.escape(entry["glob"]).replace(r"\*", "[^/]*")
        below = re.match(rf"{outer}/(?P<inner>[^/]+)$", pattern)
        if below is None:
            continue
        suffix = PurePosixPath(below["inner"]).suffix.lower()
        suffix = suffix if suffix in SUFFIXES else entry["suffix"]
        folder = entry["pattern"].removesuffix(entry["suffix"])
        changed = {**entry, "suffix": suffix, "pattern": f"{folder}/{{}}{suffix}", "below": pattern}
        return [*plan[:number], changed, *plan[number + 1 :]], str(entry["path"])
    return None


def suffix_of(own: Sequence[FrameType]) -> str:
    """The kind of file that the code around names first."""
    for frame in reversed(own):
        text = "".join(linecache.getlines(frame.f_code.co_filename))
        found = next((each for each in re.findall(r"\.\w+(?=['\"])", text) if each in SUFFIXES), None)
        if found:
            return str(found)
    return ".png"
