"""A number of steps as it is meant, going by how it is written, where a part of it is not followed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from codemods.rules.steps.call_context import copy_of
from codemods.rules.steps.step_count_terms import LOADERS, NUMERIC, TermReader

_NONE: Mapping[str, ast.expr] = MappingProxyType({})
_TRAINING = ast.parse("train_dataloader()", mode="eval").body


class PlainExpression(ast.NodeTransformer):
    """An expression without what is not followed; `why` says what that was. `inner` are the functions of a method that
    are nothing but one `return`, `trained` is what a `fit` is given."""

    def __init__(self, reader: TermReader, inner: Mapping[str, ast.expr] = _NONE, trained: str = "") -> None:
        self.reader, self.inner, self.trained = reader, inner, trained
        self.why: list[str] = []

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first = node.values[0]
        if isinstance(node.op, ast.Or) and isinstance(first, ast.Attribute | ast.Name) and len(node.values) == 2:
            text = ast.unparse(first)
            if text.rpartition(".")[2] == "max_steps":
                self.why.append(f"`{text}` comes first where it is set")
                return self.visit(node.values[1])  # type: ignore[no-any-return]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = node.args[0] if node.args else None
        if isinstance(node.func, ast.Name):
            if node.func.id in self.inner and not (node.args or node.keywords):
                self.why.append(f"`{node.func.id}` is a function inside")
                return copy_of(self.inner[node.func.id])
            if node.func.id == "len" and isinstance(given, ast.Subscript) and self._is_one_of_loaders(given):
                return ast.Call(node.func, [_TRAINING], [])
        self.generic_visit(node)
        function, dotted = node.func, self.reader.resolve(node.func)
        own = dotted is not None and dotted.partition(".")[0] not in NUMERIC
        if own and isinstance(function, ast.Name) and function.id in ("ceil", "floor"):
            self.why.append(f"fixer cannot tell what `{dotted}` rounds to")
            return ast.Call(ast.Name("int", ast.Load()), node.args, node.keywords)
        other = isinstance(function, ast.Attribute) and function.attr in ("val_dataloader", "test_dataloader")
        if other and isinstance(function, ast.Attribute) and ast.unparse(function.value) == self.trained:
            self.why.append(f"`{ast.unparse(node)}` is counted, which is not what is trained on")
            return _TRAINING
        return node

    def _is_one_of_loaders(self, node: ast.Subscript) -> bool:
        """Whether an expression is an item of several loaders, and none for validation by its key."""
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        held, text = node.value, ast.unparse(node)
        name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", "")
        several = LOADERS.fullmatch(name.lstrip("_")) is not None or self.reader.is_loader(held)
        if not several or not isinstance(key, int | str) or any(word in str(key) for word in ("val", "test")):
            return False
        self.why.append(
            f"fixer does not follow the length of `{text}`"
            if text == self.trained
            else f"fixer cannot tell which of several loaders decides how long an epoch is, `{text}` or another"
        )
        return True
