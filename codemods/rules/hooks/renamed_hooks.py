"""Hooks under their new names, with the parameters that they get there, guarded where they are called more often."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.syntax import Function, is_name, is_super_call, parameters
from codemods.rule import touches
from codemods.rules.hooks.batch_point import without_the_batch
from codemods.rules.hooks.removed_hooks import RemovedHook

if TYPE_CHECKING:
    import libcst as cst


@touches("head")
def renamed(node: cst.FunctionDef, *, hook: RemovedHook) -> cst.FunctionDef:
    """The hook under its new name, which does what it did where that is called more often."""
    import libcst as cst

    from codemods.rewrite.edits import body_of, statements, with_body

    added = [cst.Param(name=cst.Name(name)) for name in hook.adds]
    params = [*node.params.params, *added]
    params = [param.with_changes(comma=cst.MaybeSentinel.DEFAULT) if param in added else param for param in params]
    if added and node.params.params:
        last = node.params.params[-1]
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        params[len(node.params.params) - 1] = last.with_changes(comma=comma)
    node = node.with_changes(name=cst.Name(hook.new), params=node.params.with_changes(params=params))
    body = list(body_of(node))
    told = body[:1] if node.get_docstring() is not None else []
    if not hook.only or body == told:
        return node
    guard = statements(f"if {hook.only}:\n    pass\n")[0]
    guarded = guard.with_changes(body=cst.IndentedBlock(body=body[len(told) :]))
    return with_body(node, [*told, guarded])  # type: ignore[no-any-return]


def renamed_handing_up(node: cst.FunctionDef, *, hook: RemovedHook) -> cst.FunctionDef:
    """The hook under its new name, by which it asks its base class too."""
    import libcst as cst

    class Asking(cst.CSTTransformer):
        def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
            value = updated_node.value
            base = isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and value.func.value == "super"
            return updated_node.with_changes(attr=cst.Name(hook.new)) if base else updated_node

    return renamed(cst.ensure_type(node.visit(Asking()), cst.FunctionDef), hook=hook)


def renamed_counting(node: cst.FunctionDef, *, hook: RemovedHook, trainer: str) -> cst.FunctionDef:
    """The hook under its new name, where the count of the Trainer holds the batch already."""
    return renamed(without_the_batch(node, trainer), hook=hook)


def hands_up(method: Function, hook: RemovedHook) -> bool:
    """Whether all that a hook asks of its base class is what that does itself, with what it is given: a hook that takes
    its place with the same arguments can ask for it by its new name."""
    given = parameters(method)
    calls = [node for node in walk(method) if isinstance(node, ast.Call) and is_super_call(node, method.name)]
    whole = all([ast.unparse(each) for each in call.args] == given and not call.keywords for call in calls)
    asked = sum(is_name(node, "super") for node in walk(method))
    return bool(calls) and whole and len(calls) == asked and not hook.adds and not hook.only
