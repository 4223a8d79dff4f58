"""Calls by which a hook hands what it is given to the hook of its base class."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, is_super_call, self_name
from codemods.rewrite.spelled import code_of

if TYPE_CHECKING:
    import libcst as cst


def base_calls(item: ClassNode, method: Function, name: str) -> list[ast.Call]:
    """The calls of a hook of the base class, by `super()` or by the name of a base or of a class of Lightning."""
    calls = [node for node in walk(method) if isinstance(node, ast.Call)]
    return [node for node in calls if is_super_call(node, name) or _is_by_name(item, method, node, name)]


def _is_by_name(item: ClassNode, method: Function, node: ast.Call, name: str) -> bool:
    """`Callback.on_train_batch_end(self, ...)`, of a class that is Lightning's, or a base of the method's class."""
    first = node.args[0] if node.args else None
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == name and isinstance(first, ast.Name)):
        return False
    if first.id != self_name(method):
        return False
    named = ast.dump(node.func.value) in map(ast.dump, item.node.bases)
    return named or (item.scope.resolve(node.func.value) or "").startswith(f"{ROOT}.")


def owners_of(calls: list[ast.Call]) -> frozenset[str]:
    """The texts of the classes that are named in such calls."""
    found = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
    return frozenset(ast.unparse(owner) for owner in found if not isinstance(owner, ast.Call))


def shortened(
    node: cst.FunctionDef, name: str, count: int, owners: frozenset[str], extra: tuple[str, ...]
) -> cst.FunctionDef:
    """The hook that gives its base class the first arguments alone, and no `extra` parameters by name."""
    import libcst as cst
    import libcst.matchers as m

    own = m.Call(func=m.Attribute(value=m.Call(func=m.Name("super")), attr=m.Name(name)))
    named = m.Call(func=m.Attribute(value=m.MatchIfTrue(lambda owner: code_of(owner) in owners), attr=m.Name(name)))

    def cut(found: cst.CSTNode, _: object) -> cst.CSTNode:
        assert isinstance(found, cst.Call)
        given = count if m.matches(found, own) else count + 1
        first = [item for item in found.args if item.keyword is None][:given]
        named = [item for item in found.args if item.keyword is not None and item.keyword.value not in extra]
        kept = [item for item in found.args if item in first or item in named][:given]
        if kept and len(found.args) > len(kept):
            kept[-1] = kept[-1].with_changes(comma=found.args[-1].comma)
        return found.with_changes(args=kept)

    return cst.ensure_type(m.replace(node, own | named, cut), cst.FunctionDef)
