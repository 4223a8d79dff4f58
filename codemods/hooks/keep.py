"""The edits of LIT201: a step that keeps its results in a list, and the hook that takes the list."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from codemods import edits
from codemods.hooks.epoch_end import EpochEnd, Stage
from codemods.hooks.results import always_returns, needs_guard, train_result
from codemods.source import ClassNode
from codemods.syntax import Function, is_none, parameters, returns


def keep_results(node: cst.ClassDef, item: ClassNode, hook: EpochEnd) -> cst.ClassDef:
    """The class with the hook under its new name, and its step keeping in a list what the hook reads."""
    stage = hook.stage
    given = parameters(item.methods[stage.old])[0]

    def rename(method: cst.FunctionDef) -> list[Any]:
        method = edits.without_parameter(method, method.params.params[1].name.value)
        method = method.with_changes(name=method.name.with_changes(value=stage.new))
        if not hook.reads:
            return [method]
        body = edits.body_of(method)
        taken = edits.statements(f"{given}, self.{stage.kept} = self.{stage.kept}, []\n")
        index = edits.after_docstring(body)
        return [edits.with_body(method, [*body[:index], *taken, *body[index:]])]

    node = edits.change_method(node, stage.old, rename)
    if not hook.reads:
        return node
    node = edits.change_method(node, stage.step, lambda step: [_keeping(step, item, stage)])
    made = f"self.{stage.kept} = []\n"
    if "__init__" in item.methods:
        return edits.change_method(node, "__init__", lambda init: edits.after_super_init(init, made))
    return edits.add_method(node, f"def {stage.start}(self):\n    {made}", before=stage.step)


def _keeping(step: cst.FunctionDef, item: ClassNode, stage: Stage) -> cst.FunctionDef:
    """The step with its result put on the list at every `return`."""
    pending = iter(returns(item.methods[stage.step]))

    class Keep(cst.CSTTransformer):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
            return node is step

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return False

        def visit_ClassDef(self, node: cst.ClassDef) -> bool:
            return False

        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> Any:
            last = updated_node.body[-1]
            if not isinstance(last, cst.Return):
                return updated_node
            found = next(pending)
            if found.value is None or last.value is None or is_none(found.value):
                return updated_node
            return cst.FlattenSentinel(_kept_lines(updated_node, last, found.value, item, stage))

        def leave_SimpleStatementSuite(
            self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
        ) -> Any:
            if not isinstance(updated_node.body[-1], cst.Return):
                return updated_node
            line = cst.SimpleStatementLine(body=updated_node.body, trailing_whitespace=updated_node.trailing_whitespace)
            kept = self.leave_SimpleStatementLine(line, line)
            return cst.IndentedBlock(body=list(kept)) if isinstance(kept, cst.FlattenSentinel) else updated_node

    result: cst.FunctionDef = step.visit(Keep())  # type: ignore[assignment]
    return result


def _kept_lines(
    line: cst.SimpleStatementLine, last: cst.Return, value: ast.expr, item: ClassNode, stage: Stage
) -> list[cst.BaseStatement]:
    step = item.methods[stage.step]
    named = isinstance(value, ast.Name)
    name = value.id if isinstance(value, ast.Name) else _free_name(step)
    lines: list[cst.BaseStatement] = []
    if not named:
        assign = edits.statements(f"{name} = None\n")[0]
        assert last.value is not None
        assign = assign.with_changes(
            body=[
                assign.body[0].with_changes(value=last.value)  # type: ignore[index]
            ]
        )
        lines.append(assign)
    append = f"self.{stage.kept}.append({_stored(item, value, name, stage)})\n"
    if not stage.train and needs_guard(step, value, item.scope) and not always_returns(item, value):
        append = f"if {name} is not None:\n    {append}"
    lines.extend(edits.statements(append))
    before = list(line.body[:-1])
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    if before:
        before[-1] = edits.without_semicolon(before[-1])
        lines.insert(0, line.with_changes(body=before, trailing_whitespace=cst.TrailingWhitespace()))
        lines[1] = lines[1].with_changes(leading_lines=[])
    returned = last.with_changes(value=cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" "))
    lines.append(line.with_changes(body=[returned], leading_lines=[]))
    return lines


def _free_name(step: Function) -> str:
    used = {name for node in ast.walk(step) for name in _names(node)}
    return next(name for name in ("output", "result", "step_output", "returned") if name not in used)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    return node.names if isinstance(node, ast.Global | ast.Nonlocal) else []


def _stored(item: ClassNode, value: ast.expr, name: str, stage: Stage) -> str:
    """1.x handed training outputs over as dicts with a detached loss, the others as they were returned."""
    if not stage.train:
        return name
    if train_result(item.methods[stage.step], value, item.scope) == "tensor":
        return f'{{"loss": {name}.detach()}}'
    return f"apply_to_collection({name}, torch.Tensor, torch.Tensor.detach)"
