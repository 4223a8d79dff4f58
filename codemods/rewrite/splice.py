"""Edits of a mapping's entries in the text of its file: nothing but the entry itself changes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from codemods.code.source import TextFile
from codemods.lightning.configurations.mappings import Mapping, MappingEntry, written
from codemods.rule import TextEdit

Pair = tuple[str, str | None]


def replaced(file: TextFile, section: Mapping, entry: MappingEntry, new: Sequence[Pair]) -> tuple[TextEdit, ...]:
    """Other keys in the place of an entry: one takes over its line, with what stands beside it, the others come
    before it. A value is the Python text of a literal, or None, for one key at most, for the value as it stands."""
    start, end = entry.key_at
    *before, (key, value) = sorted(new, key=lambda pair: pair[1] is None)
    edits = [TextEdit(start, end, _key(file, entry, key))]
    if value is not None:
        edits.append(valued(file, entry, value))
    if before:
        first = file.text.rfind("\n", 0, start) + 1
        indent = file.text[first:start]
        alone = not indent.strip(" \t-")
        gap = _newline(file) + "".join(" " if letter == "-" else letter for letter in indent)
        comma = "," if section.flow else ""
        parts = [
            f"{_key(file, entry, name)}{_colon(file)}{written(ast.literal_eval(str(text)), file.kind, file.text)}"
            f"{comma}{gap if alone else ' '}"
            for name, text in before
        ]
        edits.append(TextEdit(start, start, "".join(parts)))
    return tuple(edits)


def valued(file: TextFile, entry: MappingEntry, value: str) -> TextEdit:
    """Another value for an entry."""
    text = written(ast.literal_eval(value), file.kind, file.text)
    start, end = entry.value_at
    return TextEdit(start, end, text if end > start else f" {text}")


def dropped(
    file: TextFile, section: Mapping, entry: MappingEntry, gone: Collection[str]
) -> tuple[TextEdit, ...] | None:
    """The mapping without an entry, None where something else stands on its lines; `gone` are all keys to go."""
    entries = section.entries
    index = entries.index(entry)
    if section.flow:
        trailing = all(item.key in gone for item in entries[index:])
        if trailing:
            start, end = entries[index - 1].value_at[1] if index else entry.key_at[0], entry.value_at[1]
        else:
            start, end = entry.key_at[0], entries[index + 1].key_at[0]
        return None if "#" in file.text[start:end] else (TextEdit(start, end, ""),)
    start = file.text.rfind("\n", 0, entry.key_at[0]) + 1
    end = file.text.find("\n", entry.value_at[1])
    end = len(file.text) if end < 0 else end + 1
    rest = file.text[entry.value_at[1] : end].strip()
    if file.text[start : entry.key_at[0]].strip() or (rest and not rest.startswith("#")):
        return None
    first = index
    while first and entries[first - 1].key in gone and _is_next(file, entries[first - 1], entries[first]):
        first -= 1
    above = file.text.rfind("\n", 0, entries[first].key_at[0]) + 1
    if above and not file.text[:above].splitlines()[-1].strip():
        start, end = _with_blank(file, start, end, index == 0 or entries[index - 1].key in gone)
    return (TextEdit(start, end, ""),)


def _is_next(file: TextFile, entry: MappingEntry, other: MappingEntry) -> bool:
    """Whether an entry stands in the line below another."""
    return file.text.count("\n", entry.value_at[1], other.key_at[0]) == 1


def _with_blank(file: TextFile, start: int, end: int, follows: bool) -> tuple[int, int]:
    """The place of a line of a paragraph that goes, with the blank line that would be one too many then; `follows` says
    whether what stands above may take the one above along."""
    if end == len(file.text):
        return (start if follows else file.text.rfind("\n", 0, start - 1) + 1), end
    after = file.text.find("\n", end) + 1 or len(file.text)
    return start, end if file.text[end:after].strip() else after


def has_comment(file: TextFile, entry: MappingEntry) -> bool:
    """Whether a comment stands on the lines of an entry."""
    end = file.text.find("\n", entry.value_at[1])
    return "#" in file.text[entry.key_at[0] : len(file.text) if end < 0 else end]


def _key(file: TextFile, entry: MappingEntry, name: str) -> str:
    mark = file.text[entry.key_at[0]]
    return f"{mark}{name}{mark}" if mark in "\"'" else name


def _colon(file: TextFile) -> str:
    return " = " if file.kind == "toml" else ": "


def _newline(file: TextFile) -> str:
    return "\r\n" if "\r\n" in file.text else "\n"
