"""What is gone over where it is written: items of lists, tuples and views of dictionaries, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.tree_copies import at, replaced, twin

FIRST = {
    ast.Attribute: "value", ast.Subscript: "value", ast.Call: "func", ast.Compare: "left", ast.BinOp: "left",
    ast.BoolOp: "values", ast.UnaryOp: "operand", ast.IfExp: "test",
}  # fmt: skip
"""The field that is worked out first, by the class of an expression."""
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
TAKING = frozenset({"iter", "list", "tuple", "sorted", "reversed", "zip", "enumerate", "map"})
"""Functions that give an item for each that they are given."""
MANY = 16
"""A loop of more turns is left as it is."""
OWN = (ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What binds names where an expression is worked out."""


def row(node: ast.expr, known: ModuleNames) -> list[ast.expr] | None:
    """The items that somebody who goes over an expression at once is given, in the order in which they are worked out;
    None where that is not written in it."""
    if isinstance(node, ast.List | ast.Tuple):
        found = [inner for item in node.elts for inner in unpacked(item, known)]
        return None if any(isinstance(item, ast.Starred) for item in found) else found
    if isinstance(node, ast.Dict):
        return _view(node, "keys")
    if isinstance(node, ast.Set):
        return node.elts if len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred) else None
    if isinstance(node, COMPREHENSIONS):
        turn = node.generators[0]
        if len(node.generators) > 1 or turn.ifs or turn.is_async:
            return None
        if isinstance(turn.target, ast.Name) and turn.target.id == getattr(node.elt, "id", None):
            return row(turn.iter, known)
        only = _of_one_turn(node.elt, turn, known)
        return None if only is None else [only]
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute):
        return _view(node.func.value, node.func.attr) if not node.args else None
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in TAKING or name in known.taken or not node.args:
        return None
    if name == "map":
        over = row(node.args[1], known) if len(node.args) == 2 else None
        alone = over is not None and len(over) == 1
        return [_new(ast.Call(func=node.args[0], args=over, keywords=[]), node)] if alone and over else None
    rows = [row(item, known) for item in node.args]
    given = [item for item in rows if item is not None]
    if len(given) < len(rows):
        return None
    if name == "zip":
        return _beside(given, known)
    if len(given) > 1:
        return None
    if name == "enumerate":
        return [_pair(_new(ast.Constant(index, None), item), item) for index, item in enumerate(given[0])]
    turned = name in ("sorted", "reversed") and len(given[0]) > 1
    return None if turned else given[0]


def unpacked(item: ast.expr, known: ModuleNames) -> list[ast.expr]:
    """What an item gives the row in which it stands: those of another where it is `*[...]`."""
    inner = row(item.value, known) if isinstance(item, ast.Starred) else None
    return [item] if inner is None else inner


def _new(made: ast.expr, place: ast.expr) -> ast.expr:
    return ast.copy_location(made, place)


def _pair(one: ast.expr, other: ast.expr) -> ast.expr:
    return _new(ast.Tuple(elts=[one, other], ctx=ast.Load()), other)


def _view(node: ast.expr, name: str) -> list[ast.expr] | None:
    """What a view of a dictionary holds whose keys are all different constants."""
    if not isinstance(node, ast.Dict) or name not in ("keys", "values", "items"):
        return None
    keys = [item.value for item in node.keys if isinstance(item, ast.Constant)]
    if len(keys) < len(node.keys) or len(set(map(repr, keys))) < len(keys):
        return None
    if any(type(item) not in (str, int) for item in keys) or len({*keys}) < len(keys):
        return None
    pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key]
    if name == "items":
        return [_pair(key, value) for key, value in pairs]
    if name == "values":
        return list(node.values)
    return [key for key, _ in pairs] if all(isinstance(value, ast.Constant | ast.Name) for _, value in pairs) else None


