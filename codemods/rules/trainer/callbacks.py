"""Callbacks of a Trainer call: how one more is spelled, whether the value is a list, what a ModelCheckpoint is."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import partial
from typing import Literal

from codemods.code.calls import space_of
from codemods.code.literals import literal
from codemods.code.nodes import every_node
from codemods.code.reaching import PARAMETER, Definition, reaching
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import always_leaves, is_shared, own_nodes, returns, takes, targets_of
from codemods.lightning.facts import CALLBACK, CALLBACKS, Facts
from codemods.lightning.kinds import bound_once
from codemods.lightning.spelling import Spelled, spelled_in

CHECKPOINT = f"{ROOT}.callbacks.ModelCheckpoint"
CHECKPOINTS = (CHECKPOINT, f"{ROOT}.callbacks.model_checkpoint.ModelCheckpoint")
STOPPERS = (f"{ROOT}.callbacks.EarlyStopping", f"{ROOT}.callbacks.early_stopping.EarlyStopping")
PRUNERS = tuple(f"optuna.integration.{module}PyTorchLightningPruningCallback" for module in ("", "pytorch_lightning."))
"""Optuna's callback, which `early_stop_callback=` took too (optuna #1925)."""


def spelled(file: PythonFile, call: CallNode, name: str) -> Spelled | str:
    """How `callbacks.ModelSummary` and its like are written beside a call that builds a Trainer, or why they cannot
    be."""
    function = call.node.func
    if isinstance(function, ast.Attribute) and function.attr == "from_argparse_args":
        function = function.value
    if isinstance(function, ast.Attribute) and call.scope.resolve(function.value) == ROOT:
        return Spelled(f"{file.source_of(function.value)}.{name}")
    return spelled_in(file, name, call.within, call.node.lineno)


def are_callbacks(
    facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, seen: frozenset[str] = frozenset()
) -> Literal["yes", "one", "perhaps", "no"]:
    """Whether a value is a list to which one more callback can be added; "one" where it is a callback itself. Names
    that were `seen` on the way are not followed again."""
    made = built(facts, file, call, node)
    if made and all(_is_of_callbacks(file, facts, call, item) for item in made):
        return "one"
    if isinstance(node, ast.List | ast.ListComp) or literal(node) == (True, None):
        return "yes"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = (are_callbacks(facts, file, call, side, seen) for side in (node.left, node.right))
        return "yes" if "yes" in sides else "no"
    if isinstance(node, ast.IfExp):
        arms = {are_callbacks(facts, file, call, arm, seen) for arm in (node.body, node.orelse)}
        empty = any(literal(arm) == (True, None) for arm in (node.body, node.orelse))
        return "no" if {"no", "one"} & arms or empty else "yes" if arms == {"yes"} else "perhaps"
    if isinstance(node, ast.Name):
        value = _begun_as(facts, file, call, node.id) if node.id not in seen else None
        if value is None or literal(value) == (True, None):
            return "perhaps"
        return are_callbacks(facts, file, call, value, seen | {node.id})
    if isinstance(node, ast.Call):
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        return "yes" if named == "list" or _gives_lists(file, named) else "perhaps"
    return "perhaps" if isinstance(node, ast.Attribute | ast.Subscript) else "no"


def _begun_as(facts: Facts, file: PythonFile, call: CallNode, name: str) -> ast.expr | None:
    """The one value of a name, or the list that it begins with where more is only added to it."""
    bound = assigned_and_added(space_of(file, call), name)
    begun = bound[0] if bound and bound[1] and not takes(space_of(file, call), name) else []
    lists = len(begun) == 1 and isinstance(begun[0], ast.List)
    return begun[0] if lists else bound_once(facts, file, call, name)


def assigned_and_added(space: ast.AST, name: str) -> tuple[list[ast.expr], list[ast.expr]] | None:
    """The values that are assigned to a name, and those that `+=` adds to it; None where anything else binds it."""
    assigned: dict[int, ast.expr] = {}
    added: dict[int, ast.expr] = {}
    stores = []
    for node in own_nodes(space):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            assigned |= {id(target): node.value for target in targets_of(node) if getattr(target, "id", None) == name}
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            added |= {id(node.target): node.value} if getattr(node.target, "id", None) == name else {}
        elif isinstance(node, ast.Name) and node.id == name and type(node.ctx) is not ast.Load:
            stores.append(id(node))
    known = assigned.keys() | added.keys()
    return ([*assigned.values()], [*added.values()]) if known.issuperset(stores) else None


