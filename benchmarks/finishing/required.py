"""Which torchmetrics a tree installs, by the requirements that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePath

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from benchmarks.finishing.files import paths

NAMES = (
    "*requirement*.txt", "*requirement*.in", "requirements/*.txt", "requirements/*.in", "constraints*.txt", "*env*.yml",
    "*env*.yaml", "conda*.yml", "conda*.yaml", "setup.py", "setup.cfg", "pyproject.toml", "Pipfile", "Pipfile.lock",
    "poetry.lock", "uv.lock",
)  # fmt: skip
ASKING = "0.11"
"""The first torchmetrics whose metrics ask for their task."""
LATER = tuple(f"{line}.{patch}" for line in ("0.11", *(f"1.{minor}" for minor in range(20))) for patch in range(5))
NAMED = re.compile(
    r"\btorchmetrics\b(?!\s*[-_.\w])(?:\[[^\]]*\])?[\"']?(?:\s*=\s*(?=[\"'{]))?(?:{[^}\n]*?version\s*=\s*)?\s*[\"']?"
    r"(?P<rest>[^\"'\n#;]*)"
)
"""The name with what is asked of it behind, as pip, conda, Poetry and Pipenv write it, up to the next quote."""
LOCKED = re.compile(r"^name\s*=\s*[\"']torchmetrics[\"']\s*\nversion\s*=\s*[\"'](?P<version>[^\"']+)", re.MULTILINE)
PIPENV = re.compile(r"\"torchmetrics\":\s*{[^}]*\"version\":\s*\"==(?P<version>[^\"]+)")
CLAUSE = re.compile(r"(?P<operator>===|==|~=|!=|<=|>=|<|>|=|\^|~)\s*(?P<version>\d[\w.*]*)")


def is_list(path: PurePath) -> bool:
    """Whether a file says what is installed."""
    return any(fnmatch(path.name, name) or fnmatch("/".join(path.parts[-2:]), name) for name in NAMES)


def asks_for_tasks(root: Path) -> bool:
    """Whether the tree installs a torchmetrics that asks for tasks: not where each of its requirements that says a
    version admits none that does."""
    lists = [path for path in paths(root, *{PurePath(name).suffix for name in NAMES}) if is_list(path)]
    said = [each for path in lists for each in _specifiers(path)]
    return not said or any(map(_admits, said))


def _admits(asked: SpecifierSet) -> bool:
    named = [each.version.removesuffix(".*") for each in asked]
    return any(Version(each) >= Version(ASKING) and asked.contains(each) for each in (*LATER, *named))


def _specifiers(path: Path) -> Iterator[SpecifierSet]:
    text = path.read_text("utf-8", errors="replace")
    asked = [f"=={found['version']}" for pattern in (LOCKED, PIPENV) for found in pattern.finditer(text)]
    for line in text.splitlines() if not path.name.endswith(".lock") else ():
        found = NAMED.search(line) if not line.lstrip().startswith("#") else None
        asked.append(",".join(_clause(*each) for each in CLAUSE.findall(found["rest"])) if found else "")
    for each in filter(None, asked):
        try:
            yield SpecifierSet(each, prereleases=True)
        except InvalidSpecifier:
            continue


def _clause(operator: str, version: str) -> str:
    """A clause as pip writes it, of one of conda's or Poetry's."""
    if operator == "=":
        return f"=={version.removesuffix('.*')}.*"
    if operator not in ("^", "~"):
        return f"{operator}{version}"
    parts = [int(part) for part in version.split(".") if part.isdigit()]
    last = next((place for place, part in enumerate(parts) if part), 0) if operator == "^" else min(1, len(parts) - 1)
    above = [*parts[:last], parts[last] + 1]
    return f">={version},<{'.'.join(map(str, above))}"
