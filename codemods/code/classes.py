"""Classes in their plain form: without bases and decorators that add nothing, and helpers where they are called."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from codemods.code.imports import Known
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.trees import at, changed, replaced, twin

LEAVING = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Lambda, ast.Import, ast.ImportFrom)


def plain_classes(tree: ast.Module, known: Known) -> ast.Module:
    """The module with its classes and functions in their plain form."""
    once = [item for item in tree.body if known.names.stores[getattr(item, "name", "")] == 1]
    empty = {item.name: item for item in once if isinstance(item, ast.ClassDef) and _is_empty(item)}
    same = {item.name for item in once if isinstance(item, ast.FunctionDef) and _gives_back(item, known)}
    said: Counter[str] = Counter()

    def swap(node: ast.AST) -> ast.AST | None:
        fields: dict[str, Any] = {}
        if isinstance(node, Function):
            kept = [item for item in node.decorator_list if not (isinstance(item, ast.Name) and item.id in same)]
            if len(kept) < len(node.decorator_list):
                fields["decorator_list"] = kept
        if isinstance(node, ast.ClassDef):
            bases = [new for item in node.bases for new in _above(item, empty)]
            if any(one is not other for one, other in zip(bases, node.bases, strict=False)):
                fields["bases"] = bases
            if helper := _helper(node, said):
                fields["body"] = helper
        return changed(node, **fields) if fields else None

    classes = known.nodes[ast.ClassDef]
    helpers = any(isinstance(item, ast.FunctionDef) and _is_own(item.name) for each in classes for item in each.body)
    if not (empty or same or helpers):
        return tree
    said.update(item.attr for item in known.nodes[ast.Attribute])
    said.update(item.value for item in known.nodes[ast.Constant] if isinstance(item.value, str))
    said.update(item.name for kind in (ast.FunctionDef, ast.AsyncFunctionDef) for item in known.nodes[kind])
    return replaced(tree, swap)


def _is_empty(node: ast.ClassDef) -> bool:
    """Whether a class adds nothing to its base."""
    idle = all(
        isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in node.body
    )
    return idle and len(node.bases) == 1 and not node.keywords and not node.decorator_list


def _above(base: ast.expr, empty: dict[str, ast.ClassDef]) -> list[ast.expr]:
    if isinstance(base, ast.Name) and base.id in empty:
        return [at(item, base) for item in empty[base.id].bases]
    return [base]


def _hands_on(inner: ast.stmt, last: ast.stmt, name: str, known: Known) -> bool:
    """Whether a function gives back one that wraps its argument and hands everything on to it."""
    if not isinstance(inner, ast.FunctionDef) or not isinstance(last, ast.Return) or len(inner.body) != 1:
        return False
    call, given = inner.body[0], inner.args
    if not isinstance(call, ast.Return) or len(inner.decorator_list) != 1 or not (given.vararg and given.kwarg):
        return False
    wraps = inner.decorator_list[0]
    if not isinstance(wraps, ast.Call) or known.dotted(wraps.func) != "functools.wraps":
        return False
    values = (changed(wraps, func=ast.Name("wraps")), last.value, call.value)
    said = tuple(ast.unparse(item) for item in values if item)
    taken = {item.arg for item in every_node(given) if isinstance(item, ast.arg)}
    words = (f"wraps({name})", inner.name, f"{name}(*{given.vararg.arg}, **{given.kwarg.arg})")
    return said == words and taken == {given.vararg.arg, given.kwarg.arg}


def _gives_back(node: ast.FunctionDef, known: Known) -> bool:
    """Whether a function gives back its one argument, or what does the same, and does nothing else."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    last = body[0] if len(body) == 1 else None
    if len(body) == 2 and len(arguments) == 1:
        return _hands_on(body[0], body[1], arguments[0].arg, known)
    plain = not (node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.decorator_list)
    value = last.value if isinstance(last, ast.Return) else None
    return plain and len(arguments) == 1 and isinstance(value, ast.Name) and value.id == arguments[0].arg


def _is_own(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _helper(node: ast.ClassDef, said: Counter[str]) -> list[ast.stmt] | None:
    """The body of a class with one helper where it is called, if there is one that nothing else speaks of."""
    for helper in node.body:
        # A name is said once where the helper is defined, once where it is called; others may call it elsewhere.
        if not isinstance(helper, ast.FunctionDef) or said[helper.name] != 2 or not _is_own(helper.name):
            continue
        if not _can_stand_elsewhere(helper):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method is not helper:
                made = _inlined(method, helper)
                if made is not None:
                    return [made if item is method else item for item in node.body if item is not helper]
    return None


def _can_stand_elsewhere(helper: ast.FunctionDef) -> bool:
    arguments = helper.args
    if helper.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        return False
    every = [item for statement in helper.body for item in every_node(statement)]
    if any(isinstance(item, (*LEAVING, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) for item in every):
        return False
    if any(isinstance(item, ast.Name) and item.id == "super" for item in every):
        return False
    left = [item for item in every if isinstance(item, ast.Return)]
    return not left or (len(left) == 1 and helper.body[-1] is left[0] and left[0].value is not None)


def _inlined(method: ast.FunctionDef, helper: ast.FunctionDef) -> ast.FunctionDef | None:
    """The method with the helper's statements where it calls it; None where it does not, or not plainly."""
    if not method.args.args or not helper.args.args:
        return None
    this, found = method.args.args[0].arg, False

    def block(body: list[ast.stmt]) -> list[ast.stmt] | None:
        nonlocal found
        for index, statement in enumerate(body):
            call = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr | ast.Assign | ast.Return) and isinstance(call, ast.Call):
                new = _instead(statement, call, helper, method, this)
                if new is not None:
                    found = True
                    return [*body[:index], *new, *body[index + 1 :]]
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        fields = {}
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not found and isinstance(body, list) and body and (new := block(body)) is not None:
                fields[name] = new
        return changed(node, **fields) if fields else None

    made = replaced(method, swap)
    return made if found else None


def _instead(
    statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef, method: ast.FunctionDef, this: str
) -> list[ast.stmt] | None:
    """The helper's statements in the words of the method that calls it."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and function.attr == helper.name and not call.keywords):
        return None
    if not (isinstance(function.value, ast.Name) and function.value.id == this):
        return None
    names = [item.arg for item in [*helper.args.posonlyargs, *helper.args.args]]
    given = [function.value, *call.args]
    if len(names) != len(given) or not all(isinstance(item, ast.Name | ast.Constant) for item in given):
        return None
    stored = {
        item.id for item in every_node(helper) if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)
    }
    own = {item.id for item in every_node(method) if isinstance(item, ast.Name)} | {
        item.arg for item in method.args.args
    }
    if stored & (own | set(names)):
        return None
    by_name = dict(zip(names, given, strict=True))

    def swap(node: ast.AST) -> ast.AST | None:
        return at(by_name[node.id], node) if isinstance(node, ast.Name) and node.id in by_name else None

    body = [replaced(twin(item), swap) for item in helper.body]
    last = body[-1]
    if isinstance(last, ast.Return) and isinstance(statement, ast.Expr):
        return None
    if isinstance(last, ast.Return):
        return [*body[:-1], changed(statement, value=last.value)]
    return body if isinstance(statement, ast.Expr) else None
