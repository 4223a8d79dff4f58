"""What an error says of data that a script reads: which file is not there, which column, of which kind a value is.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

from . import (
    data_asked,
    data_counts,
    data_keyed,
    data_lines,
    data_names,
    data_objects,
    data_patterns,
    data_places,
    data_sets,
    data_shapes,
    data_tables,
)
from .alone_files import LISTS, READERS, SUFFIXES, call_at, lines_of, paths_named
from .data_patterns import suffix_of
from .data_tables import kind_of
from .made_data import FILES, Entry, place_of, table

OUTSIDE: list[str] = []
"""Folders that are the run's own, empty, outside of its copy: what is to be there may be made up as well."""
BESIDE: list[Path] = []
"""The folder that the copy of the project lies in, where that is the run's own as well: for `../data`."""
UNREAD: dict[str, None] = {}
"""Files that are not here and that were read all the same, by readers that say nothing of that."""
_OF_NOTHING = re.compile(r"NoneType|empty\(\)|must be numpy array|not a numpy array")
_TABLES = {
    ".csv": ",",
    ".tsv": "\t",
    ".json": "",
    ".jsonl": "",
    ".parquet": "",
    ".feather": "",
    ".pkl": "",
    ".pickle": "",
}
_ARRAYS = {".npz": "npz", ".h5": "h5", ".hdf5": "h5", ".hdf": "h5", ".mat": "mat"}
_READ = re.compile(r"\bread_(csv|table|json|parquet|pickle|feather)\(")
_NEVER = re.compile(r"\.(?:ckpt|pth?|bin|safetensors|onnx|ya?ml|toml|cfg|ini|py|sh|so|pyx?|ipynb)$|conf|hparam|setting")
"""What is no data: weights, settings, code."""
_COLUMNS = re.compile(
    r"not in index|in the \[(?:columns|index)\]|has no attribute '|columns expected but not found|"
    r"not (?:found )?in axis|object '\w+' doesn't exist|Missing column"
)
_INDEX = re.compile(r"^Index (\w+) invalid$")
_OF_SETS = re.compile(r"^[\"']?Column '?(\w+)'? (?:not in the dataset|doesn't exist)")
_WANTS: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (
        re.compile(
            r"could not convert string|invalid literal for|must be real number|numpy\.object_|and 'str'|'str' and "
            r"|instances of 'str'|data type 'str'|too many dimensions 'str'|decimal|unsupported operand.*str|dtype .?<U"
        ),
        "number",
        ("name", "words", "day"),
    ),
    (
        re.compile(
            r"expected str|not (?:float|int|numpy\.\w+)\b|'(?:float|int|numpy\.\w+|\w*float\d*|\w*int\d*)' object"
            r"|C\+\+ rvalue of type std::.*basic_string"
            r"|concatenate str|\.str accessor|decoding to str|expected string|must be str|text input must be"
        ),
        "name",
        ("number", "class", "whole"),
    ),
    (
        re.compile(
            r"expected scalar type Long|interpreted as an integer|only integer|dtype Long|'Float'|be integers?\b"
        ),
        "class",
        ("number",),
    ),
    (re.compile(r"index out of range in self|Target \d+ is out of bounds"), "class", ("whole",)),
)
"""What an error says a value should be, and which kinds of columns it may be about."""


