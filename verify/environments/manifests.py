"""What the files of a project ask to be installed, as far as they say it in words that an installer takes."""

from __future__ import annotations

import ast
import configparser
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from verify.environments.dependency_tables import pipfile, required, table
from verify.environments.lines import Address, IncludedFile, Index, IndexRequirement, Said, joined, read_line
from verify.environments.locks import READ as LOCKS
from verify.reading.names import last_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_SIZE = 400_000
_LOCK_SIZE = 8_000_000
_NAME = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"v?\d[\w.!+-]*", re.ASCII)
_PIP_PART = re.compile(r"^(?P<by>\s*)-\s*pip\s*:\s*$")


@dataclass(frozen=True)
class Manifests:
    """What the files at the top of a tree say of packages: what is asked for on indexes, what lock files hold, what is
    taken from addresses, and on which indexes to look. `conda` are names that conda has, which no other index need
    have for the same."""

    pins: tuple[IndexRequirement, ...] = ()
    locked: tuple[IndexRequirement, ...] = ()
    addresses: tuple[Address, ...] = ()
    indexes: tuple[Index, ...] = ()
    conda: frozenset[str] = frozenset()

    @property
    def hashes(self) -> dict[str, tuple[str, ...]]:
        """The hashes of each release that has some, by `name==version`."""
        found: dict[str, tuple[str, ...]] = {}
        for pin in (*self.pins, *self.locked):
            asked = Requirement(pin.text)
            clauses = list(asked.specifier)
            if pin.hashes and len(clauses) == 1 and clauses[0].operator == "==":
                key = f"{canonicalize_name(asked.name)}=={clauses[0].version}"
                found[key] = tuple(dict.fromkeys((*found.get(key, ()), *pin.hashes)))
        return found

    @property
    def agreed(self) -> list[str]:
        """The releases of the lock files that the other files admit, of what has one release there."""
        found: dict[str, set[str]] = {}
        for pin in self.locked:
            found.setdefault(canonicalize_name(Requirement(pin.text).name), set()).add(pin.text)
        asked = [Requirement(pin.text) for pin in self.pins]
        return [
            line for name, lines in sorted(found.items()) if len(lines) == 1
            for line in lines
            if (version := _version(line)) and all(
                one.specifier.contains(version, prereleases=True) for one in asked
                if canonicalize_name(one.name) == name
            )
        ]  # fmt: skip


NO_MANIFESTS = Manifests()


def _version(line: str) -> str | None:
    """The version that a requirement holds to."""
    clauses = list(Requirement(line).specifier)
    return clauses[0].version if len(clauses) == 1 and clauses[0].operator == "==" else None


def manifests_in(root: Path) -> Manifests:
    """What the files at the top of a tree say, those of requirement files first."""
    said, locked = list(_said(root, _READ, _SIZE)), list(_said(root, LOCKS, _LOCK_SIZE))
    both = [*said, *locked]
    return Manifests(
        tuple(dict.fromkeys(one for one in said if isinstance(one, IndexRequirement))),
        tuple(dict.fromkeys(one for one in locked if isinstance(one, IndexRequirement))),
        tuple(dict.fromkeys(one for one in both if isinstance(one, Address) and one.names)),
        tuple(dict.fromkeys(one for one in said if isinstance(one, Index))),
        frozenset(name for _, text in _texts(root, "environment*.y*ml", _SIZE) for name in _conda(text)),
    )


def required_in(root: Path) -> tuple[str, ...]:
    """The lines of the files at the top of a tree that name no extras: of all but `pyproject.toml`."""
    needed = [one for one in _READ if one[0] != "pyproject.toml" and one[1] not in _OF_EXTRAS]
    return tuple(one.text for one in _said(root, needed, _SIZE) if isinstance(one, IndexRequirement))


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


_Readers = Sequence[tuple[str, Callable[[str], Iterable[str]]]]


def _said(root: Path, readers: _Readers, size: int) -> Iterator[Said]:
    """What each line of the files says; the files that they lead to come after them, each once."""
    done: set[tuple[Path, object]] = set()
    for pattern, read in readers:
        queue = sorted(root.glob(pattern))
        while queue:
            path = queue.pop(0)
            text = _text(path, size) if (path, read) not in done else None
            done.add((path, read))
            for one in _lines(root, path, text, read) if text is not None else ():
                if not isinstance(one, IncludedFile):
                    yield one
                elif more := _within(root, path.parent / one.path):
                    queue.append(more)


