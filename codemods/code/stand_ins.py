"""What stands in where Lightning or torch is not installed: `except ImportError: LightningModule = object`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.syntax import taken

_INSTALLED = frozenset({"lightning", "pytorch_lightning", "torch", "torchmetrics"})
_PLAIN = frozenset({"object", "Any", "typing.Any", "Module", "nn.Module", "torch.nn.Module"})


def stand_ins(statements: list[ast.stmt]) -> set[ast.stmt]:
    """The statements of a scope that bind what is imported from Lightning or torch to something without behaviour:
    None, `object`, an empty class, and on the way without the import a class that only raises or passes; what is
    imported from elsewhere, or is a class, to None, of which nobody can ask anything."""
    own = {node.name: node for node in statements if isinstance(node, ast.ClassDef)}
    named = {*_imported(statements, anywhere=True), *own}
    if not named:
        return set()
    imported = _imported(statements)
    found = {node for node in statements if _idle(node) in imported or bound_to_none(node) in named}
    for with_it, without in _ways(statements):
        names = _imported([node for node in statements if node in with_it])
        if names:
            found.update(node for node in statements if node in without and _stub(node, own) in names)
    return found


def _imported(statements: list[ast.stmt], anywhere: bool = False) -> set[str]:
    """The names that are imported from what is installed beside the project, or from anywhere."""
    return {
        alias.asname or alias.name.split(".")[0]
        for node in statements
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if anywhere or (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0] in _INSTALLED
    }


def _ways(statements: list[ast.stmt]) -> Iterator[tuple[set[ast.AST], set[ast.AST]]]:
    """What each `try` and `if` may run, and what it runs in its place."""
    for node in statements:
        if isinstance(node, ast.Try):
            yield _below(node.body), _below(node.handlers)
        elif isinstance(node, ast.If):
            yield _below(node.body), _below(node.orelse)
            yield _below(node.orelse), _below(node.body)


def _below(nodes: list[ast.stmt] | list[ast.ExceptHandler]) -> set[ast.AST]:
    return {each for node in nodes for each in walk(node)}


def bound_to_none(node: ast.stmt) -> str | None:
    """The name that a statement binds to None, or to itself."""
    target, value = _bound(node)
    none = isinstance(value, ast.Constant) and value.value is None
    return target if target and (none or getattr(value, "id", "") == target) else None


def _idle(node: ast.stmt) -> str | None:
    """The name that a statement binds to None, an empty class, `object` or `nn.Module`."""
    if isinstance(node, ast.ClassDef):
        said = [item.value if isinstance(item, ast.Expr) else item for item in node.body]
        empty = all(isinstance(item, ast.Pass | ast.Constant) for item in said)
        return node.name if empty and all(ast.unparse(base) in _PLAIN for base in node.bases) else None
    target, value = _bound(node)
    empty = isinstance(value, ast.Constant) and value.value is None
    plain = isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value) in _PLAIN
    return target if empty or plain else None


def _stub(node: ast.stmt, own: dict[str, ast.ClassDef]) -> str | None:
    """The name that a statement binds to a class of the file that calls nothing of what it is given."""
    if isinstance(node, ast.ClassDef):
        return node.name if all(map(_is_quiet, node.body)) else None
    target, value = _bound(node)
    named = own.get(value.id) if isinstance(value, ast.Name) else None
    return target if named is not None and _stub(named, own) else None


def _bound(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    """The one name that an assignment binds, with its value."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return None, None
    return (target.id, node.value) if isinstance(target, ast.Name) else (None, None)


def _is_quiet(node: ast.stmt) -> bool:
    """Whether a part of a class neither calls nor hands on what its methods are given, but to the class above."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return isinstance(node, ast.Pass | ast.Assign | ast.AnnAssign | ast.Expr)
    given = {item.arg for item in taken(node)}
    raised = {each for item in walk(node) if isinstance(item, ast.Raise) for each in walk(item)}
    calls = [item for item in walk(node) if isinstance(item, ast.Call) and item not in raised]
    return not any(
        isinstance(part, ast.Name) and part.id in given
        for call in calls
        if not _is_of_super(call)
        for part in walk(call)
    )


def _is_of_super(call: ast.Call) -> bool:
    """Whether a call is `super()`, or one of what this gives."""
    function = call.func.value if isinstance(call.func, ast.Attribute) else call
    name = function.func if isinstance(function, ast.Call) else None
    return isinstance(name, ast.Name) and name.id == "super"
