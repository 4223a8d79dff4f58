"""How often a LightningModule steps its optimizers in one training step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.facts import ClassFact, Facts
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, is_self_attribute, own_nodes, self_name

LOOPS = (ast.For, ast.While, ast.AsyncFor)
SUSPECT = b"automatic_optimization"


def is_manual(item: ClassNode) -> bool:
    """Whether the class switches automatic optimization off itself."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and node.value.value is False
        and any(
            isinstance(target, ast.Attribute | ast.Name)
            and (target.attr if isinstance(target, ast.Attribute) else target.id) == "automatic_optimization"
            for target in node.targets
        )
        for node in ast.walk(item.node)
    )


def stepping(facts: Facts, file: PythonFile, item: ClassNode) -> str | None:
    """Why one batch may be more, or less, than one step of one optimizer; None where it is one under automatic
    optimization, or plainly one under manual."""
    known = facts.files[file.path].find(item.qualname) if file.path in facts.files else None
    related = [*(facts.ancestry(known) or ()), *facts.subclasses(known)] if known else []
    local = {other.qualname: other for other in file.classes}
    classes = [item, *(local[fact.name] for fact in related if fact.path == file.path and fact.name in local)]
    if any("training_step" in other.methods and _optimizer_index(other.methods["training_step"]) for other in classes):
        return "several optimizers step in one batch, which the count does not know"
    if not any(map(is_manual, classes)):
        away = [fact for fact in related if fact.path != file.path and _may_be_manual(facts, fact)]
        return f"{away[0].name} ({away[0].path}) may optimize by hand" if away else None
    for other in classes:
        step = other.methods.get("training_step")
        if step and (why := _irregular(step)):
            return why
    return None


def _may_be_manual(facts: Facts, fact: ClassFact) -> bool:
    return fact.path in facts.mentions.get(SUSPECT, frozenset())


def _optimizer_index(step: Function) -> bool:
    return any(argument.arg == "optimizer_idx" for argument in step.args.args)


def _irregular(step: Function) -> str | None:
    """Why a manual training_step does not step one optimizer once."""
    optimizers = optimizers_of(step)
    steps = list(optimizer_steps(step, optimizers))
    if len(optimizers) > 1 or len(steps) > 1:
        return "several optimizers step in one batch, which the count does not know"
    if not steps:
        return "training_step steps the optimizer where it is not seen"
    for node in ast.walk(step):
        if isinstance(node, LOOPS) and any(inner is steps[0] for inner in ast.walk(node)):
            return "the optimizer steps in a loop, several times a batch"
        if isinstance(node, ast.If) and any(inner is steps[0] for inner in ast.walk(node)):
            return "the optimizer does not step in every batch"
    return None


def optimizers_of(step: Function) -> list[str]:
    """The names that hold what `self.optimizers()` gives."""
    me, found = self_name(step), []
    for node in own_nodes(step):
        if not isinstance(node, ast.Assign) or not _gives_optimizers(node.value, me):
            continue
        for target in node.targets:
            found += [
                ast.unparse(item) for item in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
            ]
    return list(dict.fromkeys(found))


def _gives_optimizers(node: ast.expr, me: str) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Call) and is_self_attribute(node.func, "optimizers", me)


def optimizer_steps(step: Function, optimizers: list[str]) -> Iterator[ast.Call]:
    """The calls of `step()` of some optimizers, or of `self.optimizers()` itself."""
    me = self_name(step)
    for node in own_nodes(step):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            value = node.func.value
            if ast.unparse(value) in optimizers or _gives_optimizers(value, me):
                yield node