def following(
    error: BaseException, plan: Sequence[Entry], globs: Iterable[str], root: Path
) -> tuple[list[Entry], str] | None:
    """The plan with what an error asks for, and in words what that is; None where it asks for nothing that is known."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [frame for frame, _ in frames if _is_own(frame, root)]
    if (made := _set_asked(error, frames, root)) and made["path"] not in {entry["path"] for entry in plan}:
        return _with(plan, made)
    if (folder := data_places.lacking(error, own)) and (place := inside(folder, root)):
        return _with(plan, {"path": place, "kind": "place"})
    for name in (*_paths(error), *data_asked.paths(error, own)):
        place = inside(name, root)
        if place and not place_of(place, root).exists():
            found = _file(place, error, own, plan, root)
            return _with(plan, found) if found else None
        if place and isinstance(error, IsADirectoryError | NotADirectoryError):
            return _with_classes(plan, place, isinstance(error, NotADirectoryError))
    line = _line(own)
    if placed := data_tables.following(error, plan, own):
        return placed
    if counted := data_counts.following(error, frames, plan):
        return counted
    thing = data_keyed.following(error, plan, own) or data_lines.following(error, plan, line)
    if thing := thing or data_objects.following(error, plan, line):
        return _with(plan, thing)
    if names := _columns(error, own, line):
        return _with_columns(_nearest_last(plan, frames), names, own, line)
    if changed := _with_kind(error, plan, own):
        return changed
    if data_patterns.is_empty(error, line):
        return data_patterns.filled(plan, globs, own, lambda path: inside(path, root), _by_suffix)
    return data_shapes.following(error, plan, line)


def may_follow(error: BaseException, root: Path) -> bool:
    """Whether an error says that data is not there which could be made up."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [frame for frame, _ in frames if _is_own(frame, root)]
    if _set_asked(error, frames, root) or data_patterns.is_empty(error, _line(own)):
        return True
    if (folder := data_places.lacking(error, own)) and inside(folder, root):
        return True
    names = (*_paths(error), *data_asked.paths(error, own))
    places = [place for name in names if (place := inside(name, root)) and not place_of(place, root).exists()]
    return any(_file(place, error, own, (), root) for place in places)


def _line(own: Sequence[FrameType]) -> str:
    """The line of the project that an error passed last."""
    return linecache.getline(own[-1].f_code.co_filename, own[-1].f_lineno) if own else ""


def _set_asked(error: BaseException, frames: Sequence[tuple[FrameType, int]], root: Path) -> Entry | None:
    return data_sets.asked(error, frames, lambda path: inside(path, root))


def _with(plan: Sequence[Entry], entry: Entry) -> tuple[list[Entry], str] | None:
    """The plan with an entry in the place of the one at its path: of many files, in that of those called alike."""
    if entry in plan:
        return None
    kept = [each for each in plan if each["path"] != entry["path"] or _are_apart(each, entry)]
    return [*kept, entry], str(entry["path"])


def _are_apart(one: Entry, other: Entry) -> bool:
    return "pattern" in one and "pattern" in other and one["pattern"] != other["pattern"]


# -- files


def _paths(error: BaseException) -> list[str]:
    if UNREAD and _OF_NOTHING.search(str(error)):
        return [list(UNREAD)[-1]]
    if isinstance(error, IsADirectoryError) and isinstance(error.filename, str):
        return [error.filename]
    return [] if isinstance(error, LookupError | AttributeError | TypeError) else paths_named(error)


def inside(name: str, root: Path) -> str | None:
    """Where a path leads: from the root of the project, whichever of its folders the script was started in, from the
    home, which is the run's own, beside the project, or in one of the folders `OUTSIDE`; None for any other, and below
    a file."""
    top, home, here = root.resolve(), Path.home().resolve(), Path.cwd().resolve()
    place = ((here if here.is_relative_to(top) else top) / name).resolve()
    if "\n" in name or any(part.is_file() for part in place.parents):
        return None
    if top in place.parents:
        return place.relative_to(top).as_posix()
    if OUTSIDE and home in place.parents:
        return f"~/{place.relative_to(home).as_posix()}"
    if top.parent in BESIDE and top.parent in place.parents and place != top:
        return f"../{place.relative_to(top.parent).as_posix()}"
    return place.as_posix() if any(Path(folder) in place.parents for folder in OUTSIDE) else None


def _file(
    place: str, error: BaseException, own: Sequence[FrameType], plan: Sequence[Entry], root: Path
) -> Entry | None:
    """The entry for a path that was not found, by how it is called and by the code that reads it; for all like it,
    where something says that there are more."""
    lines = lines_of(error) + (f"\n{call_at(own[-1])}" if own else "")
    made = _kind_of_file(place, lines, error, own)
    if made is None or made["kind"] == "folder":
        return made
    if many := data_names.many(place, plan, root):
        return {**made, "kind": "numbered", **many} if made["kind"] == "file" else {**made, **many}
    return {**made, "seed": len(plan)} if made["kind"] == "file" else made


