"""LIT214: a training step that returns nothing, in a project that trains on several devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.literals import literal
from codemods.code.source import PythonFile, TextFile
from codemods.code.syntax import Function, is_none, results, returns
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.optimization import optimization
from codemods.lightning.several_devices import WORDS, configured, spreads
from codemods.lightning.versions import LIGHTNING, admits_below, reaches
from codemods.rule import Example, Match, Rule, best_levels

CODE = "LIT214"
STEP = "training_step"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile) or not reaches(facts, "2.3.0") or not admits_below(facts, LIGHTNING, "2.3.0"):
        return
    for item, fact in facts.classes_of(file, MODULE):
        step = item.methods.get(STEP)
        if step is None or not results(step):
            continue
        rest = step.body[-1] if _tells_every_index(step) else None
        skipping = [node for node in returns(step) if node is not rest and (node.value is None or is_none(node.value))]
        if not skipping or optimization(facts, file, fact) != "automatic" or not spreads(facts, CODE):
            continue
        for node in skipping:
            yield Match(
                file.span(node),
                "a training step that returns nothing fails on several devices since Lightning 2.3",
                "manual",
                "Not rewritten: where it skips a batch, return a loss that changes nothing, "
                "`0.0 * sum(each.sum() for each in self.parameters())`, or leave the batch out in the dataset; each "
                "process has to do the same.",
                "G19918",
            )


def _tells_every_index(step: Function) -> bool:
    """Whether a step returns something for the optimizers 0, 1 and so on, at least two, and then ends: at its end it
    comes for an optimizer that there is not."""
    told = [_index(node) for node in step.body[:-1] if isinstance(node, ast.If) and _gives(node.body[-1])]
    named = [index for index in told if index is not None]
    return len(named) > 1 and named == [*range(len(named))]


def _index(node: ast.If) -> object:
    """The optimizer that a condition asks for."""
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    return literal(test.comparators[0])[1] if ast.unparse(test.left) == "optimizer_idx" else None


def _gives(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and node.value is not None and not is_none(node.value)


SKIPPING = """\
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        if batch is None:
            return None
        return self(batch).mean()


trainer = Trainer(accelerator="gpu", devices=2)
"""
ALONE = SKIPPING.replace("devices=2", "devices=1")

RULE = Rule(
    code=CODE,
    name="step-returns-nothing",
    summary="A training step that returns nothing is named where several devices train",
    why=(
        "Since Lightning 2.3 a training step that returns None raises a RuntimeError when several processes train "
        "(pull request 19918): one that skipped its batch let the others wait for its gradients. On one device it "
        "still skips the batch."
    ),
    fix="manual",
    versions="Lightning 2.3 and later",
    triggers=(STEP.encode(), b"Trainer("),
    text_triggers=WORDS,
    kinds=("python", "yaml", "json"),
    check=_check,
    spelled=lambda text: STEP in text,
    collect_text=configured,
    examples=(Example(SKIPPING, SKIPPING), Example(ALONE, ALONE)),
    rows=partial(best_levels, (("G19918", "manual"),)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/19918",),
)
