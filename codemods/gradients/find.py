"""The losses of a file's LightningModules that reach the backward pass without a gradient history."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.facts import MODULE, ClassFact, Facts
from codemods.gradients.classes import fact_of, known_class
from codemods.gradients.trace import Run, follow
from codemods.gradients.values import Cut, Flow, Value
from codemods.nodes import every_node
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, is_none, results

FLAG = "automatic_optimization"


@dataclass(frozen=True)
class Lost:
    """A loss that holds no history: the class and step it belongs to, where it is handed on, what it lost its
    history to, and whether it was told to require a gradient after that, so that nothing complains."""

    item: ClassNode
    step: Function
    place: ast.AST
    cuts: tuple[Cut, ...]
    silent: bool


def modules(file: PythonFile, facts: Facts) -> Iterator[tuple[ClassNode, ClassFact]]:
    """The LightningModules of a file."""
    for item in file.classes:
        fact = fact_of(file, facts, item)
        if fact and facts.kind(fact) == MODULE:
            yield item, fact


def lost_losses(file: PythonFile, facts: Facts) -> tuple[Lost, ...]:
    """Every loss of the file's LightningModules of which it is certain that no gradient flows back from it."""
    key = "gradients.lost"
    if key not in file.memo:
        file.memo[key] = tuple(found for item, fact in modules(file, facts) for found in _lost(file, facts, item, fact))
    found: tuple[Lost, ...] = file.memo[key]
    return found


def _lost(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact) -> Iterator[Lost]:
    step = item.methods.get("training_step")
    if step is None or "backward" in item.methods or _trains_nothing(item):
        return
    run = follow(known_class(file, facts, item, fact), step)
    for place, value in _sinks(item, run):
        if value.flow is Flow.CUT:
            cuts = sorted(
                value.cuts, key=lambda cut: (getattr(cut.node, "lineno", 0), getattr(cut.node, "col_offset", 0))
            )
            silent = any(cut.node in run.revived for cut in cuts)
            yield Lost(item, step, place, tuple(cuts), silent)


def _trains_nothing(item: ClassNode) -> bool:
    """Whether the class says itself that it has no optimizer."""
    method = item.methods.get("configure_optimizers")
    return method is not None and not results(method)


def _sinks(item: ClassNode, run: Run) -> list[tuple[ast.AST, Value]]:
    """What is handed to the backward pass: by `manual_backward`, or by returning it where nothing of the class
    speaks of manual optimization."""
    if run.backward:
        return list(run.backward.items())
    if any(isinstance(node, ast.Attribute | ast.Name) and _name(node) == FLAG for node in every_node(item.node)):
        return []
    given: list[tuple[ast.AST, Value]] = []
    for node, value in run.returned.items():
        if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
            given.append((node, value.part("loss") if any(key == "loss" for key, _ in value.parts) else value.whole()))
    lossless = [value for _, value in given if value.flow is not Flow.CUT and value.flow is not Flow.PLAIN]
    return [] if lossless else given


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
