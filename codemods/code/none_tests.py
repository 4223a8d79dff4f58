"""Tests on None of names that stand for something else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.spreads import COMPREHENSIONS
from codemods.code.syntax import is_none
from codemods.code.tree_copies import made_from

WRITTEN = (ast.Dict, ast.List, ast.Tuple, ast.BinOp, ast.JoinedStr, ast.Lambda, *COMPREHENSIONS)
MAKING = ("torch.nn.", "torch.optim.")
"""The modules whose functions and classes always make something."""
LIBRARIES = frozenset({"collections", "lightning", "pathlib", "pytorch_lightning", "torch", "torchmetrics"})
"""Packages in which what begins with a capital is a class; a project may have functions that do."""


def asked_for_none(owner: ast.AST) -> dict[int, ast.Compare]:
    """The comparisons of names with None, by the names that are read."""
    return {
        id(item.left): item
        for item in every_node(owner)
        if type(item) is ast.Compare
        and type(item.left) is ast.Name
        and len(item.ops) == 1
        and isinstance(item.ops[0], ast.Is | ast.IsNot)
        and is_none(item.comparators[0])
    }


def answers(loads: Iterable[ast.Name], asked: Mapping[int, ast.Compare]) -> dict[int, ast.AST]:
    """What such comparisons come to where the readings are of what is something."""
    found = (asked[id(load)] for load in loads if id(load) in asked)
    return {id(node): made_from(node, ast.Constant(isinstance(node.ops[0], ast.IsNot), None)) for node in found}


def is_something(value: ast.expr, known: ModuleNames) -> bool:
    """Whether a value is never None: it is written out, or what a class or a function of a library makes."""
    if isinstance(value, ast.Constant):
        return value.value is not None
    if isinstance(value, WRITTEN):
        return True
    dotted = (known.dotted(value.func) or "") if isinstance(value, ast.Call) else ""
    is_class = dotted.rpartition(".")[2][:1].isupper() and dotted.partition(".")[0] in LIBRARIES
    return dotted.startswith(MAKING) or is_class


def left_out(node: ast.IfExp, arm: ast.expr) -> bool | None:
    """What an arm of a choice is not where the choice asks for the arm's own value: all that counts as false (True), or
    None alone (False); None where it asks for something else."""
    test, holds = node.test, arm is node.body
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    said = ast.unparse(arm)
    if not isinstance(arm, ast.Name | ast.Attribute | ast.Subscript):
        return None
    if ast.unparse(test) == said:
        return True if holds else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = {ast.unparse(test.left), ast.unparse(test.comparators[0])}
        differs = isinstance(test.ops[0], ast.IsNot | ast.NotEq)
        asks = isinstance(test.ops[0], ast.Is | ast.Eq) or differs
        return False if asks and sides == {said, "None"} and differs is holds else None
    return None
