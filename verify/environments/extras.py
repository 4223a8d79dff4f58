"""Packages that a project can do without: those of its extras alone, imported by functions or under conditions."""

from __future__ import annotations

import ast
import configparser
import contextlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from verify.environments.baseline import requirement
from verify.environments.distributions import names_of
from verify.environments.manifests import required_in
from verify.reading.sources import Sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_NOT_AT_ONCE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If)


def spared(sources: Sources, scripts: Collection[str], files: Iterable[str]) -> frozenset[str]:
    """The imported packages that running `scripts`, which may load `files`, does without: the project's files name
    them as extras alone, and no file imports them but within functions and under conditions, the scripts not even
    there."""
    named = _extras(sources.root)
    if not named:
        return frozenset()
    all_of, at_once = set[str](), set[str]()
    for path in files:
        packages, tree = sources.packages(path), sources.tree(path)
        all_of |= packages
        at_once |= packages if path in scripts or tree is None else set(_at_once(tree))
    return frozenset(package for package in all_of - at_once if names_of(package) & named)


def _at_once(tree: ast.Module) -> Iterator[str]:
    """The top-level packages that a file always imports when it is itself imported."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]
        queue += [each for each in ast.iter_child_nodes(node) if not isinstance(each, _NOT_AT_ONCE)]


def _extras(root: Path) -> frozenset[str]:
    """The distributions that the project's files ask for under some extra, and never without one; none where
    `pyproject.toml` leaves it to a program or a file what the project requires."""
    needed, further = set(_names(required_in(root))), set[str]()
    for read in (_pyproject, _setup_cfg):
        with contextlib.suppress(OSError, ValueError, RecursionError, configparser.Error):
            first, more = read(root)
            if first is None:
                return frozenset()
            needed |= set(_names(first))
            further |= set(_names(more))
    return frozenset(further - needed)


def _names(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str) and (found := requirement(line.strip())):
            yield canonicalize_name(found.name)


def _pyproject(root: Path) -> tuple[list[object] | None, list[object]]:
    """What the project requires, None where another place says it, and what its extras name."""
    data: Any = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = data.get("project")
    if not isinstance(project, Mapping):
        return [], []
    needed, extras = project.get("dependencies"), project.get("optional-dependencies")
    dynamic = project.get("dynamic")
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        return None, []
    lists = list(extras.values()) if isinstance(extras, Mapping) else []
    return needed if isinstance(needed, list) else [], [line for one in lists if isinstance(one, list) for line in one]


def _setup_cfg(root: Path) -> tuple[list[object], list[object]]:
    """What the extras name; what the project requires there is read with its other files."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string((root / "setup.cfg").read_text(encoding="utf-8"))
    extras = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}
    return [], [line for text in extras.values() for line in text.splitlines()]
