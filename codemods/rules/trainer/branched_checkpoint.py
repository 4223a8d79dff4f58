"""Trainers of several branches under one name: one resumes and another does not, or all resume from the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from codemods.code.calls import Space, keyword, space_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_shared, targets_of
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.lightning.invariant_expressions import is_steady
from codemods.lightning.trainer_variables import readings_of
from codemods.rewrite.keywords import with_keyword
from codemods.rule import NodeEdit
from codemods.rules.trainer.kept_checkpoint import NAME, begins_line, keeping, kept_name, with_line

BEFORE_IT = 4
"""How many arguments of `fit` stand before the checkpoint."""


def branched(file: PythonFile, call: CallNode, item: ast.keyword) -> tuple[NodeEdit, ...] | None:
    """The edits that keep the checkpoint of one branch by a name, None in the other, and give `fit` that; None where
    another Trainer may be fitted, or more is done with this one."""
    space, own = (
        space_of(file, call),
        next((each.node for each in file.assignments if each.node.value is call.node), None),
    )
    name = name_of(own)
    if own is None or name is None or is_shared(space, name):
        return None
    choice = next((node for node in every_node(space) if isinstance(node, ast.If) and _sides(node, own)), None)
    other = _other(file, choice, own, name) if choice else None
    end = choice.end_lineno or choice.lineno if choice else 0
    fits = fits_of(space, end, loads_of(space, name)) if choice and other and len(stores(space, name)) == 2 else None
    kept = keeping(file, call, item) if fits else None
    if not fits or kept is None or other is None or not begins_line(file, other):
        return None
    held = kept_name(space, item) or NAME
    none = NodeEdit(other, partial(with_line, text=f"{held} = None\n"), line=True)
    return (kept, none, *(NodeEdit(fit, partial(with_keyword, name=NAME, text=held)) for fit in fits))


def alike(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword) -> tuple[NodeEdit, ...] | None:
    """The edits that give `fit` the checkpoint from which every Trainer resumes that may be fitted there, those of the
    first of them, and none for the others; None where they differ, where it may change before, or where more is done
    with them."""
    space, every = space_of(file, call), file.calls_near(file.spellings("Trainer"))
    name = name_of(next((each.node for each in file.assignments if each.node.value is call.node), None))
    if name is None or is_shared(space, name):
        return None
    if isinstance(space, ast.Module) and is_read_elsewhere(facts, file, name):
        return None
    group, loads = _fitted_alike(readings_of(file, space, name), call.node)
    built = [each for each in every if each.node in group and space_of(file, each) is space and builds_trainer(each)]
    given = [keyword(each.node, item.arg or "") for each in built]
    written = {ast.dump(each.value) if each else "" for each in given}
    fits = fits_of(space, 0, loads)
    if len(built) < 2 or len(built) != len(group) or written != {ast.dump(item.value)} or not fits:
        return None
    uses = [each for each in file.calls_near([".fit"]) if each.node in fits and space_of(file, each) is space]
    if len(uses) != len(fits) or not all(is_steady(file, each, item.value, uses, facts) for each in built):
        return None
    if call.node is not built[0].node:
        return ()
    text = file.source_of(item.value)
    return tuple(NodeEdit(fit, partial(with_keyword, name="ckpt_path", text=text)) for fit in fits)


def _fitted_alike(
    readings: Sequence[tuple[ast.Name, list[ast.expr | None]]], call: ast.Call
) -> tuple[frozenset[ast.expr | None], list[ast.Name]]:
    """The values that a name may have wherever it may be the result of a call, and its readings there; none where one
    of these values is read beside others, or the name by what runs later."""
    group: frozenset[ast.expr | None] = frozenset().union(*(values for _, values in readings if call in values))
    own = [(node, values) for node, values in readings if not group.isdisjoint(values)]
    closed = (
        all(group >= {*values} for _, values in own) and None not in group and all(values for _, values in readings)
    )
    return (group, [node for node, _ in own]) if closed else (frozenset(), [])


def name_of(statement: ast.stmt | None) -> str | None:
    """The one name that a statement gives a value."""
    targets = targets_of(statement) if statement else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _sides(choice: ast.If, own: ast.stmt) -> tuple[Sequence[ast.stmt], Sequence[ast.stmt]] | None:
    """The branch that a statement stands in, and the other."""
    for side, opposite in ((choice.body, choice.orelse), (choice.orelse, choice.body)):
        if any(each is own for each in side):
            return side, opposite
    return None


def _other(file: PythonFile, choice: ast.If, own: ast.stmt, name: str) -> ast.stmt | None:
    """The statement that builds the Trainer of the other branch."""
    sides = _sides(choice, own)
    built = [each for each in sides[1] if name_of(each) == name] if sides else []
    return built[0] if len(built) == 1 and _gives_trainer(file, built[0]) else None


def _gives_trainer(file: PythonFile, statement: ast.stmt) -> bool:
    """Whether a statement builds a Trainer, or annotates what it makes as one."""
    stated = isinstance(statement, ast.AnnAssign) and file.scope.resolve(statement.annotation) == TRAINER
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    calls = [each for each in file.calls_near(file.spellings("Trainer")) if each.node is value]
    return stated or (bool(calls) and builds_trainer(calls[0]))


def stores(space: Space, name: str) -> list[ast.Name]:
    """Where a name is bound in a function or module."""
    names = (node for node in every_node(space) if isinstance(node, ast.Name) and node.id == name)
    return [node for node in names if not isinstance(node.ctx, ast.Load)]


def loads_of(space: Space, name: str) -> list[ast.Name]:
    names = (node for node in every_node(space) if isinstance(node, ast.Name) and node.id == name)
    return [node for node in names if isinstance(node.ctx, ast.Load)]


def fits_of(space: Space, end: int, loads: Sequence[ast.Name]) -> list[ast.Call] | None:
    """The calls of `fit`, where all that is read of a name is an attribute behind a line."""
    nodes = [*every_node(space)]
    read = [node for node in nodes if isinstance(node, ast.Attribute) and any(node.value is load for load in loads)]
    fits = [node for node in nodes if isinstance(node, ast.Call) and any(node.func is each for each in read)]
    fits = [fit for fit in fits if isinstance(fit.func, ast.Attribute) and fit.func.attr == "fit"]
    behind = all(load.lineno > end for load in loads)
    whole = len(read) == len(loads) and len(fits) == sum(node.attr == "fit" for node in read)
    plain = all(keyword(fit, "ckpt_path") is None and len(fit.args) <= BEFORE_IT for fit in fits)
    spread = any(each.arg is None for fit in fits for each in fit.keywords)
    starred = any(isinstance(each, ast.Starred) for fit in fits for each in fit.args)
    return fits if behind and whole and plain and not spread and not starred else None
