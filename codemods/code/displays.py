"""Lists and dictionaries in their plain form: written in one place, item by item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.imports import ModuleNames
from codemods.code.tree_copies import changed, made_from

Items = list[tuple[ast.expr | None, ast.expr]]
MAKERS = frozenset({"dict", "list", "tuple"})


def scattered(known: ModuleNames) -> list[ast.expr]:
    """The lists and dictionaries of a module that are written in a roundabout way."""
    calls = [item for item in known.nodes[ast.Call] if getattr(item.func, "id", "") in MAKERS or _copied(item)]
    kinds = (ast.Dict, ast.List, ast.BinOp)
    every = [*calls, *(item for kind in kinds for item in known.nodes[kind])]
    return [item for item in every if displayed(item, known) is not None]


def displayed(node: ast.AST, known: ModuleNames) -> ast.expr | None:
    """The list or dictionary that an expression comes to, with its items in the order in which they are worked out."""
    if isinstance(node, ast.Call):
        return _copied(node) or _called(node, known)
    if isinstance(node, ast.Dict) and any(key is None and isinstance(value, ast.Dict) for key, value in _items(node)):
        return _dictionary(node, [pair for key, value in _items(node) for pair in _flat(key, value)])
    if isinstance(node, ast.List) and any(isinstance(item, ast.Starred) and _is_row(item.value) for item in node.elts):
        return changed(node, elts=[inner for item in node.elts for inner in _row(item)])
    if isinstance(node, ast.BinOp):
        return _joined(node)
    return None


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _flat(key: ast.expr | None, value: ast.expr) -> Items:
    return list(_items(value)) if key is None and isinstance(value, ast.Dict) else [(key, value)]


def _is_row(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple)


def _row(item: ast.expr) -> list[ast.expr]:
    inner = item.value if isinstance(item, ast.Starred) else None
    return inner.elts if isinstance(inner, ast.List | ast.Tuple) else [item]


def _dictionary(place: ast.expr, items: Items) -> ast.Dict:
    return made_from(place, ast.Dict(keys=[key for key, _ in items], values=[value for _, value in items]))


def _joined(node: ast.BinOp) -> ast.expr | None:
    """Two that are put together."""
    one, other = node.left, node.right
    if isinstance(one, ast.Dict) and isinstance(other, ast.Dict) and isinstance(node.op, ast.BitOr):
        return _dictionary(node, [*_items(one), *_items(other)])
    if isinstance(one, ast.List) and isinstance(other, ast.List) and isinstance(node.op, ast.Add):
        return made_from(node, ast.List(elts=[*one.elts, *other.elts], ctx=ast.Load()))
    return None


def _copied(node: ast.Call) -> ast.expr | None:
    """The dictionary that is copied where it is written."""
    function = node.func if not (node.args or node.keywords) else None
    copied = isinstance(function, ast.Attribute) and function.attr == "copy" and isinstance(function.value, ast.Dict)
    return function.value if copied and isinstance(function, ast.Attribute) else None


def _called(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What `dict(...)`, `list(...)` and `tuple(...)` make of what is written in them."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in MAKERS or name in known.taken or len(node.args) > 1:
        return None
    if name == "dict":
        items = _given(node)
        return None if items is None else _dictionary(node, items)
    given = node.args[0] if node.args and not node.keywords else None
    if name == "list" and given is None and not node.keywords:
        return made_from(node, ast.List(elts=[], ctx=ast.Load()))
    if isinstance(given, ast.GeneratorExp) and name == "list":
        return made_from(node, ast.ListComp(elt=given.elt, generators=given.generators))
    if not isinstance(given, ast.List | ast.Tuple):
        return None
    made = ast.List(elts=given.elts, ctx=ast.Load()) if name == "list" else ast.Tuple(elts=given.elts, ctx=ast.Load())
    return made_from(node, made)


def _given(node: ast.Call) -> Items | None:
    """The items that `dict(...)` is given; None where they are not written in it."""
    items: Items = []
    for first in node.args:
        pairs = _pairs(first)
        if pairs is None:
            return None
        items += pairs
    for keyword in node.keywords:
        if keyword.arg is None:
            items += _flat(None, keyword.value)
        else:
            key = made_from(keyword, ast.Constant(value=keyword.arg, kind=None))
            key.end_lineno, key.end_col_offset = keyword.lineno, keyword.col_offset + len(keyword.arg.encode())
            items.append((key, keyword.value))
    return items


def _pairs(node: ast.expr) -> Items | None:
    if isinstance(node, ast.Dict):
        return list(_items(node))
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    pairs = [item.elts for item in node.elts if isinstance(item, ast.Tuple | ast.List) and len(item.elts) == 2]
    if len(pairs) < len(node.elts) or any(isinstance(item, ast.Starred) for pair in pairs for item in pair):
        return None
    return [(key, value) for key, value in pairs]
