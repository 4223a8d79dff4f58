"""Helpers where they are called: methods, functions and functions inside others that are called once."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from codemods.code.helper_bodies import Called, can_stand_elsewhere, inlined
from codemods.code.imports import ModuleNames
from codemods.code.names import Function, Names
from codemods.code.nodes import every_node
from codemods.code.spreads import nodes_run_here
from codemods.code.tree_copies import (
    BLOCKS,
    blocks,
    changed,
    with_statements,
)

NO_INSTANCE = ("staticmethod", "classmethod")
HOOK = re.compile(
    r"on_|configure_|log|(?:add|get|load|save|state|transfer|optimizer|toggle|untoggle|lr|manual|predict|train|training"
    r"|validation|val|test)_|\w+_(?:end|start|hook|dict|dataloaders?)$"
    r"|(?:forward|backward|setup|teardown|prepare_data|train|eval|run|fit|fit_loop|extra_repr|apply|to|cuda|cpu|main"
    r"|compute|update|reset|step|closure|sample|transform|collate_fn)$"
)
"""How frameworks call the methods that they ask for."""
SELF = ("self", "cls", "this", "pl_module", "module")
Owner = ast.FunctionDef | ast.AsyncFunctionDef


def plain_helpers(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what its helpers do where they are called."""
    return _methods(_functions(_inner(tree, known), known), known)


