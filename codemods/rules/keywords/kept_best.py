"""`ModelCheckpoint()` without a monitor, which kept the best by val_loss.

Up to 0.9 that was its default; 0.10 to 1.3 took it where it was logged (`_add_backward_monitor_support` of 1.3.8, which
1.4.9 has not), and refused `save_top_k=1` without a monitor.
"""

from __future__ import annotations

import ast

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.lightning.eras import fails_since_1
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open

NEWEST = "ModelCheckpoint without `monitor=` keeps the newest since Lightning 1.4, and not the best"
LOGGED = "Up to 1.3 it watched val_loss where that was logged; fixer assumes that what it saves by logs val_loss."


def kept_best(facts: Facts, file: PythonFile, count: ast.keyword | None) -> bool:
    """Whether each Lightning that a file is for kept the best, with that `save_top_k=`."""
    known, best = literal(count.value) if count else (True, None)
    if not known or best not in (None, 1) or best is True:
        return False
    return fails_since_1(facts, file) or not (
        is_open(facts, LIGHTNING) or admits_from(facts, LIGHTNING, "0.10" if best else "1.4")
    )
