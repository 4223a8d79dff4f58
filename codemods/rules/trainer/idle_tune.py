"""`trainer.tune(...)` of a Trainer that is given no flag: it looked for nothing, and goes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import space_of
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.tree_copies import blocks
from codemods.lightning.attribute_stores import is_stored
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.guards import asks_version
from codemods.lightning.trainer_variables import calls_of, escapes, kept_and_called
from codemods.rule import Match, NodeEdit, touches

if TYPE_CHECKING:
    import libcst as cst

FLAGS = ("auto_scale_batch_size", "auto_lr_find")
GONE = "`trainer.tune()` was removed in Lightning 2.0"
IDLE = "The Trainer is given neither `auto_lr_find=` nor `auto_scale_batch_size=`, and without them it did nothing"
ASSUMED = "; fixer assumes that nothing needs what it left on the Trainer and the model, which `fit` puts there again"


def is_off(node: ast.expr) -> bool:
    """Whether the value of a flag asks for nothing."""
    return literal(node) in ((True, None), (True, False))


def without_tune(file: PythonFile, facts: Facts, call: CallNode) -> Match | None:
    """A match that deletes a call of `tune` which kept the model and the data, as `fit` does, and did no more (read in
    1.0.8 to 1.9.5); None where it may have looked for something, where the Trainer is not written out, or where the
    statement cannot go alone."""
    name = ast.unparse(call.node.func).removesuffix(".tune")
    built, place = _built(file, call, name), _place(file, call)
    if built is None or place is None or built.node in file.made or asks_version(file, call.node):
        return None
    if not _asks_nothing(facts, built) or not _only_names(call.node):
        return None
    statement, behind = place
    fits = [other.node for other in calls_of(file, built, name, "fit")]
    again = isinstance(behind, ast.Expr) and behind.value in fits and _given(call.node) <= _given(behind.value)
    sure = again and not escapes(facts, file, built, name, "tune")
    reason = f"{IDLE}{'' if sure else ASSUMED}."
    edits = [NodeEdit(statement, _removed, line=True)]
    if behind and (above := _lines_above(file, statement)):
        simple = not (hasattr(behind, "body") or isinstance(behind, ast.Match))
        edits.append(NodeEdit(behind, partial(_below, lines=above), line=simple))
    return Match(file.span(call.node), GONE, "safe" if sure else "unsafe", reason, "B15", tuple(edits))


def _built(file: PythonFile, call: CallNode, name: str) -> CallNode | None:
    """The call that builds the Trainer of that name, of which a method is called."""
    for built in trainer_calls(file):
        kept = kept_and_called(file, built, "tune")
        if kept and kept[0] == name and any(other.node is call.node for other in kept[1]):
            return built
    return None


def _asks_nothing(facts: Facts, built: CallNode) -> bool:
    flags = [item.value for item in built.node.keywords if item.arg in FLAGS]
    shown = not built.node.args and all(item.arg for item in built.node.keywords)
    own = built.scope.resolve(built.node.func) == TRAINER
    return own and shown and all(map(is_off, flags)) and not any(is_stored(facts, facts.open, flag) for flag in FLAGS)


def _only_names(call: ast.Call) -> bool:
    every = [*call.args, *(item.value for item in call.keywords)]
    return all(item.arg for item in call.keywords) and all(
        isinstance(item, ast.Name | ast.Attribute | ast.Constant) for item in every
    )


def _given(call: ast.Call) -> set[str]:
    return {ast.unparse(item) for item in (*call.args, *(item.value for item in call.keywords))}


def _place(file: PythonFile, call: CallNode) -> tuple[ast.Expr, ast.stmt | None] | None:
    """The statement of a call that has its lines for itself, with no comment that speaks of it, and the one behind it;
    None where its block has no other."""
    for block in blocks(space_of(file, call)):
        for index, item in enumerate(block):
            if isinstance(item, ast.Expr) and item.value is call.node:
                behind = block[index + 1] if index + 1 < len(block) else None
                comments = [line for line in _lines_above(file, item) if line]
                spoken = any("tun" in line.lower() for line in comments) or bool(comments and behind is None)
                last = item.end_lineno or item.lineno
                crowded = file.has_comment(item.lineno, last) or ";" in file.lines[last - 1]
                return None if len(block) == 1 or crowded or spoken else (item, behind)
    return None


def _lines_above(file: PythonFile, statement: ast.stmt) -> tuple[str, ...]:
    """The comments and empty lines right above a statement."""
    first = statement.lineno - 1
    while first and (not file.lines[first - 1].strip() or file.lines[first - 1].lstrip().startswith("#")):
        first -= 1
    return tuple(line.strip() for line in file.lines[first : statement.lineno - 1])


def _removed(node: cst.SimpleStatementLine) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


@touches("beside")
def _below(node: Any, *, lines: Sequence[str]) -> Any:
    import libcst as cst

    above = [cst.EmptyLine(indent=bool(line), comment=cst.Comment(line) if line else None) for line in lines]
    return node.with_changes(leading_lines=[*above, *node.leading_lines])