def _lines(root: Path, path: Path, text: str, read: Callable[[str], Iterable[str]]) -> Iterator[Said]:
    place = path.relative_to(root).as_posix()
    with contextlib.suppress(ValueError, SyntaxError, RecursionError, configparser.Error):
        for line in read(text):
            if line.strip() and (found := read_line(line.strip(), place)):
                yield found


def _within(root: Path, path: Path) -> Path | None:
    """A file of the tree that another names; None for one that lies elsewhere."""
    found = Path(os.path.normpath(path))
    return found if found.is_relative_to(root) else None


def _text(path: Path, size: int) -> str | None:
    with contextlib.suppress(OSError, ValueError):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= size:
            return path.read_text(encoding="utf-8-sig")
    return None


def _texts(root: Path, pattern: str, size: int) -> Iterator[tuple[Path, str]]:
    for path in sorted(root.glob(pattern)):
        if (text := _text(path, size)) is not None:
            yield path, text


def _pyproject(text: str) -> Iterable[str]:
    return required(tomllib.loads(text))


def _pipfile(text: str) -> Iterable[str]:
    return pipfile(tomllib.loads(text))


def _setup_cfg(text: str) -> Iterable[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get("options", "install_requires", fallback="").splitlines()


def _setup_cfg_extras(text: str) -> Iterable[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    extras = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}
    return [line for lines in extras.values() for line in lines.splitlines()]


def _setup_py(text: str) -> Iterable[str]:
    return _of_setup(text, "install_requires")


def _setup_py_extras(text: str) -> Iterable[str]:
    return [line for name in ("extras_require", "tests_require") for line in _of_setup(text, name)]


def _of_setup(text: str, keyword: str) -> Iterator[str]:
    """The strings of a list, or of the lists of a dictionary, that a call has for a keyword."""
    tree = ast.parse(text)
    lists = {
        target.id: node.value
        for node in ast.walk(tree) if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == keyword:
            value = _followed(node.value, lists)
            parts = value.values if isinstance(value, ast.Dict) else [value]
            for part in (_followed(part, lists) for part in parts):
                for each in part.elts if isinstance(part, ast.List | ast.Tuple) else ():
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield each.value


def _followed(node: ast.expr, named: Mapping[str, ast.expr]) -> ast.expr:
    return named.get(node.id, node) if isinstance(node, ast.Name) else node


def _own_pyproject(text: str) -> tuple[object, object]:
    data = tomllib.loads(text)
    poetry = table(data, "tool", "poetry")
    found = [(each.get("name"), each.get("version")) for each in (table(data, "project"), poetry)]
    return next((one for one in found if one[0]), (None, None))


def _own_setup_cfg(text: str) -> tuple[object, object]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get("metadata", "name", fallback=None), parser.get("metadata", "version", fallback=None)


def _own_setup_py(text: str) -> tuple[object, object]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    given = [{each.arg: each.value for each in call.keywords} for call in calls if last_name(call.func) == "setup"]
    found = [tuple(getattr(one.get(key), "value", None) for key in ("name", "version")) for one in given]
    return next(((name, version) for name, version in found if name), (None, None))


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


def _conda(text: str) -> Iterator[str]:
    """The names that conda is asked for itself."""
    inside = False
    for line in text.splitlines():
        if line[:1].strip() and not line.startswith("-"):
            inside = line.startswith("dependencies")
        elif inside and (match := _OF_CONDA.match(line)):
            yield canonicalize_name(match["name"])


_OF_CONDA = re.compile(r"\s*-\s*['\"]?(?:[\w.-]+::)?(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:[=<>!~'\" #].*)?$")
_OF_EXTRAS = (_setup_cfg_extras, _setup_py_extras)
_READ: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    ("requirements*.txt", joined),
    ("*requirements.txt", joined),
    ("requirements/**/*.txt", joined),
    ("*requirements*.in", joined),
    ("requirements/**/*.in", joined),
    ("pyproject.toml", _pyproject),
    ("Pipfile", _pipfile),
    ("setup.cfg", _setup_cfg),
    ("setup.cfg", _setup_cfg_extras),
    ("setup.py", _setup_py),
    ("setup.py", _setup_py_extras),
    ("environment*.y*ml", _environment),
    ("conda*.y*ml", _environment),
)
