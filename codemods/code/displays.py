"""Lists and dictionaries in their plain form: written in one place, item by item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.imports import ModuleNames
from codemods.code.rows import row, unpacked
from codemods.code.tree_copies import changed, made_from

Items = list[tuple[ast.expr | None, ast.expr]]
ORDERED, COPYING = "collections.OrderedDict", "copy.copy"
MAKERS = frozenset({"dict", "list", "tuple", "sorted"})


def scattered(known: ModuleNames) -> list[ast.expr]:
    """The lists and dictionaries of a module that are written in a roundabout way."""
    calls = [item for item in known.nodes[ast.Call] if _maker(item, known) or _copied(item, known)]
    kinds = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.BinOp, ast.Subscript)
    every = [*calls, *(item for kind in kinds for item in known.nodes[kind])]
    return [item for item in every if displayed(item, known) is not None]


def displayed(node: ast.AST, known: ModuleNames) -> ast.expr | None:
    """The list or dictionary that an expression comes to, with its items in the order in which they are worked out."""
    if isinstance(node, ast.Call):
        return _copied(node, known) or _called(node, known)
    if isinstance(node, ast.Subscript):
        return node.value if isinstance(node.value, ast.List) and _is_whole(node.slice) else None
    if isinstance(node, ast.Dict) and any(key is None and isinstance(value, ast.Dict) for key, value in _items(node)):
        return _dictionary(node, [pair for key, value in _items(node) for pair in _flat(key, value)])
    if isinstance(node, ast.List) and any(isinstance(item, ast.Starred) for item in node.elts):
        made = [inner for item in node.elts for inner in unpacked(item, known)]
        return changed(node, elts=made) if made != node.elts else None
    if isinstance(node, ast.ListComp):
        return _each(node, known)
    if isinstance(node, ast.DictComp):
        return _kept(node, known)
    if isinstance(node, ast.BinOp):
        return _joined(node)
    return None


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(node.keys, node.values, strict=True)


def _flat(key: ast.expr | None, value: ast.expr) -> Items:
    return list(_items(value)) if key is None and isinstance(value, ast.Dict) else [(key, value)]


def _each(node: ast.ListComp, known: ModuleNames) -> ast.expr | None:
    """The list that a comprehension makes of what is written in it, as it is."""
    turn, name = node.generators[0], getattr(node.elt, "id", "")
    same = isinstance(turn.target, ast.Name) and turn.target.id == name
    items = row(node, known) if same and isinstance(turn.iter, ast.List | ast.Tuple) else None
    return None if items is None else made_from(node, ast.List(elts=items, ctx=ast.Load()))


def _kept(node: ast.DictComp, known: ModuleNames) -> ast.expr | None:
    """The dictionary that a comprehension makes of the pairs that it goes over, as they are."""
    turn, names = node.generators[0], [getattr(node.key, "id", ""), getattr(node.value, "id", "")]
    same = isinstance(turn.target, ast.Tuple) and [getattr(item, "id", None) for item in turn.target.elts] == names
    if not same or len(node.generators) > 1 or turn.ifs or turn.is_async or len({*names}) < len(names):
        return None
    pairs = _pairs(turn.iter, known) if not isinstance(turn.iter, ast.Dict) else None
    return None if pairs is None else _dictionary(node, pairs)


def _dictionary(place: ast.expr, items: Items) -> ast.Dict:
    return made_from(place, ast.Dict(keys=[key for key, _ in items], values=[value for _, value in items]))


def _joined(node: ast.BinOp) -> ast.expr | None:
    """Two that are put together."""
    one, other = node.left, node.right
    if isinstance(one, ast.Dict) and isinstance(other, ast.Dict) and isinstance(node.op, ast.BitOr):
        return _dictionary(node, [*_items(one), *_items(other)])
    if isinstance(one, ast.List) and isinstance(node.op, ast.Mult):
        return one if isinstance(other, ast.Constant) and other.value == 1 and type(other.value) is int else None
    if isinstance(one, ast.List) and isinstance(other, ast.List) and isinstance(node.op, ast.Add):
        return made_from(node, ast.List(elts=[*one.elts, *other.elts], ctx=ast.Load()))
    return None


def _copied(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """The list or dictionary that is copied where it is written."""
    function, given = node.func, [*node.args, *node.keywords]
    own = isinstance(function, ast.Attribute) and function.attr == "copy" and not given
    made = function.value if own and isinstance(function, ast.Attribute) else None
    if len(node.args) == len(given) == 1 and known.dotted(function) == COPYING:
        made = node.args[0]
    return made if isinstance(made, ast.Dict | ast.List) else None


def _is_whole(node: ast.expr) -> bool:
    """Whether a slice is all of what it is one of."""
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def _maker(node: ast.Call, known: ModuleNames) -> str:
    """Which of Python's functions a call makes a list or dictionary by; empty for another call. Dictionaries are in
    order."""
    name = getattr(node.func, "id", "")
    if name in MAKERS and name not in known.taken:
        return str(name)
    return "dict" if known.dotted(node.func) == ORDERED else ""


def _called(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What `dict(...)`, `list(...)` and their like make of what is written in them."""
    name = _maker(node, known)
    if not name or len(node.args) > 1:
        return None
    if name == "dict":
        pairs = _given(node, known)
        return None if pairs is None else _dictionary(node, pairs)
    given = node.args[0] if node.args and not node.keywords else None
    if name == "list" and given is None and not node.keywords:
        return made_from(node, ast.List(elts=[], ctx=ast.Load()))
    items = row(given, known) if given is not None else None
    if items is None:
        made = isinstance(given, ast.GeneratorExp) and name == "list"
        return made_from(node, ast.ListComp(given.elt, given.generators)) if made else None  # type: ignore[union-attr]
    if name == "tuple":
        return made_from(node, ast.Tuple(elts=items, ctx=ast.Load()))
    return made_from(node, ast.List(elts=items, ctx=ast.Load())) if name == "list" or len(items) == 1 else None


def _given(node: ast.Call, known: ModuleNames) -> Items | None:
    """The items that `dict(...)` is given; None where they are not written in it."""
    items: Items = []
    for first in node.args:
        pairs = _pairs(first, known)
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


def _pairs(node: ast.expr, known: ModuleNames) -> Items | None:
    if isinstance(node, ast.Dict):
        return list(_items(node))
    items = row(node, known)
    if items is None:
        return None
    pairs = [item.elts for item in items if isinstance(item, ast.Tuple | ast.List) and len(item.elts) == 2]
    if len(pairs) < len(items) or any(isinstance(item, ast.Starred) for pair in pairs for item in pair):
        return None
    return [(key, value) for key, value in pairs]
