"""Statements that change nothing of what those behind them do."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container

from codemods.code.nodes import every_node
from codemods.code.syntax import is_none


def ends_plainly(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function without a `return` at its end that gives nothing back."""
    last = body[-1]
    idle = isinstance(last, ast.Return) and (last.value is None or is_none(last.value))
    return body[:-1] if idle and len(body) > 1 else body


def without_set_anew(body: list[ast.stmt], told: Container[str]) -> list[ast.stmt]:
    """The statements of a block without those that set an attribute of `self` to None, of which no method is `told`,
    that another one behind sets, and nothing between may ask for."""
    often = Counter(map(_own_attribute, body))
    if all(count == 1 or not name for name, count in often.items()):
        return body
    return [
        item
        for index, item in enumerate(body)
        if often[name := _own_attribute(item)] == 1 or name in told or not _is_set_anew(item, body[index + 1 :], name)
    ]


def _is_set_anew(node: ast.stmt, behind: list[ast.stmt], name: str) -> bool:
    if not name or not isinstance(node, ast.Assign) or not is_none(node.value):
        return False
    for item in behind:
        every = [*every_node(item)]
        held = {id(each.value) for each in every if isinstance(each, ast.Attribute)}
        called = {
            id(each.func.value) for each in every if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
        }
        own = [id(each) for each in every if getattr(each, "id", "") == "self"]
        asked = any(
            getattr(each, "attr", "") == name and isinstance(getattr(each, "ctx", None), ast.Load) for each in every
        )
        above = any(getattr(each, "id", "") == "super" for each in every)
        if asked or above or not isinstance(item, ast.Assign | ast.Expr) or not set(own) <= held - called:
            return False
        if _own_attribute(item) == name:
            return True
    return False


def _own_attribute(node: ast.stmt) -> str:
    """The attribute of `self` that a statement sets, and nothing else."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return target.attr if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self" else ""


def is_given_back_anyway(node: ast.stmt, behind: list[ast.stmt]) -> bool:
    """Whether a statement gives back None where a name is None that the next one gives back."""
    following = behind[0] if behind else None
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1 or not isinstance(following, ast.Return):
        return False
    test, back = node.test, node.body[0]
    name = following.value.id if isinstance(following.value, ast.Name) else ""
    if not name or not isinstance(back, ast.Return) or not isinstance(test, ast.Compare):
        return False
    none = back.value is None or is_none(back.value)
    return none and ast.unparse(test) == f"{name} is None"
