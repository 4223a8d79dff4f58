"""What Lightning 1.x installed beside itself and 2.x does not: `brought.csv`, as of 2026-11.

Read in `Requires-Dist` of the wheels of pytorch-lightning 1.4.9 to 2.6.6 and of lightning 1.8.1 to 2.6.6, and of what
they ask for (tensorboard 2.2 to 2.21, fsspec 2021.5 to 2024.2). The columns `pytorch-lightning` and `lightning` are
the first release of each without it (empty: it never had it), `uses` the names that show that code needs it,
`served_by` other distributions that bring it, or the same. With `any_release` it is Lightning itself that stops without
it, so it does not matter which release a project comes from. `needed_by` are releases of something else that need it
(beside Lightning 2.6.6, torchmetrics 0.8.2 to 0.11.4 do not import without, 1.0.0 and 1.2.0 do; with it, 0.7.0 to
0.11.4 train). Those of NumPy are built for NumPy 1 and ask for no older one: pandas 1.5.3, matplotlib 3.6.3,
scikit-learn 1.1.3, scikit-image 0.20 and 0.22, opencv-python-headless 4.5.5 and 4.9, h5py 3.8 and 3.10 and pywavelets
1.4.1 do not import beside what pip installs with them (Python 3.11, 2026-11); later ones ask for NumPy below 2, or do.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

EXTRAS = frozenset({"extra", "all", "dev", "pytorch-extra", "pytorch-all", "pytorch-dev"})
"""Extras of Lightning 2 that bring what `BY_EXTRAS` names."""
BY_EXTRAS = frozenset({"tensorboardx", "rich"})


@dataclass(frozen=True)
class TransitiveDistribution:
    """A distribution that came along: how to ask for it, what shows that it is used, and since when it does not."""

    name: str
    ask: str
    uses: tuple[str, ...]
    since: Mapping[str, str]
    any_release: bool
    served_by: frozenset[str]
    why: str
    needed_by: str = ""


@cache
def brought() -> tuple[TransitiveDistribution, ...]:
    """The table, in its order."""
    with Path(__file__).with_name("brought.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(
            TransitiveDistribution(
                row["distribution"],
                row["ask"],
                tuple(row["uses"].split()),
                {name: row[name] for name in ("pytorch-lightning", "lightning") if row[name]},
                bool(row["any_release"]),
                frozenset((row["distribution"], *row["served_by"].split())),
                row["why"],
                row["needed_by"] or "",
            )
            for row in csv.DictReader(lines)
        )


@cache
def names() -> frozenset[str]:
    """Every distribution that the table names."""
    return frozenset(name for row in brought() for name in row.served_by)


def spellings() -> tuple[bytes, ...]:
    """What a manifest holds one of that names such a distribution, or what needs one."""
    written = {text.partition("<")[0] for row in brought() for text in (row.ask, row.needed_by) if text}
    return tuple(sorted(name.encode() for name in names() | written | {"TensorBoard", "TensorFlow"}))
