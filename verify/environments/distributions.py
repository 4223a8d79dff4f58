"""Which distribution to ask an index for, for an imported package: only what `distributions.csv` knows.

An index may hold anybody's package under the name of an import. So no name is ever made up: the table says which
distribution brings a package, and where its code is kept, one line for each, for names that are their own too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from packaging.utils import canonicalize_name

TABLE = Path(__file__).with_name("distributions.csv")


def _read() -> dict[str, str]:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return {row["import"]: row["distribution"] for row in csv.DictReader(stream)}


DISTRIBUTIONS: Mapping[str, str] = MappingProxyType(_read())
AMBIGUOUS = frozenset({
    "clip", "common", "config", "configs", "core", "data", "dataset", "engine", "evaluation", "experiment", "helper",
    "helpers", "layers", "lib", "libs", "logger", "loss", "losses", "main", "metric", "metrics", "model", "models",
    "modules", "net", "nets", "network", "networks", "ops", "opt", "options", "preprocess", "runner", "scripts",
    "solver", "src", "test", "tests", "tool", "tools", "train", "trainer", "trainers", "transform", "transforms",
    "util", "utils", "vis", "visualization", "visualize",
})  # fmt: skip
"""Names that many projects give their own files: the package of that name on an index is another one."""


def is_package(name: str) -> bool:
    """Whether a distribution could have the name of a top-level package (`_C` could not)."""
    return bool(re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", name, re.ASCII))


def distribution(package: str) -> str | None:
    """The distribution that is known to bring a top-level package, as an index may be asked for it, with the extras
    that go with it; None where none is known."""
    return DISTRIBUTIONS.get(package)


def names_of(package: str) -> frozenset[str]:
    """What the distribution of a package is called in manifests: as the table has it, or as the package itself. These
    names are for comparing; the second is none to ask an index for."""
    if not is_package(package):
        return frozenset()
    known = DISTRIBUTIONS.get(package, package).split("[")[0]
    return frozenset(map(canonicalize_name, (known, package)))


def modules_of(name: str) -> list[str]:
    """The top-level packages that a distribution is known to bring."""
    return [
        package for package, brought_by in DISTRIBUTIONS.items() if canonicalize_name(brought_by.split("[")[0]) == name
    ]
