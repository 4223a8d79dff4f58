"""Names of comprehensions and lambdas that a function or module has for something else too: what shadows it is called
otherwise, so that the name stands for one thing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.spreads import COMPREHENSIONS, nodes_run_here
from codemods.code.syntax import taken, targets_of
from codemods.code.tree_copies import changed, replaced_at

OWN = "{}__inside"
SPACES = (*COMPREHENSIONS, ast.Lambda)


def plain_own_names(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with other names for what comprehensions and lambdas call as a function, or the module, calls another
    thing."""
    every = [node for kind in SPACES for node in known.nodes[kind]]
    functions = [*known.nodes[ast.FunctionDef], *known.nodes[ast.AsyncFunctionDef]]
    names = {name for node in every for name in _targets(node)}
    imported = {item.asname or item.name.partition(".")[0] for item in known.nodes[ast.alias]}
    if not names or names.isdisjoint(imported | _bound_somewhere(known, functions)):
        return tree
    given = {item.arg for item in known.nodes[ast.keyword]}
    renamed = {id(name): name for space in (tree, *functions) for name in _shadowed(space, imported, given)}
    if not renamed:
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        if id(node) not in renamed:
            return None
        field = "arg" if isinstance(node, ast.arg) else "id"
        return changed(node, **{field: OWN.format(getattr(node, field))})

    return replaced_at(tree, [*renamed.values()], swap)


def _bound_somewhere(known: ModuleNames, functions: list[Any]) -> set[str]:
    assigned = [*known.nodes[ast.Assign], *known.nodes[ast.AnnAssign]]
    found = {target.id for node in assigned for target in targets_of(node) if isinstance(target, ast.Name)}
    return found | {item.arg for function in functions for item in taken(function)}


def _targets(node: Any) -> set[str]:
    """The names that a comprehension or a lambda binds."""
    if isinstance(node, ast.Lambda):
        return {item.arg for item in taken(node)}
    parts = (each for item in node.generators for each in every_node(item.target))
    return {each.id for each in parts if isinstance(each, ast.Name)}


def _shadowed(space: Any, imported: set[str], given: set[str]) -> Iterator[ast.Name | ast.arg]:
    """The names inside a space's comprehensions and lambdas by which they call something of their own, and the space
    something that it binds once, or that is imported; of what lambdas may be `given` by name none."""
    here = list(nodes_run_here(space))
    outer = [node for node in here if isinstance(node, SPACES)]
    if not outer:
        return
    bound = Counter(node.id for node in here if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    bound.update([] if isinstance(space, ast.Module) else [item.arg for item in taken(space)])
    for node in (each for one in outer for each in every_node(one) if isinstance(each, SPACES)):
        names = {name for name in _targets(node) if bound[name] == 1 or (name in imported and not bound[name])}
        inside = [part for part in _parts(node) for part in every_node(part)]
        said = {each.target.id for each in inside if isinstance(each, ast.NamedExpr)}
        inner = {item.arg for each in inside if isinstance(each, ast.Lambda) for item in taken(each)}
        names -= said | inner | (given if isinstance(node, ast.Lambda) else set())
        yield from (each for each in inside if isinstance(each, ast.Name | ast.arg) and _named(each) in names)


def _parts(node: Any) -> Iterator[ast.AST]:
    """What of a comprehension is worked out in its own scope: all but what the first loop goes through; of a lambda all
    but its defaults."""
    if isinstance(node, ast.Lambda):
        yield from (*taken(node), node.body)
        return
    first, *further = node.generators
    yield from (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    yield from (first.target, *first.ifs, *further)


def _named(node: ast.Name | ast.arg) -> str:
    return node.id if isinstance(node, ast.Name) else node.arg
