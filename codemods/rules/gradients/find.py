"""The losses of a file's LightningModules that reach the backward pass without a gradient history."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codemods.code.nodes import every_node
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_none, results
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.optimization import optimization
from codemods.rules.gradients.classes import Class, known_class
from codemods.rules.gradients.trace import TraceResult, follow
from codemods.rules.gradients.values import Cut, GradientFlow, Value


@dataclass(frozen=True)
class DetachedLoss:
    """A loss that holds no history: the class and step it belongs to, where it is handed on, what it lost its
    history to, those of these places whose value was told to require a gradient, so that nothing complains, and
    whether another `return` of the step hands on a loss that holds a history."""

    item: ClassNode
    step: Function
    place: ast.AST
    cuts: tuple[Cut, ...]
    revived: frozenset[ast.AST]
    partly: bool = False

    @property
    def silent(self) -> bool:
        return any(cut.node in self.revived for cut in self.cuts)


def lost_losses(file: PythonFile, facts: Facts) -> tuple[DetachedLoss, ...]:
    """Every loss of the file's LightningModules of which it is certain that no gradient flows back from it."""
    key, memo = "gradients.lost", memo_of(file, facts)
    if key not in memo:
        memo[key] = tuple(
            found for item, fact in facts.classes_of(file, MODULE) for found in _lost(file, facts, item, fact)
        )
    found: tuple[DetachedLoss, ...] = memo[key]
    return found


def _lost(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact) -> Iterator[DetachedLoss]:
    own = item.methods.get("training_step")
    if own is None and not any(word in file.source_of(item.node) for word in SPELLED):
        return
    known = known_class(file, facts, item, fact)
    classes = (known, *known.above())
    found = (known, own) if own else known.method("training_step")
    if found is None or any("backward" in other.item.methods for other in classes) or _trains_nothing(classes):
        return
    home, step = found
    run = follow(known, home, step)
    if not run.backward and optimization(facts, file, fact) != "automatic":
        return
    sinks = _sinks(run)
    partly = not run.backward and any(value.flow > GradientFlow.CUT for _, value in sinks)
    for place, value in sinks:
        if value.flow is not GradientFlow.CUT or (partly and not _fails_there(classes, step, value, run)):
            continue
        cuts = list(map(partial(_placed, file=file, home=home), value.cuts))
        if home is known or any(cut.path == file.path for cut in cuts):
            yield DetachedLoss(item, step, place, tuple(sorted(cuts, key=_place)), frozenset(run.revived), partly)


def _fails_there(classes: Sequence[Class], step: Function, value: Value, run: TraceResult) -> bool:
    """Whether a `return` that alone hands on a loss without a history is one that Lightning differentiates, without
    doubt: a step that others call too, or that asks whether it trains, may well give them a number there."""
    nodes = (node for other in classes for node in every_node(other.item.node))
    shared = any(isinstance(node, ast.Attribute) and node.attr in ("training_step", "training") for node in nodes)
    told = {item.node for item in value.cuts} & run.revived or any(item.how == "no_grad" for item in value.cuts)
    return not (shared or told or step.args.defaults or step.args.kwonlyargs) and all(item.sure for item in value.cuts)


def _placed(cut: Cut, file: PythonFile, home: Class) -> Cut:
    """A cut as the file that is looked at has it: calls in the file of an inherited step lead to none of its own."""
    return cut if home.file is file else replace(cut, via=None)


def _place(cut: Cut) -> tuple[str | int, ...]:
    """Where a cut is, the outer before the inner of those that begin together."""
    start = (getattr(cut.node, "lineno", 0), getattr(cut.node, "col_offset", 0))
    end = (getattr(cut.node, "end_lineno", 0), getattr(cut.node, "end_col_offset", 0))
    through = (getattr(cut.via, "lineno", 0), getattr(cut.via, "col_offset", 0))
    return cut.path, *start, *(-number for number in end), cut.how, *through, cut.sure


def _trains_nothing(classes: Sequence[Class]) -> bool:
    """Whether the class, or the nearest above it that speaks of it, says that it has no optimizer."""
    found = (other.item.methods.get("configure_optimizers") for other in classes)
    method = next((item for item in found if item is not None), None)
    return method is not None and not results(method)


def _sinks(run: TraceResult) -> list[tuple[ast.AST, Value]]:
    """What is handed to the backward pass: by `manual_backward`, or by returning it where that is not called."""
    if run.backward:
        return list(run.backward.items())
    given: list[tuple[ast.AST, Value]] = []
    for node, value in run.returned.items():
        if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
            given.append((node, value.part("loss") if any(key == "loss" for key, _ in value.parts) else value.whole()))
    return given


def steps_of(facts: Facts) -> frozenset[str]:
    """The files with LightningModules, and with classes of which a base is not seen."""
    known: frozenset[str] | None = facts.memo.get("gradients.steps")
    if known is None:
        unseen = (fact for fact in facts.classes() if None in fact.bases)
        known = facts.memo["gradients.steps"] = frozenset(fact.path for fact in (*facts.modules, *unseen))
    return known


CUTS = (".detach()", ".item()", "no_grad", "inference_mode")
"""What cuts most losses: a file with none of them, and no training step, is not looked at."""
SPELLED = (*CUTS, ".data", ".numpy()", "tensor(", "argmax", "float(", ".long()", ".int()", "==", "set_grad_enabled")
"""What a class may cut losses by, and is searched for where it inherits its training step."""


def present(file: PythonFile) -> bool:
    """Whether the file may hold a part of a training step."""
    return "training_step" in file.text or (bool(file.classes) and any(word in file.text for word in CUTS))
