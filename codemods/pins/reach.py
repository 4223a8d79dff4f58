"""Which code a manifest is for: what lies under its folder and under no nearer manifest's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemods.facts import Facts
from codemods.finding import Finding

MENTIONS = (b"lightning", b"Lightning")
_MANIFEST = re.compile(
    r"(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile|(?:environment|conda)[^/]*\.ya?ml"
    r"|[^/]*(?:requirements|constraints)[^/]*\.txt)"
)


@dataclass(frozen=True)
class Area:
    """What was planned for the code that a manifest is for: findings rewritten, and those left to a person."""

    rewritten: tuple[Finding, ...]
    left: tuple[Finding, ...]


def area_of(path: str, facts: Facts) -> Area:
    """The findings in the code that the manifest at `path` is for.

    Manifests are the files that by name are one and mention Lightning. Code with no manifest above it goes to
    the only one that there is.
    """
    named = {item for text in MENTIONS for item in facts.mentions.get(text, frozenset()) if _is_manifest(item)}
    homes = {home_of(item, facts) for item in {path, *named}}
    own = home_of(path, facts)
    found = [item for item in facts.planned if len(homes) == 1 or _nearest(item.path, homes) == own]
    found.sort(key=lambda item: (item.path, item.cell or 0, item.span, item.code))
    return Area(tuple(item for item in found if item.applied), tuple(item for item in found if not item.applied))


def home_of(path: str, facts: Facts) -> str:
    """The folder that a manifest is for: its own, or, where that holds no code, the one around it."""
    folder = _above(path)
    while folder and ("requirements" in folder.rpartition("/")[2] or not _holds_code(folder, facts)):
        folder = _above(folder)
    return folder


def _is_manifest(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    in_folder = folder.rpartition("/")[2] == "requirements" and name.endswith(".txt")
    return in_folder or _MANIFEST.fullmatch(name) is not None


def _holds_code(folder: str, facts: Facts) -> bool:
    return any(
        path.startswith(folder + "/")
        for path, kind in facts.kinds.items()
        if kind == "python" and not path.endswith("/setup.py")
    )


def _nearest(path: str, homes: set[str]) -> str | None:
    folder = _above(path)
    while folder not in homes:
        if not folder:
            return None
        folder = _above(folder)
    return folder


def _above(path: str) -> str:
    return path.rpartition("/")[0]