def _kind_of_file(place: str, lines: str, error: BaseException, own: Sequence[FrameType]) -> Entry | None:
    suffix = PurePosixPath(place).suffix.lower()
    reading = None if data_objects.is_saved_data(place) else _READ.search(lines)
    if _is_never(place):
        return None
    if any(frame.f_code.co_filename.endswith("pycocotools/coco.py") for frame in _all(error)):
        return {**table(place, "coco"), "columns": {"file_name": "name"}}
    if reading:
        return data_tables.read_as(place, "tsv" if reading[1] == "table" else reading[1], lines, own)
    if known := _by_suffix(place, lines, own):
        return known
    reader = next((found for pattern, found in READERS if pattern.search(lines)), "")
    if kind := suffix if suffix in SUFFIXES else "" if suffix else reader:
        return {"path": place, "kind": "file", "suffix": kind}
    if suffix or ("open(" in lines and not LISTS.search(lines)):
        return None
    classes = any(frame.f_code.co_filename.endswith("torchvision/datasets/folder.py") for frame in _all(error))
    return {"path": place, "kind": "folder", "suffix": suffix_of(own), "count": FILES, "classes": classes}


def _is_never(place: str) -> bool:
    """Whether a file is no data by how it is called."""
    return not data_objects.is_saved_data(place) and bool(_NEVER.search(place.rpartition("/")[2].lower()))


def _by_suffix(place: str, lines: str = "", own: Sequence[FrameType] = ()) -> Entry | None:
    """The entry for a table, arrays or objects by how their file is called."""
    suffix = PurePosixPath(place).suffix.lower()
    if data_objects.is_saved_data(place):
        return {**table(place, "object"), "what": "rows"}
    if suffix in _ARRAYS and not _is_never(place):
        return {"path": place, "kind": "arrays", "form": _ARRAYS[suffix], "names": ["arr_0"]}
    if suffix not in _TABLES or _is_never(place):
        return None
    form = "object" if suffix in (".pkl", ".pickle") else suffix.lstrip(".")
    return data_tables.read_as(place, form, lines, own)


def _with_classes(plan: Sequence[Entry], place: str, classes: bool) -> tuple[list[Entry], str] | None:
    """A folder whose parts are read as files, without folders of classes; or as folders, with them."""
    for number, entry in enumerate(plan):
        inside = entry["kind"] == "folder" and place.startswith(entry["path"])
        if inside and entry["classes"] is not classes:
            return [*plan[:number], {**entry, "classes": classes}, *plan[number + 1 :]], entry["path"]
    return None


# -- what is in tables


def _columns(error: BaseException, own: Sequence[FrameType], line: str) -> list[str]:
    """The columns or keys that an error says are not there, which a line of the project's asks for."""
    text = str(error)
    if isinstance(error, TypeError) and "indices must be integers" in text:
        pairs = re.findall(r"(\w+)(?:\(.*\))?\[['\"](\w+)['\"]\]", line)
        held = own[-1].f_locals if own else {}
        return [key for name, key in pairs if isinstance(held.get(name), list) or name == "load"][:1]
    if column := _OF_SETS.search(text) or _INDEX.search(text):
        return [column[1]]
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        text = error.args[0]
        if (name := text.partition(" is not a file in the archive")[0]) != text or not _COLUMNS.search(text):
            return [name]
    if not _COLUMNS.search(text) or (
        isinstance(error, AttributeError) and not re.search(r"'(DataFrame|Series)'", text)
    ):
        return []
    text = re.sub(r"dtype='\w+'|'(?:DataFrame|Series)' object", "", text)
    return list(dict.fromkeys(re.findall(r"'([^'\n]+)'", text)))


