"""The metrics that want `task=` since torchmetrics 0.11, and where they then give what they gave before.

Each row of `metrics.csv` was run: torchmetrics 0.3 to 0.10 against 1.9 on logits, probabilities and labels, with
classes that do not occur; AUROC and AveragePrecision of several classes on probabilities, as 0.6 and later take them.
`averages` are those with the same numbers (`-` where none is said), `unsafe_averages` those that now leave out classes
that do not occur, `keeps` the arguments that are passed on, `plain_keeps` those that may be there with the default
average alone. A binary or multilabel one is `unsafe`: a probability that is the threshold itself was counted as 1 and
is counted as 0; JaccardIndex leaves out classes that do not occur. Rows without a task have other numbers in some
ordinary case.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemods.code.scopes import ROOT
from codemods.finding import Fix
from codemods.rules.metrics.renamed import renamed

PACKAGES = ("torchmetrics.", f"{ROOT}.metrics.")
RENAMED = {
    "Fbeta": "FBetaScore",
    **{row.old.rpartition(".")[2]: row.last for row in renamed().values() if row.level == "task"},
}
TASK = "who makes it has to say task= too, with num_classes= or num_labels="
PASSED = frozenset({"dist_sync_on_step", "process_group", "dist_sync_fn"})


@dataclass(frozen=True)
class Proven:
    """A metric with a task: with which averages and other arguments it gives the same numbers, and how surely."""

    averages: frozenset[str]
    unsafe_averages: frozenset[str]
    keeps: frozenset[str]
    plain_keeps: frozenset[str]
    level: Fix

    def level_of(self, average: str) -> Fix | None:
        """How surely the numbers are the same with an average (`-` where none is said); None where they are others."""
        if average in self.averages:
            return self.level
        return "unsafe" if average in self.unsafe_averages else None


@cache
def proven() -> Mapping[tuple[str, str], Proven]:
    """The rows by metric and task."""
    levels: Mapping[str, Fix] = {"safe": "safe", "unsafe": "unsafe"}
    return {
        (row["metric"], row["task"]): Proven(
            frozenset(row["averages"].split()),
            frozenset(row["unsafe_averages"].split()),
            frozenset(row["keeps"].split()),
            frozenset(row["plain_keeps"].split()),
            levels[row["level"]],
        )
        for row in rows()
        if row["task"]
    }


@cache
def rows() -> tuple[Mapping[str, str], ...]:
    """The rows of the table."""
    with (Path(__file__).parent / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def classes() -> frozenset[str]:
    """The classes that want a task."""
    return frozenset(row["metric"] for row in rows())


@cache
def functions() -> Mapping[str, str]:
    """The functions that want a task, with the class of each."""
    return {row["function"]: row["metric"] for row in rows()}


def metric_of(dotted: str) -> tuple[str, bool] | None:
    """The metric that a dotted name stands for, and whether it is the function."""
    if not dotted.startswith(PACKAGES):
        return None
    last = dotted.rpartition(".")[2]
    name = RENAMED.get(last, last)
    if name in classes():
        return name, False
    return (functions()[name], True) if name in functions() and ".functional." in dotted else None


def is_of_torchmetrics(dotted: str) -> bool:
    """Whether a dotted name is one of the library's, as it was in Lightning or is now."""
    return dotted.startswith(PACKAGES)
