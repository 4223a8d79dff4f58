"""Values that the code before a call compares with a number, which nothing but a number can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BLOCKS = ("body", "orelse", "finalbody")


def is_compared(file: PythonFile, call: CallNode, node: ast.expr) -> bool:
    """Whether `if value > 1:`, or the like, is always asked before a call, or by another argument of it: with text, a
    list or None it would end with a TypeError. Nothing in between may give the value anew."""
    functions = [item for item in call.within if isinstance(item, Function)]
    space: ast.AST = functions[-1] if functions else file.tree
    if any(item is call.node for each in walk(space) if isinstance(each, ast.Lambda) for item in walk(each)):
        return False  # it runs later
    text = ast.unparse(node)
    told = False
    for statement in _before(space, call.node):
        told = told and not _sets(statement, text)
        test = getattr(statement, "test", None)
        told = told or (isinstance(statement, ast.If | ast.Assert) and test is not None and _orders(test, text))
    given = (*call.node.args, *(keyword.value for keyword in call.node.keywords))
    return told or any(isinstance(item, ast.IfExp) and _orders(item.test, text) for item in given)


def _before(space: ast.AST, call: ast.Call) -> Iterator[ast.stmt]:
    """The statements that have run before a call wherever it runs: those in front of it in its own block, and in the
    blocks around, with the tests of these. Any part of a loop, `with` or `try` around it may have run: it is first."""
    block: list[ast.stmt] = getattr(space, "body", [])
    while block:
        inner: list[ast.stmt] = []
        for statement in block:
            if not any(item is call for item in walk(statement)):
                yield statement
                continue
            test = ast.Assert(test=statement.test, msg=None) if isinstance(statement, ast.If) else None
            yield ast.copy_location(test, statement) if test else statement
            for name in _BLOCKS:
                part = getattr(statement, name, [])
                if any(item is call for each in part for item in (each, *walk(each))):
                    inner = part
            break
        block = inner


def _orders(test: ast.expr, text: str) -> bool:
    """Whether a test always asks which of a value and a number is greater."""
    first = test.values[0] if isinstance(test, ast.BoolOp) else test
    if not isinstance(first, ast.Compare) or len(first.ops) != 1 or not isinstance(first.ops[0], _ORDERS):
        return False
    sides = (first.left, first.comparators[0])
    numbers = [side for side in sides if isinstance(side, ast.Constant) and type(side.value) in (int, float)]
    return len(numbers) == 1 and any(ast.unparse(side) == text for side in sides)


def _sets(statement: ast.stmt, text: str) -> bool:
    """Whether a statement may give a value, or what it is read of, anew."""
    stored = (item for item in walk(statement) if isinstance(getattr(item, "ctx", None), ast.Store | ast.Del))
    return any(text == name or text.startswith((f"{name}.", f"{name}[")) for name in map(ast.unparse, stored))
