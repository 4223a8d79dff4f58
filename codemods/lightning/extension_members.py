"""Members of Lightning's extension points (strategies, plugins, bars, loggers and the like) that are gone."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Member:
    """A row of `extension_members.csv`: the classes that had it, the release without it, its new name (empty where
    there is none) and what to do instead. With a `parameter` only an override that takes it is meant. `takes` is how
    many arguments it was given last, where it was given another number before."""

    owners: frozenset[str]
    since: str
    row: str | None
    becomes: str
    advice: str
    parameter: str = ""
    takes: int = 0


@cache
def members() -> Mapping[str, tuple[Member, ...]]:
    """The rows by the name of the member."""
    found: dict[str, list[Member]] = {}
    with (Path(__file__).parent / "extension_members.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            member = Member(
                frozenset(row["owner"].split()),
                row["since"],
                row["row"] or None,
                row["becomes"],
                row["advice"],
                row["parameter"],
                int(row["takes"] or 0),
            )
            found.setdefault(row["member"], []).append(member)
    return {name: tuple(rows) for name, rows in found.items()}
