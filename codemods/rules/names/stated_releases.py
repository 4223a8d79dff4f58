"""What manifests ask of the packages that rows speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.version import Version

from codemods.code.source import TextFile
from codemods.lightning.facts import Facts


@dataclass(frozen=True)
class Since:
    """The release of a package in which a name moved."""

    package: str
    release: str

    def __str__(self) -> str:
        return f"{self.package} {self.release}"


_BOUNDS = re.compile(r"(===|==|~=|>=|<=|!=|[<>^~=])\s*v?(\d+(?:\.\d+)*)")
_BEFORE, _BEHIND = r"(?mi)(?:^|[\s\"',\[:])", r"\"?(?:\[[^\]\n]*\])?[ \t]*(?:=[ \t]*)?[\"'(]?[ \t]*"
"""What may stand before the name of a package, and between it and its releases, in whichever manifest."""


def stated(packages: Iterable[str], file: TextFile) -> Mapping[str, str | None] | None:
    """The oldest release that a manifest asks for of each package that it names; None where it sets no lower bound."""
    found: dict[str, str | None] = {}
    for package in packages:
        spelled = "[-_.]".join(map(re.escape, re.split(r"[-_.]+", package)))
        pattern = rf"{_BEFORE}(?:{spelled}){_BEHIND}({_BOUNDS.pattern}[^\"'#;\n]*)"
        for place in re.finditer(pattern, file.text):
            bounds = [release for mark, release in _BOUNDS.findall(place[1]) if mark not in ("<", "<=", "!=")]
            found[package] = max(bounds, key=Version, default=None)
    return found or None


def is_older(facts: Facts, code: str, since: Since) -> bool:
    """Whether a manifest, as the rule of that code collected them, admits a release before that one."""
    said = [known[since.package] for known in facts.collected_texts(code).values() if since.package in known]
    return any(release is None or Version(release) < Version(since.release) for release in said)
