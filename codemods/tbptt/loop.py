"""The manual loop that trains as 1.x's truncated back-propagation did, written into the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from codemods import edits
from codemods.manual.optimizers import Scheduler
from codemods.manual.writer import HOOK, add_clipping, scheduler_lines, switch_off
from codemods.tbptt.module import HELPER


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
    node = switch_off(node)
    if edits.has_method(node, HOOK):
        node = edits.change_method(node, HOOK, lambda hook: [edits.without_parameter(hook, "optimizer_idx")])
    if loop.clip:
        node = add_clipping(node, *loop.clip, before=HELPER)
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
    lines += [f"    {line}" for line in scheduler_lines(this, loop.schedulers)]
    return "\n".join(lines) + "\n"
