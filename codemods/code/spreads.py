"""Dictionaries that are made to be spread over a call, or put into another, and for nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.nodes import children, every_node
from codemods.code.tree_copies import DEFINING

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
APART = frozenset({*DEFINING, ast.Lambda, *COMPREHENSIONS})
"""What has names of its own."""
SIMPLE = (ast.Expr, ast.Assign, ast.Return)
UNSURE = (
    ast.Await,
    ast.BoolOp,
    ast.Dict,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.Yield,
    ast.YieldFrom,
    *COMPREHENSIONS,
)
"""Of what stands in one, not all is worked out, or in another order."""
CALLED = object()


def is_spread(
    value: ast.expr,
    load: ast.Name,
    owner: ast.AST,
    behind: Sequence[ast.stmt],
    settled: Callable[[str], bool],
    known: ModuleNames,
) -> bool:
    """Whether a dictionary is only spread over the arguments of a call of its function, and the same there: of
    constants, and of `settled` names too where the next statement makes the call. One that stands further off goes to
    no class, by its capital, and to nothing that is imported: what those are given is rewritten where it stands."""
    parts = [*value.keys, *value.values] if isinstance(value, ast.Dict) else []
    following = behind[0] if behind and isinstance(behind[0], SIMPLE) else None
    near = following is not None and any(item is load for item in nodes_run_here(following))
    names = [item.id for item in parts if isinstance(item, ast.Name)]
    if not parts or (names and not (near and all(map(settled, names)) and not _binds(following, names))):
        return False
    calls = (item for item in nodes_run_here(owner) if isinstance(item, ast.Call))
    taking = [call for call in calls if any(item.arg is None and item.value is load for item in call.keywords)]
    return all(isinstance(item, ast.Constant | ast.Name) for item in parts) and any(
        near or (known.dotted(call.func) is None and not _last_name(call.func)[:1].isupper()) for call in taking
    )


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _binds(node: ast.stmt | None, names: Sequence[str]) -> bool:
    every = every_node(node) if node else ()
    return any(isinstance(item, ast.Name) and item.id in names and not isinstance(item.ctx, ast.Load) for item in every)


def is_copied(value: ast.Dict, load: ast.Name, following: ast.stmt, known: ModuleNames) -> bool:
    """Whether a statement makes another dictionary of one, and works nothing out before it that may be seen."""
    made = following.value if isinstance(following, SIMPLE) else None
    if isinstance(made, ast.Call) and getattr(made.func, "id", "") == "dict" and "dict" not in known.taken:
        return made.args[:1] == [load]
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        return made.func.value is load and made.func.attr == "copy"
    parts = [made.left, made.right] if isinstance(made, ast.BinOp) and isinstance(made.op, ast.BitOr) else []
    if isinstance(made, ast.Dict):
        parts = [item for key, item in zip(made.keys, made.values, strict=True) if key is None]
        first = made.keys[:1] == [None]
    else:
        first = bool(parts)
    return any(item is load for item in parts) and ((first and parts[0] is load) or known.is_quiet(value))


def is_read_first(node: ast.expr, load: ast.Name) -> bool:
    """Whether an expression reads a name before it does anything."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if item is load:
            return True
        if item is CALLED or isinstance(item, UNSURE):
            return False
        if isinstance(item, ast.Call):
            stack.append(CALLED)
        stack += reversed(children(item))
    return False


def nodes_run_here(owner: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module, without those of functions, classes and comprehensions inside it."""
    stack: list[Any] = [owner]
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in APART or node is owner:
            stack += children(node)
