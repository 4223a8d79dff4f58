"""What is known of a value besides its kind: that an option of a command line gives it, and whether it may be None."""

from __future__ import annotations

import ast

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.configured_values import configured_values
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import bound_to, is_repeatable, kind_of
from codemods.lightning.options import default_of, is_direct, is_never_none, kind_of_option

_NUMBERS = ("int", "number")
_NEVER_NONE = frozenset({"len", "int", "float", "str", "bool", "round", "min", "max", "abs", "sum", "list", "dict"})
"""Functions that give something in any case."""
_MADE = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp,
    ast.Lambda,
)  # fmt: skip
"""What makes something new."""
_DEEP = 4


def kinds_of(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> frozenset[str]:
    """The kind of a value; besides `number` where it is one, `option` where an option of a command line gives it, which
    is never an object of Lightning's, `switch` where that is a bool by default, `flag` where a text is
    all else that it may be, and `unset` where it is None unless the command line says otherwise; and `item` where it is
    a part of something else."""
    kind = kind_of(facts, file, call, node)
    found = {kind, "number"} if kind in _NUMBERS else {kind}
    if isinstance(node, ast.Attribute | ast.Subscript):
        found.add("item")
    if kind_of_option(facts, file, call, node) is None:
        return frozenset(found)
    known, value = default_of(file, call, node)
    found.add("option")
    if known and value is None:
        found.add("unset")
    if type(value) is bool and kind == "?":
        direct = isinstance(node, ast.Attribute) and is_direct(file, node.attr)
        found |= {"switch", "flag"} if direct else {"switch"}
    return frozenset(found)


def may_be_none(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value may be None, as far as that is not ruled out; a parameter may be, however it is annotated."""
    known, value = literal(node)
    if known:
        return value is None
    if isinstance(node, _MADE):
        return False
    if isinstance(node, ast.IfExp):
        return any(may_be_none(facts, file, call, arm, depth) for arm in (node.body, node.orelse))
    if isinstance(node, ast.BoolOp):
        parts = node.values[-1:] if isinstance(node.op, ast.Or) else node.values
        return any(may_be_none(facts, file, call, part, depth) for part in parts)
    if isinstance(node, ast.Call):
        return not _gives_something(call, node)
    if isinstance(node, ast.Name) and depth < _DEEP:
        values = bound_to(facts, file, call, node.id)
        return not values or any(may_be_none(facts, file, call, value, depth + 1) for value in values)
    if configured := configured_values(facts, file, call, node):
        return None in configured
    if kind_of_option(facts, file, call, node) is None or not isinstance(node, ast.Attribute):
        return True
    return not is_never_none(facts, file, call, node)


def _gives_something(call: CallNode, node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in _NEVER_NONE and call.scope.lookup(function.id) is None
    dotted = call.scope.resolve(function)
    return dotted in ("torch.cuda.device_count", "torch.cuda.is_available")


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice: one that is repeatable, or a look into a mapping."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        plain = not node.keywords and all(isinstance(item, ast.Constant | ast.Name) for item in node.args)
        return plain and is_repeatable(node.func.value)
    return is_repeatable(node)
