"""How surely the metrics that a file has from Lightning are used as torchmetrics wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rule import LEVELS
from codemods.rules.metrics.met001 import judged
from codemods.rules.names.report import MovedName
from codemods.rules.names.table import split

CAUTION = "a use of it needs an unsafe fix of MET001"
REFUSAL = "a use of it has to be repaired by hand (see MET001 there)"

Levels = Mapping[str, Fix]


def use_levels(file: PythonFile, facts: Facts) -> Levels:
    """The level of the least sure rewrite of a use, by the name of a metric under `pl`; those that need none are
    absent. What has to change in several places of a normal form may not be made in the text: it counts as left."""
    levels: dict[str, Fix] = {}
    for match, names in judged(file, facts) if "metrics" in file.text else ():
        level: Fix = "manual" if file.plain and len(match.edits) > 1 else match.fix
        for _, name in filter(None, map(split, names)):
            levels[name] = min(level, levels.get(name, "safe"), key=LEVELS.index)
    return levels


def level_of(levels: Levels, dotted: str) -> Fix:
    """The level at which a name moves together with its uses, or a module with all that is used of it."""
    _, moved = split(dotted) or ("", dotted)
    used = [level for name, level in levels.items() if name == moved or name.startswith(f"{moved}.")]
    return min(used, key=LEVELS.index, default="safe")


def as_sure_as_used(found: MovedName, levels: Levels, dotted: str) -> MovedName:
    """What is told of a name, with a caution where a use of it is rewritten by an unsafe fix, and a refusal where one
    is left to a person."""
    level = level_of(levels, dotted)
    if level == "manual":
        return replace(found, refusal=REFUSAL)
    return replace(found, caution=found.caution or CAUTION) if level == "unsafe" else found
