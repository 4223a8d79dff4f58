"""Which calls make modules of the project: of their classes, and of functions that give back nothing else."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.source import PythonFile
from codemods.code.syntax import own_nodes, root_name, taken, uses
from codemods.lightning.facts import MODULE, Facts


def modules_made(file: PythonFile, facts: Facts, scope: Scope, value: ast.expr | None) -> list[ast.Call]:
    """The calls that make modules of the project, one for each way of a value; none where one may be something else."""
    if isinstance(value, ast.IfExp):
        ways = [modules_made(file, facts, scope, arm) for arm in (value.body, value.orelse)]
        return [call for way in ways for call in way] if all(ways) else []
    if not isinstance(value, ast.Call):
        return []
    made = is_module(facts, file, scope, value.func) or _builds_modules(facts, file, scope, value.func)
    return [value] if made else []


def _builds_modules(facts: Facts, file: PythonFile, scope: Scope, name: ast.expr) -> bool:
    """Whether a function of the project returns modules alone: it calls a class of them, or one that it takes out of a
    table of such classes."""
    other, made = _returned_calls(facts, file, scope, name)
    return other is not None and all(
        is_module(facts, other, other.scope, call.func) or _is_item(facts, other, call.func) for call in made
    )


def _returned_calls(
    facts: Facts, file: PythonFile, scope: Scope, name: ast.expr
) -> tuple[PythonFile | None, list[ast.Call]]:
    """What a function of the project returns, where that is all made by calls, of nothing that it is given; and the
    file that defines it."""
    dotted = scope.resolve(name)
    found = facts.find_definition(dotted, file.path) if dotted else None
    if found is None or not isinstance(found[1], ast.FunctionDef) or found[1].decorator_list:
        return None, []
    other, function = found[0], found[1]
    given = {argument.arg for argument in taken(function)}
    every = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
    bound = given | {node.id for node in own_nodes(function) if isinstance(node, ast.Name) and not _is_load(node)}
    calls = [value for value in every if isinstance(value, ast.Call) and root_name(value.func) not in bound]
    return (other, calls) if calls and len(calls) == len(every) else (None, [])


def made_by_table(facts: Facts, file: PythonFile, scope: Scope, value: ast.expr | None) -> str | None:
    """The function of the project that a value comes from, where it calls what it takes out of a table."""
    name = value.func if isinstance(value, ast.Call) else None
    calls = _returned_calls(facts, file, scope, name)[1] if name else []
    return ast.unparse(name) if name and any(isinstance(call.func, ast.Subscript) for call in calls) else None


def _is_item(facts: Facts, file: PythonFile, value: ast.expr) -> bool:
    """Whether an expression is an item of a table of modules' classes that a file writes out once and leaves alone."""
    table = value.value if isinstance(value, ast.Subscript) else None
    if not isinstance(table, ast.Name):
        return False
    values = [item.node.value for item in file.assignments_to(table.id)]
    shown = values[0] if len(values) == 1 and isinstance(values[0], ast.Dict) else None
    read = {id(node.value) for node in walk(file.tree) if isinstance(node, ast.Subscript) and _is_load(node)}
    alone = all(id(node) in read or not _is_load(node) for node in uses(file.tree, table.id))
    return shown is not None and alone and all(is_module(facts, file, file.scope, each) for each in shown.values)


def _is_load(node: ast.Name | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def is_module(facts: Facts, file: PythonFile, scope: Scope, name: ast.expr) -> bool:
    dotted = scope.resolve(name)
    item = facts.find_class(dotted, file.path) if dotted else None
    return item is not None and facts.kind(item) == MODULE
