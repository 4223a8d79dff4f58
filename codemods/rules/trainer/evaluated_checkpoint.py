"""A checkpoint that a Trainer resumed from which is never fitted, but tests, validates or predicts."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial

from codemods.code.calls import keyword
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.invariant_expressions import is_steady
from codemods.lightning.trainer_variables import calls_of, escapes, kept_in
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rewrite.keywords import with_keyword
from codemods.rule import NodeEdit

METHODS = ("test", "validate", "predict")
BEFORE_IT = 2
"""How many arguments of these stand before the checkpoint."""
LOADED = (
    "Lightning up to 1.1 loaded it to test too (read in 1.0.8 and 1.1.0), and later releases did not (read in 1.1.8 to "
    "1.3.8, run on 1.4.9 to 1.9.5); fixer assumes that it is meant to be loaded."
)
IGNORED = (
    "Lightning 1.2 to 1.9 loaded it to fit alone, and this Trainer is never fitted; where it is meant to be loaded, "
    "give it as ckpt_path="
)


@dataclass(frozen=True)
class EvaluatedCheckpoint:
    """The edits beside the argument's own, how sure they are, and why."""

    level: Fix
    reason: str
    edits: tuple[NodeEdit, ...] = ()


def evaluated(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword) -> EvaluatedCheckpoint | None:
    """What becomes of the checkpoint of a Trainer that is kept by a name and never fitted; None where it may be, where
    what it does is not seen, or gets a checkpoint already."""
    name = kept_in(file, call)
    if name is None or escapes(facts, file, call, name, "fit") or calls_of(file, call, name, "fit"):
        return None
    calls = [(each, method) for method in METHODS for each in calls_of(file, call, name, method)]
    if not calls or not all(_takes_it(each) for each, _ in calls):
        return None
    if not admits_below(facts, LIGHTNING, "1.2"):
        return EvaluatedCheckpoint("safe", f"{IGNORED} to {calls[0][1]}.")
    if not is_steady(file, call, item.value, [each for each, _ in calls], facts):
        return None
    given = partial(with_keyword, name="ckpt_path", text=file.source_of(item.value))
    return EvaluatedCheckpoint("unsafe", LOADED, tuple(NodeEdit(each.node, given) for each, _ in calls))


def _takes_it(call: CallNode) -> bool:
    """Whether a call gives no checkpoint so far, and can be given one by its name."""
    spread = any(each.arg is None for each in call.node.keywords)
    starred = any(isinstance(each, ast.Starred) for each in call.node.args)
    return not (spread or starred) and len(call.node.args) <= BEFORE_IT and keyword(call.node, "ckpt_path") is None
