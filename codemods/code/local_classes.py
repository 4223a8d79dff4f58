"""Classes that a function defines for itself, as tests do, in front of it: where a class reads nothing of the function
and does nothing when it is made, it is the same there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from codemods.code.collapsing import MAKING, is_still
from codemods.code.imports import ModuleNames
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.spreads import APART, nodes_run_here
from codemods.code.syntax import taken
from codemods.code.tree_copies import changed, with_statements

TOLD = frozenset({"__qualname__", "__subclasses__"})
"""What tells where a class was made, or how many there are of it."""


class _LocalClass(NamedTuple):
    """A class with the functions around it, innermost last."""

    node: ast.ClassDef
    around: tuple[Any, ...]


def plain_local_classes(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with the classes of functions in front of the statements that these stand in."""
    outer = sum(isinstance(item, ast.ClassDef) for item in tree.body)
    if len(known.nodes[ast.ClassDef]) == outer or any(item.attr in TOLD for item in known.nodes[ast.Attribute]):
        return tree
    behind: set[str] = set()
    before: dict[int, list[ast.ClassDef]] = {}
    for home in tree.body:
        free: set[str] = set()
        for local in _locals(home):
            if _can_move(local, behind, free, known):
                before.setdefault(id(home), []).append(local.node)
                free.add(local.node.name)
        behind |= _bound([home])
    gone = {id(node) for moved in before.values() for node in moved}
    if not gone:
        return tree

    def without(node: ast.AST) -> ast.AST | None:
        body = [item for item in node.body if id(item) not in gone] if isinstance(node, Function) else []
        if not isinstance(node, Function) or len(body) == len(node.body):
            return None
        return changed(node, body=body or [ast.copy_location(ast.Pass(), node.body[0])])

    left: ast.Module = with_statements(tree, without, of=(ast.FunctionDef, ast.AsyncFunctionDef))
    pairs = zip(tree.body, left.body, strict=True)
    return changed(left, body=[item for was, now in pairs for item in (*before.get(id(was), ()), now)])


def _locals(node: ast.AST, around: tuple[Any, ...] = ()) -> Iterator[_LocalClass]:
    """The classes that stand in the body of a function, below a statement of the module."""
    for item in node.body if isinstance(node, Function | ast.ClassDef) else ():
        if isinstance(item, ast.ClassDef) and isinstance(node, Function):
            yield _LocalClass(item, (*around, node))
        elif isinstance(item, Function | ast.ClassDef):
            yield from _locals(item, (*around, node) if isinstance(node, Function) else around)


def _can_move(local: _LocalClass, behind: set[str], moved: set[str], known: ModuleNames) -> bool:
    """Whether a class is the same in front of the functions around it, where `behind` are the names that the module has
    bound by then, and `moved` those of classes that stand there too."""
    node = local.node
    reads = known.names_of(local.around[-1])
    read = known.names.reads[node.name]
    if not known.is_fixed(node) or reads.open or not read or reads.reads[node.name] != read:
        return False
    stored = (item.value for item in known.nodes[ast.Attribute] if not isinstance(item.ctx, ast.Load))
    if node.keywords or node.decorator_list or any(getattr(item, "id", "") == node.name for item in stored):
        return False
    if not all(_is_named(item) for item in node.bases) or not all(is_still(item, known) for item in node.body):
        return False
    if any(getattr(item, "name", "") in MAKING for item in node.body):
        return False
    own = {name for function in local.around for name in _own(function)} - moved
    if own & _free(node):
        return False
    names = (
        item for each in (*node.bases, *_of_making(node)) for item in every_node(each) if isinstance(item, ast.Name)
    )
    made, stores = {item.id for item in names if isinstance(item.ctx, ast.Load)}, known.names.stores
    return all(name in moved or not stores[name] or (stores[name] == 1 and name in behind) for name in made)


def _is_named(node: ast.expr) -> bool:
    """Whether an expression is a name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _of_making(node: ast.ClassDef) -> Iterator[ast.AST]:
    """What the methods of a class say that is worked out where it is made."""
    for item in node.body:
        if isinstance(item, Function):
            yield from (*item.decorator_list, item.args, *([item.returns] if item.returns else []))
        else:
            yield item


def _own(function: Any) -> set[str]:
    """The names that a function binds for itself."""
    walrus = {item.target.id for item in every_node(function) if isinstance(item, ast.NamedExpr)}
    return {item.arg for item in taken(function)} | _bound(function.body) | walrus


def _bound(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements bind, without those inside of functions and classes."""
    found: set[str] = set()
    for node in (item for statement in body for item in _run_here(statement)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
        elif isinstance(node, Function | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            found.add(node.name or "")
    return found


def _run_here(node: ast.stmt) -> Iterator[ast.AST]:
    return iter((node,)) if isinstance(node, Function | ast.ClassDef) else nodes_run_here(node)


def _free(node: Any) -> set[str]:
    """The names that a class, function, lambda or comprehension reads of what is around it; more in doubt."""
    if not isinstance(node, Function | ast.Lambda):
        return _read(ast.iter_child_nodes(node))
    own = {item.arg for item in taken(node)} | (_bound(node.body) if isinstance(node, Function) else set())
    body = node.body if isinstance(node, Function) else [node.body]
    parts = [item for item in ast.iter_child_nodes(node) if item not in body]
    outer = (each for item in body for each in every_node(item) if isinstance(each, ast.Nonlocal))
    return _read(parts) | (_read(body) - own) | {name for each in outer for name in each.names}


def _read(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            found.add(item.id)
        elif type(item) in APART:
            found |= _free(item)
        else:
            stack += ast.iter_child_nodes(item)
    return found
