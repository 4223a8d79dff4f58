"""Keyword arguments that callbacks, loggers, profilers, LightningCLI and `self.log` had in Lightning 1.x."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemods.code.scopes import ROOT

MONITORS = ("EarlyStopping", "ModelCheckpoint")


@dataclass(frozen=True)
class Keyword:
    """A row of `keywords.csv`: what the keyword `becomes` (as a number, 1 or -1, where it is a `flag`), or that it goes
    (`drop`, `doubt` where that is unsafe, `empty` where it says nothing), is a `path` to be parted, the `depth` of a
    summary or the `report` of a profiler, or is left to a person."""

    since: str
    row: str | None
    becomes: str
    level: str
    advice: str


@cache
def keywords() -> Mapping[tuple[str, str], Keyword]:
    """The rows by owner (the last name of a class or function, or `self.log`) and keyword."""
    with (Path(__file__).parent / "keywords.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["owner"], row["keyword"]): Keyword(
                row["since"], row["row"] or None, row["becomes"], row["level"], row["advice"]
            )
            for row in csv.DictReader(file)
        }


@cache
def _owners() -> Mapping[tuple[str, str], str]:
    """Every owner by the package it is in and its last name: `callbacks`, `ModelCheckpoint`."""
    owners = [owner for owner, _ in keywords() if not owner.startswith("self.")]
    return {(owner.split(".")[0], owner.rpartition(".")[2]): owner for owner in owners}


@cache
def class_names() -> frozenset[str]:
    """The last names of the owners that are classes."""
    return frozenset({owner.rpartition(".")[2] for owner, _ in keywords() if is_class(owner)} | {*MONITORS})


def is_class(owner: str) -> bool:
    """Whether an owner is a class, and no function or method."""
    return owner.rpartition(".")[2][0].isupper()


@cache
def of_modules() -> frozenset[str]:
    """The owners that are methods of a module: `self.log`."""
    return frozenset(owner for owner, _ in keywords() if owner.startswith("self."))


def owner_of(dotted: str) -> str | None:
    """The owner that the canonical name of a class or function stands for."""
    if not dotted.startswith(f"{ROOT}."):
        return None
    short = dotted[len(ROOT) + 1 :]
    first, last = short.split(".")[0] if "." in short else "core", short.rpartition(".")[2]
    return f"callbacks.{last}" if (first, last) == ("callbacks", "EarlyStopping") else _owners().get((first, last))


def wish(row: Keyword) -> str:
    """What a person should do about a keyword."""
    if row.level == "drop":
        return "delete it"
    return row.advice or f"write {row.becomes} instead"
