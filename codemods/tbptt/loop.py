"""The manual loop that trains as 1.x's truncated back-propagation did, written into the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods import edits
from codemods.manual.optimizers import Scheduler
from codemods.tbptt.module import HELPER

HOOK = "on_before_optimizer_step"
FLAG_OFF = "self.automatic_optimization = False"


@dataclass(frozen=True)
class Loop:
    """What the loop has to carry over. `clip` is (value, algorithm or None) as source text."""

    schedulers: tuple[Scheduler, ...]
    clip: tuple[str, str | None] | None
    clear_autocast: bool


def write_loop(node: cst.ClassDef, loop: Loop) -> cst.ClassDef:
    """The class with `training_step` turned into a loop over chunks, its old body kept as `training_chunk`.

    Order of one chunk: forward, zero_grad, backward, step, as in automatic optimization; clipping goes to
    the end of `on_before_optimizer_step`, where gradients are unscaled (source: Lightning 1.9.5 and 2.6.6,
    `loops/optimization`, run side by side).
    """
    node = edits.change_method(node, "training_step", lambda step: _split_step(step, loop))
    node = _switch_off(node)
    if edits.has_method(node, HOOK):
        node = edits.change_method(node, HOOK, lambda hook: [edits.without_parameter(hook, "optimizer_idx")])
    if loop.clip:
        node = _clip(node, *loop.clip)
    return node


def _split_step(step: cst.FunctionDef, loop: Loop) -> list[Any]:
    names = [param.name.value for param in step.params.params]
    this, batch, batch_idx, _ = names
    written = edits.statements(_loop_text(this, batch, batch_idx, loop))[0]
    head = edits.without_parameter(step, "hiddens")
    driver = written.with_changes(
        params=head.params,
        whitespace_before_params=step.whitespace_before_params,
        leading_lines=step.leading_lines,
        returns=_none(step.returns),
    )
    helper = step.with_changes(
        name=cst.Name(HELPER), leading_lines=[cst.EmptyLine(indent=False)], lines_after_decorators=[]
    )
    return [driver, helper]


def _none(returns: cst.Annotation | None) -> cst.Annotation | None:
    return returns.with_changes(annotation=cst.Name("None")) if returns else None


def _loop_text(this: str, batch: str, batch_idx: str, loop: Loop) -> str:
    lines = [
        f"def training_step({this}):",
        '    """Truncated back-propagation through time: one optimizer step for each chunk of the batch."""',
        f"    optimizer = {this}.optimizers()",
        "    hiddens = None",
        f"    pieces = [part.split({this}.truncated_bptt_steps, dim=1) for part in {batch}]",
        "    for chunk in zip(*pieces, strict=True):",
        f"        output = {this}.{HELPER}(chunk, {batch_idx}, hiddens)",
        "        optimizer.zero_grad()",
        f'        {this}.manual_backward(output["loss"])',
        "        optimizer.step()",
    ]
    if loop.clear_autocast:
        lines.append("        torch.clear_autocast_cache()  # the next chunk must see the new weights")
    lines.append('        hiddens = apply_to_collection(output["hiddens"], torch.Tensor, torch.Tensor.detach)')
    return "\n".join([*lines, *_scheduler_lines(this, loop.schedulers)]) + "\n"


def _scheduler_lines(this: str, schedulers: Sequence[Scheduler]) -> list[str]:
    if not schedulers:
        return []
    if len(schedulers) == 1:
        step = [f"{this}.lr_schedulers().step()"]
        if schedulers[0].interval == "epoch":
            step = [f"if {this}.trainer.is_last_batch:", f"    {step[0]}"]
        return [f"    {line}" for line in step]
    if len({scheduler.interval for scheduler in schedulers}) == 1:
        step = [f"for scheduler in {this}.lr_schedulers():", "    scheduler.step()"]
        if schedulers[0].interval == "epoch":
            step = [f"if {this}.trainer.is_last_batch:", *(f"    {line}" for line in step)]
        return [f"    {line}" for line in step]
    lines = [f"    schedulers = {this}.lr_schedulers()"]
    for index, scheduler in enumerate(schedulers):
        lines += (
            [f"    schedulers[{index}].step()"]
            if scheduler.interval == "step"
            else [f"    if {this}.trainer.is_last_batch:", f"        schedulers[{index}].step()"]
        )
    return lines


def _switch_off(node: cst.ClassDef) -> cst.ClassDef:
    if not edits.has_method(node, "__init__"):
        return edits.add_class_statement(node, "automatic_optimization = False\n")
    target = m.Assign(targets=[m.AssignTarget(m.Attribute(m.Name("self"), m.Name("automatic_optimization")))])

    def change(init: cst.FunctionDef) -> list[Any]:
        if m.findall(init, target):
            return [m.replace(init, target, lambda found, _: found.with_changes(value=cst.Name("False")))]
        return edits.after_super_init(init, FLAG_OFF + "\n")

    return edits.change_method(node, "__init__", change)


def _clip(node: cst.ClassDef, value: str, algorithm: str | None) -> cst.ClassDef:
    node = edits.add_class_statement(node, f"gradient_clip_val = {value}\n")
    given = f", gradient_clip_algorithm={algorithm}" if algorithm else ""
    if not edits.has_method(node, HOOK):
        text = (
            f"def {HOOK}(self, optimizer):\n"
            f"    self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val{given})\n"
        )
        return edits.add_method(node, text, before=HELPER)

    def change(method: cst.FunctionDef) -> list[Any]:
        this, optimizer = (param.name.value for param in method.params.params)
        call = f"{this}.clip_gradients({optimizer}, gradient_clip_val={this}.gradient_clip_val{given})\n"
        return [edits.with_body(method, [*edits.body_of(method), *edits.statements(call)])]

    return edits.change_method(node, HOOK, change)
