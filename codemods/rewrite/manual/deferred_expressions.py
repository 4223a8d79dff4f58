"""Expressions of `configure_optimizers` that a loop has to work out again, in other methods, while it trains."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from codemods.code.scopes import Scope
from codemods.rewrite.manual.possible_values import Bindings

COMPOSED = (
    ast.Constant, ast.Attribute, ast.Call, ast.keyword, ast.JoinedStr, ast.FormattedValue,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
FUNCTIONS = frozenset({"str", "int", "float", "len", "max", "min", "round", "getattr", "bool"})
METHODS = frozenset({"format", "get", "join", "lower", "upper", "strip", "replace", "title", "removeprefix"})


def later(node: ast.expr, names: Bindings, scope: Scope) -> str | None:
    """The text of an expression that means the same in another method: of literals, parts of `self` and names of the
    module, and of what is plainly made of these; names of the function are followed. None for anything else."""
    made = _Deferrer(names, scope).visit(node)
    if made is None:
        return None
    text = ast.unparse(ast.fix_missing_locations(made))
    quoted = isinstance(made, ast.Constant | ast.JoinedStr) and text.endswith("'") and text.count("'") == 2
    return text.replace("'", '"') if quoted and '"' not in text and "\\" not in text else text


class _Deferrer:
    """Puts an expression together anew, or gives up."""

    def __init__(self, names: Bindings, scope: Scope) -> None:
        self.names, self.scope = names, scope

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Name) and node.id in self.names.bound:
            choices = self.names.choices(node)
            return self.visit(choices[0]) if len(choices) == 1 else None
        if isinstance(node, ast.Name):
            return node if self._is_of_module(node.id) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            known = node.func.id in FUNCTIONS and node.func.id not in self.names.bound
            parts = self._fields(node, ("args", "keywords"))
            return type(node)(node.func, **parts) if known and parts else None
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
            return None
        if not isinstance(node, COMPOSED):
            return None
        made = self._fields(node, node._fields)
        return None if made is None else type(node)(**made)

    def _fields(self, node: ast.AST, fields: Iterable[str]) -> dict[str, Any] | None:
        made: dict[str, Any] = {}
        for name in fields:
            value = getattr(node, name, None)
            parts = value if isinstance(value, list) else [value]
            found = [self.visit(part) if isinstance(part, ast.AST) else part for part in parts]
            if any(isinstance(part, ast.AST) and each is None for part, each in zip(parts, found, strict=True)):
                return None
            made[name] = found if isinstance(value, list) else found[0]
        return made

    def _is_of_module(self, name: str) -> bool:
        module = self.scope
        while module.parent is not None:
            module = module.parent
        return name in module.bindings and name not in self.scope.bindings
