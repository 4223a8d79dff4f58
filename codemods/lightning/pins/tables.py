"""TOML manifests: pyproject.toml in the dialects of its tools, and Pipfile.

A place is handed out only where it is proven: changing the text there changes that one value and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from codemods.lightning.pins import toml
from codemods.lightning.pins.address import named
from codemods.lightning.pins.pin import LIGHTNING, READ, Pin, Problem, read
from codemods.lightning.pins.specifier import Language, pep440
from codemods.lightning.pins.toml import Unparsable

_MAIN = "project.dependencies"
_LISTS = (
    "build-system.requires",
    _MAIN,
    "project.optional-dependencies.*",
    "dependency-groups.*",
    "tool.uv.dev-dependencies",
    "tool.uv.constraint-dependencies",
    "tool.uv.override-dependencies",
    "tool.pdm.dev-dependencies.*",
    "tool.hatch.envs.*.dependencies",
    "tool.hatch.envs.*.extra-dependencies",
    "tool.hatch.metadata.hooks.custom.dependencies",
    "tool.setuptools.dynamic.dependencies",
)
_TABLES = (
    "tool.poetry.dependencies",
    "tool.poetry.dev-dependencies",
    "tool.poetry.group.*.dependencies",
    "tool.uv.sources",
    "tool.pdm.overrides",
    "tool.pdm.resolution.overrides",
)
_NO_CATEGORY = frozenset({"source", "requires", "scripts", "pipenv"})
Keys = tuple[str | int, ...]


def pyproject(text: str) -> Iterator[Pin]:
    """Raises Unparsable."""
    document = toml.parse(text)
    for pattern in _LISTS:
        for keys, items in _matching(document, pattern):
            for index, item in enumerate(items if isinstance(items, list) else []):
                pin = read(item, 0, len(item) - len(item.lstrip())) if isinstance(item, str) else None
                if pin:
                    group = "" if pattern == _MAIN else str(keys[-1])
                    yield replace(pin.at(_place(text, document, (*keys, index))), group=group)
    for pattern in _TABLES:
        for keys, table in _matching(document, pattern):
            group = "" if pattern == "tool.poetry.dependencies" else ".".join(map(str, keys[2:]))
            yield from (replace(pin, group=group) for pin in _table(text, document, keys, table))
    for keys, wanted in _matching(document, "project.requires-python"):
        if isinstance(wanted, str):
            yield _versioned("python", wanted, _place(text, document, keys), "pep440", {})


def pipfile(text: str) -> Iterator[Pin]:
    """Raises Unparsable."""
    document = toml.parse(text)
    for category, table in document.items():
        if category not in _NO_CATEGORY:
            group = "" if category == "packages" else category
            yield from (replace(pin, group=group) for pin in _table(text, document, (category,), table))
    for keys, wanted in _matching(document, "requires.python_version"):
        if isinstance(wanted, str):
            offset = _place(text, document, keys) or 0
            meant = f"python=={wanted}.*"
            yield Pin("python", meant, offset, offset + len(wanted), wanted, offset, "conda", "locked")


def _table(text: str, document: Mapping[str, Any], keys: Keys, table: Any) -> Iterator[Pin]:
    for name, value in table.items() if isinstance(table, dict) else []:
        if canonicalize_name(name) in (*READ, "python"):
            yield from _entry(text, document, (*keys, name), value)


def _matching(node: Any, pattern: str, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """The values at a dotted path, where `*` is any key."""
    head, _, rest = pattern.partition(".")
    if not isinstance(node, dict):
        return
    for key in list(node) if head == "*" else [head] if head in node else []:
        if rest:
            yield from _matching(node[key], rest, (*keys, key))
        else:
            yield (*keys, key), node[key]


def _entry(text: str, document: Mapping[str, Any], keys: Keys, value: Any) -> Iterator[Pin]:
    """The requirement that a table states, in any of its forms."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _entry(text, document, (*keys, index), item)
        return
    name = canonicalize_name(str(next(key for key in reversed(keys) if isinstance(key, str))))
    if isinstance(value, str):
        yield _versioned(name, value, _place(text, document, keys), "poetry", {})
    elif isinstance(value, dict) and isinstance(value.get("version"), str):
        yield _versioned(name, value["version"], _place(text, document, (*keys, "version")), "poetry", value)
    elif isinstance(value, dict):
        for kind in ("git", "url", "path", "file"):
            if isinstance(value.get(kind), str):
                offset = _place(text, document, (*keys, kind)) or 0
                pin = Pin(name, "", offset, offset + len(value[kind]), value[kind], offset, "poetry", "address")
                yield _from_address(pin, value)


def _from_address(pin: Pin, table: Mapping[str, Any]) -> Pin:
    """A requirement on an address, with the release that it names."""
    key = next((key for key in ("tag", "rev", "branch") if isinstance(table.get(key), str)), "")
    release = named(pin.specifier, table.get(key), tag=key != "branch") if pin.name in LIGHTNING else None
    if release is None:
        return replace(pin, fork=True)
    return replace(pin, requirement=f"{pin.name}{release.specifier}", repaired=release.specifier, fork=not release.sure)


def _versioned(name: str, specifier: str, offset: int | None, language: Language, table: Mapping[str, Any]) -> Pin:
    start = offset or 0
    end = start + len(specifier) if offset is not None else start
    problem: Problem | None = "unplaced" if offset is None else None
    try:
        requirement = _pep508(name, pep440(specifier, language), table)
    except ValueError:
        return Pin(name, "", start, end, specifier, start, language, "invalid")
    return Pin(name, requirement, start, end, specifier, start, language, problem)


def _pep508(name: str, specifier: SpecifierSet, table: Mapping[str, Any]) -> str:
    """Raises ValueError (InvalidRequirement is one) where the table says what PEP 508 cannot."""
    extras = ",".join(map(str, table.get("extras", [])))
    markers = [str(table["markers"])] if "markers" in table else []
    if "python" in table:
        markers += [
            f'python_version {clause.operator} "{clause.version}"' for clause in pep440(str(table["python"]), "poetry")
        ]
    marker = " and ".join(f"({item})" if " or " in item else item for item in markers)
    return str(Requirement(f"{name}{f'[{extras}]' if extras else ''}{specifier}{f'; {marker}' if marker else ''}"))


def _place(text: str, document: Mapping[str, Any], keys: Keys) -> int | None:
    """Where the characters of a TOML string stand: where a change changes that value and nothing else."""
    value = _at(document, keys)
    expected = deepcopy(dict(document))
    _at(expected, keys[:-1])[keys[-1]] = "x" + value
    for match in re.finditer(rf"(?<=[\"']){re.escape(value)}(?=[\"'])", text):
        try:
            trial = toml.parse(f"{text[: match.start()]}x{text[match.start() :]}")
        except Unparsable:
            continue
        if trial == expected:
            return match.start()
    return None


def _at(node: Any, keys: Keys) -> Any:
    for key in keys:
        node = node[key]
    return node
