"""BWD006: a backward pass made only to read one weight's gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from codemods.code.calls import last_name
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, self_name, taken_name
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.backward.names import MethodNames
from codemods.rules.backward.passes import Pass, Truth, blocks, read_pass, told
from codemods.rules.backward.raw import on_tensor
from codemods.rules.backward.training import ROOTS, ProjectTraining, collect

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD006"
MESSAGE = "a backward pass is made to read one gradient, and its other gradients are discarded"
REASON = (
    "torch.autograd.grad computes that gradient alone: it runs no hooks, leaves what the other weights have "
    "accumulated, and needs no zero_grad. It is not scaled under 16-mixed and not averaged between processes, so a "
    "weight made from one gradient alone changes there; a ratio of two does not."
)
ADVICE = "Not rewritten: {why}. Use torch.autograd.grad(loss, weight, retain_graph=True)[0] for it."


@dataclass(frozen=True)
class GradientRead:
    """A backward pass, the statement behind it that reads one gradient, and what stands against a rewrite."""

    made: Pass
    gradient: ast.Attribute
    refusal: str | None


def _present(file: PythonFile) -> bool:
    return "retain_graph" in file.text and "backward" in file.text and bool(file.attributes("grad"))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    for item in file.classes:
        fact = notes.fact(file, item)
        if fact is None or facts.kind(fact) != MODULE:
            continue
        reached = notes.reached(fact, ROOTS) - {"backward"}
        for name, method in item.methods.items():
            if name in reached:
                for found in _reads(method, told(facts, file, (item.node, method))):
                    if on_tensor(file, found.made.call, item, method):
                        yield _match(file, found)


def _reads(method: Function, truth: Truth) -> Iterator[GradientRead]:
    passes = sorted(
        (found for node in every_node(method) if (found := read_pass(node, method, truth))),
        key=lambda found: _place(found.call),
    )
    zeros = sorted(_zeros(method))
    steps = sorted(
        _place(node)
        for node in every_node(method)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
    )
    gradients = [
        node
        for node in every_node(method)
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.ctx, ast.Load)
        and not (isinstance(node.value, ast.Attribute | ast.Name) and last_name(node.value) in ("autograd", "torch"))
    ]
    for index, found in enumerate(passes):
        line = found.call.end_lineno or found.call.lineno, found.call.end_col_offset or 0
        until = _place(passes[index + 1].call) if index + 1 < len(passes) else (method.end_lineno or line[0], 0)
        wiped = next((zero for zero in zeros if line < zero <= until), None)
        if found.retains is False or wiped is None or any(line < step < wiped for step in steps):
            continue
        read = [node for node in gradients if line <= _place(node) <= wiped]
        if read and index + 1 < len(passes):
            since = max((_place(other.call) for other in passes[:index]), default=(0, 0))
            clean = any(since < zero < _place(found.call) for zero in zeros)
            yield GradientRead(found, read[0], _refusal(found, read, clean, method))


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _zeros(method: Function) -> Iterator[tuple[int, int]]:
    names = MethodNames(method)
    for node in every_node(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "zero_grad":
            owner = node.func.value
            if names.is_optimizer(owner) or (isinstance(owner, ast.Name) and owner.id == self_name(method)):
                yield _place(node)


def _refusal(found: Pass, read: list[ast.Attribute], clean: bool, method: Function) -> str | None:
    if found.more:
        return "the pass has other arguments"
    if found.retains is None:
        return "fixer cannot tell whether `retain_graph` is True"
    if len(read) != 1:
        return "several gradients are read"
    if not clean:
        return "the gradients are not zeroed before it, so what is read may hold earlier ones"
    if not isinstance(read[0].value, ast.Name | ast.Attribute):
        return "fixer cannot tell whose gradient it is"
    for block in blocks(method):
        for first, second in pairwise(block):
            if first is found.statement:
                inside = isinstance(second, ast.Assign) and any(node is read[0] for node in every_node(second))
                return None if inside else "there are other statements between the pass and the reading"
    return "the pass is alone in its block"


def _match(file: PythonFile, found: GradientRead) -> Match:
    place = file.span(found.made.call)
    imports = (("torch", None),)
    taken = taken_name(file.scope.bindings, imports)
    refusal = found.refusal or (f"this file uses the name `{taken}` for something else" if taken else None)
    if refusal:
        return Match(place, MESSAGE, "manual", ADVICE.format(why=refusal))
    loss, weight = ast.unparse(found.made.loss), ast.unparse(found.gradient.value)
    text = f"torch.autograd.grad({loss}, {weight}, retain_graph=True)[0]"
    edits = (NodeEdit(found.gradient, partial(_replaced, text=text)), NodeEdit(found.made.statement, _removed))
    return Match(place, MESSAGE, "unsafe", REASON, edits=edits, imports=imports)


def _replaced(node: Any, text: str) -> cst.BaseExpression:
    import libcst as cst

    return cst.parse_expression(text)


@touches("whole")
def _removed(node: Any) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        fit, fool = self.losses(batch)
        optimizer.zero_grad()
        self.manual_backward(fit, retain_graph=True)
        first = self.last.weight.grad.norm()
        optimizer.zero_grad()
        self.manual_backward(fool, retain_graph=True)
        second = self.last.weight.grad.norm()
        optimizer.zero_grad()
        self.manual_backward(fit + first / second * fool)
        optimizer.step()
"""
AFTER = (
    BEFORE.replace("        self.manual_backward(fit, retain_graph=True)\n", "")
    .replace("        self.manual_backward(fool, retain_graph=True)\n", "")
    .replace(
        "first = self.last.weight.grad", "first = torch.autograd.grad(fit, self.last.weight, retain_graph=True)[0]"
    )
    .replace(
        "second = self.last.weight.grad", "second = torch.autograd.grad(fool, self.last.weight, retain_graph=True)[0]"
    )
)
NORM = BEFORE.replace(
    "        optimizer.zero_grad()\n        self.manual_backward(fool, retain_graph=True)\n", ""
).replace("        second = self.last.weight.grad.norm()\n        optimizer.zero_grad()\n", "        second = 1\n")

RULE = Rule(
    code=CODE,
    name="gradient-by-backward",
    summary="a backward pass made to read one gradient becomes `torch.autograd.grad`",
    why=(
        "An adaptive loss weight compares the gradients of two losses in one layer. Computed by `backward`, `.grad` "
        "and `zero_grad` it walks the whole graph, runs every hook, reduces between processes and throws away what was "
        "accumulated; `torch.autograd.grad` does none of that."
    ),
    fix="unsafe",
    versions="every Lightning release since 1.5",
    triggers=(b"retain_graph", b"automatic_optimization", b"def training_step"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(NORM, NORM)),
    needs="1.5.0",
    collect=collect,
    present=_present,
    references=("https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html",),
    warns=True,
)
