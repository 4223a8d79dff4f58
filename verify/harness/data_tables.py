"""Tables that a script reads: what a line that reads one says of it, what a column holds by its name, and columns that
are asked for by their place.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from .made_data import Entry, table

_KINDS: tuple[tuple[str, str], ...] = (
    (r"smiles", "molecule"),
    (r"label|target|class|category|sentiment|^y$|fold|split|is_|has_|gender|sex", "class"),
    (r"path|file|fname|image|img|photo|audio|wav|video|mask", "name"),
    (
        r"text|sentence|comment|review|title|content|question|answer|prompt|tweet|utterance|body|document|summary",
        "words",
    ),
    (r"date|timestamp|^time$|^day$", "day"),
    (r"(^|_)(id|idx|index|user|item|movie|num|count|year|age|rating|star)s?$|id$", "whole"),
)
"""What a column holds by its name, the first row that fits; else numbers."""
_PLAIN = re.compile(r"column\d+")
_SIZE = re.compile(r"index (\d+) is out of bounds for axis [01] with size (\d+)")
MOST = 1024
"""The most columns that a table is made of."""
_BY_PLACE = frozenset({"iloc", "iat", "values", "to_numpy"})


def kind_of(name: str) -> str:
    """What a column holds by its name."""
    return next((kind for pattern, kind in _KINDS if re.search(pattern, name.lower())), "number")


def read_as(place: str, form: str, lines: str, own: Sequence[FrameType] = ()) -> Entry:
    """A table as the line that reads it says: what is between its cells, one record a line, which columns it has, and
    whether its first line names them; `own` are the frames of the project."""
    form = "jsonl" if form == "json" and "lines=True" in lines else form
    separator = re.search(r"(?:sep|delimiter)\s*=\s*['\"](\\t|.)['\"]", lines)
    default = "\t" if form == "tsv" else ","
    made = table(place, form, separator[1].replace("\\t", "\t") if separator else default)
    named = re.search(r"\b(?:names|usecols)\s*=\s*\[([^\]]*)\]", lines)
    names = re.findall(r"['\"]([^'\"]+)['\"]", named[1]) if named else []
    if not named and own and (called := re.search(r"\b(?:names|usecols)\s*=\s*(\w+)", lines)):
        held = own[-1].f_locals.get(called[1], own[-1].f_globals.get(called[1]))
        names = [each for each in held if isinstance(each, str)] if isinstance(held, list | tuple) else []
    is_bare = re.search(r"header\s*=\s*None", lines) or (re.search(r"\bnames\s*=", lines) and "header" not in lines)
    bare = {"bare": True} if is_bare else {}
    return {**made, **bare, "columns": {name: kind_of(name) for name in names} or made["columns"]}


def following(error: BaseException, plan: Sequence[Entry], own: Sequence[FrameType]) -> tuple[list[Entry], str] | None:
    """The plan with the columns that code asks for by their place, in all tables which have as few; None where an error
    is about something else."""
    asked = _asked(error, own)
    if asked is None:
        return _before_named(error, plan)
    place, held = asked
    if not 0 <= place < MOST:
        return None
    meant = [entry for entry in plan if _is_plain(entry) and (held is None or len(entry["columns"]) == held)]
    meant = [entry for entry in meant if len(entry["columns"]) <= place]
    if not meant:
        return None
    names = _names(own)
    count = max(place, *(at for at in names if at < place + 32), 0) + 1
    columns = {f"column{at}": kind_of(names.get(at, "")) for at in range(count)}
    made = [{**entry, "columns": {**columns, **_known(entry)}} if entry in meant else entry for entry in plan]
    return made, f"{meant[0]['path']} with {count} columns"


def _before_named(error: BaseException, plan: Sequence[Entry]) -> tuple[list[Entry], str] | None:
    """The plan with columns of numbers before those that code calls by their names, where it takes some of an array
    that was made of all of them: what is named stands last in most tables."""
    told = _SIZE.search(str(error)) if isinstance(error, IndexError) and "axis 1" in str(error) else None
    if told is None or int(told[1]) >= MOST:
        return None
    place, size = int(told[1]), int(told[2])
    for number, entry in enumerate(plan):
        if entry["kind"] == "table" and len(entry["columns"]) == size <= place and not _is_plain(entry):
            numbers = {f"column{at}": "number" for at in range(place + 1 - size)}
            changed = {**entry, "columns": {**numbers, **entry["columns"]}}
            if len(changed["columns"]) == place + 1:
                return [*plan[:number], changed, *plan[number + 1 :]], f"{entry['path']} with {place + 1} columns"
    return None


def _known(entry: Entry) -> dict[str, str]:
    """What errors have said of columns."""
    said = dict(entry.get("tried", ()))
    return {name: kind for name, kind in entry["columns"].items() if name in said}


def _is_plain(entry: Entry) -> bool:
    """Whether nothing is known of a table's columns but how many there are."""
    return entry["kind"] == "table" and all(map(_PLAIN.fullmatch, entry["columns"]))


def _asked(error: BaseException, own: Sequence[FrameType]) -> tuple[int, int | None] | None:
    """The place of a column that is not there, and how many there are where that is known."""
    line = linecache.getline(own[-1].f_code.co_filename, own[-1].f_lineno) if own else ""
    if isinstance(error, KeyError) and error.args and type(error.args[0]) is int:
        return (error.args[0], None) if _is_of_pandas(error) else None
    if not isinstance(error, IndexError):
        return None
    if (told := _SIZE.search(str(error))) and any(word in line for word in _BY_PLACE):
        return int(told[1]), int(told[2])
    if "out-of-bounds" in str(error) and (found := re.search(r",\s*(\d+)\s*\]", line)):
        return int(found[1]), None
    for name, number in re.findall(r"\b(\w+)\[(\d+)\]", line):
        row: Any = own[-1].f_locals.get(name)
        if isinstance(row, list) and 0 < len(row) <= int(number) and all(isinstance(each, str) for each in row):
            return int(number), len(row)
    return None


def _is_of_pandas(error: BaseException) -> bool:
    """Whether an error comes out of pandas: a dictionary of the project has keys of its own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("pandas.")


def _names(own: Sequence[FrameType]) -> dict[int, str]:
    """What the file at hand calls the columns that it takes by their place, by that place."""
    found: dict[int, str] = {}
    for frame in reversed(own[-2:]):
        try:
            tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            called = node.targets[0] if isinstance(node, ast.Assign) else None
            name = (
                called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
            )
            for at in _places(node) if isinstance(node, ast.Assign) else ():
                found[at] = name
            for at in _places(node) if isinstance(node, ast.Subscript) else ():
                found.setdefault(at, "")
    return found


def _places(node: ast.AST) -> Iterator[int]:
    """The places of columns in an expression: `frame.iloc[row, 1]`, `frame.values[:, 2]`."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Tuple):
            continue
        last = part.slice.elts[-1]
        last = last.lower if isinstance(last, ast.Slice) and last.lower else last
        if isinstance(last, ast.Constant) and type(last.value) is int and _is_frame(part.value):
            yield last.value


def _is_frame(node: ast.expr) -> bool:
    """Whether an expression is one that rows and columns are taken of by their place."""
    node = node.func if isinstance(node, ast.Call) else node
    return isinstance(node, ast.Attribute) and node.attr in _BY_PLACE
