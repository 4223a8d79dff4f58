"""Hooks that take a parameter's gradient for themselves and hand back an empty one."""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_name
from codemods.rule import NodeEdit
from codemods.rules.backward.hooks import GradientHook, body_of, gives_back, reads
from codemods.rules.backward.imports import unused

if TYPE_CHECKING:
    import libcst as cst

MESSAGE = "a hook on a parameter takes its gradient away before it is accumulated"
ADVICE = (
    "The hook keeps the incoming gradient and returns an uninitialised tensor, which becomes p.grad. Registered by "
    "register_post_accumulate_grad_hook (torch >= 2.1) it gets the parameter, reads p.grad and sets p.grad = None at "
    "the end; it returns nothing, and need not be registered for each forward pass."
)


def emptied(hook: GradientHook, gradient: str) -> str | None:
    """The name that a hook gives to `empty_like` of the gradient it gets, where that is what it returns."""
    names = {
        target.id
        for node in body_of(hook.function)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "empty_like"
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    returned = {value.id for value in gives_back(hook.function) if isinstance(value, ast.Name)}
    return min(names & returned, default=None) if reads(hook.function, gradient) else None


def edits(file: PythonFile, call: CallNode, hook: GradientHook, empty: str) -> tuple[NodeEdit, ...] | str:
    """The edits that let a method `take(self, p, grad)`, bound by `partial(self.take, p)`, read `p.grad`; or why
    there are none."""
    function = hook.function
    if hook.through != "partial" or not isinstance(function, ast.FunctionDef) or len(hook.given) != 2:
        return "the hook is not a method that is bound to the parameter"
    names = [item.arg for item in function.args.args]
    if len(names) != 3 or function.args.defaults or function.args.kwonlyargs or function.decorator_list:
        return "the hook takes more than the parameter and its gradient"
    if len(file.attributes(function.name)) != 1:
        return "the hook is used elsewhere too"
    if any(isinstance(node.ctx, ast.Load) for node in file.attributes("grad")):
        return "p.grad is read elsewhere in the file"
    if not _is_thrown_away(function, empty) or _rebinds(function, names[1:]):
        return "what it returns is used otherwise too"
    freeing = Counter(
        statement.value.func.id
        for statement in function.body
        if _concerns(statement, empty)
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
    )
    return (
        NodeEdit(call.node, _registered),
        NodeEdit(function, partial(_reading, parameter=names[1], gradient=names[2], empty=empty)),
        *unused(file, freeing + Counter(_bound_by(call))),
    )


def _bound_by(call: CallNode) -> list[str]:
    """`partial`, as the file calls it."""
    inner = call.node.args[0]
    return [inner.func.id] if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) else []


def _is_thrown_away(function: ast.FunctionDef, empty: str) -> bool:
    """Whether the empty tensor is made, freed and returned by statements of the function itself, and no more."""
    uses = [node for node in every_node(function) if isinstance(node, ast.Name) and node.id == empty]
    plain = [statement for statement in function.body if _concerns(statement, empty)]
    returned = [node for node in every_node(function) if isinstance(node, ast.Return)]
    return len(plain) == len(uses) and len(returned) == 1 and returned[0] is function.body[-1]


def _concerns(statement: ast.stmt, empty: str) -> bool:
    """`empty = torch.empty_like(...)`, `free(empty)` or `return empty`."""
    if isinstance(statement, ast.Assign):
        return len(statement.targets) == 1 and is_name(statement.targets[0], empty)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return (
            len(statement.value.args) == 1 and is_name(statement.value.args[0], empty) and not statement.value.keywords
        )
    return isinstance(statement, ast.Return) and statement.value is not None and is_name(statement.value, empty)


def _rebinds(function: ast.FunctionDef, names: list[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load)
        for node in every_node(function)
    )


def _registered(node: cst.Call) -> cst.Call:
    import libcst as cst

    inner = cst.ensure_type(node.args[0].value, cst.Call)
    function = cst.ensure_type(node.func, cst.Attribute)
    function = function.with_changes(attr=cst.Name("register_post_accumulate_grad_hook"))
    return node.with_changes(func=function, args=[node.args[0].with_changes(value=inner.args[0].value)])


def _reading(node: cst.FunctionDef, parameter: str, gradient: str, empty: str) -> cst.FunctionDef:
    """The hook with `grad = p.grad` at its top, `p.grad = None` at its end, and without the empty tensor."""
    import libcst as cst

    from codemods.rewrite.edits import after_docstring, body_of, statements, with_body, without_parameter

    kept: list[Any] = []
    for statement in body_of(node):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if isinstance(small, cst.Assign) and _named(small.targets[0].target, empty):
            continue
        freed = small.value.args if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else ()
        if freed and _named(freed[0].value, empty):
            continue
        if isinstance(small, cst.Return):
            statement = statement.with_changes(body=statements(f"{parameter}.grad = None\n")[0].body)
        kept.append(statement)
    index = after_docstring(kept)
    read = statements(f"{gradient} = {parameter}.grad\n")
    changed = without_parameter(node, gradient).with_changes(returns=None)
    return with_body(changed, [*kept[:index], *read, *kept[index:]])  # type: ignore[no-any-return]


def _named(node: cst.CSTNode, name: str) -> bool:
    import libcst as cst

    return isinstance(node, cst.Name) and node.value == name
