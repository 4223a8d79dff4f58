"""Lock files of poetry, uv, pdm, pipenv and PEP 751, as lines of a requirement file with the hashes of each release."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from verify.environments.dependency_tables import elsewhere, table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib


def _toml(text: str) -> Iterator[str]:
    """poetry.lock, uv.lock, pdm.lock and pylock.toml: lists of packages that differ in little."""
    data = tomllib.loads(text)
    older = table(data, "metadata", "files")
    for one in [*_tables(data.get("package")), *_tables(data.get("packages"))]:
        name, version = one.get("name"), one.get("version")
        if isinstance(name, str):
            files = [*_tables(one.get("files")), *_tables(one.get("wheels")), *_tables([one.get("sdist")])]
            files += _tables(older.get(name))
            yield _line(name, version, [found for file in files for found in _hashes(file)], _source(one))


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _hashes(file: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(found := file.get("hash"), str):
        yield found
    yield from (f"{kind}:{value}" for kind, value in table(file, "hashes").items() if isinstance(value, str))


def _source(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where a locked package comes from, as poetry's tables would say it: empty for any index."""
    source, vcs = table(one, "source"), table(one, "vcs")
    if isinstance(kind := source.get("type"), str):
        at = source.get("resolved_reference") or source.get("reference")
        place = {"git": "git", "directory": "path", "file": "path", "url": "url"}.get(kind)
        return {place: source.get("url"), "rev": at} if place else {}
    if vcs:
        return {str(vcs.get("type")): vcs.get("url"), "rev": vcs.get("commit-id")}
    if isinstance(url := source.get("git"), str):
        bare, _, commit = url.partition("#")
        return {"git": bare.partition("?")[0], "rev": commit}
    local = next((source[key] for key in ("editable", "virtual", "directory", "path") if key in source), None)
    if local is not None:
        return {"path": local}
    more = table(one, "directory") or table(one, "archive")
    return {**source, **more, **{key: one[key] for key in ("git", "path", "url", "revision") if key in one}} | (
        {"rev": one["revision"]} if "revision" in one else {}
    )


def _line(name: str, version: object, hashes: Iterable[str], source: Mapping[str, Any]) -> str:
    told = {key: value for key, value in source.items() if isinstance(value, str) and value and key != "registry"}
    if line := elsewhere(name, told):
        return line
    if not isinstance(version, str):
        return name
    return " ".join([f"{name}=={version.removeprefix('==')}", *(f"--hash={one}" for one in sorted({*hashes}))])


def _pipfile(text: str) -> Iterator[str]:
    data = json.loads(text)
    for kind in ("default", "develop"):
        for name, one in table(data, kind).items():
            held = table(data, kind, name)
            if isinstance(one, Mapping):
                found = held.get("hashes")
                hashes = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
                yield _line(name, held.get("version"), hashes, {k: v for k, v in held.items() if k != "index"})


READ: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    ("poetry.lock", _toml),
    ("uv.lock", _toml),
    ("pdm.lock", _toml),
    ("pylock*.toml", _toml),
    ("Pipfile.lock", _pipfile),
)
"""The lock files at the top of a tree, and how each is read."""