def built(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> list[ast.Call]:
    """The calls of which each may have made what a call is given, where it is a name all that may reach it there; none
    where something else may."""
    values: list[ast.expr | None] = [node]
    if isinstance(node, ast.Name):
        space = space_of(file, call)
        if is_shared(space, node.id):
            return []
        start = frozenset({Definition(PARAMETER)} if takes(space, node.id) else ())
        found = reaching(space, node.id, node, start, surely=True)
        values = [item.value for item in found] or [bound_once(facts, file, call, node.id)]
    calls = [value for value in values if isinstance(value, ast.Call)]
    return calls if len(calls) == len(values) else []


def is_callback(
    file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, kinds: tuple[str, ...] = CHECKPOINTS
) -> bool:
    """Whether a value is an instance of one of Lightning's callbacks, or of a class of the project below it."""
    made = built(facts, file, call, node)
    if made:
        return all(_is_one(file, facts, call, item, kinds) or _gives(file, facts, item, None, kinds) for item in made)
    return isinstance(node, ast.Name) and any(
        _gives(file, facts, item, part, kinds) for item, part in _unpacked(file, call, node.id)
    )


def _unpacked(file: PythonFile, call: CallNode, name: str) -> list[tuple[ast.Call, int]]:
    """The call of which the function of another call unpacks one part to a name, that it binds nowhere else, with the
    place of the part."""
    space = space_of(file, call)
    if is_shared(space, name) or takes(space, name) or sum(map(partial(_stores, name), every_node(space))) != 1:
        return []
    return [
        (node.value, place)
        for node in every_node(space)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Tuple)
        for place, item in enumerate(node.targets[0].elts)
        if isinstance(item, ast.Name) and item.id == name and not any(map(_is_spread, node.targets[0].elts))
    ]


def _stores(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def _is_spread(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _gives(file: PythonFile, facts: Facts, made: ast.Call, part: int | None, kinds: tuple[str, ...]) -> bool:
    """Whether a function of the file gives such an instance each time, or a tuple with one at a place."""
    function = _function(file, made.func.id if isinstance(made.func, ast.Name) else "")
    if function is None:
        return False
    given = [node.value for node in returns(function)]
    if part is not None:
        given = [
            node.elts[part]
            if isinstance(node, ast.Tuple) and part < len(node.elts) and not any(map(_is_spread, node.elts))
            else None
            for node in given
        ]
    inner = {item.node: item for item in file.calls if function in item.within}
    return all(
        node is not None
        and any(_is_one(file, facts, inner[value], value, kinds) for value in _value_in(function, node, inner))
        for node in given
    )


def _function(file: PythonFile, named: str) -> ast.FunctionDef | None:
    """The one function of a name that a file has, where it gives something each time that it is called."""
    found = [node for node in file.tree.body if getattr(node, "name", "") == named and named]
    function = found[0] if len(found) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or file.assignments_to(named):
        return None
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in every_node(function))
    return function if returns(function) and always_leaves(function.body) and not yields else None


def _is_of_callbacks(file: PythonFile, facts: Facts, call: CallNode, made: ast.Call) -> bool:
    """Whether a call makes an instance of a callback's class, Lightning's or the project's own."""
    dotted = call.scope.resolve(made.func) or ""
    if dotted.startswith(CALLBACKS):
        return dotted.rpartition(".")[2][:1].isupper()
    fact = facts.find_class(dotted, file.path)
    return fact is not None and facts.kind(fact) == CALLBACK


def _gives_lists(file: PythonFile, named: str) -> bool:
    """Whether a function of the file gives a list each time: one that it writes there, or the only values of a name."""
    function = _function(file, named)
    return function is not None and all(_is_list(function, node.value) for node in returns(function))


def _is_list(function: ast.FunctionDef, node: ast.expr | None) -> bool:
    if not isinstance(node, ast.Name):
        return isinstance(node, ast.List | ast.ListComp)
    stores = sum(map(partial(_stores, node.id), every_node(function)))
    values = [
        item.value
        for item in every_node(function)
        if isinstance(item, ast.Assign | ast.AnnAssign) and any(_stores(node.id, target) for target in targets_of(item))
    ]
    written = [value for value in values if isinstance(value, ast.List | ast.ListComp)]
    return bool(values) and len(written) == len(values) == stores and not takes(function, node.id)


def _value_in(function: ast.FunctionDef, node: ast.expr, calls: Collection[ast.Call]) -> list[ast.Call]:
    """The call that an expression in a function is, or that the one assignment of the name to which it refers makes."""
    if isinstance(node, ast.Name) and sum(map(partial(_stores, node.id), every_node(function))) == 1:
        values = [
            item.value
            for item in every_node(function)
            if isinstance(item, ast.Assign) and any(_stores(node.id, target) for target in item.targets)
        ]
        node = values[0] if len(values) == 1 else node
    return [node] if isinstance(node, ast.Call) and node in calls else []


def _is_one(file: PythonFile, facts: Facts, call: CallNode, made: ast.Call, kinds: tuple[str, ...]) -> bool:
    dotted = call.scope.resolve(made.func)
    if dotted is None:
        return False
    if dotted in kinds:
        return True
    fact = facts.find_class(dotted, file.path)
    bases = {base for member in facts.ancestry(fact) for base in member.bases} if fact else set()
    return bool(bases & set(kinds))


def is_checkpoint(file: PythonFile, facts: Facts, call: CallNode, node: ast.expr) -> bool:
    """Whether a value is a ModelCheckpoint."""
    return is_callback(file, facts, call, node)


def is_other_callback(file: PythonFile, facts: Facts, call: CallNode, node: ast.expr) -> bool:
    """Whether a value is a callback of a known class that is no ModelCheckpoint."""
    made = [node] if isinstance(node, ast.Call) else built(facts, file, call, node)
    known = bool(made) and all(_is_of_callbacks(file, facts, call, item) for item in made)
    return known and not any(_is_one(file, facts, call, item, CHECKPOINTS) for item in made)
