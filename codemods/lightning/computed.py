"""The kinds of what a program works out itself: counts, tests and texts."""

from __future__ import annotations

import ast

from codemods.code.literals import literal
from codemods.code.scopes import Scope

_COUNTS = ("torch.cuda.device_count",)
_IDS = ("lightning.pytorch.accelerators.find_usable_cuda_devices",)
_TESTS = ("torch.cuda.is_available", "os.path.exists", "os.path.isfile", "os.path.isdir")
_OF_LITERAL = {int: "int", type(None): "int", bool: "bool", float: "float", str: "str"}
_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that make whole numbers of whole numbers."""


def kind_of_literal(node: ast.expr) -> str:
    """`int` (None too), `bool`, `float`, `str`, or `?`."""
    known, value = literal(node)
    return _OF_LITERAL.get(type(value), "?") if known else "?"


def kind_of_computed(scope: Scope, node: ast.expr) -> str:
    """The kind of a call of a built-in function, of a count of devices, of a test or of a sum: `int`, `ids`,
    `float`, `bool`, `str`, `numbers` for a list of whole ones, or `?`."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return "bool"
    if isinstance(node, ast.BoolOp):
        return "bool" if all(kind_of_computed(scope, each) == "bool" for each in node.values) else "?"
    if isinstance(node, ast.BinOp):
        whole = isinstance(node.op, _WHOLE) and _are_whole(scope, node.left, node.right)
        return "int" if whole else "?"
    if not isinstance(node, ast.Call):
        return "?"
    if isinstance(node.func, ast.Name) and scope.lookup(node.func.id) is None:
        return _kind_of_built_in(scope, node, node.func.id)
    dotted = scope.resolve(node.func)
    if dotted in _IDS:
        return "ids"
    return "int" if dotted in _COUNTS else "bool" if dotted in _TESTS else "?"


def _kind_of_built_in(scope: Scope, call: ast.Call, name: str) -> str:
    if name in ("len", "int") or (name == "round" and len(call.args) == 1 and not call.keywords):
        return "int"
    if name == "list":
        return "numbers" if len(call.args) == 1 and _is_range(scope, call.args[0]) else "?"
    if name in ("min", "max"):
        return "int" if len(call.args) > 1 and not call.keywords and _are_whole(scope, *call.args) else "?"
    return name if name in ("float", "bool", "str") else "?"


def _is_range(scope: Scope, node: ast.expr) -> bool:
    """Whether an expression is what the built-in function `range` gives."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    return named and scope.lookup("range") is None


def _are_whole(scope: Scope, *nodes: ast.expr) -> bool:
    """Whether expressions are whole numbers, none of them None."""
    return all(type(literal(node)[1]) is int or kind_of_computed(scope, node) == "int" for node in nodes)
