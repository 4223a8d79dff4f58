"""Methods that give back one expression, and properties that do, where they are asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from codemods.code.helper_bodies import arguments_by_name
from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_instance, is_own, said_names
from codemods.code.names import Names
from codemods.code.nodes import every_node
from codemods.code.tree_copies import NO_HEADS, at, blocks, changed, replaced, run_at, twin

KEPT = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.GeneratorExp)
"""What leaves the function, binds a name in it or is worked out later."""
MARKS = ("staticmethod", "property")


def plain_answers(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what methods of their own alone give back where one other method of the class asks for it."""
    helpers = [
        (node, helper)
        for node in known.nodes[ast.ClassDef]
        for helper in node.body
        if _answer(helper, known) is not None
    ]
    if not helpers:
        return tree
    said = said_names(known)
    for node, helper in helpers:
        made = _asked(node, helper, known) if said[helper.name] == 2 else None
        if made is not None:
            return replaced(tree, partial(_swapped, node, made))
    return tree


def _swapped(old: ast.AST, new: ast.AST, node: ast.AST) -> ast.AST | None:
    return new if node is old else None


def _answer(helper: ast.stmt, known: ModuleNames) -> ast.expr | None:
    """What a method gives back, or a generator gives one by one, where it does nothing else."""
    if not isinstance(helper, ast.FunctionDef) or not is_own(helper.name) or _mark(helper, known) is None:
        return None
    body = [item for item in helper.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    last = body[0] if len(body) == 1 else None
    value = last.value if isinstance(last, ast.Return | ast.Expr) else None
    if isinstance(last, ast.Expr):
        value = value.value if isinstance(value, ast.YieldFrom) else None
    if value is None or ((helper.args.vararg or helper.args.kwarg) and not _hands_on(helper, value)):
        return None
    odd = (isinstance(item, KEPT) or getattr(item, "id", "") == "super" for item in every_node(value))
    return None if any(odd) else value


def _hands_on(helper: ast.FunctionDef, value: ast.expr) -> bool:
    """Whether a method calls something with all that it is given besides its instance, and nothing else."""
    given = helper.args
    if not isinstance(value, ast.Call) or len(given.args) != 1 or given.kwonlyargs or helper.decorator_list:
        return False
    handed = [getattr(item.value, "id", "") for item in value.args if isinstance(item, ast.Starred)]
    handed += [getattr(item.value, "id", "") for item in value.keywords if item.arg is None]
    rest = [item.arg for item in (given.vararg, given.kwarg) if item]
    said = {item.id for item in every_node(value.func) if isinstance(item, ast.Name)}
    return handed == rest and len(rest) == len(value.args) + len(value.keywords) and said.isdisjoint(rest)


def _mark(helper: ast.FunctionDef, known: ModuleNames) -> str | None:
    """The one decorator of a method, empty where it has none; None where it has others."""
    marks = [getattr(item, "id", "?") for item in helper.decorator_list]
    if not marks:
        return ""
    return marks[0] if len(marks) == 1 and marks[0] in MARKS and marks[0] not in known.taken else None


def _asked(node: ast.ClassDef, helper: Any, known: ModuleNames) -> ast.ClassDef | None:
    """A class with what one of its methods gives back where another asks for it."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method is not helper and has_instance(method):
            this = method.args.args[0].arg
            for statement, place in _places(method, this, helper.name):
                new = _instead(method, statement, place, helper, known)
                if new is not None:
                    made = replaced(method, partial(_swapped, *new))
                    body = [made if item is method else item for item in node.body if item is not helper]
                    return changed(node, body=body)
    return None


def _places(method: ast.FunctionDef, this: str, name: str) -> Iterator[tuple[ast.stmt, ast.Attribute]]:
    """Where a method reads something of its instance, with the statement."""
    for block in blocks(method):
        for statement in block:
            fields = (value for field, value in ast.iter_fields(statement) if field not in NO_HEADS)
            heads = (item for value in fields for item in (value if isinstance(value, list) else [value]))
            for item in (each for head in heads if isinstance(head, ast.AST) for each in every_node(head)):
                own = isinstance(item, ast.Attribute) and item.attr == name and isinstance(item.value, ast.Name)
                if own and isinstance(item, ast.Attribute) and getattr(item.value, "id", "") == this:
                    yield statement, item


def _instead(
    method: ast.FunctionDef, statement: ast.stmt, place: ast.Attribute, helper: ast.FunctionDef, known: ModuleNames
) -> tuple[ast.AST, ast.expr] | None:
    """What stands in the place of what asks, and where that is."""
    mark, value = _mark(helper, known), _answer(helper, known)
    asking: ast.expr = place
    handed: ast.arg | None = None
    given: dict[str, ast.expr] | None = {helper.args.args[0].arg: place.value} if helper.args.args else {}
    if mark != "property":
        every = (item for item in every_node(statement) if isinstance(item, ast.Call) and item.func is place)
        call = next(every, None)
        if call is None:
            return None
        asking = call
        first = [] if mark else [place.value]
        handed = helper.args.vararg or helper.args.kwarg
        if not handed:
            given = arguments_by_name(helper, [*first, *call.args], call.keywords)
        elif (call.args and not helper.args.vararg) or (call.keywords and not helper.args.kwarg):
            return None
    generates = isinstance(helper.body[-1], ast.Expr)
    if (
        given is None
        or value is None
        or (generates and not (isinstance(statement, ast.For) and statement.iter is asking))
    ):
        return None
    own, inner = Names(method), Names(helper)
    local = own.stores.keys() - own.elsewhere
    plain = (
        isinstance(item, ast.Constant) or (isinstance(item, ast.Name) and item.id in local) for item in given.values()
    )
    if own.open or inner.open or not all(plain) or (inner.said - inner.parameters) & own.stores.keys():
        return None
    if {
        item.id for item in given.values() if isinstance(item, ast.Name)
    } & inner.bound or inner.bound & inner.parameters:
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        found = given.get(node.id) if isinstance(node, ast.Name) else None
        return at(found, node) if found is not None else None

    if not handed or not isinstance(value, ast.Call) or not isinstance(asking, ast.Call):
        return asking, replaced(run_at(twin(value), statement), swap)
    if not known.is_steady(value.func):
        return None
    return asking, changed(asking, func=replaced(run_at(twin(value.func), statement), swap))
