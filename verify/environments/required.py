"""What the manifests of a tree ask whoever installs it for: the main ones together, no extras and no development."""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from verify.environments.baseline import LIGHTNING
from verify.environments.lines import without_options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_SIZE = 400_000
_DEPTH = 5
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[\s=]*(?P<name>\S+)")
_INSTALLS_MAIN = re.compile(
    r"^\s*-\s+['\"]?(?:(?:-e\s+|--editable[\s=])?\.(?:\[[\w,\s-]*\])?"
    r"|(?:-r|--requirement)[\s=]*(?:\./)?requirements\.txt)['\"]?\s*(?:#.*)?$",
    re.MULTILINE,
)
"""A line of a conda environment by which pip installs the project itself, or what its requirements file says."""
_CONDA = {"pytorch": "torch", "pytorch-gpu": "torch"}
_OF_BOTH = ("torch", "torchvision", "torchaudio", "torchmetrics", "tensorboard", "tensorboardx", "numpy", *LIGHTNING)
"""What conda calls as the index of Python does, and what it holds of it is the same."""
Read = tuple[list[str], str]


@dataclass(frozen=True)
class TreeRequirements:
    """What a tree asks for.

    `files` are the manifests, `lines` the requirements that an index answers, `python` the specifier on Python (empty
    where there is none), `elsewhere` what only another place has (an address, conda) or nothing can read, `bounds` the
    lines of constraint files, which ask for nothing by themselves, and `named` all distributions that are named at all.
    """

    files: tuple[str, ...]
    lines: tuple[str, ...]
    python: str
    elsewhere: tuple[str, ...]
    bounds: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The distributions that it names."""
        return frozenset(canonicalize_name(re.split(r"[^\w.-]", line)[0]) for line in (*self.lines, *self.elsewhere))


def required(root: Path) -> TreeRequirements | None:
    """What the manifests at the top of a tree ask for; None where none names Lightning.

    A requirement file, what the project's own package asks for, and a conda environment that installs these too are
    installed together; where these do not name Lightning, the first other file that does counts.
    """
    main = [root / "requirements.txt", *(root / name for name in _PACKAGE)]
    environments = [*sorted(root.glob("environment*.y*ml")), *sorted(root.glob("conda*.y*ml"))]
    around = [path for path in environments if _INSTALLS_MAIN.search(_text(path, root) or "")][:1]
    others = [*sorted(root.glob("requirements*.txt")), *sorted(root.glob("requirements/*.txt"))]
    others += [*environments, root / "Pipfile"]
    for files in ([*main, *around], *([other] for other in others)):
        found = _together(root, files)
        if found and not found.named.isdisjoint(LIGHTNING):
            return found
    return None


def _together(root: Path, files: Iterable[Path]) -> TreeRequirements | None:
    read = [(path, found) for path in files if (found := _read(path, root))]
    stated = list(dict.fromkeys(line for _, (lines, _) in read for line in lines))
    pythons = [python for _, (_, python) in read if python]
    names = tuple(path.relative_to(root).as_posix() for path, (lines, _) in read if lines)
    plain = [line for line in stated if _is_plain(line)]
    elsewhere = tuple(line for line in stated if line not in plain)
    texts = [path for path, _ in read if path.suffix == ".txt"]
    bounds = tuple(line for path in texts for line in _requirement_file(path, root, "-c") if _is_plain(line))
    return TreeRequirements(names, tuple(plain), ",".join(pythons), elsewhere, bounds) if names else None


def _read(path: Path, root: Path) -> Read | None:
    if path.suffix == ".txt":
        return list(_requirement_file(path, root)), ""
    reader = _PACKAGE.get(path.name) or (_pipfile if path.name == "Pipfile" else _environment)
    with contextlib.suppress(ValueError, SyntaxError, RecursionError, configparser.Error, AttributeError, TypeError):
        if (text := _text(path, root)) is not None:
            return reader(text)
    return None


def _text(path: Path, root: Path) -> str | None:
    with contextlib.suppress(OSError, ValueError):
        inside = path.resolve().is_relative_to(root.resolve())
        if inside and path.is_file() and path.stat().st_size <= _SIZE:
            return path.read_text(encoding="utf-8")
    return None


def _is_plain(line: str) -> bool:
    try:
        return Requirement(line).url is None
    except InvalidRequirement:
        return False


def _requirement_file(path: Path, root: Path, option: str = "-r", depth: int = 0) -> Iterator[str]:
    """The requirements of a file and of those that it names; with `-c` those of the constraint files named there."""
    text = (_text(path, root) or "").replace("\\\n", " ") if depth < _DEPTH else ""
    for line in (re.sub(r"(^|\s)#.*", "", each).strip() for each in text.splitlines()):
        if match := _INCLUDE.match(line):
            is_bound = line.startswith(("-c", "--c"))
            if is_bound == (option == "-c"):
                yield from _requirement_file(path.parent / match["name"], root, "-r", depth + 1)
            elif option == "-c":
                yield from _requirement_file(path.parent / match["name"], root, "-c", depth + 1)
        elif option == "-c":
            continue
        elif editable := re.match(r"(?:-e|--editable)[\s=]+(?P<what>\S+://\S+)", line):
            yield editable["what"]
        elif line and not line.startswith("-") and line != ".":
            yield without_options(line)


def _pyproject(text: str) -> Read:
    data = tomllib.loads(text)
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    lines = [str(item) for item in project.get("dependencies", [])]
    lines += _of_table(_table(poetry, "dependencies"))
    python = _table(poetry, "dependencies").get("python")
    stated = project.get("requires-python") or (_from_poetry(python) if isinstance(python, str) else "")
    return lines, _specifier(str(stated))


def _pipfile(text: str) -> Read:
    data = tomllib.loads(text)
    python = _table(data, "requires").get("python_version")
    return list(_of_table(_table(data, "packages"))), f"=={python}.*" if python else ""


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def _of_table(table: Mapping[str, Any]) -> Iterator[str]:
    """The requirements of a table of Poetry's or Pipenv's, but for those that are optional."""
    for name, value in table.items():
        stated = value if isinstance(value, Mapping) else {"version": value}
        if canonicalize_name(name) == "python" or stated.get("optional"):
            continue
        place = next((stated[key] for key in ("git", "url", "path", "file") if key in stated), None)
        extras = f"[{','.join(map(str, stated['extras']))}]" if stated.get("extras") else ""
        if place:
            yield f"{name} @ {place}"
        elif isinstance(stated.get("version"), str):
            yield f"{name}{extras}{_from_poetry(stated['version'])}"


def _from_poetry(text: str) -> str:
    return ",".join(filter(None, map(_clause, text.split(","))))


def _clause(text: str) -> str:
    """A condition of Poetry's as Python's own tools write it."""
    stated = text.strip()
    operator = re.match(r"[\^~<>=!]*", stated)
    sign = operator.group() if operator else ""
    version = stated[len(sign) :].strip()
    if version in ("*", ""):
        return ""
    if sign not in ("^", "~"):
        return f"{sign or '=='}{version}"
    release = Version(version).release
    kept = min(2, len(release)) - 1
    if sign == "^":
        kept = next((index for index, number in enumerate(release) if number), len(release) - 1)
    upper = ".".join(map(str, (*release[:kept], release[kept] + 1)))
    return f">={version},<{upper}"


def _specifier(text: str) -> str:
    try:
        return str(SpecifierSet(text))
    except (InvalidSpecifier, InvalidVersion):
        return ""


def _setup_cfg(text: str) -> Read:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    python = parser.get("options", "python_requires", fallback="")
    return [line for each in lines if (line := re.sub(r"(^|\s)#.*", "", each).strip())], _specifier(python)


def _setup_py(text: str) -> Read:
    tree = ast.parse(text)
    named = {
        target.id: node.value
        for node in ast.walk(tree) if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    given = {
        node.arg: named.get(node.value.id, node.value) if isinstance(node.value, ast.Name) else node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
    }
    listed = given.get("install_requires")
    items = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
    lines = [each.value for each in items if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    python = given.get("python_requires")
    return lines, _specifier(str(python.value)) if isinstance(python, ast.Constant) else ""


def _environment(text: str) -> Read:
    """The list of a conda environment: what pip installs, what an index has by the same name, and the rest by name."""
    lines, python, by_pip = [], "", False
    for raw in text[max(text.find("dependencies:"), 0) :].splitlines()[1:]:
        match = re.match(r"(?P<indent>\s*)-\s+(?P<text>[^#]+)", raw)
        if not match:
            if raw.strip() and not raw.startswith((" ", "#")):
                break
            continue
        stated = match["text"].strip().strip("\"'")
        if re.fullmatch(r"pip\s*:", stated):
            by_pip, depth = True, len(match["indent"])
            continue
        by_pip = by_pip and len(match["indent"]) > depth
        if by_pip:
            lines.append(without_options(stated))
            continue
        name, specifier = _of_conda(stated)
        if name == "python":
            python = _specifier(specifier)
        else:
            lines.append(f"{name}{specifier}" if name in _OF_BOTH else f"{name} (conda)")
    return [line for line in lines if not line.startswith("-")], python


def _of_conda(stated: str) -> tuple[str, str]:
    """The name and the specifier of an item: `pytorch::pytorch=1.8.1=py3.8_cuda10.2_0`."""
    found = re.match(r"(?:[\w.-]+::)?(?P<name>[\w.-]+)\s*(?P<rest>.*)", stated)
    name, rest = (found["name"], found["rest"]) if found else (stated, "")
    known = canonicalize_name(_CONDA.get(name, name))
    if exact := re.match(r"(?P<sign>==?)\s*(?P<version>[\d.]+)", rest):
        dotted = exact["version"].rstrip(".")
        return known, f"=={dotted}" if exact["sign"] == "==" or rest.count("=") > 1 else f"=={dotted}.*"
    return known, rest if _specifier(rest) else ""


_PACKAGE: Mapping[str, Callable[[str], Read]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}
