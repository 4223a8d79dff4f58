"""Functions of a module that give back one expression, where the file calls them once."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import Any, TypeGuard

from codemods.code.imports import ModuleNames
from codemods.code.inlining import arguments_by_name, is_super
from codemods.code.nodes import every_node
from codemods.code.tree_copies import at, changed, replaced, replaced_at, run_at, twin

KEPT = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp,
    ast.DictComp,
)  # fmt: skip
"""What leaves the function, or has names of its own."""
Given = dict[str, ast.expr]


def plain_makers(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what its functions of one expression give back where they are called."""
    makers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_maker(node, known)}
    if not makers:
        return tree
    found: dict[int, ast.expr] = {}
    places: list[Any] = []
    for statement in tree.body:
        for call in _calls(statement, makers) if statement not in makers.values() else ():
            maker = makers[call.func.id]  # type: ignore[attr-defined]
            made = _made(maker, call, known)
            if made is not None:
                found[id(call)] = run_at(made, statement)
                places.append(call)
    if not found:
        return tree
    gone = [makers[call.func.id] for call in places]
    left = changed(tree, body=[item for item in tree.body if item not in gone])
    return replaced_at(left, places, lambda node: found.get(id(node)))


def _is_maker(node: ast.FunctionDef, known: ModuleNames) -> bool:
    """Whether a function gives back one expression of names that the module binds once, and is called once."""
    if node.decorator_list or len(known.names.loads.get(node.name, ())) != 1 or not known.is_fixed(node):
        return False
    value = given_back(node)
    if (
        value is None
        or isinstance(value, ast.Tuple)
        or any(isinstance(item, KEPT) or is_super(item) for item in every_node(value))
    ):
        return False
    names = {item.arg for item in every_node(node.args) if isinstance(item, ast.arg)}
    free = {item.id for item in every_node(value) if isinstance(item, ast.Name)} - names
    return all(known.names.stores[name] <= 1 for name in free)


def given_back(node: ast.FunctionDef) -> ast.expr | None:
    """What a function gives back that does nothing else."""
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _calls(statement: ast.stmt, makers: dict[str, ast.FunctionDef]) -> Iterator[ast.Call]:
    for node in every_node(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers:
            yield node


def _made(maker: ast.FunctionDef, call: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What a call of a function gives; None where what it is given would be worked out otherwise."""
    value = twin(maker_value) if (maker_value := given_back(maker)) else None
    if value is None:
        return None
    if maker.args.vararg or maker.args.kwarg:
        return _handed_on(maker, call, value, known)
    given = arguments_by_name(maker, call.args, call.keywords)
    if given is None or not all(isinstance(item, ast.Constant) for item in (*maker.args.defaults, *_defaults(maker))):
        return None
    if not (all(_is_plain(item) for item in given.values()) or _is_in_order(value, given, known)):
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        item = given.get(node.id) if isinstance(node, ast.Name) else None
        return item if item is None or not _is_plain(item) else at(item, node)

    return replaced(value, swap)


def _defaults(maker: ast.FunctionDef) -> list[ast.expr]:
    return [item for item in maker.args.kw_defaults if item]


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Name)


def _is_in_order(value: ast.expr, given: Given, known: ModuleNames) -> bool:
    """Whether a call is given all that its function is, in the same order, before it does anything."""
    if not isinstance(value, ast.Call) or known.dotted(value.func) is None:
        return False
    read = [*value.args, *(item.value for item in value.keywords)]
    names = [item.id for item in read if isinstance(item, ast.Name) and item.id in given]
    if len(names) + sum(isinstance(item, ast.Constant) for item in read) < len(read):
        return False
    doing = [name for name, item in given.items() if not isinstance(item, ast.Constant)]
    return [name for name in names if name in doing] == doing


def _handed_on(maker: ast.FunctionDef, call: ast.Call, value: ast.expr, known: ModuleNames) -> ast.expr | None:
    """A call of what a function calls, be it one of its parameters, with all else that it is given itself."""
    arguments, rest = maker.args, maker.args.vararg
    own = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    if arguments.kwonlyargs or arguments.defaults or not isinstance(value, ast.Call):
        return None
    args = [item.value for item in value.args if isinstance(item, ast.Starred)]
    words = [item.value for item in value.keywords if item.arg is None]
    mine = [getattr(item, "id", "") for item in (*args, *words)]
    if len(mine) < len(value.args) + len(value.keywords):
        return None
    given, more = call.args[: len(own)], call.args[len(own) :]
    if mine != [item.arg for item in (rest, arguments.kwarg) if item] or (more and not rest):
        return None
    if (call.keywords and not arguments.kwarg) or (own and any(item.arg in (None, *own) for item in call.keywords)):
        return None
    if len(given) < len(own) or not all(_is_settled(item, known) for item in given):
        return None
    by_name = dict(zip(own, given, strict=True))
    function = replaced(value.func, lambda node: at(by_name[node.id], node) if _is_named(node, by_name) else None)
    return changed(value, func=function, args=more, keywords=list(call.keywords))


def _is_settled(node: ast.expr, known: ModuleNames) -> bool:
    """Whether an argument is the same wherever in the module it is read."""
    named = isinstance(node, ast.Name) and known.names.stores[node.id] == 1
    return named or isinstance(node, ast.Constant) or known.dotted(node) is not None


def _is_named(node: ast.AST, names: Container[str]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id in names
