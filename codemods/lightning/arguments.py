"""The rows of `arguments.csv`: what becomes of an argument of Trainer, by its value."""

from __future__ import annotations

import ast
import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from codemods.code.literals import literal
from codemods.finding import Fix

HERE = Path(__file__).parent
KINDS = ("int?", "float?", "number?", "bool?", "option?", "flag?", "switch?", "unset?", "item?")


@dataclass(frozen=True)
class ArgumentRow:
    """What becomes of an argument that has a certain value.

    `value` is a literal, `int` (one above 0), `str`, `bool`, `dict`, one of those with a question mark for what is
    seen to be one when the program runs (or to be a `number`, or one of `domains.kinds_of`), or `*` for any. `action`
    is `drop`, `write` (`target` is the new keyword), `callback` (`target` is the new callback, which may stand under a
    condition), `special` (`target` names the code that decides) or `manual`; `{}` stands for the value. `guarded` is
    the target where the value may be None, which what `target` says does not take.
    """

    argument: str
    value: str
    action: str
    target: str
    level: Fix
    row: str | None
    reason: str
    guarded: str = ""

    @property
    def keyword(self) -> str:
        """The new keyword of a `write`."""
        return self.target.partition("=")[0]

    def text(self, value: str) -> str:
        """What is written, given the text of the value."""
        text = self.target.partition("=")[2] if self.action == "write" else self.target
        return text.replace("{}", value)


@cache
def rows() -> Mapping[str, tuple[ArgumentRow, ...]]:
    """The rows of each argument, in the order in which they are tried."""
    found: dict[str, list[ArgumentRow]] = {}
    for row in _read("arguments.csv"):
        said: dict[str, Any] = {**row, "row": row["row"] or None}
        found.setdefault(row["argument"], []).append(ArgumentRow(**said))
    return {name: tuple(items) for name, items in found.items()}


@cache
def signatures() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The arguments of Trainer and its methods in their order, by method and release."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in _read("signatures.csv"):
        found.setdefault(row["method"], {})[row["release"]] = tuple(row["arguments"].split())
    return found


@cache
def current() -> frozenset[str]:
    """The arguments of Trainer in the newest release."""
    return frozenset(list(signatures()["__init__"].values())[-1])


@cache
def first(name: str) -> str:
    """The release line in which Trainer first took an argument, by its first release."""
    having = (Version(release) for release, names in signatures()["__init__"].items() if name in names)
    return "{}.{}.0".format(*min(having, default=Version("0.0")).release[:2])


def oldest(names: Collection[str]) -> Version:
    """The oldest release that is known to take all of those arguments, 0.0 where none does."""
    having = (Version(release) for release, taken in signatures()["__init__"].items() if set(names) <= set(taken))
    return min(having, default=Version("0.0"))


def newest(names: Collection[str]) -> Version:
    """The newest release that is known to take all of those arguments, 0.0 where none does."""
    having = (Version(release) for release, taken in signatures()["__init__"].items() if set(names) <= set(taken))
    return max(having, default=Version("0.0"))


@cache
def later(target: str) -> Mapping[str, str]:
    """The arguments of Trainer that came after a release, each with the release that is known to have it."""
    if not target:
        return {}
    found: dict[str, str] = {}
    releases = signatures()["__init__"]
    known = {name for release, names in releases.items() if Version(release) <= Version(target) for name in names}
    for release, names in releases.items():
        if Version(release) > Version(target):
            found |= {name: release for name in names if name not in known | found.keys()}
    return found


@cache
def once() -> frozenset[str]:
    """Every argument that Trainer ever took."""
    return frozenset(name for names in signatures()["__init__"].values() for name in names)


@cache
def removed_in(name: str) -> Version | None:
    """The first release that is known to take an argument no more; None where none is, or no release took it."""
    releases = signatures()["__init__"]
    last = max((Version(release) for release, names in releases.items() if name in names), default=None)
    return min((Version(release) for release in releases if last and Version(release) > last), default=None)


@cache
def removal(name: str, written: str = "") -> str:
    """What a finding says of an argument that Trainer takes no more, and since when; `written` is how its place spells
    it, where that is not `name=`."""
    after = removed_in(name)
    since = f" in Lightning {after.major}.{after.minor}" if after else ""
    return f"`{written or f'{name}='}` of Trainer was removed{since}"


def _read(name: str) -> Iterator[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def find(argument: str, node: ast.expr, kinds: Collection[str]) -> ArgumentRow | None:
    """The first row for an argument that fits a value; `kinds` is what is known of it when the program runs."""
    known, value = literal(node)
    return next((row for row in rows().get(argument, ()) if _fits(row.value, known, value, kinds)), None)


def _fits(wanted: str, known: bool, value: Any, kinds: Collection[str]) -> bool:
    if wanted == "*":
        return True
    if wanted in KINDS:
        return wanted[:-1] in kinds
    if not known:
        return False
    plain: type | None = {"int": int, "str": str, "bool": bool, "dict": dict}.get(wanted)
    if plain:
        return type(value) is plain and (type(value) is not int or value > 0)
    expected = ast.literal_eval(wanted)
    return type(value) is type(expected) and bool(value == expected)
