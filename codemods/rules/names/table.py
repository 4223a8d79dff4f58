"""Lightning's names that are gone, where they went, and how a project spells them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
NAMESPACES = ("pytorch_lightning", "lightning.pytorch")
FABRIC = {"pytorch_lightning": "lightning_fabric", "lightning.pytorch": "lightning.fabric"}
OUTSIDE = {"utils": "lightning_utilities", "metrics": "torchmetrics"}
EXPRESSIONS = {"pl.utilities.types.EPOCH_OUTPUT": ("pl.utilities.types.STEP_OUTPUT", "list[STEP_OUTPUT]")}

TEST_TUBE = tuple(
    f"pl.{home}.TestTubeLogger"
    for home in ("loggers", "loggers.test_tube", "logging", "logging.test_tube", "logging.test_tube_logger")
)
"""The names of the logger that went with the package it wrote through."""
OTHERS = {
    f"pl.{home}.{name}": "LIT111"
    for homes, names in (
        (
            ("plugins", "plugins.training_type"),
            ("DDPPlugin", "DDPSpawnPlugin", "DeepSpeedPlugin"),
        ),
        (("plugins.training_type.ddp",), ("DDPPlugin",)),
        (("plugins.training_type.ddp_spawn",), ("DDPSpawnPlugin",)),
        (("plugins.training_type.deepspeed",), ("DeepSpeedPlugin",)),
        (("strategies", "strategies.ddp_spawn"), ("DDPSpawnStrategy",)),
    )
    for home in homes
    for name in names
} | dict.fromkeys(TEST_TUBE, "LIT004")
"""Names whose imports and calls other rules rewrite, with the code of the rule: LIT001 leaves them to it."""


class Gone(NamedTuple):
    """A name that the newest Lightning does not have.

    `old` and `new` begin with `pl`, `fabric`, `utils` or `metrics` for the four packages; `new` is empty where nothing
    takes its place. `last` is the last release that had it, of those that `gone.csv` was made from, `since` the
    first that had the new name, `caution` what makes the new one differ, `expression` what is written where that
    is not the new name alone.
    """

    old: str
    last: str
    new: str
    row: str | None
    caution: str
    advice: str
    since: str
    expression: str | None = None

    @property
    def is_name(self) -> bool:
        """Whether it is a name that a module defines, rather than a module."""
        return self.old not in _modules()

    @property
    def release(self) -> tuple[int, int]:
        """The minor release that had it last."""
        major, minor = self.last.split(".")[:2]
        return int(major), int(minor)


@cache
def gone() -> Mapping[str, Gone]:
    """Every name that is gone, by its dotted name under `pl`."""
    advice = {row["prefix"]: row for row in _rows("advice.csv")}
    told: dict[str, Mapping[str, str] | None] = {}
    with (HERE / "gone.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        return {line[0]: _entry(line, _advice(line[0], advice, told)) for line in lines}


@cache
def _modules() -> frozenset[str]:
    return frozenset(name.rpartition(".")[0] for name in gone())


@cache
def around() -> frozenset[str]:
    """The packages and modules, at any height, below which a name is gone."""
    return frozenset(name[:end] for name in gone() for end, mark in enumerate(name) if mark == ".")


@cache
def last_names() -> frozenset[str]:
    """The last parts of the names that are gone."""
    return frozenset(name.rpartition(".")[2] for name in gone())


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _advice(
    name: str, advice: Mapping[str, Mapping[str, str]], told: dict[str, Mapping[str, str] | None]
) -> Mapping[str, str] | None:
    """What is advised for a name, or for the nearest module around it; `told` keeps what was found for modules."""
    if name in advice:
        return advice[name]
    module = name.rpartition(".")[0]
    if "." not in module:
        return None
    if module not in told:
        told[module] = _advice(module, advice, told)
    return told[module]


def _entry(line: Sequence[str], told: Mapping[str, str] | None) -> Gone:
    old, last, given, row, caution, since = line
    new, expression = EXPRESSIONS.get(old, (given, None))
    code = row or (told["row"] if told and not new else "")
    return Gone(old, last, new, code or None, caution, told["advice"] if told else "", since, expression)


def split(dotted: str) -> tuple[str, str] | None:
    """The namespace that a dotted name is spelled in, and its name under `pl`; None where it is not Lightning's."""
    for namespace in NAMESPACES:
        if dotted == namespace or dotted.startswith(namespace + "."):
            return namespace, "pl" + dotted[len(namespace) :]
    return None


def spelled(short: str, namespace: str) -> str:
    """The dotted name that `pl...`, `fabric...`, `utils...` or `metrics...` is for a project of that namespace."""
    first, dot, rest = short.partition(".")
    package = {"pl": namespace, "fabric": FABRIC[namespace], **OUTSIDE}[first]
    return package + dot + rest


def find(short: str) -> Gone | None:
    """The entry of a name, or of the nearest module around it that is gone as a whole."""
    table = gone()
    name = short
    while "." in name:
        if name in table:
            found = table[name]
            return found if name == short or not found.new else None
        name = name.rpartition(".")[0]
    return None


def message(namespace: str, entry: Gone) -> str:
    """What is said of a name that is gone."""
    return f"`{spelled(entry.old, namespace)}` was removed from Lightning after {entry.last}"
