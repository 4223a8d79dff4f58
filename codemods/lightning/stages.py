"""What `setup` does for a training, by what it asks of its stage."""

from __future__ import annotations

import ast
from functools import partial

from codemods.code.conditions import decided
from codemods.code.nodes import every_node
from codemods.code.syntax import Function, is_name

FIT = "fit"
FITTING = ("TrainerFn.FITTING", "RunningStage.TRAINING")
"""What else is written for the stage of a training."""


def in_fit(function: Function, test: ast.expr) -> bool | None:
    """Whether a test holds where `setup` is called for a training; None where its stage alone does not tell."""
    names = [item.arg for item in [*function.args.posonlyargs, *function.args.args]][1:]
    if function.name != "setup" or len(names) != 1:
        return None
    bound = [node for node in every_node(function) if isinstance(node, ast.Name) and node.id == names[0]]
    if any(not isinstance(node.ctx, ast.Load) for node in bound):
        return None
    return decided(test, partial(_told, names[0]))


def _told(stage: str, node: ast.expr) -> bool | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node.left, node.ops[0], node.comparators[0], stage)
    return True if is_name(node, stage) else None


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr, stage: str) -> bool | None:
    if is_name(right, stage) and isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        left, right = right, left
    if not is_name(left, stage):
        return None
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        every = [_is_fit(item) for item in right.elts]
        found = True if True in every else None if None in every else False
    else:
        found = _is_fit(right) if isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) else None
    negative = isinstance(operator, ast.NotIn | ast.NotEq | ast.IsNot)
    return found if found is None else found != negative


def _is_fit(node: ast.expr) -> bool | None:
    """Whether a constant is the stage of a training."""
    if isinstance(node, ast.Constant):
        return node.value == FIT
    return True if ast.unparse(node).endswith(FITTING) else None
