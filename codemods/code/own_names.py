"""Names of comprehensions that a function or module has for something else too: what shadows it is called otherwise, so
that the name stands for one thing."""

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


def plain_own_names(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with other names for what comprehensions call as a function, or the module, calls another thing."""
    every = [node for kind in COMPREHENSIONS for node in known.nodes[kind]]
    functions = [*known.nodes[ast.FunctionDef], *known.nodes[ast.AsyncFunctionDef]]
    names = {name for node in every for name in _targets(node)}
    if not names or names.isdisjoint(_bound_somewhere(known, functions)):
        return tree
    renamed = {id(name): name for space in (tree, *functions) for name in _shadowed(space)}
    if not renamed:
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        return changed(node, id=OWN.format(node.id)) if isinstance(node, ast.Name) and id(node) in renamed else None

    return replaced_at(tree, [*renamed.values()], swap)


def _bound_somewhere(known: ModuleNames, functions: list[Any]) -> set[str]:
    assigned = [*known.nodes[ast.Assign], *known.nodes[ast.AnnAssign]]
    found = {target.id for node in assigned for target in targets_of(node) if isinstance(target, ast.Name)}
    return found | {item.arg for function in functions for item in taken(function)}


def _targets(node: Any) -> set[str]:
    """The names that a comprehension binds."""
    parts = (each for item in node.generators for each in every_node(item.target))
    return {each.id for each in parts if isinstance(each, ast.Name)}


def _shadowed(space: Any) -> Iterator[ast.Name]:
    """The names inside a space's comprehensions by which they call something of their own, and the space something
    that it binds once."""
    here = list(nodes_run_here(space))
    outer = [node for node in here if isinstance(node, COMPREHENSIONS)]
    if not outer:
        return
    bound = Counter(node.id for node in here if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    bound.update([] if isinstance(space, ast.Module) else [item.arg for item in taken(space)])
    for node in (each for one in outer for each in every_node(one) if isinstance(each, COMPREHENSIONS)):
        names = {name for name in _targets(node) if bound[name] == 1}
        inside = [part for part in _parts(node) for part in every_node(part)]
        said = {each.target.id for each in inside if isinstance(each, ast.NamedExpr)}
        given = {item.arg for each in inside if isinstance(each, ast.Lambda) for item in taken(each)}
        names -= said | given
        yield from (each for each in inside if isinstance(each, ast.Name) and each.id in names)


def _parts(node: Any) -> Iterator[ast.AST]:
    """What of a comprehension is worked out in its own scope: all but what the first loop goes through."""
    first, *further = node.generators
    yield from (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    yield from (first.target, *first.ifs, *further)
