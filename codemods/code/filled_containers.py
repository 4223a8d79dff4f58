"""Lists and dictionaries that are filled right behind where they are made, written as one."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.tree_copies import DEFINING, blocks, changed, made_from, with_statements

FILLING = frozenset({"append", "extend", "update", "setdefault", "pop"})
INNER = (*DEFINING, ast.Lambda, ast.GeneratorExp)
CHANGING = (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete)
ANSWERING = (ast.Try, ast.With, ast.AsyncWith)
"""What may go on behind an exception, and see what is half filled."""


def plain_fillings(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with every list and dictionary of a function filled where it is made, as far as the statements right
    behind do nothing else."""
    if not any(_filled(node) for kind in CHANGING for node in known.nodes[kind]):
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        return _whole(node, known) if isinstance(node, Function) else None

    return with_statements(tree, swap, of=(ast.FunctionDef, ast.AsyncFunctionDef))


def _whole(owner: Any, known: ModuleNames) -> ast.AST | None:
    if not any(_is_made(one) and _filled(other) for one, other in _pairs(owner)):
        return None
    names = known.names_of(owner)
    if names.open:
        return None
    inner = [item for item in every_node(owner) if isinstance(item, INNER) and item is not owner]
    shared = {item.id for each in inner for item in every_node(each) if isinstance(item, ast.Name)} | names.elsewhere
    answered = {id(item) for each in every_node(owner) if isinstance(each, ANSWERING) for item in every_node(each)}
    merged: dict[int, ast.stmt] = {}
    gone: set[int] = set()
    for block in blocks(owner):
        if id(block[0]) not in answered:
            _merge(block, shared, merged, gone)
    if not merged:
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        fields: dict[str, Any] = {}
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and any(id(item) in merged for item in body):
                fields[name] = [merged.get(id(item), item) for item in body if id(item) not in gone]
        return changed(node, **fields) if fields else None

    made: ast.AST = with_statements(owner, swap, deeper=False)
    return made


