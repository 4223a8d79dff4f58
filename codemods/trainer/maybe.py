"""Names that may stand for Lightning's Trainer: by a default, a choice, a partial, or an attribute of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.facts import TRAINER
from codemods.source import CallNode, PythonFile

PARTIAL = "functools.partial"


def may_build(file: PythonFile, call: CallNode) -> str | None:
    """The name by which a call may build a Trainer, where that is seen and not proved."""
    function = call.node.func
    if call.scope.resolve(function) or not isinstance(function, ast.Name | ast.Attribute):
        return None
    if "held.trainers" not in file.memo:
        file.memo["held.trainers"] = frozenset(_holders(file))
    name = function.attr if isinstance(function, ast.Attribute) else function.id
    kind = "attribute" if isinstance(function, ast.Attribute) else "name"
    return name if (kind, name) in file.memo["held.trainers"] else None


def _holders(file: PythonFile) -> Iterator[tuple[str, str]]:
    """What may hold a Trainer that is not built yet: plain names, parameters among them, and attributes."""
    for node, within in file.nodes_near(file.spellings("Trainer")):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_one(file, node.value):
            in_class = bool(within) and isinstance(within[-1], ast.ClassDef)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute):
                    yield "attribute", target.attr
                elif isinstance(target, ast.Name):
                    yield "attribute" if in_class else "name", target.id
        elif isinstance(node, ast.NamedExpr) and _is_one(file, node.value):
            yield "name", node.target.id
        elif isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            given = [*zip(reversed(positional), reversed(node.defaults), strict=False)]
            for argument, value in (*given, *zip(node.kwonlyargs, node.kw_defaults, strict=True)):
                if value is not None and _is_one(file, value):
                    yield "name", argument.arg


def _is_one(file: PythonFile, node: ast.expr) -> bool:
    """Whether an expression is, or may be, the class itself, or a partial of it."""
    if isinstance(node, ast.IfExp):
        return _is_one(file, node.body) or _is_one(file, node.orelse)
    if isinstance(node, ast.BoolOp):
        return any(_is_one(file, value) for value in node.values)
    if isinstance(node, ast.Call):
        return file.scope.resolve(node.func) == PARTIAL and bool(node.args) and _is_one(file, node.args[0])
    return isinstance(node, ast.Name | ast.Attribute) and file.scope.resolve(node) == TRAINER
