"""What runs executed of each file that was changed, whatever kind of file it is."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from verify.evidence import FileCoverage, How
from verify.judging.record import RunRecord
from verify.reading.idle import changed_functions, code_outside, same_code
from verify.reading.modules import CODE, configures
from verify.reading.sources import Sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_MANIFEST = re.compile(
    r"(?:.*/)?(?:[\w.-]*(?i:requirements|constraints)[\w.-]*\.(?:txt|in)|setup\.(?:py|cfg)|pyproject\.toml|Pipfile|"
    r"(?:environment|env|conda)[\w.-]*\.ya?ml|[\w.-]+\.lock|conda-lock\.yml)|(?:.*/)?requirements/[^/]+\.(?:txt|in)"
)
_INSTALLING = frozenset({"poetry", "pdm", "uv", "hatch", "flit", "setuptools", "pixi", "rye"})
"""The tools whose settings say what is installed."""
_DOCUMENTS = (".md", ".rst", ".markdown", ".adoc")


def parts(
    before: Sources,
    after: Sources,
    changed: Iterable[str],
    runs: Sequence[RunRecord],
    manifests: Iterable[str] = (),
    *,
    alone: bool = False,
) -> tuple[FileCoverage, ...]:
    """Each changed file with what these runs of the tree after executed of it; `manifests` are those that their
    environment was installed from. Runs of modules `alone` import each file, and run none as a script."""
    scripts = {raw.recording.script for raw in runs} & set(after.paths())
    held = {path for raw in runs for path in raw.held}
    known = all(raw.calls is not None for raw in runs)
    calls = frozenset(call for raw in runs for call in raw.calls or ()) if known else None
    times = [raw.times for raw in runs if raw.times is not None]
    counted = sum(map(Counter, times), Counter[str]()) if len(times) == len(runs) else None
    found = []
    for path in sorted(set(changed)):
        if is_manifest(path):
            asks = _asks(before.root / path) != _asks(after.root / path)
            found.append(FileCoverage(path, "not installed" if asks else "document"))
        elif path.endswith(".py"):
            main = not alone and (path in scripts or not scripts)
            found.append(_code(path, before.tree(path), after.tree(path), path in held, calls, counted, main))
        else:
            found.append(FileCoverage(path, _other(after.root, path, path in held)))
    if any(raw.is_silent for raw in runs):
        found = [replace(file, how="not told") if file.how in ("not loaded", "not read") else file for file in found]
    return installed_from(found, manifests)


def installed_from(touched: Iterable[FileCoverage], manifests: Iterable[str]) -> tuple[FileCoverage, ...]:
    """The files, with the manifests among them that an environment was installed from."""
    known = frozenset(manifests)
    return tuple(replace(file, how="installed") if file.path in known else file for file in touched)


def _asks(place: Path) -> object:
    """What a manifest says that may bear on what is installed: of a pyproject.toml not the settings of tools."""
    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    if place.name != "pyproject.toml":
        return text if text.strip() else ""
    try:
        held = tomllib.loads(text)
    except ValueError:
        return text
    tools = held.get("tool")
    kept = {name: one for name, one in tools.items() if name in _INSTALLING} if isinstance(tools, dict) else {}
    return {**{name: one for name, one in held.items() if name != "tool"}, **kept}


def further(one: Iterable[FileCoverage], other: Iterable[FileCoverage]) -> tuple[FileCoverage, ...]:
    """Of each file what the runs that executed more of it did; the first of them where both did alike."""
    found: dict[str, FileCoverage] = {}
    for file in (*one, *other):
        known = found.setdefault(file.path, file)
        if _rank(file) > _rank(known):
            found[file.path] = file
    return tuple(found[path] for path in sorted(found))


def argued(touched: Iterable[FileCoverage], functions: Mapping[str, Sequence[str]]) -> tuple[FileCoverage, ...]:
    """The files, where the arguments of a Trainer were all that was changed in some of their functions, and were tried
    by themselves."""
    found = []
    for file in touched:
        names = tuple(name for name in functions.get(file.path, ()) if name not in file.called)
        how: How = "arguments" if names and file.how in ("not loaded", "not called") else file.how
        idle = tuple(name for name in file.idle if name not in names)
        found.append(replace(file, how=how, idle=idle, argued=names))
    return tuple(found)


def _rank(file: FileCoverage) -> tuple[bool, bool, bool]:
    return file.is_covered, bool(file.argued), file.is_loaded


def is_manifest(path: str) -> bool:
    """Whether a file asks for packages to be installed: what runs is installed from it, or it is not executed."""
    return _MANIFEST.fullmatch(path) is not None


def _other(root: Path, path: str, held: bool) -> How:
    if path.endswith(CODE):
        return "executed" if held else "not loaded"
    if held or configures(root, path):
        return "read" if held else "not read"
    return "document" if PurePosixPath(path).suffix in _DOCUMENTS else "not run"


def _code(
    path: str,
    old: ast.Module | None,
    new: ast.Module | None,
    held: bool,
    calls: frozenset[str] | None,
    counted: Mapping[str, int] | None,
    main: bool,
) -> FileCoverage:
    if old and new and same_code(old, new):
        return FileCoverage(path, "same code")
    if not held:
        return FileCoverage(path, "not loaded")
    if old is None or new is None or calls is None:
        return FileCoverage(path, "executed")
    functions = changed_functions(old, new)
    called = tuple(dict.fromkeys(name for name, line in functions if f"{path}:{line}" in calls))
    idle = tuple(dict.fromkeys(name for name, line in functions if f"{path}:{line}" not in calls))
    outside = code_outside(old, main=main) != code_outside(new, main=main)
    for_scripts = not outside and code_outside(old) != code_outside(new)
    is_executed = called or outside or not (functions or for_scripts)
    lines = {name: [f"{path}:{line}" for other, line in functions if other == name] for name in called}
    times = () if counted is None else tuple(sum(counted.get(at, 0) for at in lines[name]) for name in called)
    return FileCoverage(path, "executed" if is_executed else "not called", called, idle, times)
