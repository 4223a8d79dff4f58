"""LIT224: steps that take the loader's iterator, and parameters asked of the Trainer's model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, parameters, self_name
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.versions import reaches
from codemods.rewrite.advice import head
from codemods.rule import Example, Match, Rule, best_levels

ITERATOR = "dataloader_iter"
STEPS = {"training_step": "M318", "validation_step": "M319", "test_step": "M320", "predict_step": "M321"}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes if reaches(facts, "2.1.0") else ():
        watched = [name for name in (*STEPS, "configure_optimizers") if name in item.methods]
        fact = facts.of_class(file, item) if watched else None
        if fact is None or facts.kind(fact) != MODULE:
            continue
        yield from _iterators(file, item)
        if "configure_optimizers" in item.methods:
            yield from _wrapped(file, item.methods["configure_optimizers"])


def _iterators(file: PythonFile, item: ClassNode) -> Iterator[Match]:
    for name, row in STEPS.items():
        step = item.methods.get(name)
        if step is None or ITERATOR not in parameters(step):
            continue
        if len(parameters(step)) > 1:
            new = head(step, gone=[each for each in parameters(step) if each != ITERATOR])
            advice = f"write `{new}`, and in it `batch, batch_idx, dataloader_idx = next({ITERATOR})`"
            message = f"{name} is given only {ITERATOR} since Lightning 2.1"
            yield Match(file.head(step), message, "manual", f"Not rewritten: {advice}.", row)
        for node in walk(step):
            if isinstance(node, ast.Assign) and ast.unparse(node.value) == f"next({ITERATOR})":
                target = node.targets[0]
                if not (isinstance(target, ast.Tuple) and len(target.elts) == 3):
                    message = f"next({ITERATOR}) gives three values since Lightning 2.1"
                    reason = f"Not rewritten: write `batch, batch_idx, dataloader_idx = next({ITERATOR})`."
                    yield Match(file.span(node), message, "manual", reason, "M322")


def _wrapped(file: PythonFile, method: Function) -> Iterator[Match]:
    this = self_name(method)
    for node in walk(method):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "parameters"
            and ast.unparse(node) == (f"{this}.trainer.model.parameters")
        ):
            reason = f"Not rewritten: give `{this}.parameters()`: it is what the optimizer takes, under FSDP too."
            message = "since Lightning 2.1 FSDP's optimizer no longer takes the Trainer's model"
            yield Match(file.span(node), message, "manual", reason, "M308")


TAKES = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def training_step(self, dataloader_iter, batch_idx):
        batch = next(dataloader_iter)
        return self.layer(batch).sum()
"""
RIGHT = TAKES.replace(", batch_idx)", ")").replace("batch = next", "batch, batch_idx, dataloader_idx = next")

RULE = Rule(
    code="LIT224",
    name="loader-iterator",
    summary="Steps that take the loader's iterator, and FSDP's parameters, are named",
    why=(
        "Since Lightning 2.1 a step that asks for `dataloader_iter` gets nothing else, and next() on it gives the "
        "batch, its index and that of the loader (guide rows M318-M322, pull request 18390). FSDP's optimizer takes "
        "the parameters of the module itself (M308)."
    ),
    fix="manual",
    versions="Lightning 2.1 and later",
    triggers=(ITERATOR.encode(), b"trainer.model.parameters"),
    check=_check,
    rows=partial(best_levels, tuple((row, "manual") for row in (*STEPS.values(), "M322", "M308"))),
    examples=(Example(TAKES, TAKES), Example(RIGHT, RIGHT)),
    breaks_in="2.1.0",
)
