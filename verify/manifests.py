"""What the files of a project ask to be installed, as far as they say it in words that an installer takes."""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_SIZE = 400_000
_ADDRESS = re.compile(r"(?:-e\s+|--editable\s+)?(?:[\w.\[\]-]+\s*@\s*)?(?P<url>git\+\S+)")
_NAME = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"v?\d[\w.!+-]*", re.ASCII)
_PIP_PART = re.compile(r"^(?P<by>\s*)-\s*pip\s*:\s*$")


@dataclass(frozen=True)
class Address:
    """A package that is taken from a repository: the address for an installer, and what it may be called."""

    url: str
    names: frozenset[str]

    def is_of(self, *called: str) -> bool:
        """Whether a package with these names has one that this address gives."""
        return not self.names.isdisjoint(map(canonicalize_name, called))

    def brings(self, package: str) -> bool:
        """Whether an imported package may be the one at this address: it has words of its name."""
        return set(_words(package)) <= {word for name in self.names for word in _words(name)}


def pins_in(root: Path) -> tuple[str, ...]:
    """The requirement lines that the files at the top of a tree state, those of requirement files first."""
    return tuple(dict.fromkeys(line for line in _lines(root) if _is_requirement(line)))


def required_in(root: Path) -> tuple[str, ...]:
    """The lines of the files at the top of a tree that name no extras: of all but `pyproject.toml`."""
    return tuple(_lines(root, "pyproject.toml"))


def own_distribution(root: Path) -> tuple[str, str] | None:
    """The name and the version that the files at the top of a tree give to its own distribution: version 0 where it is
    told by a program alone. None where it has no name."""
    for file, read in (("pyproject.toml", _own_pyproject), ("setup.cfg", _own_setup_cfg), ("setup.py", _own_setup_py)):
        with contextlib.suppress(OSError, ValueError, SyntaxError, RecursionError, configparser.Error):
            name, version = read((root / file).read_text(encoding="utf-8"))
            if isinstance(name, str) and _NAME.fullmatch(name):
                told = version if isinstance(version, str) and _VERSION.fullmatch(version) else "0"
                return name, told
    return None


def addresses_in(root: Path) -> tuple[Address, ...]:
    """The repositories that the files at the top of a tree name as places to install from."""
    return tuple(_address(match["url"]) for line in _lines(root) if (match := _ADDRESS.fullmatch(line)))


def _address(url: str) -> Address:
    bare, _, fragment = url.partition("#")
    told = re.search(r"(?:^|&)egg=([\w.-]+)", fragment)
    path = PurePosixPath(re.sub(r"(\.git)?(@[^/@]*)?$", "", bare))
    kept = "#" + fragment if "subdirectory=" in fragment else ""
    return Address(bare + kept, frozenset(map(canonicalize_name, [path.name, *(told.groups() if told else ())])))


def _words(name: str) -> list[str]:
    return canonicalize_name(name).split("-")


def _is_requirement(line: str) -> bool:
    with contextlib.suppress(InvalidRequirement):
        return Requirement(line).url is None
    return False


def _lines(root: Path, without: str = "") -> Iterator[str]:
    for pattern, read in _READ:
        for path in sorted(root.glob(pattern)) if pattern != without else ():
            with contextlib.suppress(OSError, ValueError, SyntaxError, RecursionError, configparser.Error):
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= _SIZE:
                    found = (line.strip() for line in read(path.read_text(encoding="utf-8")))
                    yield from (line for line in found if line)


def _requirements(text: str) -> Iterable[str]:
    return (re.sub(r"(^|\s)#.*", "", line) for line in text.splitlines())


def _pyproject(text: str) -> Iterable[str]:
    data = tomllib.loads(text)
    project = _table(data, "project")
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    poetry = _table(_table(_table(data, "tool"), "poetry"), "dependencies")
    held = [line for lines in lists if isinstance(lines, list) for line in lines if isinstance(line, str)]
    return map(str, [*held, *poetry])


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of a file that is not ours: it may hold something else by that name."""
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def _setup_cfg(text: str) -> Iterable[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get("options", "install_requires", fallback="").splitlines()


def _setup_py(text: str) -> Iterable[str]:
    tree = ast.parse(text)
    lists = {
        target.id: node.value
        for node in ast.walk(tree) if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "install_requires":
            value = lists.get(node.value.id, node.value) if isinstance(node.value, ast.Name) else node.value
            for each in value.elts if isinstance(value, ast.List | ast.Tuple) else ():
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def _own_pyproject(text: str) -> tuple[object, object]:
    data = tomllib.loads(text)
    poetry = _table(_table(data, "tool"), "poetry")
    found = [(each.get("name"), each.get("version")) for each in (_table(data, "project"), poetry)]
    return next((one for one in found if one[0]), (None, None))


def _own_setup_cfg(text: str) -> tuple[object, object]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get("metadata", "name", fallback=None), parser.get("metadata", "version", fallback=None)


def _own_setup_py(text: str) -> tuple[object, object]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    given = [{each.arg: each.value for each in call.keywords} for call in calls if _called(call) == "setup"]
    found = [tuple(getattr(one.get(key), "value", None) for key in ("name", "version")) for one in given]
    return next(((name, version) for name, version in found if name), (None, None))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _environment(text: str) -> Iterable[str]:
    """The lines that conda hands to pip."""
    depth: int | None = None
    for line in text.splitlines():
        if match := _PIP_PART.match(line):
            depth = len(match["by"])
        elif depth is not None and line.strip() and len(line) - len(line.lstrip()) <= depth:
            depth = None
        elif depth is not None:
            yield re.sub(r"(^|\s)#.*", "", line.strip().removeprefix("-")).strip("\"' ")


_READ: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    ("requirements*.txt", _requirements),
    ("requirements/*.txt", _requirements),
    ("pyproject.toml", _pyproject),
    ("setup.cfg", _setup_cfg),
    ("setup.py", _setup_py),
    ("environment*.y*ml", _environment),
)
