"""Hooks on parameters that read the accumulated gradient: whether they are such, and their rewrite."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import every_node, walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import own_nodes
from codemods.rule import NodeEdit
from codemods.rules.backward.hooks import GradientHook
from codemods.rules.backward.imports import unused

if TYPE_CHECKING:
    import libcst as cst

NEW = "register_post_accumulate_grad_hook"


def is_parameter(name: str, call: CallNode, file: PythonFile) -> bool:
    """Whether a name runs over `parameters()` or `named_parameters()` at a call, or is what a function gets of it."""
    if runs_over_parameters(name, call):
        return True
    around = next((node for node in reversed(call.within) if not isinstance(node, ast.ClassDef)), None)
    if not isinstance(around, ast.FunctionDef):
        return False
    names = [item.arg for item in around.args.args if item.arg not in ("self", "cls")]
    if name not in names:
        return False
    given = [
        other.node.args[names.index(name)]
        for other in file.calls
        if (getattr(other.node.func, "id", None) or getattr(other.node.func, "attr", None)) == around.name
        and len(other.node.args) > names.index(name)
        and runs_over_parameters(getattr(other.node.args[names.index(name)], "id", ""), other)
    ]
    return bool(given)


def runs_over_parameters(name: str, call: CallNode) -> bool:
    for place in reversed(call.within):
        for node in own_nodes(place):
            if isinstance(node, ast.For | ast.comprehension) and name in {
                inner.id for inner in every_node(node.target) if isinstance(inner, ast.Name)
            }:
                return any(
                    isinstance(inner, ast.Attribute) and inner.attr in ("parameters", "named_parameters")
                    for inner in every_node(node.iter)
                )
        if isinstance(place, ast.FunctionDef) and name in {item.arg for item in place.args.args}:
            return False
    return False


def edits(file: PythonFile, call: CallNode, hook: GradientHook, name: str) -> tuple[NodeEdit, ...] | str:
    """The edits, or why there are none. `name` is what the hook calls its parameter from then on."""
    function = hook.function
    arguments = function.args
    if arguments.posonlyargs or arguments.kwonlyargs or (hook.through != "partial" and hook.needed() != 1):
        return "the hook has more than plain parameters"
    if name in [item.arg for item in arguments.args] and "#" in _head(file, function):
        return "a comment next to the hook's parameters would be lost"
    if isinstance(function, ast.Lambda):
        edit = NodeEdit(call.node, partial(_renamed, name=name))
        return (edit,) if hook.factory is None else "the hook is made by a function that returns it"
    named = [
        node
        for node in every_node(file.tree)
        if (isinstance(node, ast.Name) and node.id == function.name)
        or (isinstance(node, ast.Attribute) and node.attr == function.name)
    ]
    if len(named) != 1:
        return "the hook is used elsewhere too"
    if hook.through == "partial":
        plain = len(hook.given) == (2 if isinstance(hook.given[0], ast.Name) and hook.given[0].id == "self" else 1)
        if not plain or len(hook.parameters()) != 1:
            return "the hook takes more than the parameter"
        inner = call.node.args[0]
        name = inner.func.id if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) else ""
        return (NodeEdit(call.node, _without_partial), NodeEdit(function, _without_last), *unused(file, {name: 1}))
    return (NodeEdit(call.node, partial(_renamed, name=name)), NodeEdit(function, partial(_with_first, name=name)))


def _head(file: PythonFile, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """The lines of a function's parameters, where they take several."""
    last = max(node.lineno for node in walk(function.args) if isinstance(node, ast.arg))
    return "\n".join(file.text.splitlines()[function.lineno - 1 : last]) if last > function.lineno else ""


def _renamed(node: cst.Call, name: str) -> cst.Call:
    import libcst as cst

    function = cst.ensure_type(node.func, cst.Attribute).with_changes(attr=cst.Name(NEW))
    argument = node.args[0]
    if isinstance(argument.value, cst.Lambda):
        argument = argument.with_changes(value=_with_first(argument.value, name))
    return node.with_changes(func=function, args=[argument])


def _with_first(node: Any, name: str) -> Any:
    import libcst as cst

    from codemods.rewrite.edits import without_parameter

    if any(param.name.value == name for param in node.params.params):
        node = without_parameter(node, name)
    first, *rest = node.params.params
    renamed = first.with_changes(name=cst.Name(name), annotation=None)
    return node.with_changes(params=node.params.with_changes(params=[renamed, *rest]))


def _without_partial(node: cst.Call) -> cst.Call:
    import libcst as cst

    inner = cst.ensure_type(node.args[0].value, cst.Call)
    function = cst.ensure_type(node.func, cst.Attribute).with_changes(attr=cst.Name(NEW))
    return node.with_changes(func=function, args=[node.args[0].with_changes(value=inner.args[0].value)])


def _without_last(node: cst.FunctionDef) -> cst.FunctionDef:
    from codemods.rewrite.edits import without_parameter

    return without_parameter(node, node.params.params[-1].name.value)
