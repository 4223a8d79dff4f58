"""LIT234: gradients in a test or a prediction, which run in inference mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.literals import literal
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.modules.reached import Given, reached, running

NAMED = b"inference_mode"
EVALUATED = frozenset(
    f"{before}{stage}_{after}"
    for stage in ("test", "predict")
    for before, after in (
        ("", "step"),
        ("", "step_end"),
        ("", "epoch_end"),
        ("on_", "start"),
        ("on_", "batch_start"),
        ("on_", "batch_end"),
        ("on_", "epoch_start"),
        ("on_", "epoch_end"),
    )
)
"""The methods of a module that a Trainer calls in inference mode."""
ENABLES = "torch.enable_grad"
SETS = "torch.set_grad_enabled"
MESSAGE = "`{}` asks for gradients in {}, which runs in inference mode since Lightning 1.7"
REASON = (
    "Not rewritten: what is made there has no gradient, so that backward and torch.autograd.grad fail. Write "
    "`Trainer(inference_mode=False)` where the model is tested or predicts, which is torch.no_grad as before."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if facts.mentions.get(NAMED):
        return
    for item, fact in facts.classes_of(file, MODULE):
        yield from _found(file, item, _methods(facts, fact, item))


def _found(file: PythonFile, item: ClassNode, methods: dict[str, Function]) -> Iterator[Match]:
    told: set[ast.expr] = set()
    for each in reached(methods, EVALUATED):
        for node in _enabling(file, item.methods[each.name], dict(each.given)) if each.name in item.methods else ():
            if node not in told:
                told.add(node)
                message = MESSAGE.format(file.source_of(node).removeprefix("@"), each.hook)
                yield Match(file.span(node), message, "manual", REASON)


def _methods(facts: Facts, fact: ClassFact, item: ClassNode) -> dict[str, Function]:
    """The methods that an instance of a class has, its own and those of the project's classes above it."""
    found = {}
    for above in reversed(facts.ancestry(fact)[1:]):
        opened = facts.find_opened(f"{facts.files[above.path].module}.{above.name}", above.path)
        found.update(opened[1].methods if opened else {})
    return {**found, **item.methods}


def _enabling(file: PythonFile, method: Function, given: Given) -> Iterator[ast.expr]:
    """What switches gradients on in a method: a decorator, a context, a call."""
    runs = [*running(method, given)]
    entered = [each.context_expr for node in runs if isinstance(node, ast.With) for each in node.items]
    called = [node.value for node in runs if isinstance(node, ast.Expr)]
    for node in (*method.decorator_list, *entered, *called):
        function = node.func if isinstance(node, ast.Call) else node
        dotted = file.scope.resolve(function)
        on = isinstance(node, ast.Call) and bool(node.args) and literal(node.args[0]) == (True, True)
        if dotted == ENABLES or (dotted == SETS and on):
            yield node


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    @torch.enable_grad()
    def forces(self, positions):
        positions = positions.clone().requires_grad_(True)
        return -torch.autograd.grad(self.net(positions).sum(), positions)[0]

    def test_step(self, batch, batch_idx):
        self.log("force", self.forces(batch).norm())
"""
TRAINED = BEFORE.replace("test_step", "training_step")

RULE = Rule(
    code="LIT234",
    name="gradients-in-inference-mode",
    summary="`torch.enable_grad()` in a test or a prediction, which does nothing in inference mode",
    why=(
        "Up to 1.6 a Trainer tested, validated and predicted under torch.no_grad, in which torch.enable_grad switches "
        "gradients on again. Since 1.7 it does so under torch.inference_mode (pull request 12715), in which nothing "
        "does: energies and their forces, gradient penalties and attacks fail with a RuntimeError. Validation within "
        "fit goes on without it (run on 2.6.6)."
    ),
    fix="manual",
    versions="Lightning 0.7 - 1.6 -> 1.7 and later",
    triggers=(b"enable_grad", b"set_grad_enabled"),
    check=_check,
    mentions=(NAMED,),
    examples=(Example(BEFORE, BEFORE), Example(TRAINED, TRAINED)),
    breaks_in="1.7.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/12715",),
)
