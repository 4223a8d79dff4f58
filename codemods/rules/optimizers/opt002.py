"""OPT002: `optimizer_idx` in the training step of a class with one optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.source import ClassNode, PythonFile
from codemods.lightning.class_family import asked_of_another
from codemods.lightning.facts import MODULE, Facts
from codemods.rewrite.advice import head
from codemods.rewrite.manual.trainers import naming
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.optimizers.module import INDEX, STEP, candidates
from codemods.rules.optimizers.opt001 import collect, context
from codemods.rules.optimizers.plan import OptimizerVerdict, verdicts

if TYPE_CHECKING:
    import libcst as cst

CODE = "OPT002"
UNREAD = "The step does not use it, and with one optimizer 1.x never passed it."
ONE = "With one optimizer 1.x never passed it: it was always its default, {}."
UNCOUNTED = (
    "Not rewritten: fixer cannot tell how many it has. If there are "
    "several, which 1.x each trained on the same loss, set "
    "`self.automatic_optimization = False` and step each of self.optimizers() in training_step."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    known = {each.item.name: each for each in verdicts(facts, CODE) if each.item.path == file.path}
    for item in candidates(file):
        verdict = known.get(item.qualname)
        if verdict and verdict.what in ("drop", "keep"):
            match = _match(file, facts, item, verdict)
            yield match
            if match.edits and not verdict.item.manual and verdict.item.configured is None:
                what = (
                    f"{item.node.name} may have several optimizers, which Lightning "
                    "2.0 refuses under automatic optimization"
                )
                place = item.methods.get("configure_optimizers", item.methods[STEP])
                yield Match(file.head(place), what, "manual", UNCOUNTED, "M214")


def _match(file: PythonFile, facts: Facts, item: ClassNode, verdict: OptimizerVerdict) -> Match:
    step = item.methods[STEP]
    place = file.head(step)
    message = f"{item.node.name}.training_step takes `optimizer_idx`, which Lightning 2.0 removed"
    refusal = verdict.refusal or _refusal(file, facts, item)
    if refusal:
        reason = f"Not rewritten: {refusal}. Write `{head(step, gone=(INDEX,))}`."
        return Match(place, message, "manual", reason, "M214")
    doubts = [*verdict.doubts, *_callers(facts, verdict)]
    constant = verdict.constant
    fine = ONE.format(constant) if constant else UNREAD
    reason = f"Check this: {'; '.join(doubts)}." if doubts else fine
    edit = NodeEdit(step, partial(_with_constant, value=constant) if constant else _without_index)
    return Match(place, message, "unsafe" if doubts else "safe", reason, "M214", edits=(edit,), unit=verdict.unit)


def _refusal(file: PythonFile, facts: Facts, item: ClassNode) -> str | None:
    fact = facts.of_class(file, item)
    if fact is None or facts.kind(fact) != MODULE:
        return "its bases cannot be followed to LightningModule"
    if sum(other.qualname == item.qualname for other in file.classes) > 1:
        return "the file defines two classes of that name"
    if any(argument.arg == INDEX for argument in item.methods[STEP].args.kwonlyargs):
        return "it is taken by name alone"
    for call in file.calls:
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == STEP:
            given = [keyword.arg for keyword in call.node.keywords]
            starred = any(isinstance(value, ast.Starred) for value in call.node.args)
            if len(call.node.args) > 2 or INDEX in given or None in given or starred:
                return f"line {call.node.lineno} may give the index to training_step"
    return None


def _callers(facts: Facts, verdict: OptimizerVerdict) -> Iterator[str]:
    fact = facts.files[verdict.item.path].find(verdict.item.name)
    calling = facts.mentions.get(b".training_step", frozenset()) - {verdict.item.path}
    if fact and naming(facts, fact) & calling:
        yield f"training_step is called by name in {min(naming(facts, fact) & calling)}, perhaps with the index"
    elif fact and (told := asked_of_another(facts, fact, STEP)):
        yield f"{told}, perhaps with the index"


@touches("head")
def _without_index(node: cst.FunctionDef) -> cst.FunctionDef:
    from codemods.rewrite.edits import without_parameter

    return without_parameter(node, INDEX)


def _with_constant(node: cst.FunctionDef, value: str) -> cst.FunctionDef:
    from codemods.rewrite.edits import begun, without_parameter

    return begun(without_parameter(node, INDEX), f"{INDEX} = {value}\n")


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx=None):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
AFTER = BEFORE.replace(", optimizer_idx=None", "")
READ = BEFORE.replace(".mean()", ".mean() * (optimizer_idx or 1)")
TOLD = READ.replace(", optimizer_idx=None):\n", "):\n        optimizer_idx = None\n")
PLAIN = BEFORE.replace("(LightningModule)", "(torch.nn.Module)")

RULE = Rule(
    code=CODE,
    name="dead-optimizer-index",
    summary="The `optimizer_idx` of a training step with one optimizer goes, or becomes what it always was",
    why=(
        "Lightning 2.0 refuses a training step that takes `optimizer_idx`, even with a default and one optimizer "
        "(guide row M214, pull request 16539): RuntimeError. With one optimizer 1.x never gave the argument."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; the result runs on every version",
    triggers=(b"optimizer_idx",),
    check=_check,
    rows=partial(best_levels, (("M214", "safe"),)),
    examples=(Example(BEFORE, AFTER), Example(READ, TOLD), Example(PLAIN, PLAIN)),
    breaks_in="2.0.0",
    needs="1.5.0",
    collect=collect,
    context=context,
    present=lambda file: bool(candidates(file)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16539",),
)