def _with_columns(
    plan: Sequence[Entry], names: Sequence[str], own: Sequence[FrameType], line: str
) -> tuple[list[Entry], str] | None:
    """The last tables that were made, with further columns: those that are not there, and those that code asks of the
    same name; or arrays of those names; or lists of records below them."""
    for number in reversed(range(len(plan))):
        entry = plan[number]
        if entry["kind"] == "arrays" and not {*names} <= {*entry["names"]}:
            changed = {**entry, "names": [*entry["names"], *names]}
        elif entry["kind"] == "table" and not {*names} <= {*entry["columns"]}:
            if entry["form"] in ("json", "object") and _is_top(names[0], entry, own, line):
                changed = {**entry, "under": [*entry["under"], names[0]]}
            else:
                wanted = [*names, *_asked_beside(names[0], own)]
                kept = {name: kind for name, kind in entry["columns"].items() if name != "column0"}
                changed = {**entry, "columns": {**{name: kind_of(name) for name in wanted}, **kept}}
        else:
            continue
        return [*plan[:number], changed, *plan[number + 1 :]], f"{entry['path']} with {', '.join(names)}"
    return None


def _nearest_last(plan: Sequence[Entry], frames: Sequence[tuple[FrameType, int]]) -> list[Entry]:
    """The plan with the table last that has most columns of the data frame which was asked; as it is for none."""
    asked = (frame.f_locals.get("self") for frame, _ in frames)
    held: Any = next((each for each in asked if type(each).__name__ == "DataFrame"), None)
    known = set(map(str, held.columns)) if held is not None else set()
    return sorted(plan, key=lambda entry: len(known & {*entry.get("columns", ())}))


def _is_top(name: str, entry: Entry, own: Sequence[FrameType], line: str) -> bool:
    """Whether a key is asked of all that a file holds, and not of a record in it."""
    holder = re.search(rf"(\w+)\[['\"]{re.escape(name)}['\"]\]", line)
    if not holder or not own or re.search(r"(?:json|pickle)\.loads?\(.*\)\[", line):
        return re.search(r"(?:json|pickle)\.load", line) is not None
    value = own[-1].f_locals.get(holder[1])
    held = {*entry["under"]} or ({*data_keyed.keys(entry["rows"])} if "keyed" in entry else set())
    return isinstance(value, list) or (isinstance(value, dict) and {*value} == held)


def _asked_beside(name: str, own: Sequence[FrameType]) -> Iterator[str]:
    """The other names that the file asks of what it asks one of: `row["text"]` beside `row["label"]`."""
    for frame in reversed(own[-2:]):
        try:
            tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        except SyntaxError:
            continue
        asked = [(ast.unparse(node.value), node.slice.value) for node in ast.walk(tree)
                 if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
                 and isinstance(node.slice.value, str) and isinstance(node.ctx, ast.Load)]  # fmt: skip
        holders = {holder for holder, key in asked if key == name}
        yield from dict.fromkeys(key for holder, key in asked if holder in holders)


def _with_kind(error: BaseException, plan: Sequence[Entry], own: Sequence[FrameType]) -> tuple[list[Entry], str] | None:
    """The plan with columns of another kind: those that the code at hand names, else all that may be meant."""
    if not isinstance(error, TypeError | ValueError | RuntimeError | AttributeError | IndexError):
        return None
    lines = "\n".join(linecache.getline(frame.f_code.co_filename, frame.f_lineno) for frame in own[-4:])
    for pattern, wanted, kinds in _WANTS:
        if not pattern.search(str(error)):
            continue
        for number in reversed(range(len(plan))):
            entry = plan[number]
            meant = [name for name, kind in entry.get("columns", {}).items() if kind in kinds]
            meant = [name for name in meant if re.search(rf"\b{re.escape(name)}\b", lines)] or meant
            if meant and not {(name, wanted) for name in meant} & {tuple(each) for each in entry.get("tried", ())}:
                columns = {**entry["columns"], **dict.fromkeys(meant, wanted)}
                tried = [*entry.get("tried", ()), *((name, wanted) for name in meant)]
                changed = {**entry, "columns": columns, "tried": tried}
                return [*plan[:number], changed, *plan[number + 1 :]], f"{entry['path']} with a {wanted} as {meant[0]}"
    return None


def _is_own(frame: FrameType, root: Path) -> bool:
    path = frame.f_code.co_filename
    return not path.startswith("<") and Path(path).resolve().is_relative_to(root.resolve())


def _all(error: BaseException) -> list[FrameType]:
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
