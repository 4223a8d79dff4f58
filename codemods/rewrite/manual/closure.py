"""The closure that Lightning hands to `optimizer_step`: forward, zero_grad and backward of the step."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.code.nodes import walk
from codemods.code.syntax import Function, own_nodes, parameters, uses
from codemods.rewrite.manual.signature import GONE_KEYWORDS

PLACES = (3, 4)
INDEX = re.compile(r"(.*_)?(i|ix|idx|index|id|nb|no|num)")


def closure_parameter(method: Function) -> str | None:
    """The parameter of `optimizer_step` that gets the closure: by its name, else by its place in 1.x or 2.x."""
    names = [name for name in parameters(method) if name not in GONE_KEYWORDS]
    spoken = [name for name in (*names, *(each.arg for each in method.args.kwonlyargs)) if "closure" in name]
    placed = [names[-1]] if len(names) - 1 in PLACES and not INDEX.fullmatch(names[-1]) else []
    return next(iter([*spoken, *placed]), None)


def bare_steps(method: Function) -> list[ast.Call]:
    """The calls of `step()` without an argument, on the optimizer that the method gets."""
    optimizer = parameters(method)[2:3]
    return [
        node
        for node in own_nodes(method)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "step"
        and isinstance(node.func.value, ast.Name)
        and [node.func.value.id] == optimizer
        and not (node.args or node.keywords)
    ]


def ignores_closure(method: Function) -> bool:
    """Whether `optimizer_step` steps without the closure, as before 1.1, where backward had run already."""
    if method.args.vararg:
        return False
    closure = closure_parameter(method)
    if closure is None or not uses(method, closure):
        return True
    called = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == closure
        for node in own_nodes(method)
    )
    return bool(bare_steps(method)) and not called


def may_skip_closure(method: Function) -> bool:
    """Whether a way through `optimizer_step` runs no closure."""
    if method.args.vararg:
        return False
    closure = closure_parameter(method)
    return closure is None or not _runs(method.body, closure)


def _runs(body: Sequence[ast.stmt], closure: str) -> bool:
    """Whether every way through some statements uses the closure."""
    for statement in body:
        if isinstance(statement, ast.If):
            left = [arm for arm in (statement.body, statement.orelse) if not _runs(arm, closure)]
            if not left or uses(statement.test, closure):
                return True
            if any(isinstance(node, ast.Return) for arm in left for each in arm for node in walk(each)):
                return False
        elif isinstance(statement, ast.With | ast.Try):
            if _runs(statement.body, closure) or _runs(getattr(statement, "finalbody", []), closure):
                return True
        elif isinstance(statement, ast.Raise) or (
            uses(statement, closure) and not isinstance(statement, ast.For | ast.While)
        ):
            return True
        elif isinstance(statement, ast.Return):
            return False
    return False
