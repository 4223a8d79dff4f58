"""BWD003: gradients accumulated by hand that lose the end of the epoch, or are not averaged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, parameters, self_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.backward.names import MethodNames
from codemods.rules.backward.raw import on_tensor
from codemods.rules.backward.training import STEPS, ProjectTraining, collect
from codemods.rules.backward.windows import Accumulation, BatchWindow, is_divided, loss_of, read_accumulation

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD003"
TAIL = "gradients are accumulated by hand, and the last batches of an epoch make no step"
TAIL_REASON = (
    "Automatic optimization steps on the last batch of an epoch too. Without it the gradients of the batches after the "
    "last full window are lost at the end, or added to the next epoch's first window."
)
STEPPING = (
    "It makes one more step an epoch where the batches do not divide into full windows, and so does a scheduler beside "
    "it: raise its total_steps, and max_steps, where they count full windows alone."
)
MORE = (
    "Not rewritten: the condition asks for more than a full window. Add `or self.trainer.is_last_batch` where it fits."
)

MORE_LAST = "Make sure that the last batches of an epoch make a step, with `or self.trainer.is_last_batch`."
_LAST = frozenset({"on_train_epoch_end", "training_epoch_end", "on_train_end", "on_train_epoch_start"})


def _present(file: PythonFile) -> bool:
    return "%" in file.text and "backward" in file.text and "step" in file.text and bool(file.classes)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    for item in file.classes:
        step = item.methods.get("training_step")
        fact = notes.fact(file, item)
        if fact is None or not item.methods or facts.kind(fact) != MODULE or notes.modes(fact) == {"automatic"}:
            continue
        reached = notes.reached(fact, STEPS)
        index = parameters(step)[1] if step and len(parameters(step)) > 1 else "batch_idx"
        for name, method in item.methods.items():
            unzeroed = _never_zeroed(file, facts, fact)
            found = read_accumulation(method, unzeroed) if name in reached else None
            if found:
                yield from _matches(file, item, method, index, found, unzeroed)


def _never_zeroed(file: PythonFile, facts: Facts, fact: ClassFact) -> bool:
    """Whether nobody sets the gradients of a class to zero, which another rule repairs: it is seen whole."""
    alone = len(facts.ancestry(fact) or ()) == 1 and not tuple(facts.subclasses(fact))
    return alone and "zero_grad" not in file.text and ".grad" not in file.text


def _matches(
    file: PythonFile, item: ClassNode, method: Function, index: str, found: Accumulation, unzeroed: bool
) -> Iterator[Match]:
    window = found.window
    size = ast.unparse(window.size)
    if _counts_steps(window.counter):
        reason = (
            "Under manual optimization global_step counts optimizer steps, so that it stays the same "
            f"until one is made, and no further step follows. Count batches: (batch_idx + 1) % {size} == 0."
        )
        yield Match(file.span(window.test), "accumulation counts steps, not batches", "manual", reason)
        return
    if not window.test.ops:
        if isinstance(window.counter, ast.BoolOp) and isinstance(window.counter.op, ast.And) and _names(window, index):
            yield Match(file.span(window.counter), TAIL, "manual", f"{TAIL_REASON} {MORE}")
        return
    if not (isinstance(window.counter, ast.Name) and window.counter.id == index and index in parameters(method)):
        return
    for call in found.wiping:
        reason = (
            "The gradients are zeroed on every batch, so that the step sees those of the last batch alone. Zero them "
            "after the step, under the same condition."
        )
        yield Match(file.span(call), "accumulated gradients are zeroed before they are used", "manual", reason)
    if found.wiping:
        return
    own = self_name(method)
    elsewhere = _ends_elsewhere(item, method)
    for each in found.windows:
        if each.tailed:
            continue
        if elsewhere:
            yield Match(file.span(each.test), TAIL, "manual", f"Not rewritten: {elsewhere}. {MORE_LAST}")
            continue
        yield Match(
            file.span(each.test),
            TAIL,
            "unsafe",
            f"{TAIL_REASON} {STEPPING}{' fixer finds nothing that sets the gradients to zero.' if unzeroed else ''}",
            edits=(NodeEdit(each.test, partial(with_tail, own=own, holds=each.holds)),),
            unit=f"{file.path}:{item.qualname}",
        )
    yield from _undivided(file, item, method, found, size)


def _ends_elsewhere(item: ClassNode, method: Function) -> str:
    """Where a class may see to the last batches of an epoch by itself; empty where it does not."""
    for node in walk(method):
        if isinstance(node, ast.Attribute) and node.attr in ("is_last_batch", "num_training_batches"):
            return f"`{node.attr}` is asked for in line {node.lineno}"
    for name in _LAST & item.methods.keys():
        attributes = _reached(item, name)
        if {"optimizers", "step"} <= attributes.keys():
            return f"`{name}` may make a step in line {attributes['step'].lineno}"
    return ""


def _reached(item: ClassNode, hook: str) -> dict[str, ast.Attribute]:
    """The attributes that a method, and those of its class that it may call, speak of."""
    found: dict[str, ast.Attribute] = {}
    pending, followed = [hook], {hook}
    while pending:
        for node in walk(item.methods[pending.pop()]):
            if isinstance(node, ast.Attribute):
                found[node.attr] = node
                if node.attr in item.methods and node.attr not in followed:
                    followed.add(node.attr)
                    pending.append(node.attr)
    return found


def _names(window: BatchWindow, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in walk(window.counter))


def _counts_steps(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "global_step"


def _undivided(file: PythonFile, item: ClassNode, method: Function, found: Accumulation, size: str) -> Iterator[Match]:
    names = MethodNames(method)
    losses = [loss_of(call, method) for call in found.backwards]
    if not all(on_tensor(file, call, item, method) for call in found.backwards):
        return
    if any(loss is None or is_divided(loss, found.window.size, item, names) for loss in losses):
        return
    known = not isinstance(found.window.size, ast.Name) or all(
        bound.node.lineno < found.backwards[0].lineno  # type: ignore[attr-defined]
        for bound in names.bound.get(found.window.size.id, [])
    )
    reason = (
        f"The gradients of {size} batches are added up where automatic optimization averages them, as if the learning "
        "rate were that much larger. Dividing changes the training, unless the learning rate was chosen for the sum."
    )
    for call in found.backwards:
        raw = (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "backward"
            and loss_of(call, method) is call.func.value
        )
        edit = NodeEdit(call, partial(divided, size=size, raw=raw))
        yield Match(
            file.span(call),
            "accumulated losses are added up, not averaged",
            "unsafe" if known else "manual",
            reason if known else f"{reason} Here: divide the loss by {size}, which is only known further down.",
            edits=(edit,) if known else (),
            unit=f"{file.path}:{item.qualname}:mean" if known else "",
        )


def with_tail(node: cst.Comparison, own: str, holds: bool) -> cst.BooleanOperation:
    """The test, true (or, where it skips the step, false) on the last batch of an epoch as well."""
    import libcst as cst

    last = cst.parse_expression(f"{own}.trainer.is_last_batch")
    if holds:
        return cst.BooleanOperation(node, cst.Or(), last)
    return cst.BooleanOperation(node, cst.And(), cst.UnaryOperation(cst.Not(), last))


def divided(node: cst.Call, size: str, raw: bool) -> cst.Call:
    """The backward call with its loss divided."""
    import libcst as cst

    def quotient(value: cst.BaseExpression) -> cst.BinaryOperation:
        plain = isinstance(value, cst.Name | cst.Attribute | cst.Call | cst.Subscript) or value.lpar
        if not plain:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return cst.BinaryOperation(value, cst.Divide(), cst.parse_expression(size))

    if not raw:
        return node.with_changes(args=[node.args[0].with_changes(value=quotient(node.args[0].value)), *node.args[1:]])
    function = cst.ensure_type(node.func, cst.Attribute)
    value = quotient(function.value).with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node.with_changes(func=function.with_changes(value=value))


BEFORE = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    automatic_optimization = False

    def __init__(self, net, window=4):
        super().__init__()
        self.net = net
        self.window = window

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch).mean() / self.window
        self.manual_backward(loss)
        if (batch_idx + 1) % self.window == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
AFTER = BEFORE.replace("% self.window == 0:", "% self.window == 0 or self.trainer.is_last_batch:")
RETURN = BEFORE.replace("== 0:\n", "!= 0:\n            return\n").replace("            opt", "        opt")
RETURN_AFTER = RETURN.replace("!= 0:", "!= 0 and not self.trainer.is_last_batch:")
CRITIC = """\
from lightning.pytorch import LightningModule


class WGAN(LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        generator, critic = self.optimizers()
        critic.zero_grad()
        self.manual_backward(self.critic_loss(batch))
        critic.step()
        if batch_idx % self.n_critic == 0:
            generator.zero_grad()
            self.manual_backward(self.generator_loss(batch))
            generator.step()
"""

RULE = Rule(
    code=CODE,
    name="manual-accumulation",
    summary="gradients accumulated by hand step on the last batch of an epoch too",
    why=(
        "`if (batch_idx + 1) % n == 0: optimizer.step()` drops what follows the last full window of an epoch: its "
        "gradients are lost, or join the next epoch's first window. Automatic optimization steps on the last batch. A "
        "loss that is not divided by n makes the step n times as large as `accumulate_grad_batches=n` would. A window "
        "that chooses which network to train (a critic's) has its backward pass inside and is left alone."
    ),
    fix="unsafe",
    versions="every Lightning release since 1.5",
    triggers=(b"automatic_optimization", b".backward(", b"def training_step"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(RETURN, RETURN_AFTER), Example(CRITIC, CRITIC)),
    needs="1.5.0",
    collect=collect,
    present=_present,
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html#gradient-accumulation",),
)
