"""Mappings of a YAML, JSON or TOML file, with the places of their keys and values in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any


class Unseen(Enum):
    """The value of an entry that the file alone does not tell: an interpolation, an alias, a tag, a mapping."""

    UNSEEN = 0


UNSEEN = Unseen.UNSEEN


class Malformed(Exception):
    """A text that cannot be read as what its name says; the text says where."""


@dataclass(frozen=True)
class MappingEntry:
    """A key and its value: `key_at` and `value_at` are offsets into the text, the value's equal where it is empty.
    `value` is what the file's reader makes of it, or UNSEEN."""

    key: str
    key_at: tuple[int, int]
    value_at: tuple[int, int]
    value: Any


@dataclass(frozen=True)
class Mapping:
    """The entries of a mapping; `path` leads to it. `flow` holds for braces, `shared` where an alias leads to it
    or a merge key reads from it, so that it is in several places at once."""

    path: tuple[str, ...]
    entries: tuple[MappingEntry, ...]
    flow: bool
    shared: bool

    def get(self, key: str) -> Any:
        """The value of a key, None where it is not there."""
        return next((entry.value for entry in self.entries if entry.key == key), None)


def read_mappings(text: str, kind: str) -> tuple[Mapping, ...]:
    """Every mapping of a file, outer ones first. Raises Malformed."""
    return tuple(_toml(text)) if kind == "toml" else tuple(_yaml(text, kind))


def _reader() -> Any:
    """PyYAML, which has no types of its own; loaded when the first file is read."""
    return import_module("yaml")


def _yaml(text: str, kind: str) -> Iterator[Mapping]:
    yaml = _reader()
    plain = text.replace("\t", " ") if kind == "json" else text
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        documents = [node for node in yaml.compose_all(plain, loader) if node is not None]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Malformed(f"line {mark.line + 1}: {getattr(error, 'problem', '')}" if mark else str(error)) from None
    seen: dict[int, int] = {}
    for document in documents:
        _count(document, seen)
        yield from _nodes(document, (), text, seen)


def _count(node: Any, seen: dict[int, int]) -> None:
    """How often each node is reached: one that an alias names is reached more than once."""
    seen[id(node)] = seen.get(id(node), 0) + 1
    if seen[id(node)] > 1 or isinstance(node.value, str):
        return
    for item in node.value:
        for part in item if isinstance(item, tuple) else (item,):
            _count(part, seen)


def _nodes(node: Any, path: tuple[str, ...], text: str, seen: dict[int, int]) -> Iterator[Mapping]:
    if isinstance(node.value, str):
        return
    pairs = node.value if node.value and isinstance(node.value[0], tuple) else []
    if pairs:
        yield _mapping(node, path, text, seen)
    children = [((*path, str(key.value)), value) for key, value in pairs]
    children = children or [((*path, "[]"), value) for value in node.value]
    done: set[int] = set()
    for where, child in children:
        aliased = seen[id(child)] > 1 and (id(child) in done or child.start_mark.index < node.start_mark.index)
        done.add(id(child))
        if not aliased:
            yield from _nodes(child, where, text, seen)
        elif not isinstance(child.value, str) and child.value and isinstance(child.value[0], tuple):
            yield _mapping(child, where, text, seen)


def _mapping(node: Any, path: tuple[str, ...], text: str, seen: dict[int, int]) -> Mapping:
    merged = any(key.value == "<<" for key, _ in node.value)
    entries = tuple(_entry(key, value, text, seen) for key, value in node.value if isinstance(key.value, str))
    return Mapping(path, entries, bool(node.flow_style), seen[id(node)] > 1 or merged)


def _entry(key: Any, value: Any, text: str, seen: dict[int, int]) -> MappingEntry:
    key_at = (key.start_mark.index, key.end_mark.index)
    start, end = value.start_mark.index, _end(value)
    if start < key_at[1]:
        return MappingEntry(key.value, key_at, key_at, UNSEEN)
    if start == end:
        colon = re.compile(r"\s*:").match(text, key_at[1])
        if colon is None:
            return MappingEntry(key.value, key_at, key_at, UNSEEN)
        start = end = colon.end()
    raw = text[start:end]
    known = seen[id(value)] == 1 and "${" not in raw and not raw.startswith(("&", "!", "|", ">"))
    return MappingEntry(key.value, key_at, (start, end), _built(value) if known else UNSEEN)


def _end(node: Any) -> int:
    """Where the text of a node ends; the mark of a block collection lies behind the comments that follow it."""
    if isinstance(node.value, str) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _built(node: Any) -> Any:
    """The value of a node that is no mapping."""
    yaml = _reader()
    if node.value and not isinstance(node.value, str) and isinstance(node.value[0], tuple):
        numbers = all(isinstance(key.value, str) and key.value.isdigit() for key, _ in node.value)
        if not numbers:
            return UNSEEN
    try:
        return yaml.constructor.SafeConstructor().construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError):
        return UNSEEN


_HEADER = re.compile(r"^[ \t]*\[(?P<name>[^\[\]]+)\][ \t]*(?:#.*)?$")
_PAIR = re.compile(
    r"^(?P<indent>[ \t]*)(?P<key>[\w-]+)(?P<gap>[ \t]*=[ \t]*)(?P<value>[^#\s].*?)[ \t]*(?:#[^'\"]*)?\r?$"
)


def _toml(text: str) -> Iterator[Mapping]:
    """The tables of a TOML file whose pairs stand on a line each; other values are UNSEEN."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        tomlkit.parse(text)
    except (TOMLKitError, ValueError) as error:
        raise Malformed(str(error)) from None
    path: tuple[str, ...] = ()
    entries: list[MappingEntry] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if header := _HEADER.match(bare):
            yield Mapping(path, tuple(entries), False, False)
            path, entries = tuple(part.strip(" \t\"'") for part in header["name"].split(".")), []
        elif bare.lstrip().startswith("[["):
            yield Mapping(path, tuple(entries), False, False)
            path, entries = ("[]",), []
        elif pair := _PAIR.match(bare):
            start, end = offset + pair.start("value"), offset + pair.end("value")
            at = (offset + pair.start("key"), offset + pair.end("key"))
            entries.append(MappingEntry(pair["key"], at, (start, end), _toml_value(pair["value"])))
        offset += len(line)
    yield Mapping(path, tuple(entries), False, False)


def _toml_value(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(f"value = {text}\n").unwrap()["value"]
    except (TOMLKitError, ValueError):
        return UNSEEN


def written(value: Any, kind: str, model: str) -> str:
    """A value as a file of that kind spells it; `model` is the file's text, whose way with booleans is kept."""
    import json

    if kind != "yaml":
        return json.dumps(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        capital = len(re.findall(r":[ ]+(?:True|False)\b", model))
        return str(value) if capital > len(re.findall(r":[ ]+(?:true|false)\b", model)) else str(value).lower()
    if isinstance(value, str):
        return value if re.fullmatch(r"[a-z][\w-]*", value) and value not in _WORDS else f'"{value}"'
    return json.dumps(value)


_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
