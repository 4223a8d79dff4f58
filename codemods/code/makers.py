"""Functions of a module that give back one expression, where the file calls them once."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any, TypeGuard

from codemods.code.helper_bodies import arguments_by_name
from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_private
from codemods.code.members import as_method
from codemods.code.nodes import children, every_node
from codemods.code.syntax import is_super
from codemods.code.tree_copies import at, changed, replaced, replaced_at, run_at, twin

KEPT = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp,
    ast.DictComp,
)  # fmt: skip
"""What leaves the function, or has names of its own."""
Given = dict[str, ast.expr]


def plain_makers(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what its functions of one expression give back where they are called."""
    functions = ((as_method(node) or node, node) for node in tree.body)
    found_at = {made.name: (made, node) for made, node in functions if isinstance(made, ast.FunctionDef)}
    makers = {name: made for name, (made, _) in found_at.items() if _is_maker(made, known)}
    homes = {name: found_at[name][1] for name in makers}
    methods = _methods(tree, known)
    if not (makers or methods):
        return tree
    found: dict[int, ast.expr] = {}
    places: list[Any] = []
    gone: list[ast.stmt] = []
    for statement in tree.body:
        for call, maker, place in _calls(statement, makers, methods, known) if statement not in homes.values() else ():
            made = _made(maker, call, known)
            if made is not None:
                found[id(call)] = run_at(made, place)
                places.append(call)
                chain = _chain(call.func)
                gone.append(methods[chain] if chain in methods else homes[chain])
    if not found:
        return tree
    left = changed(tree, body=[_without(item, gone) for item in tree.body if item not in gone])
    return replaced_at(left, places, lambda node: found.get(id(node)))


def _methods(tree: ast.Module, known: ModuleNames) -> dict[str, ast.FunctionDef]:
    """The methods that need neither object nor class, give back one expression and are asked for once, of the class,
    by the name of that and their own."""
    asked = Counter(item.attr for item in known.nodes[ast.Attribute])
    return {
        f"{node.name}.{item.name}": item
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and not (node.bases or node.keywords or node.decorator_list)
        and any(isinstance(item, ast.FunctionDef) and item.decorator_list for item in node.body)
        and not has_private(node)
        and known.is_fixed(node)
        for item in node.body
        if isinstance(item, ast.FunctionDef)
        and item.decorator_list
        and asked[item.name] == 1
        and item.name not in known.said
        and known.names.stores[item.name] == 1
        and _is_maker(_as_function(item, known), known, called=True)
    }


def _as_function(node: ast.FunctionDef, known: ModuleNames) -> ast.FunctionDef:
    """A method that needs neither object nor class as the function that it is."""
    mark = getattr(node.decorator_list[0], "id", "") if len(node.decorator_list) == 1 else ""
    if mark in known.taken or mark not in ("staticmethod", "classmethod"):
        return node
    own = node.args.args[:1] if mark == "classmethod" else []
    if any(getattr(item, "id", "") == each.arg for item in every_node(node) for each in own):
        return node
    return changed(node, decorator_list=[], args=changed(node.args, args=node.args.args[len(own) :]))


def _without(node: ast.stmt, gone: Container[ast.stmt]) -> ast.stmt:
    """A class without some of its methods."""
    if not isinstance(node, ast.ClassDef) or not any(item in gone for item in node.body):
        return node
    rest = [item for item in node.body if item not in gone]
    return changed(node, body=rest or [ast.copy_location(ast.Pass(), node.body[0])])


def _chain(node: ast.expr) -> str:
    """A name, or what is asked for by one of another."""
    owner = node.value if isinstance(node, ast.Attribute) else node
    name = owner.id if isinstance(owner, ast.Name) else ""
    return f"{name}.{node.attr}" if isinstance(node, ast.Attribute) else name


def _is_maker(node: ast.FunctionDef, known: ModuleNames, called: bool = False) -> bool:
    """Whether a function gives back one expression of names that the module binds once, and is called once."""
    if node.decorator_list or not (called or (known.names.reads[node.name] == 1 and known.is_fixed(node))):
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


def _calls(
    statement: ast.stmt,
    makers: Mapping[str, ast.FunctionDef],
    methods: Mapping[str, ast.FunctionDef],
    known: ModuleNames,
) -> Iterator[tuple[ast.Call, ast.FunctionDef, ast.stmt]]:
    """The calls of functions and methods that a statement makes, with what they call as a function, and the statement
    inside this in which they stand."""
    stack: list[tuple[ast.AST, ast.stmt]] = [(statement, statement)]
    while stack:
        node, place = stack.pop()
        place = node if isinstance(node, ast.stmt) else place
        stack += [(item, place) for item in children(node)]
        if isinstance(node, ast.Call) and (chain := _chain(node.func)):
            if chain in makers:
                yield node, makers[chain], place
            elif chain in methods:
                yield node, _as_function(methods[chain], known), place


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
    if isinstance(value, ast.Name) and [value.id] == [*given]:
        return given[value.id]
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
    if isinstance(value, ast.Name) and arguments.kwarg and value.id == arguments.kwarg.arg and not (own or rest):
        made = ast.copy_location(ast.Name("dict", ast.Load()), call.func)
        return changed(call, func=made) if not call.args and "dict" not in known.taken else None
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
    called = len(own) == 1 and isinstance(value.func, ast.Name) and value.func.id == own[0]
    if len(given) < len(own) or not (called or all(_is_settled(item, known) for item in given)):
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
