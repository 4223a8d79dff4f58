"""Whom a repository's CODEOWNERS names for files:
https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
and https://docs.gitlab.com/user/project/codeowners/reference"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fixer.gitio import Repository
from fixer.tokens import ForgeKind

_PLACES = {
    "github": (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"),
    "gitlab": ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"),
}
_LIMIT = 3_000_000
_SECTION = re.compile(r"\^?\[[^\]]+\](?:\[\d+\])?(?P<owners>(?:\s+\S+)*)")
_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@([\w.-]+(?:/[\w./-]+)?)")


@dataclass(frozen=True)
class Owners:
    """Those who own files: people, and teams or groups without what they belong to (`acme/ml` is `ml`)."""

    people: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


def owners_in(repository: Repository, commit: str, kind: ForgeKind, paths: Iterable[str]) -> Owners:
    """The owners of files by the CODEOWNERS of a commit, from where its server takes it."""
    asked = [(f"{commit}:{place}", _LIMIT) for place in _PLACES[kind]]
    text = next((blob.data for blob in repository.blobs(asked) if blob.data is not None), b"")
    return owners_of(text.decode("utf-8", "replace"), paths)


def owners_of(text: str, paths: Iterable[str]) -> Owners:
    """The owners of files. In each section, the whole file where there is none, the last line that a path matches says
    whose it is; an address of mail cannot be asked."""
    sections = [list(lines) for lines in _sections(text)]
    found = dict.fromkeys(owner for path in paths for lines in sections for owner in _of(path, lines))
    names = [match[1] for match in map(_OWNER.fullmatch, found) if match]
    return Owners(
        tuple(name for name in names if "/" not in name),
        tuple(name.rpartition("/")[2] for name in names if "/" in name),
    )


def _of(path: str, lines: list[tuple[str, list[str]]]) -> list[str]:
    return next((owners for pattern, owners in reversed(lines) if _matches(pattern, path)), [])


def _sections(text: str) -> Iterator[list[tuple[str, list[str]]]]:
    """The lines of each section, a pattern and its owners, which are those of its section where it names none."""
    lines: list[tuple[str, list[str]]] = []
    usual: list[str] = []
    for line in text.splitlines():
        line = line.strip()
        if section := _SECTION.fullmatch(line):
            yield lines
            lines, usual = [], section["owners"].split()
        elif line and not line.startswith("#"):
            pattern, *owners = _WORD.findall(line.partition(" #")[0])
            lines.append((re.sub(r"\\(.)", r"\1", pattern), owners or usual))
    yield lines


def _matches(pattern: str, path: str) -> bool:
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as in .gitignore, but that `*` at its end takes the files of a folder, not those of folders in it."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    parts = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    made = re.sub(r"\*\*/|/\*\*|\*\*|\*|\?|[^*?]", lambda match: parts.get(match[0], re.escape(match[0])), body)
    below = "/.+" if pattern.endswith("/") else "" if re.search(r"(?:^|/)\*$", body) and anchored else "(?:/.+)?"
    return re.compile(("" if anchored else "(?:.*/)?") + made + below, re.DOTALL)
