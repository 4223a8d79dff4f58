"""What each Lightning 2 needs beside it: `compat.csv` and `torch.csv`, as of 2026-11.

The floors (`python`, `torch`, `torchmetrics`) are the metadata of the last patch of each minor on the package index;
`*_ci_max` is what Lightning's own tests run; `setuptools` is there while it imports pkg_resources, `numpy` is the first
release with a build for the oldest Python. `*_exact` is what an exact pin becomes: the oldest torch from the floor on
that takes NumPy 2 and that those tests cover (the newest they cover where there is none), and the oldest torchmetrics
that does without pkg_resources (run with Lightning 2.6.6); of NumPy it is the newest that still has `np.int` and its
like, which 1.20 deprecated and 1.24 took out. `transformers` says what the Pythons that are left ask for: before 4.16
it needs tokenizers<0.11, which has no build for Python 3.10 (4.24.0 was run with torch 2.13 and NumPy 2.4).
`jsonargparse` is what LightningCLI runs with and the extras that bring it ask for (its own check when it starts says
4.27.7, but that of 2.6.6 fails with 4.38.0 and runs with 4.39.0). `wandb` is what WandbLogger asks for when it is made
(its `RequirementCache`); an exact one becomes the oldest that was run with 2.6.6 and NumPy 2. An exact PyYAML becomes
the oldest release that has a build for Python 3.10 and later.
`torch.csv` holds what of torchvision, torchaudio and torchtext is built for a torch, and for the builds of conda's
channel pytorch: what took the place of cudatoolkit, and what has to be asked for beside them, since a newer mkl lacks
a symbol that they import (torch's issue 123097).
To renew them for a new minor, read `Requires-Dist` and `Requires-Python` of its wheel, and the matrix of its tests.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version

FAMILY = ("torchvision", "torchaudio", "torchtext")
PLAIN = ("typing-extensions", "tqdm", "pyyaml", "fsspec", "packaging")
"""What Lightning asks for besides, which seldom stands in its way: in lists of a whole environment."""
OWN = ("torch", "torchmetrics", "transformers", "jsonargparse", "wandb", *PLAIN)
BESIDE = (*OWN, *FAMILY)


@dataclass(frozen=True)
class Need:
    """What a requirement beside Lightning has to admit: a release from `floor` on; an exact one becomes `exact`."""

    floor: str
    exact: str


@dataclass(frozen=True)
class MinorRelease:
    """A minor release of Lightning: what it needs, by distribution, and the Pythons that it runs on."""

    name: str
    python: str
    beside: Mapping[str, Need]
    resources: bool

    def admitted(self) -> tuple[str, ...]:
        """Every release that there may be of it."""
        return tuple(f"{self.name}.{patch}" for patch in range(12))


@cache
def minors() -> tuple[MinorRelease, ...]:
    """The table, oldest first."""
    along = {row["torch"]: row for row in _rows("torch.csv")}
    return tuple(
        MinorRelease(
            row["lightning"],
            row["python"],
            {
                **{name: Need(row[name], row[f"{name}_exact"]) for name in (*OWN, "numpy")},
                **{name: Need(along[row["torch"]][name], along[row["torch_exact"]][name]) for name in FAMILY},
            },
            bool(row["setuptools"]),
        )
        for row in _rows("compat.csv")
    )


def minor_of(release: str) -> MinorRelease:
    """The row of a release; the newest one where the table ends before it."""
    wanted = Version(release).release[:2]
    return next((row for row in minors() if Version(row.name).release == wanted), minors()[-1])


def built_for(torch: str) -> Mapping[str, str]:
    """The oldest torchvision, torchaudio and torchtext that are built for a torch of the table."""
    return next(row for row in _rows("torch.csv") if row["torch"] == torch)


def _rows(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
