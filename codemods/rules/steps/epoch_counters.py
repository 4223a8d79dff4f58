"""`batch_idx`, which begins at 0 in each epoch, held against a period of the whole training."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import parents_of
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, own_nodes, parameters
from codemods.rule import Match
from codemods.rules.steps.modules import manual
from codemods.rules.steps.step_count_terms import TermReader

BATCH_NAMES = ("batch_idx", "batch_nb")
PERIOD = re.compile(
    r"(\w*_)?(warm_?up|burn_?in|ramp_?up)(_\w+)?|(max|total|num_training|num_train|training|n_total)_(steps|iters|iterations)"
)
"""What numbers of steps are called that are counted from the beginning of the training."""
OTHERS = re.compile(r"epoch|batch|factor|ratio|frac|percent|pct|prop|lr|start|end|init")
"""What says that they count, or are, something else."""
EVALUATES = re.compile(r"val|test|predict|eval|sanity")
TRIGGERS = (
    b"warm",
    b"burn_in",
    b"burnin",
    b"ramp_up",
    b"rampup",
    b"total_steps",
    b"total_iter",
    b"train_steps",
    b"training_steps",
)
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def anew(file: PythonFile, function: Function, reader: TermReader) -> Iterator[Match]:
    """Comparisons of the index of a batch with such a period; a Trainer's own are looked at elsewhere."""
    if EVALUATES.search(function.name):
        return
    indexes = {name for name in parameters(function) if name in BATCH_NAMES}
    indexes |= {*parameters(function)[1:2]} if function.name == "training_step" else set()
    if not indexes:
        return
    parents = parents_of(function)
    for node in own_nodes(function):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ORDERED):
            continue
        for one, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            index, period = _counted(one, indexes), _period(other)
            owned = isinstance(other, ast.Attribute) and reader.is_trainer(other.value)
            if index and period and not owned and not _of_epoch(node, parents):
                message = f"`{index}`, which begins at 0 in each epoch, is compared with `{period}`"
                reason = (
                    "It starts at 0 in each epoch and counts batches, of which accumulation takes "
                    "several for a step. Not rewritten: compare self.trainer.global_step, which counts the optimizer "
                    "steps of the whole training; or, if each epoch is meant, say so by the name."
                )
                yield manual(file, node, message, reason)


def _counted(node: ast.expr, indexes: set[str]) -> str | None:
    """The index of a batch, or that plus a number."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        node = node.left
    return node.id if isinstance(node, ast.Name) and node.id in indexes else None


def _period(node: ast.expr) -> str | None:
    """The text of a name, attribute or item of such a number."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = str(node.slice.value)
    else:
        name = getattr(node, "attr", getattr(node, "id", ""))
    found = PERIOD.fullmatch(name.lower()) and not OTHERS.search(name.lower())
    return ast.unparse(node) if found else None


def _of_epoch(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a condition around a comparison speaks of an epoch: `current_epoch == 0 and batch_idx < warmup`."""
    outer: ast.AST | None = node
    while outer is not None and not isinstance(outer, Function):
        tests = [getattr(outer, "test", None), outer if isinstance(outer, ast.BoolOp) else None]
        if any("epoch" in ast.unparse(test) for test in tests if test is not None):
            return True
        outer = parents.get(outer)
    return False
