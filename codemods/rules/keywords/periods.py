"""`ModelCheckpoint(period=n)`: up to 0.9 it saved after the first epoch, and then each n epochs.

Read in 0.7.6, 0.9.0, 0.10.0, 1.0.8 and 2.6.6.
"""

from __future__ import annotations

import ast

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.eras import fails_since_1
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_below, is_open

COUNTED = "0.10"
"""The first release that saved after n epochs first."""
SHIFTED = " Up to 0.9 it saved after the first epoch, and then each {0} epochs; since 0.10 after {0} epochs first."


def shift(facts: Facts, file: PythonFile, value: ast.expr) -> str:
    """What may be saved at other epochs than before, as a further sentence; empty where it is the same ones."""
    early = fails_since_1(facts, file) if is_open(facts, LIGHTNING) else admits_below(facts, LIGHTNING, COUNTED)
    return SHIFTED.format(file.source_of(value)) if early and literal(value) != (True, 1) else ""
