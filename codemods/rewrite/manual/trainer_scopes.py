"""Trainers beside the model that they fit, so that what they are given can be given to the model instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from codemods.code.calls import value_of
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, uses
from codemods.lightning.facts import is_trainer_call

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class TrainerCall:
    """A Trainer call (`trainer` stand before it in the file) in a function that binds it, by its `statement`-th
    statement, and fits by it nothing but the one `model` that it bound before."""

    trainer: int
    model: str
    statement: int


def carriers(file: PythonFile) -> tuple[TrainerCall, ...]:
    """The Trainer calls of a file that stand so."""
    return tuple(
        found
        for index, call in enumerate(filter(is_trainer_call, file.calls))
        if call.within
        and isinstance(call.within[-1], ast.FunctionDef)
        and (found := _carrier(file, index, call, call.within[-1]))
    )


def _carrier(file: PythonFile, index: int, call: CallNode, function: ast.FunctionDef) -> TrainerCall | None:
    body = function.body
    if any(second.lineno <= (first.end_lineno or 0) for first, second in pairwise(body)):
        return None
    place = next((at for at, node in enumerate(body) if _binds(node, call.node)), None)
    if place is None:
        return None
    statement = body[place]
    name = statement.targets[0].id  # type: ignore[attr-defined]
    fitted = [_fitted(node) for node in _fits(file, name)]
    if len(fitted) != 1 or fitted[0] is None or not uses(function, fitted[0]):
        return None
    model = fitted[0]
    bound = [at for at, node in enumerate(body[:place]) if _built(node, model)]
    stored = [use for use in uses(function, model) if not isinstance(use.ctx, ast.Load)]
    kept = [use for use in uses(function, name) if not isinstance(use.ctx, ast.Load)]
    return TrainerCall(index, model, place) if len(bound) == len(stored) == len(kept) == 1 else None


def _binds(node: ast.stmt, call: ast.Call) -> bool:
    return (
        isinstance(node, ast.Assign)
        and node.value is call
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    )


def _built(node: ast.stmt, name: str) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    )


def _fits(file: PythonFile, name: str) -> Iterator[ast.Call]:
    for call in file.calls_near(("fit",)):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == "fit" and ast.unparse(function.value) == name:
            yield call.node


def _fitted(call: ast.Call) -> str | None:
    given = value_of(call, "model", 0)
    return given.id if isinstance(given, ast.Name) else None


def function_of(call: CallNode) -> Function:
    """The function around a carrier's call."""
    function = call.within[-1]
    if not isinstance(function, ast.FunctionDef):
        raise TypeError("a carrier is in a function")
    return function


def add_attributes(node: cst.FunctionDef, carrier: TrainerCall, values: tuple[tuple[str, str], ...]) -> cst.FunctionDef:
    """The function with the (attribute, value) pairs set on the model, behind the Trainer's statement."""
    from codemods.rewrite import edits

    body = edits.body_of(node)
    added = [line for name, value in values for line in edits.statements(f"{carrier.model}.{name} = {value}\n")]
    at = carrier.statement + 1
    return edits.with_body(node, [*body[:at], *added, *body[at:]])  # type: ignore[no-any-return]
