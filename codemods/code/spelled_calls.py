"""Calls of what stands for an operator, an attribute or another call, as what they stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.assigning import is_attribute
from codemods.code.conditions import ALWAYS
from codemods.code.imports import ModuleNames
from codemods.code.tree_copies import changed, made_from

BINARY: Mapping[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "matmul": ast.MatMult, "and_": ast.BitAnd, "or_": ast.BitOr,
}  # fmt: skip
COMPARED: Mapping[str, type[ast.cmpop]] = {
    "eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "is_": ast.Is,
    "is_not": ast.IsNot,
}  # fmt: skip
ASKING = ("operator.attrgetter", "operator.itemgetter", "operator.methodcaller")
METHODS = frozenset({"__call__", "__getitem__", "__getattribute__"})


def spelled_out(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What a call stands for; None where it is plain, or what it stands for is not known."""
    function = node.func
    if isinstance(function, ast.Attribute):
        found = _of_method(node, function, known) or _of_class(node, function, known)
        if found is not None:
            return found
    if isinstance(function, ast.Call):
        return _asked(node, function, known)
    dotted = known.dotted(function) or ""
    if not dotted.startswith("operator.") or not node.args or any(isinstance(item, ast.Starred) for item in node.args):
        return None
    name = dotted.partition(".")[2]
    if name == "call":
        return changed(node, func=node.args[0], args=node.args[1:])
    return None if node.keywords else _operated(name, node)


def _operated(name: str, node: ast.Call) -> ast.expr | None:
    """What a function of `operator` makes of what it is given."""
    first, *rest = node.args
    if name == "not_" and not rest:
        return made_from(node, ast.UnaryOp(op=ast.Not(), operand=first))
    if len(rest) != 1:
        return None
    if name == "getitem":
        return made_from(node, ast.Subscript(value=first, slice=rest[0], ctx=ast.Load()))
    if name in BINARY:
        return made_from(node, ast.BinOp(left=first, op=BINARY[name](), right=rest[0]))
    if name in COMPARED:
        return made_from(node, ast.Compare(left=first, ops=[COMPARED[name]()], comparators=rest))
    return None


def _asked(node: ast.Call, maker: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What `attrgetter`, `itemgetter` and `methodcaller` ask of what they are given at once."""
    kind = known.dotted(maker.func)
    if kind not in ASKING or node.keywords or len(node.args) != 1 or not maker.args:
        return None
    of, first = node.args[0], maker.args[0]
    if isinstance(of, ast.Starred) or isinstance(first, ast.Starred):
        return None
    if kind == ASKING[1]:
        single = len(maker.args) == 1 and isinstance(first, ast.Constant)
        return made_from(node, ast.Subscript(value=of, slice=first, ctx=ast.Load())) if single else None
    names = str(first.value).split(".") if isinstance(first, ast.Constant) else []
    if not names or not all(map(is_attribute, names)):
        return None
    if kind == ASKING[0]:
        return _attribute(of, names, node) if len(maker.args) == 1 else None
    given = [*maker.args[1:], *(item.value for item in maker.keywords)]
    steady = isinstance(of, ast.Name) or known.dotted(of) or all(isinstance(item, ast.Constant) for item in given)
    if len(names) > 1 or not (steady or (isinstance(of, ast.Attribute) and all(map(known.is_quiet, given)))):
        return None
    return changed(node, func=_attribute(of, names, maker), args=maker.args[1:], keywords=maker.keywords)


def _attribute(of: ast.expr, names: list[str], place: ast.Call) -> ast.expr:
    for name in names:
        of = made_from(place, ast.Attribute(value=of, attr=name, ctx=ast.Load()))
    return of


def _of_method(node: ast.Call, function: ast.Attribute, known: ModuleNames) -> ast.expr | None:
    """What the method that Python asks for does, where it is called by its name."""
    of, name = function.value, function.attr
    if name not in METHODS or name in known.methods or name in known.said:
        return None
    if name == "__call__":
        return changed(node, func=of) if isinstance(of, ast.Attribute) and _is_object(of) else None
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if given is None or isinstance(given, ast.Starred):
        return None
    if name == "__getitem__":
        return made_from(node, ast.Subscript(value=of, slice=given, ctx=ast.Load())) if _is_object(of) else None
    asked = given.value if isinstance(given, ast.Constant) else None
    own = is_attribute(asked) and "__getattr__" not in known.methods and getattr(of, "id", "") == "self"
    return _attribute(of, [str(asked)], node) if own else None


def _is_object(node: ast.expr) -> bool:
    """Whether an expression is no class, as far as its name says: of that a method is another."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "C")
    return name[:1].islower() and not any(part in name for part in ("cls", "class", "super"))


def _of_class(node: ast.Call, function: ast.Attribute, known: ModuleNames) -> ast.Call | None:
    """The call of a method of `self` that is asked for of its class."""
    owner, first = function.value, node.args[0] if node.args else None
    name = function.attr
    if getattr(first, "id", "") != "self" or name in known.set_attributes or name in known.said:
        return None
    if isinstance(owner, ast.Call):
        plain = len(owner.args) == 1 and not owner.keywords and "type" not in known.taken
        of = owner.args[0] if plain and getattr(owner.func, "id", "") == "type" else None
    else:
        of = owner.value if isinstance(owner, ast.Attribute) and owner.attr == "__class__" else None
    method = name in ALWAYS or name in known.methods
    if getattr(of, "id", "") != "self" or not method or name in known.decorated or of is None:
        return None
    return changed(node, func=changed(function, value=of), args=node.args[1:])
