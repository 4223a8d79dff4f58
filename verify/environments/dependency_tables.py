"""The tables of pyproject.toml and Pipfile that say what a project needs, as lines of a requirement file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from verify.environments.lines import NAMED_INDEX

_VCS = ("git", "hg", "svn", "bzr")
_PLACES = ("url", "file", "path")


def table(data: object, *names: str) -> Mapping[str, Any]:
    """A table within tables of a file that is not ours: it may hold something else by that name."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def strings(value: object) -> Iterator[str]:
    """The strings of a list, if it is one."""
    yield from (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def required(data: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a pyproject.toml, of whichever tool."""
    project, tool = table(data, "project"), table(data, "tool")
    moved = dict(_sources(table(tool, "uv", "sources")))
    groups = [*table(project, "optional-dependencies").values(), *table(data, "dependency-groups").values()]
    groups += [*table(tool, "pdm", "dev-dependencies").values(), table(tool, "uv").get("dev-dependencies")]
    groups += [table(one).get("dependencies") for one in table(tool, "hatch", "envs").values()]
    for line in (line for lines in (project.get("dependencies"), *groups) for line in strings(lines)):
        yield moved.get(_name(line), line)
    yield from moved.values()
    yield from poetry(table(tool, "poetry"))
    yield from _indexes(table(tool, "uv").get("index"), "url")
    yield from _indexes(table(tool, "pdm").get("source"), "url")


def _name(line: str) -> str:
    return re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0].lower()


def _sources(named: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What uv takes from elsewhere than the index, as lines by name."""
    for name, source in named.items():
        for one in source if isinstance(source, list) else [source]:
            if isinstance(one, Mapping) and (line := elsewhere(name, one)):
                yield name.lower(), line


def poetry(data: Mapping[str, Any]) -> Iterator[str]:
    """The lines of poetry's tables: what it needs, all of its groups, and its sources."""
    groups = [table(one, "dependencies") for one in table(data, "group").values()]
    for named in (table(data, "dependencies"), table(data, "dev-dependencies"), *groups):
        for name, asked in named.items():
            if name.lower() != "python":
                yield from described(name, asked)
    yield from _indexes(data.get("source"), "url")


def described(name: str, asked: object) -> Iterator[str]:
    """The lines for one package as poetry and pipenv describe it: by a version, or a table, or several."""
    for one in asked if isinstance(asked, list) else [asked]:
        if isinstance(one, str):
            yield f"{name}{specifier(one)}"
        elif isinstance(one, Mapping):
            extras = ",".join(strings(one.get("extras")))
            version = one.get("version")
            found = f"{name}{f'[{extras}]' if extras else ''}"
            yield elsewhere(name, one) or found + specifier(version if isinstance(version, str) else "*")


def elsewhere(name: str, source: Mapping[str, Any]) -> str | None:
    """The line for a package that is not taken from the usual index."""
    for kind in _VCS:
        if isinstance(url := source.get(kind), str):
            at = next((source[key] for key in ("rev", "tag", "branch", "ref") if isinstance(source.get(key), str)), "")
            below = source.get("subdirectory")
            end = f"#subdirectory={below}" if isinstance(below, str) else ""
            return f"{name} @ {kind}+{url}{f'@{at}' if at else ''}{end}"
    for kind in _PLACES:
        if isinstance(url := source.get(kind), str):
            return f"{name} @ {url if '://' in url else f'file:{url}'}"
    if source.get("workspace"):
        return f"{name} @ file:."
    held = next((source[key] for key in ("index", "source") if isinstance(source.get(key), str)), None)
    return f"{name} @ {NAMED_INDEX}{held}" if held and held.lower() != "pypi" else None


def _indexes(sources: object, key: str) -> Iterator[str]:
    """The indexes that all packages may be looked for on; those for single packages alone are none of them."""
    for one in sources if isinstance(sources, list) else ():
        url = one.get(key) if isinstance(one, Mapping) else None
        if not isinstance(url, str) or one.get("explicit") is True or one.get("priority") == "explicit":
            continue
        first = one.get("default") is True or one.get("priority") == "default"
        yield f"{'--index-url' if first else '--extra-index-url'} {url}"


def pipfile(data: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a Pipfile: its first source takes the place of the usual index."""
    for kind in ("packages", "dev-packages"):
        for name, asked in table(data, kind).items():
            yield from described(name, asked)
    urls = [line.partition(" ")[2] for line in _indexes(data.get("source"), "url")]
    yield from (f"{'--extra-index-url' if number else '--index-url'} {url}" for number, url in enumerate(urls))


def specifier(asked: str) -> str:
    """poetry's way to say which versions go (`^1.2`, `~1.2`, `1.*`, `1.2`), as requirements have it; nothing where it
    is of no kind that they have."""
    clauses = [clause.strip() for clause in re.split(r",|(?<=[\w*])\s+(?=[<>=!~^])", asked) if clause.strip()]
    found = [part for clause in clauses for part in _clause(clause.replace(" ", ""))]
    try:
        return str(SpecifierSet(",".join(found)))
    except InvalidSpecifier:
        return ""


def _clause(clause: str) -> list[str]:
    if clause in ("*", ""):
        return []
    try:
        if clause.startswith("^"):
            return _below(clause[1:], next((n for n, part in enumerate(Version(clause[1:]).release) if part), 0))
        if clause.startswith("~") and not clause.startswith("~="):
            return _below(clause[1:], min(1, len(Version(clause[1:]).release) - 1))
    except InvalidVersion:
        return ["?"]
    if clause[0].isdigit():
        return [f"=={clause}"]
    return [clause]


def _below(version: str, kept: int) -> list[str]:
    """A version and all after it that have the same numbers up to one of them."""
    release = [*Version(version).release]
    kept = min(kept, len(release) - 1)
    return [f">={version}", f"<{'.'.join(map(str, [*release[:kept], release[kept] + 1]))}"]
