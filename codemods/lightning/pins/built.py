"""From which release on distributions have builds for Python 3.10, the oldest that Lightning 2.6 runs on: `built.csv`,
as the package index had them in 2026-11 for Linux.

`first` is the first release with a build, `line` the first one of the major release before that, where that goes on.
An exact requirement becomes `exact`: an early release that has builds for Python 3.10 and 3.11. All of these, NumPy
1.23.5, torch 2.3.1 and Lightning 2.6.6 can be installed together (solved by uv for both Pythons, from builds alone).
`modules` are what code imports of it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version

from codemods.lightning.pins.specifier import Language, admits_from, clauses

PYTHON = "3.10"
"""The Python that the table is of."""


@dataclass(frozen=True)
class BuiltDistribution:
    """A row of the table."""

    name: str
    first: str
    line: str
    exact: str
    module: str

    @property
    def words(self) -> tuple[bytes, ...]:
        """What shows in Python files that it is imported."""
        return f"import {self.module}".encode(), f"from {self.module}".encode()

    def has_build(self, specifier: str, language: Language) -> bool:
        """Whether a specifier admits a release with a build."""
        if admits_from(specifier, self.first, language):
            return True
        least = Version(self.line or self.first)
        exact = (each for each in clauses(specifier) if each.operator in ("", "==") and not each.wildcard)
        return any(
            version >= least and version.major == least.major for each in exact for version in [Version(each.version)]
        )

    def is_of_another_major(self, specifier: str) -> bool:
        """Whether what becomes of a specifier is another major release than any that it names."""
        majors = {each.release[0] for each in clauses(specifier) if each.version}
        return not majors or max(majors) < Version(self.exact).major


@cache
def built() -> Mapping[str, BuiltDistribution]:
    """The table, by distribution."""
    with Path(__file__).with_name("built.csv").open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    found = (
        BuiltDistribution(*(row[name] for name in ("distribution", "first", "line", "exact", "modules")))
        for row in rows
    )
    return {each.name: each for each in found}
