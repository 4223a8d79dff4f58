"""Names that torchmetrics gave up, and where a file spells them.

Each row of `renamed.csv` was looked up in the releases 0.2 to 1.9: `old` is in none since the one that it is `gone` in,
`new` in the newest, and in all between where it is more than advice. `safe` are those that were run to give the same
numbers with 0.3 to 0.7 and 1.9, where all that they are given besides predictions and targets is among `keeps` and what
they `need` is; MET001 takes those of a `task` along.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemods.code.nodes import every_node
from codemods.code.scopes import absolute
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rule import TextEdit

ROOT = "torchmetrics"
MOVED = {"classification.iou", "functional.classification.iou", "audio.si_sdr", "audio.si_snr", "regression",
         "functional.audio.si_sdr", "functional.audio.si_snr", "functional.classification.kl_divergence",
         "functional.regression.r2score", "regression.psnr", "regression.ssim", "functional.regression",
         "functional.regression.psnr", "functional.regression.ssim", "functional.classification"}  # fmt: skip
"""Modules that had one of these names and have its new one no more, for some of them."""
HOMES = {
    "regression": ("PearsonCorrcoef", "SpearmanCorrcoef"),
    "functional.regression": ("r2score",),
    "functional.classification": ("f1", "fbeta", "iou", "hinge"),
}
"""Those of them that have the new names of these."""


@dataclass(frozen=True)
class Renamed:
    """A name that is gone: what it is now, how surely, with which arguments, and the release that has it no more."""

    old: str
    new: str
    level: str
    needs: frozenset[str]
    keeps: frozenset[str]
    note: str
    gone: str

    @property
    def last(self) -> str:
        return self.new.rpartition(".")[2]

    def is_now(self, dotted: str) -> bool:
        """Whether a dotted name of torchmetrics that ends in the old one is among its present ones."""
        homes = self.new.split(".")[: 2 if self.new.startswith("functional.") else 1]
        return dotted.endswith(f".{self.last}") and dotted.startswith(f"{ROOT}.{'.'.join(homes)}.")


@dataclass(frozen=True)
class MetricSite:
    """Where a file spells such a name: an import of it, or an attribute. `edits` give it its new one, with all uses of
    what is imported; None where that is not plain."""

    name: Renamed
    dotted: str
    node: ast.alias | ast.Attribute
    edits: tuple[TextEdit, ...] | None


@cache
def renamed() -> Mapping[str, Renamed]:
    """The rows by their old names, in functions with `functional.` before them."""
    with (Path(__file__).parent / "renamed.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["old"]: Renamed(
                row["old"],
                row["new"],
                row["level"],
                frozenset(row["needs"].split()),
                frozenset(row["keeps"].split()),
                row["note"],
                row["gone"],
            )
            for row in csv.DictReader(file)
        }


@cache
def words() -> frozenset[str]:
    """The old names by themselves."""
    return frozenset(old.rpartition(".")[2] for old in renamed())


def name_of(dotted: str) -> Renamed | None:
    """The row of a dotted name of torchmetrics."""
    if not dotted.startswith(f"{ROOT}."):
        return None
    function = ".functional." in dotted
    found = renamed().get(("functional." if function else "") + dotted.rpartition(".")[2])
    return None if found and found.is_now(dotted) else found


def sites(file: PythonFile, facts: Facts) -> Iterator[MetricSite]:
    """Where a file spells names that are gone."""
    if ROOT not in file.text:
        return
    asked = {node.value for node, _ in file.nodes_near(words()) if isinstance(node, ast.Attribute)}
    modules = {node.id for node in asked if isinstance(node, ast.Name)}
    for statement in file.imports:
        if isinstance(statement, ast.ImportFrom):
            module = absolute(statement, file.path)
            for alias in statement.names:
                if (alias.asname or alias.name) in modules:
                    continue  # a module of that name
                if found := name_of(f"{module}.{alias.name}"):
                    dotted = f"{module}.{alias.name}"
                    yield MetricSite(found, dotted, alias, _imported(file, facts, alias, dotted, found))
    for node, within in file.nodes_near(words()):
        if isinstance(node, ast.Attribute) and node.attr in words() and node not in asked:
            dotted = file.scope_within(within).resolve(node) or ""
            if found := name_of(dotted):
                end = file.offsets(node)[1]
                edit = TextEdit(end - len(node.attr), end, found.last)
                yield MetricSite(found, dotted, node, (edit,) if _is_home(dotted, found) else None)


def _is_home(dotted: str, found: Renamed) -> bool:
    """Whether the module that a name was taken from has the new one."""
    module, _, name = dotted.removeprefix(f"{ROOT}.").rpartition(".")
    if found.new.count(".") > found.old.count("."):
        return False
    return module not in MOVED or name in HOMES.get(module, ())


def _imported(
    file: PythonFile, facts: Facts, alias: ast.alias, dotted: str, found: Renamed
) -> tuple[TextEdit, ...] | None:
    """The edits of an import, and of the uses of what it binds."""
    if not _is_home(dotted, found):
        return None
    start = file.offsets(alias)[0]
    end = start + len(alias.name)
    if alias.asname:
        return (TextEdit(start, end, found.last),)
    uses = [
        node
        for node, within in file.nodes_near([alias.name])
        if isinstance(node, ast.Name)
        and node.id == alias.name
        and isinstance(node.ctx, ast.Load)
        and file.scope_within(within).resolve(node) == dotted
    ]
    again = sum(alias.name == (item.asname or item.name) for node in file.imports for item in node.names) > 1
    said = any(isinstance(node, ast.Constant) and node.value == alias.name for node in every_node(file.tree))
    if again or said or _is_taken(file, alias.name, found.last) or is_read_elsewhere(facts, file, alias.name):
        return (TextEdit(start, end, f"{found.last} as {alias.name}"),)
    return (TextEdit(start, end, found.last), *(TextEdit(*file.offsets(node), found.last) for node in uses))


def _is_taken(file: PythonFile, old: str, new: str) -> bool:
    """Whether the old name is bound to something else somewhere in the file, or the new one to anything."""
    if new in file.scope.bindings:
        return True
    return any(
        (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in (old, new))
        or (isinstance(node, ast.arg) and node.arg in (old, new))
        or getattr(node, "name", "") == new
        for node in every_node(file.tree)
    )
