"""The classes of Lightning's whose arguments `keywords.csv` tells of, as they are looked for in code."""

from __future__ import annotations

import ast

from codemods.code.literals import literal
from codemods.lightning.object_arguments import MONITORS, class_names, keywords, owner_of
from codemods.lightning.wanted import WantedClasses

BY_VALUE = frozenset({"empty", "path", "flag"})
"""Levels of rows of which the value says what becomes of an argument."""


def _matters(kind: str, name: str, value: ast.expr | None) -> bool:
    """Whether it may depend on its value what becomes of an argument, or does so for this constant."""
    row = keywords().get((owner_of(kind) or "", name))
    if name == "mode" and kind.rpartition(".")[2] in MONITORS:
        return value is None or literal(value) == (True, "auto")
    if row is not None and row.becomes == "every_n_epochs":
        return value is None or (type(literal(value)[1]) is int and literal(value)[1] < 1)
    return row is not None and row.level in BY_VALUE


def _is_one(dotted: str) -> bool:
    return dotted.rpartition(".")[2] in class_names() and owner_of(dotted) is not None


OTHERS = WantedClasses(class_names(), _is_one, _matters)