def _methods(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The classes with methods of their own alone, which one other method calls, in this."""
    said: Counter[str] = Counter()

    def swap(node: ast.AST) -> ast.AST | None:
        body = _with_helper(node, said) if isinstance(node, ast.ClassDef) else None
        return changed(node, body=body) if body else None

    classes = known.nodes[ast.ClassDef]
    asked = Counter(item.attr for item in known.nodes[ast.Attribute]) if classes else Counter()
    methods = (item for each in classes for item in each.body if isinstance(item, ast.FunctionDef))
    if not any(asked[item.name] == 1 and may_go(item.name) for item in methods):
        return tree
    said.update(said_names(known))
    return with_statements(tree, swap, of=(ast.ClassDef,))


def said_names(known: ModuleNames) -> Counter[str]:
    """How often a module says each name, in whatever way."""
    said: Counter[str] = Counter()
    said.update(item.attr for item in known.nodes[ast.Attribute])
    said.update(item.value.rpartition(".")[2] for item in known.nodes[ast.Constant] if isinstance(item.value, str))
    said.update(item.arg for item in known.nodes[ast.keyword] if item.arg)
    said.update(known.names.stores)
    said.update(known.names.reads)
    return said


def may_go(name: str) -> bool:
    """Whether a method that the file calls once is asked for by nothing else, as far as its name says."""
    return is_own(name) or not (name.startswith("_") or HOOK.match(name))


def is_own(name: str) -> bool:
    """Whether a method is one for its class alone, as its name says."""
    return name.startswith("_") and not name.startswith("__")


def _with_helper(node: ast.ClassDef, said: Counter[str]) -> list[ast.stmt] | None:
    """The body of a class with one helper where it is called, if there is one that nothing else speaks of."""
    callers: Mapping[str, list[ast.FunctionDef]] = {}
    for helper in node.body:
        # A name is said once where the helper is defined, once where it is called; others may call it elsewhere.
        if not isinstance(helper, ast.FunctionDef) or said[helper.name] != 2 or not may_go(helper.name):
            continue
        plain = _without_mark(helper)
        if not can_stand_elsewhere(plain, returning=True, beside=plain is helper):
            continue
        callers = callers or _by_attribute(node)
        for method in callers[helper.name]:
            if method is not helper and has_instance(method):
                made = inlined(method, plain, _as_method(method, helper.name, plain is not helper))
                if made is not None:
                    return [made if item is method else item for item in node.body if item is not helper]
    return None


def _by_attribute(node: ast.ClassDef) -> Mapping[str, list[ast.FunctionDef]]:
    """The methods of a class by the attributes that they speak of."""
    found: defaultdict[str, list[ast.FunctionDef]] = defaultdict(list)
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            for name in {item.attr for item in every_node(method) if isinstance(item, ast.Attribute)}:
                found[name].append(method)
    return found


def has_instance(method: ast.FunctionDef) -> bool:
    """Whether a method is given the object whose method it is."""
    marks = (ast.unparse(item).rpartition(".")[2] for item in method.decorator_list)
    if method.name == "__new__" or any(mark in NO_INSTANCE for mark in marks) or not method.args.args:
        return False
    return Names(method).stores[method.args.args[0].arg] == 1


def _without_mark(helper: ast.FunctionDef) -> ast.FunctionDef:
    """A static method as the function that it is."""
    marks = helper.decorator_list
    static = len(marks) == 1 and isinstance(marks[0], ast.Name) and marks[0].id == "staticmethod"
    return changed(helper, decorator_list=[]) if static else helper


def _as_method(method: ast.FunctionDef, name: str, static: bool) -> Called:
    this = method.args.args[0].arg

    def given(call: ast.Call) -> list[ast.expr] | None:
        function = call.func
        if not (isinstance(function, ast.Attribute) and function.attr == name):
            return None
        own = isinstance(function.value, ast.Name) and function.value.id == this
        return [*([] if static else [function.value]), *call.args] if own else None

    return given


def _functions(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with functions that one method hands itself to, and nothing else speaks of, in this method."""
    handed = {
        call.func.id
        for call in known.nodes[ast.Call]
        if isinstance(call.func, ast.Name)
        and any(
            isinstance(item, ast.Name) and item.id in SELF
            for item in (*call.args, *(each.value for each in call.keywords))
        )
    }
    if not handed:
        return tree
    for helper in tree.body:
        if not isinstance(helper, ast.FunctionDef) or helper.name not in handed or known.names.reads[helper.name] != 1:
            continue
        if not known.is_fixed(helper) or not can_stand_elsewhere(helper, returning=True) or has_private(helper):
            continue
        for index, node in enumerate(tree.body):
            made = _in_class(node, helper) if isinstance(node, ast.ClassDef) else None
            if made is not None:
                body: list[ast.stmt] = [*tree.body[:index], made, *tree.body[index + 1 :]]
                return changed(tree, body=[item for item in body if item is not helper])
    return tree


def has_private(node: ast.AST) -> bool:
    """Whether a function or class says a name that a class would take for one of its own."""
    every = [*every_node(node)]
    said = (getattr(item, name, None) for item in every for name in ("attr", "id", "arg", "name"))
    private = any(isinstance(name, str) and name.startswith("__") and not name.endswith("__") for name in said)
    return private or any(getattr(item, "id", "") == "__class__" for item in every)


def _in_class(node: ast.ClassDef, helper: ast.FunctionDef) -> ast.ClassDef | None:
    for index, method in enumerate(node.body):
        if isinstance(method, ast.FunctionDef) and method.args.args:
            made = inlined(method, helper, _as_function(method.args.args[0].arg, helper.name))
            if made is not None:
                return changed(node, body=[*node.body[:index], made, *node.body[index + 1 :]])
    return None


def _as_function(this: str, name: str) -> Called:
    def given(call: ast.Call) -> list[ast.expr] | None:
        own = isinstance(call.func, ast.Name) and call.func.id == name
        given = [*call.args, *(item.value for item in call.keywords)]
        return call.args if own and any(isinstance(item, ast.Name) and item.id == this for item in given) else None

    return given


def _inner(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with functions inside others that are called once, in these."""
    single = [
        node
        for node in known.nodes[ast.FunctionDef]
        if not node.decorator_list and known.names.reads[node.name] == 1 and known.names.stores[node.name] == 1
    ]
    if not single:
        return tree
    names = {node.name for node in single}

    def swap(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, Function):
            return None
        for block in blocks(node):
            for index, item in enumerate(block):
                if not isinstance(item, ast.FunctionDef) or item.name not in names:
                    continue
                if (made := _unfolded(node, item, block, index)) is not None:
                    return made
        return None

    return with_statements(tree, swap, of=(ast.FunctionDef, ast.AsyncFunctionDef))


def _unfolded(owner: Owner, helper: ast.FunctionDef, block: list[ast.stmt], index: int) -> Owner | None:
    """A function with one that it defines where it calls it."""
    names = Names(owner)
    loads = names.reaches(helper.name, block, index)
    if not loads or len(loads) != 1:
        return None
    following = getattr(block[index + 1], "value", None) if index + 1 < len(block) else None
    at_once = (
        isinstance(following, ast.Call) and following.func is loads[0] and not (following.args or following.keywords)
    )
    local = _bound_here(owner) - names.elsewhere if at_once else _settled(names, helper)
    if not can_stand_elsewhere(helper, returning=True, local=local):
        return None
    given: Called = lambda call: call.args if call.func is loads[0] else None  # noqa: E731
    rest = with_statements(owner, lambda node: _less(node, helper))
    inner = Names(helper)
    if names.open or (inner.bound - inner.parameters) & Names(rest).said:
        return None
    made: Owner | None = inlined(rest, helper, given, within=True)
    return made


def _less(node: ast.AST, helper: ast.FunctionDef) -> ast.AST | None:
    for name in BLOCKS:
        body = getattr(node, name, None)
        if isinstance(body, list) and any(item is helper for item in body):
            rest = [item for item in body if item is not helper]
            return changed(node, **{name: rest or [ast.copy_location(ast.Pass(), helper)]})
    return None


def _bound_here(owner: Owner) -> frozenset[str]:
    """The parameters of a function, and what its own statements bind."""
    every = [*nodes_run_here(owner), *every_node(owner.args)]
    names = {item.id for item in every if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
    return frozenset(names | {item.arg for item in every if isinstance(item, ast.arg)})


def _settled(names: Names, helper: ast.FunctionDef) -> frozenset[str]:
    """The parameters of a function that nothing binds anew; what a helper inside calls its own is another's."""
    stores = names.stores - Names(helper).stores
    return frozenset(name for name in names.parameters - names.elsewhere if stores[name] == 1)