def _pairs(owner: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    return (pair for block in blocks(owner) for pair in itertools.pairwise(block))


def _merge(block: list[ast.stmt], shared: set[str], merged: dict[int, ast.stmt], gone: set[int]) -> None:
    """Puts what fills a list or dictionary of a block into the statement that makes it."""
    index = 0
    while index < len(block):
        first = block[index]
        index += 1
        name = _is_made(first)
        if not name or name in shared or not isinstance(first, ast.Assign):
            continue
        value = first.value
        while index < len(block) and _filled(block[index]) == name:
            more = _with(value, block[index], name)
            if more is None:
                break
            value = more
            merged[id(first)] = changed(first, value=value)
            gone.add(id(block[index]))
            index += 1


def _is_made(node: ast.stmt) -> str:
    """The name that a statement binds to a list or dictionary which is written there."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    made = isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict | ast.List)
    return target.id if made and isinstance(target, ast.Name) else ""


def _anew(node: ast.Assign) -> list[ast.expr] | None:
    """What `name = [*name, ...]` and `name = {**name, ...}` put behind what there was."""
    made, name = node.value, getattr(node.targets[0], "id", "")
    if isinstance(made, ast.List) and made.elts and isinstance(first := made.elts[0], ast.Starred):
        rest = ast.copy_location(ast.List(elts=made.elts[1:], ctx=ast.Load()), made)
        return _items(rest) if getattr(first.value, "id", "?") == name else None
    if isinstance(made, ast.Dict) and made.keys[:1] == [None] and getattr(made.values[0], "id", "?") == name:
        return _items(ast.copy_location(ast.Dict(keys=made.keys[1:], values=made.values[1:]), made))
    return None


def _filled(node: ast.stmt) -> str:
    """The name of what a statement may fill."""
    of: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        of = node.targets[0].value
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        of = node.targets[0] if _anew(node) else None
    elif isinstance(node, ast.AugAssign):
        of = node.target
    elif isinstance(node, ast.Delete) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        of = node.targets[0].value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        of = function.value if isinstance(function, ast.Attribute) and function.attr in FILLING else None
    return of.id if isinstance(of, ast.Name) else ""


def _with(made: ast.expr, node: ast.stmt, name: str) -> ast.expr | None:
    """A list or dictionary with what a statement puts into it, or without what it takes out; None where that is not
    plain."""
    if (gone := _taken_out(node)) is not None:
        return _less(made, gone)
    new = _added(made, node)
    if new is None or any(isinstance(item, ast.Name) and item.id == name for each in new for item in every_node(each)):
        return None
    if isinstance(made, ast.List):
        return changed(made, elts=[*made.elts, *new])
    if not isinstance(made, ast.Dict):
        return None
    return changed(made, keys=[*made.keys, *new[::2]], values=[*made.values, *new[1::2]])


def _taken_out(node: ast.stmt) -> ast.expr | None:
    """The key of what a statement takes out of a dictionary, and gives to nobody."""
    if isinstance(node, ast.Delete):
        return node.targets[0].slice if isinstance(node.targets[0], ast.Subscript) else None
    call: Any = node.value if isinstance(node, ast.Expr) else None
    if call is None or call.func.attr != "pop":
        return None
    given: list[ast.expr] = call.args
    plain = not call.keywords and all(isinstance(item, ast.Constant) for item in given[1:])
    return given[0] if given and plain else node.value  # type: ignore[attr-defined]


def _less(made: ast.expr, key: ast.expr) -> ast.expr | None:
    """A dictionary without one of its keys, all of which are written out, once each."""
    if not isinstance(made, ast.Dict) or not isinstance(key, ast.Constant):
        return None
    known = [item.value for item in made.keys if isinstance(item, ast.Constant)]
    if len(known) < len(made.keys) or known.count(key.value) != 1:
        return None
    index = known.index(key.value)
    if not isinstance(made.values[index], ast.Constant):
        return None
    keys, values = ([*every[:index], *every[index + 1 :]] for every in (made.keys, made.values))
    return changed(made, keys=keys, values=values)


def _added(made: ast.expr, node: ast.stmt) -> list[ast.expr] | None:
    """The items that a statement adds to a list, or the keys and values in turn that it adds to a dictionary."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        key = node.targets[0].slice
        plain = isinstance(made, ast.Dict) and isinstance(key, ast.Constant) and not _leaves(node.value)
        return [key, node.value] if plain else None
    if isinstance(node, ast.Assign):
        return _anew(node) if isinstance(node.value, type(made)) else None
    if isinstance(node, ast.AugAssign):
        more, joins = node.value, ast.Add if isinstance(made, ast.List) else ast.BitOr
        return _items(more) if isinstance(node.op, joins) and type(more) is type(made) else None
    call: Any = node.value if isinstance(node, ast.Expr) else None
    if call.func.attr == "setdefault":
        return _by_default(made, call)
    given = call.args[0] if len(call.args) == 1 else None
    if isinstance(made, ast.List) and given is not None and not call.keywords:
        if call.func.attr == "append":
            return None if isinstance(given, ast.Starred) or _leaves(given) else [given]
        return _items(given) if call.func.attr == "extend" and isinstance(given, ast.List | ast.Tuple) else None
    if not isinstance(made, ast.Dict) or call.func.attr != "update" or (call.args and not isinstance(given, ast.Dict)):
        return None
    found = _items(given) if isinstance(given, ast.Dict) else []
    if found is None or not all(item.arg for item in call.keywords):
        return None
    for item in call.keywords:
        found += [made_from(item, ast.Constant(value=item.arg, kind=None)), item.value]
    return found


def _by_default(made: ast.expr, call: ast.Call) -> list[ast.expr] | None:
    """What `setdefault` adds to a dictionary that has all its keys written out, and not this one."""
    keys = made.keys if isinstance(made, ast.Dict) else [None]
    known = [item.value for item in keys if isinstance(item, ast.Constant)]
    if len(known) < len(keys) or call.keywords or len(call.args) != 2:
        return None
    key, value = call.args
    plain = isinstance(key, ast.Constant) and key.value not in known and not isinstance(value, ast.Starred)
    return [key, value] if plain and not _leaves(value) else None


def _items(node: ast.expr) -> list[ast.expr] | None:
    if isinstance(node, ast.Dict):
        plain = all(isinstance(key, ast.Constant) for key in node.keys)
        found = [item for pair in zip(node.keys, node.values, strict=True) for item in pair if item]
        return found if plain else None
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else None


def _leaves(node: ast.expr) -> bool:
    """Whether the function may be left, and gone on with, while a value is worked out."""
    return any(isinstance(item, ast.Yield | ast.YieldFrom | ast.Await) for item in every_node(node))
