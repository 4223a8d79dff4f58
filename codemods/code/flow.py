"""Statements in their plain form."""

from __future__ import annotations

import ast
from typing import Any

from codemods.code.imports import Known
from codemods.code.trees import BLOCKS, changed

Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
COMMON = frozenset({"object", "int", "float", "str", "bool", "bytes", "dict", "list", "tuple", "set"})
LIBRARIES = frozenset({"torch", "lightning", "pytorch_lightning", "typing", "collections"})
DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def plain_blocks(tree: ast.Module, known: Known) -> ast.Module:
    """The module with every block in its plain form."""
    made: ast.Module = _Blocks(known).inside(tree, tree)
    return made


class _Blocks:
    def __init__(self, known: Known) -> None:
        self.known = known

    def inside(self, node: Any, owner: Owner) -> Any:
        """A statement with the blocks inside it in their plain form."""
        fields: dict[str, Any] = {}
        for name in BLOCKS:
            body = getattr(node, name, None)
            if isinstance(body, list) and body and (new := self.block(body, owner)) is not body:
                fields[name] = new
        for name in ("handlers", "cases"):
            parts = getattr(node, name, None)
            if parts:
                made = [self.inside(part, owner) for part in parts]
                if any(one is not other for one, other in zip(made, parts, strict=True)):
                    fields[name] = made
        return changed(node, **fields) if fields else node

    def block(self, body: list[ast.stmt], owner: Owner) -> list[ast.stmt]:
        made = [new for node in body for new in self.statement(node, owner)]
        if len(made) > 1:
            made = [node for node in made if not isinstance(node, ast.Pass)] or made[:1]
        if len(made) == len(body) and all(one is other for one, other in zip(made, body, strict=True)):
            return body
        return made or [_nothing(body[0])]

    def statement(self, node: ast.stmt, owner: Owner) -> list[ast.stmt]:
        if isinstance(node, DEFINING):
            return [self.inside(node, node)]
        if isinstance(owner, ast.ClassDef):
            return [self.inside(node, owner)]
        if isinstance(node, ast.Expr):
            return self.expression(node)
        if isinstance(node, ast.Assert):
            return [] if self.known.is_quiet(node.test) else [node]
        if isinstance(node, ast.AnnAssign):
            return _assigned(node, owner) if self.says_nothing(node.annotation) else [node]
        if isinstance(node, ast.Assign):
            return self.pairs(node)
        if isinstance(node, ast.With | ast.Try):
            return self.wrapped(node, owner)
        if isinstance(node, ast.If):
            return self.branch(node, owner)
        return [self.inside(node, owner)]

    def expression(self, node: ast.Expr) -> list[ast.stmt]:
        value = node.value
        if isinstance(value, ast.NamedExpr):
            return [_set(value, node)]
        return [] if isinstance(value, ast.Call | ast.Name) and self.known.is_quiet(value) else [node]

    def wrapped(self, node: ast.With | ast.Try, owner: Owner) -> list[ast.stmt]:
        node = self.inside(node, owner)
        if isinstance(node, ast.With):
            return node.body if all(map(self.is_null, node.items)) else [node]
        idle = all(isinstance(item, ast.Pass) for item in node.finalbody)
        return [*node.body, *node.orelse] if idle and not node.handlers else [node]

    def is_null(self, item: ast.withitem) -> bool:
        call = item.context_expr
        return (
            item.optional_vars is None
            and isinstance(call, ast.Call)
            and not (call.args or call.keywords)
            and self.known.dotted(call.func) == "contextlib.nullcontext"
        )

    def branch(self, node: ast.If, owner: Owner) -> list[ast.stmt]:
        if isinstance(node.test, ast.Constant):
            taken = node.body if node.test.value else node.orelse
            return self.block(taken, owner) if taken else []
        if isinstance(node.test, ast.NamedExpr):
            test = ast.copy_location(ast.Name(node.test.target.id, ast.Load()), node.test)
            return [_set(node.test, node.test), self.inside(changed(node, test=test), owner)]
        return [self.inside(node, owner)]

    def says_nothing(self, node: ast.expr) -> bool:
        """Whether an annotation names a common type, of which the value tells as much; one of another may be all that
        is known of the value."""
        if isinstance(node, ast.Constant):
            return node.value is None or (_said(node.value, self))
        if isinstance(node, ast.Subscript):
            return self.says_nothing(node.value)
        if isinstance(node, ast.BinOp):
            return self.says_nothing(node.left) and self.says_nothing(node.right)
        if isinstance(node, ast.Name) and node.id in COMMON:
            return True
        return (self.known.dotted(node) or "").split(".")[0] in LIBRARIES

    def pairs(self, node: ast.Assign) -> list[ast.stmt]:
        """The assignments that one of several values to as many names is."""
        target, value = node.targets[0], node.value
        if len(node.targets) > 1 or not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple):
            return [node]
        names = {item.id for item in target.elts if isinstance(item, ast.Name)}
        read = {item.id for item in ast.walk(value) if isinstance(item, ast.Name)}
        loud = [item for item in value.elts if not self.known.is_quiet(item)]
        if len(names) != len(target.elts) or len(target.elts) != len(value.elts) or names & read or len(loud) > 1:
            return [node]
        both = zip(target.elts, value.elts, strict=True)
        return [changed(node, targets=[one], value=other) for one, other in both]


def _said(text: object, blocks: _Blocks) -> bool:
    """The same of an annotation that is a string."""
    try:
        return isinstance(text, str) and blocks.says_nothing(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return False


def _assigned(node: ast.AnnAssign, owner: Owner) -> list[ast.stmt]:
    if node.value is None:
        return [] if isinstance(node.target, ast.Name) and not isinstance(owner, ast.Module) else [node]
    made = ast.Assign(targets=[node.target], value=node.value, type_comment=None)
    return [ast.copy_location(made, node)]


def _set(node: ast.NamedExpr, place: ast.AST) -> ast.stmt:
    made = ast.Assign(targets=[node.target], value=node.value, type_comment=None)
    return ast.copy_location(made, place)


def _nothing(place: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), place)
