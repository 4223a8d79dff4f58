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
    (`drop`, `empty` where it says nothing), is a `path` to be parted, or is left to a person."""

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
def _owners() -> Mapping[str, str]:
    """Every owner by its last name and the package it is in: `ModelCheckpoint` of `callbacks`."""
    return {owner.rpartition(".")[2]: owner for owner, _ in keywords() if not owner.startswith("self.")}


@cache
def of_modules() -> frozenset[str]:
    """The owners that are methods of a module: `self.log`."""
    return frozenset(owner for owner, _ in keywords() if owner.startswith("self."))


def owner_of(dotted: str) -> str | None:
    """The owner that the canonical name of a class or function stands for."""
    if not dotted.startswith(f"{ROOT}."):
        return None
    short = dotted[len(ROOT) + 1 :]
    owner = "callbacks.EarlyStopping" if short.endswith(".EarlyStopping") else _owners().get(short.rpartition(".")[2])
    return owner if owner and owner.split(".")[0] == short.split(".")[0] else None


def wish(row: Keyword) -> str:
    """What a person should do about a keyword."""
    if row.level == "drop":
        return "delete it"
    return row.advice or f"write {row.becomes} in its place"
