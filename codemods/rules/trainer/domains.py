"""What is known of a value besides its kind: that an option of a command line gives it, and whether it may be None."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import literal
from codemods.lightning.kinds import bound_to, is_repeatable, kind_of
from codemods.lightning.options import PARSED, Options, default_of, is_always_given, is_direct, kind_of_option

_NUMBERS = ("int", "number")
_NEVER_NONE = frozenset({"len", "int", "float", "str", "bool", "round", "min", "max", "abs", "sum", "list", "dict"})
"""Functions that give something in any case."""
_MADE = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp,
    ast.Lambda,
)  # fmt: skip
"""What makes something new."""
_DEEP = 4


def kinds_of(file: PythonFile, call: CallNode, node: ast.expr, options: Sequence[Options]) -> frozenset[str]:
    """The kind of a value; besides `number` where it is one, `option` where an option of a command line gives it, which
    is never an object of Lightning's, `flag` where that is a bool unless the command line gives a text, and `unset`
    where it is None unless the command line says otherwise."""
    kind = kind_of(file, call, node, options)
    found = {kind, "number"} if kind in _NUMBERS else {kind}
    if kind_of_option(file, call, node, options) is None:
        return frozenset(found)
    known, value = default_of(file, call, node)
    found.add("option")
    if known and value is None:
        found.add("unset")
    if type(value) is bool and kind == "?" and isinstance(node, ast.Attribute) and is_direct(file, node.attr):
        found.add("flag")
    return frozenset(found)


def may_be_none(file: PythonFile, call: CallNode, node: ast.expr, options: Sequence[Options], depth: int = 0) -> bool:
    """Whether a value may be None, as far as that is not ruled out."""
    known, value = literal(node)
    if known:
        return value is None
    if isinstance(node, _MADE):
        return False
    if isinstance(node, ast.IfExp):
        return any(may_be_none(file, call, arm, options, depth) for arm in (node.body, node.orelse))
    if isinstance(node, ast.BoolOp):
        parts = node.values[-1:] if isinstance(node.op, ast.Or) else node.values
        return any(may_be_none(file, call, part, options, depth) for part in parts)
    if isinstance(node, ast.Call):
        return not _gives_something(call, node)
    if isinstance(node, ast.Name) and depth < _DEEP:
        return _name_may(file, call, node.id, options, depth)
    if kind_of_option(file, call, node, options) is None or not isinstance(node, ast.Attribute):
        return True
    if sum(node.attr in item.kinds for item in options) > 1 or not any(word in file.text for word in PARSED):
        return True
    known, value = default_of(file, call, node)
    return value is None or not is_direct(file, node.attr) if known else not is_always_given(file, node.attr)


def _gives_something(call: CallNode, node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in _NEVER_NONE and call.scope.lookup(function.id) is None
    dotted = call.scope.resolve(function)
    return dotted in ("torch.cuda.device_count", "torch.cuda.is_available")


def _name_may(file: PythonFile, call: CallNode, name: str, options: Sequence[Options], depth: int) -> bool:
    """Whether a name may hold None. What a caller gives a parameter no annotation says, nor a default."""
    values = bound_to(file, call, name)
    return not values or any(may_be_none(file, call, value, options, depth + 1) for value in values)


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice: one that is repeatable, or a look into a mapping."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        plain = not node.keywords and all(isinstance(item, ast.Constant | ast.Name) for item in node.args)
        return plain and is_repeatable(node.func.value)
    return is_repeatable(node)