def _beside(rows: list[list[ast.expr]], known: ModuleNames) -> list[ast.expr] | None:
    """What `zip` makes of rows of one length, of which the last alone may do something."""
    quiet = all(known.is_quiet(item) for each in rows[:-1] for item in each)
    if not quiet or len({*map(len, rows)}) > 1:
        return None
    return [_new(ast.Tuple(elts=[*items], ctx=ast.Load()), items[-1]) for items in zip(*rows, strict=True)]


def _of_one_turn(made: ast.expr, turn: ast.comprehension, known: ModuleNames) -> ast.expr | None:
    """The one item that a comprehension makes of the one that it goes over."""
    names = {item.id for item in every_node(turn.target) if isinstance(item, ast.Name)}
    said = [item for item in every_node(made) if isinstance(item, ast.Name)]
    if any(item.id in known.bound_in_classes for item in said if item.id not in names):
        return None
    if _turns_once(turn.iter, known) and not any(item.id in names for item in said):
        return made
    over = row(turn.iter, known)
    if over is None or len(over) != 1:
        return None
    return _instead(made, turn.target, over[0])


def _turns_once(node: ast.expr, known: ModuleNames) -> bool:
    return ast.unparse(node) in ("range(1)", "range(0, 1)") and "range" not in known.taken


def _instead(node: ast.expr, target: ast.expr, item: ast.expr) -> ast.expr | None:
    """An expression with what its names stand for; None where that might be worked out otherwise there."""
    if isinstance(target, ast.Tuple) and isinstance(item, ast.Tuple) and len(target.elts) == len(item.elts):
        pairs = [*zip(target.elts, item.elts, strict=True)]
    else:
        pairs = [(target, item)]
    values = {one.id: other for one, other in pairs if isinstance(one, ast.Name)}
    if len(values) < len(pairs) or any(isinstance(inner, OWN) for inner in every_node(node)):
        return None
    doing = [name for name, value in values.items() if not isinstance(value, ast.Constant | ast.Name)]
    said = [inner.id for inner in every_node(node) if isinstance(inner, ast.Name)]
    if doing and (len(doing) > 1 or said.count(doing[0]) != 1 or getattr(first_of(node), "id", "") != doing[0]):
        return None

    def swap(inner: ast.AST) -> ast.AST | None:
        value = values.get(inner.id) if isinstance(inner, ast.Name) else None
        return at(value, inner) if isinstance(value, ast.Constant | ast.Name) else value

    return replaced(node, swap)


def turn_by_turn(node: ast.For, items: list[ast.expr], known: ModuleNames) -> list[ast.stmt] | None:
    """The one statement of a loop for each item that this goes over, where it fills something with names and
    constants."""
    body = node.body[0]
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    names = [item.id for item in targets if isinstance(item, ast.Name)]
    if len(node.body) > 1 or len(items) > MANY or len(names) < len(targets) or not _fills(body):
        return None
    if any(isinstance(item, OWN) for item in every_node(body)):
        return None
    made: list[ast.stmt] = []
    for item in items:
        values = item.elts if isinstance(node.target, ast.Tuple) and isinstance(item, ast.Tuple) else [item]
        if len(values) != len(names) or not all(isinstance(value, ast.Constant | ast.Name) for value in values):
            return None
        if any(isinstance(value, ast.Name) and known.names.stores[value.id] > 1 for value in values):
            return None
        made.append(replaced(twin(body), partial(_said_as, dict(zip(names, values, strict=True)))))
    return made


def _fills(node: ast.stmt) -> bool:
    """Whether a statement puts something into an object."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return getattr(function, "id", "") == "setattr" or getattr(function, "attr", "") in ("append", "setdefault")
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return isinstance(target, ast.Subscript)


def _said_as(values: Mapping[str, ast.expr], node: ast.AST) -> ast.AST | None:
    value = values.get(node.id) if isinstance(node, ast.Name) else None
    return None if value is None else at(value, node)


def first_of(node: ast.expr) -> ast.expr:
    """What is worked out before all else in an expression."""
    while (field := FIRST.get(type(node))) is not None:
        inner = getattr(node, field)
        node = inner[0] if isinstance(inner, list) else inner
    return node
