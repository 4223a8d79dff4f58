"""Whether a callback's hook around a batch does in the one that takes its place what it did in its own, and how it
counts there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, parameters
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from
from codemods.rules.hooks.same_point import SETTLED, after_others, keeps_given

if TYPE_CHECKING:
    import libcst as cst

POINTS = {"on_batch_start": "on_train_batch_start", "on_batch_end": "on_train_batch_end"}
COUNT = "global_step"
COUNTED = "1.6.0"
"""The first release that counts a batch before the hooks at its end."""
STEPS = (b"accumulate_grad_batches", b"optimizer_idx", b"automatic_optimization", b"truncated_bptt_steps")
"""Words without which a batch makes one step."""
_BESIDE = frozenset({COUNT, "trainer", "callback_metrics", "logged_metrics", "progress_bar_metrics"})


def differs(facts: Facts, item: ClassNode, method: Function, name: str) -> str:
    """Why the two points may not be one for a hook, as a sentence; empty where nothing tells them apart but the count
    of the batch, which `counts` says."""
    if told := after_others(facts, POINTS[name]):
        return f"Check the order: {told}."
    if keeping := keeps_given(item, {"__init__", name}):
        return f"{keeping} keeps what it is given."
    trainer, module = parameters(method)[:2]
    asked = {node for node in ast.walk(method) if _is_read(node, trainer, {*SETTLED, "current_epoch", COUNT})}
    known = {node.value for node in asked if isinstance(node, ast.Attribute)}
    names = [node for node in ast.walk(method) if isinstance(node, ast.Name) and node not in known]
    for node in names:
        if node.id == trainer or (node.id == module and isinstance(node.ctx, ast.Load)):
            return f"It takes `{node.id}`."
    beside = [node for node in ast.walk(item.node) if isinstance(node, ast.Attribute) and node.attr in _BESIDE]
    if found := next((node for node in beside if node not in asked), None):
        return f"Its class asks for `{found.attr}` in line {found.lineno}."
    if name == "on_batch_end" and _counts(method) and not _is_told(facts):
        return f"It counts by {COUNT}, which holds the batch already since 1.6."
    return ""


def counts(facts: Facts, method: Function, name: str) -> bool:
    """Whether the hook has to take the batch that just ended out of the count."""
    return name == "on_batch_end" and _counts(method) and not admits_from(facts, LIGHTNING, COUNTED)


def _counts(method: Function) -> bool:
    return any(_is_read(node, parameters(method)[0], {COUNT}) for node in ast.walk(method))


def _is_told(facts: Facts) -> bool:
    """Whether it is known what the count was at the end of a batch."""
    if not admits_below(facts, LIGHTNING, COUNTED):
        return admits_from(facts, LIGHTNING, COUNTED, "2.0")
    return not admits_from(facts, LIGHTNING, COUNTED) and _steps(facts)


def _steps(facts: Facts) -> bool:
    """Whether each batch makes one step, as far as the project says."""
    return not any(facts.kinds.get(path) != "docs" for word in STEPS for path in facts.mentions.get(word, ()))


def _is_read(node: ast.AST, trainer: str, names: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == trainer
        and node.attr in names
    )


def without_the_batch(node: cst.FunctionDef, trainer: str) -> cst.FunctionDef:
    """The hook with the count of before its batch, as it was."""
    import libcst as cst
    import libcst.matchers as m

    read = m.Attribute(value=m.Name(trainer), attr=m.Name(COUNT))
    less = cst.ensure_type(cst.parse_expression(f"({trainer}.{COUNT} - 1)"), cst.BinaryOperation)
    alone = m.BinaryOperation(left=read, operator=m.Subtract(), right=m.Integer("1"))

    def bare(found: cst.CSTNode, _: object) -> cst.CSTNode:
        return found.with_changes(value=less.with_changes(lpar=(), rpar=()))

    replaced = m.replace(m.replace(node, read, less), m.Assign(value=alone) | m.Arg(value=alone), bare)
    return cst.ensure_type(replaced, cst.FunctionDef)
