"""`if trainer.use_dp or trainer.use_ddp2:`, which is never entered any more: it goes, with what stands under it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.hardware import NEVER, QUESTIONS
from codemods.rule import Match, NodeEdit
from codemods.rules.trainer.owners import Within, stands_for_trainer

if TYPE_CHECKING:
    import libcst as cst


def without_branch(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within, found: Match) -> Match | None:
    """A match without the statement that is entered only where a Trainer does what none does any more; the match as it
    is where there is none, and None for what is asked beside the first of its questions, which tells of all."""

    def is_false(other: ast.expr) -> bool:
        asked = isinstance(other, ast.Attribute) and QUESTIONS.get(other.attr) == NEVER
        return asked and stands_for_trainer(file, facts, other.value, within) is True  # type: ignore[attr-defined]

    statement = _never_entered(file, node, within, is_false)
    if statement is None:
        return found
    first = statement.test.values[0] if isinstance(statement.test, ast.BoolOp) else statement.test
    reason = "No Trainer of Lightning 2 does that, so that the code under it is never run."
    edit = NodeEdit(statement, _removed)
    return replace(found, reason=reason, edits=(edit,)) if first is node else None


def _never_entered(
    file: PythonFile, node: ast.expr, within: Within, is_false: Callable[[ast.expr], bool]
) -> ast.If | None:
    """The statement that is entered only where a node holds, or others beside it that are false as well; None where
    something else would be left without a statement, or has to be looked at in what goes."""
    above = within[-1]
    test: ast.expr = node
    outer = within[:-1]
    if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.Or) and all(map(is_false, above.values)):
        test, above, outer = above, within[-2], within[:-2]
    if not isinstance(above, ast.If) or above.test is not test or above.orelse or not outer:
        return None
    blocks = [
        block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(outer[-1], name, []), list)
    ]
    alone = any(above in block and len(block) == 1 for block in blocks)
    inner = any(is_false(item) for each in above.body for item in every_node(each) if isinstance(item, ast.expr))
    return None if alone or inner or file.text.splitlines()[above.lineno - 1].lstrip().startswith("elif") else above


def _removed(node: cst.If) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemovalSentinel.REMOVE
