"""Changes that no tree can notice: of what runs nothing is other than it was, so nothing has to be run to know it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import PurePosixPath

import yaml  # type: ignore[import-untyped, unused-ignore]
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from verify.environments.baseline import LIGHTNING, choose, named
from verify.environments.versions import TORCH
from verify.judging.verdict import Judgement
from verify.reading.modules import NAMED, code_of
from verify.reading.sources import Sources
from verify.reading.uses import of_file
from verify.request import Request

_DOCS = (".md", ".rst", ".cff", ".png", ".svg", ".gif", ".jpg")
_SERVICES = re.compile(
    r"(?:\.github|\.gitlab|\.circleci|\.vscode|\.idea)/.*|LICENSE|NOTICE"
    r"|(?:\.gitlab-ci|\.pre-commit-config|\.travis|\.readthedocs|mkdocs|codecov|azure-pipelines|appveyor)\.ya?ml"
    r"|\.(?:gitignore|dockerignore|editorconfig)"
)
_VERSIONED = ("lightning", "pytorch-lightning", "torch")
"""Distributions of which it is known which releases there are."""
_REQUIRED = re.compile(
    r"(?<![\w.-])(?P<name>pytorch[-_]lightning|lightning|torch)(?P<extras>\[[\w, -]*\])?"
    r"[ \t]*(?:(?:===|==|~=|!=|<=|>=|<|>|=)[ \t]*v?\d[\w.*+!-]*[ \t]*(?:,[ \t]*(?=[=~!<>]))?)+(?![\w.-])"
)
_TABLED = re.compile(r'(?m)^(?P<name>"?(?:pytorch[-_]lightning|lightning|torch)"?)[ \t]*=[ \t]*"[^"\n]*"')
"""As Poetry has it: `lightning = ">=2.0"`."""
_MANIFEST = re.compile(
    r"(?:.*/)?(?:[\w.-]*requirements[\w.-]*\.txt|requirements/[\w.-]+\.txt|environment[\w.-]*\.ya?ml"
    r"|pyproject\.toml|setup\.cfg|Dockerfile)"
)
_TOOLS = frozenset({
    "autoflake", "bandit", "black", "codespell", "commitizen", "coverage", "cibuildwheel", "docformatter", "fixer",
    "flake8", "interrogate", "isort", "mypy", "pydocstyle", "pylint", "pyright", "pytest", "ruff", "semantic_release",
    "towncrier", "tox", "vulture", "yapf",
})  # fmt: skip
"""Tools with settings of their own in `pyproject.toml`, which no training reads."""


def unnoticed(before: Sources, after: Sources, request: Request) -> Judgement | None:
    """That nothing which runs was changed, with what was; None where something was, or where that is not seen here, and
    where a rung is required that only a run reaches."""
    if request.conforms_only or not request.changed or request.required in ("trains", "same"):
        return None
    same = _same_releases(request)
    told: dict[str, list[str]] = {}
    code = _code(before) + _code(after)
    for path in request.changed:
        what = _what(before, after, path, PurePosixPath(path).name in code)
        if what is None or (what == _PINS and same is None):
            return None
        told.setdefault(what, []).append(path)
    if same is None and request.before_pins != request.after_pins:
        return None
    used = any(of_file(after, path) for path in request.changed)
    if used and request.required:
        return None
    shown = "; ".join(f"{what} ({_listed(paths)})" for what, paths in told.items())
    reason = f"nothing that runs was changed, so nothing was run: {shown}{same if same and _PINS in told else ''}"
    return Judgement("preserved", None if used else "conforms", reason)


_PINS = "requirements that choose the same releases"


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if paths[NAMED:] else ""
    return ", ".join(paths[:NAMED]) + more


def _code(sources: Sources) -> str:
    """All code of a tree that may name a file to be read: not that of its packaging."""
    paths = [sources.root / path for path in sources.paths() if PurePosixPath(path).name != "setup.py"]
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def _what(before: Sources, after: Sources, path: str, is_named: bool) -> str | None:
    """What was changed in a file, None where a tree may notice it; `is_named` says that code has its name."""
    places = [sources.root / path for sources in (before, after)]
    if any(place.is_symlink() or (place.exists() and not place.is_file()) for place in places):
        return None
    if path.endswith(_DOCS) or _SERVICES.fullmatch(path):
        return None if is_named else "files that nothing executes or reads"
    if not all(place.is_file() for place in places):
        return None
    try:
        old, new = (place.read_text(encoding="utf-8") for place in places)
        if old == new:  # then it is not in these files that the trees differ
            return None
        return _of_text(before, after, path, old, new, is_named)
    except (ValueError, SyntaxError, yaml.YAMLError, RecursionError):
        return None


def _of_text(before: Sources, after: Sources, path: str, old: str, new: str, is_named: bool) -> str | None:
    if path.endswith(".py"):
        trees = before.tree(path), after.tree(path)
        if trees[0] and trees[1] and code_of(trees[0]) == code_of(trees[1]):
            return "comments and formatting alone"
        if PurePosixPath(path).name != "setup.py":
            return None
        plain = (code_of(ast.parse(_without_versions(text))) for text in (old, new))
        return _PINS if next(plain) == next(plain) else None
    if _MANIFEST.fullmatch(path) and not is_named:
        if _plain(path, old) == _plain(path, new):
            return "settings of other tools, and comments"
        return _PINS if _plain(path, _without_versions(old)) == _plain(path, _without_versions(new)) else None
    if read := _READ.get(PurePosixPath(path).suffix):
        return "comments and formatting alone" if _same_data(read(old), read(new)) else None
    return None


def _same_data(old: object, new: object) -> bool:
    """Whether two values are the same, also in the order of their keys and in their types."""
    return repr(old) == repr(new)


_READ: dict[str, Callable[[str], object]] = {
    ".json": json.loads,
    ".yaml": lambda text: list(yaml.safe_load_all(text)),
    ".yml": lambda text: list(yaml.safe_load_all(text)),
}


def _without_versions(text: str) -> str:
    text = _TABLED.sub(lambda found: f'{found["name"]} = ""', text)
    return _REQUIRED.sub(lambda found: found["name"] + (found["extras"] or ""), text)


def _plain(path: str, text: str) -> object:
    """What a manifest says, but for comments and the settings of other tools."""
    if not path.endswith(".toml"):
        lines = (re.sub(r"(^|\s)#.*", "", line).rstrip() for line in text.splitlines())
        return [line for line in lines if line]
    import tomlkit

    data = tomlkit.parse(text).unwrap()
    tool = data.get("tool")
    if isinstance(tool, dict):
        data["tool"] = {name: value for name, value in tool.items() if name not in _TOOLS}
        data = data if data["tool"] else {name: value for name, value in data.items() if name != "tool"}
    return repr(data)


def _same_releases(request: Request) -> str | None:
    """The releases that the requirements before and after choose, in words, where they are the same."""
    if request.baseline_below or not any(named(request.after_pins, LIGHTNING)):
        return None
    chosen = [choose(pins, None, request.target).version for pins in (request.before_pins, request.after_pins)]
    if set(chosen) != {Version(request.target)} or _others(request.before_pins) != _others(request.after_pins):
        return None
    torch = [_admitted(pins, "torch") for pins in (request.before_pins, request.after_pins)]
    if torch[0] != torch[1] and not all(one.contains(TORCH) for one in torch):
        return None
    every = [*named((*request.before_pins, *request.after_pins), LIGHTNING)]
    if any(not pin.specifier.contains(request.target) for pin in every):
        return None
    return f": Lightning {request.target}" + (f", torch {TORCH}" if torch[0] != torch[1] else "")


def _admitted(pins: tuple[str, ...], name: str) -> SpecifierSet:
    return SpecifierSet(",".join(str(pin.specifier) for pin in named(pins, [name]) if pin.specifier))


def _others(pins: tuple[str, ...]) -> list[str]:
    """The requirements on what is not known here, and of those on what is, all but the versions."""
    found = []
    for pin in map(Requirement, pins):
        name = canonicalize_name(pin.name)
        found.append(f"{name} {sorted(pin.extras)} {pin.marker}" if name in _VERSIONED else str(pin))
    return sorted(found)
