"""The manual loop that trains as 1.x's truncated back-propagation did, written into the class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from codemods.rewrite import edits
from codemods.rewrite.manual.batch_outputs import KEPT, RETURNED
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rewrite.manual.hooks import CLIPPING, STEPPING, HookParameters, Hooks
from codemods.rewrite.manual.writer import (
    add_clipping,
    add_plateaus,
    schedule_lines,
    shed,
    step_line,
    switch_off,
    take_outputs,
    zero_lines,
)
from codemods.rules.tbptt.batch import BatchUse
from codemods.rules.tbptt.chunk_length_transfer import FLAG
from codemods.rules.tbptt.module import HELPER, SPLIT
from codemods.rules.tbptt.step import TbpttStep


@dataclass(frozen=True)
class ChunkLoop:
    """What the loop has to carry over. `clip` is (value, algorithm or None) and `steps` the flag that goes from the
    Trainer to the class, as source text, `may_be_off` whether it may be None or 0; `outputs` and `batch_outputs` hold
    where a hook of the epoch or of the batch reads what the chunks returned, `hooks` are those that it overrides,
    and `shed` is what becomes of them."""

    step: TbpttStep
    configured: ConfiguredOptimizers
    batch: BatchUse
    clip: tuple[str, str | None] | None
    clear_autocast: bool
    calls_split: bool
    by_class: bool
    steps: str | None
    outputs: bool = False
    batch_outputs: bool = False
    hooks: Hooks = field(default_factory=Hooks)
    shed: HookParameters = field(default_factory=HookParameters)
    may_be_off: bool = False

    @property
    def collects(self) -> bool:
        """Whether the outputs of the chunks are collected."""
        return self.outputs or self.batch_outputs


def write_loop(node: cst.ClassDef, loop: ChunkLoop) -> cst.ClassDef:
    """The class with `training_step` turned into a loop over chunks, its old body kept as `training_chunk`.

    Order of one chunk, for each optimizer: forward, zero_grad, backward, step, as in automatic optimization;
    clipping goes to the end of `on_before_optimizer_step`, where gradients are unscaled (source: Lightning 1.9.5 and
    2.6.6, `loops/optimization`, run side by side).
    """
    node = edits.change_method(node, "training_step", lambda step: _split_step(step, loop))
    node = switch_off(node, loop.by_class)
    node = shed(node, loop.shed)
    if loop.clip or CLIPPING in loop.hooks.names:
        value, algorithm = loop.clip or ("None", None)
        node = add_clipping(node, value, algorithm, before=HELPER, through=CLIPPING in loop.hooks.names)
    node = add_plateaus(node, loop.configured, after=HELPER)
    if loop.batch_outputs:
        node = take_outputs(node)
    if loop.steps:
        node = edits.add_class_statement(node, f"{FLAG} = {loop.steps}\n")
    return node


def _split_step(step: cst.FunctionDef, loop: ChunkLoop) -> list[Any]:
    written = edits.statements("\n".join(_loop_lines(loop)) + "\n")[0]
    head = step
    for param in step.params.params[3:]:
        head = edits.without_parameter(head, param.name.value)
    driver = written.with_changes(
        params=head.params,
        whitespace_before_params=step.whitespace_before_params,
        leading_lines=step.leading_lines,
        returns=None if loop.batch_outputs else _none(step.returns),
    )
    helper = step.with_changes(
        name=cst.Name(HELPER), leading_lines=[cst.EmptyLine(indent=False)], lines_after_decorators=[]
    )
    return [driver, helper]


def _none(returns: cst.Annotation | None) -> cst.Annotation | None:
    return returns.with_changes(annotation=cst.Name("None")) if returns else None


def _loop_lines(loop: ChunkLoop) -> list[str]:
    this, state = loop.step.this, loop.step.state
    several = loop.configured.count != 1
    name = "optimizers" if several else "optimizer"
    head = [
        f"def training_step({this}):",
        '    """Truncated back-propagation through time: one optimizer step for each chunk of the batch."""',
        f"    {name} = {this}.optimizers()",
        f"    {state} = None",
        *(["    outputs = []"] if loop.collects else []),
    ]
    body = _several(loop) if several else _one(loop)
    return [
        *head,
        *(f"    {line}" for line in _chunks(loop)),
        *(f"        {line}" if line else "" for line in body),
        *([f"    {this}.{KEPT}.append(outputs)"] if loop.outputs else []),
        *(f"    {line}" for line in schedule_lines(this, loop.step.index, loop.configured)),
        *([f'    return {{"{RETURNED}": outputs if len(outputs) > 1 else outputs[0]}}'] if loop.batch_outputs else []),
    ]


def _chunks(loop: ChunkLoop) -> list[str]:
    """The head of the loop over the chunks, which are cut as 1.x's default split cut them, or by the class; a batch is
    one chunk where the flag is off."""
    this, batch = loop.step.this, loop.step.batch
    if loop.calls_split:
        return _over(loop, f"{this}.{SPLIT}({batch}, {this}.{FLAG})")
    if loop.batch.sequences:
        return _by_start(loop)
    if loop.may_be_off:
        pieces = f"*(part.split({this}.{FLAG}, dim=1) for part in {batch})"
        return _over(loop, _zipped(loop, pieces))
    return [f"pieces = [part.split({this}.{FLAG}, dim=1) for part in {batch}]", *_over(loop, _zipped(loop, "*pieces"))]


def _zipped(loop: ChunkLoop, pieces: str) -> str:
    zipped = f"zip({pieces}, strict=True)"
    return f"map(list, {zipped})" if loop.batch.changed else zipped


def _over(loop: ChunkLoop, chunks: str) -> list[str]:
    if not loop.may_be_off:
        return [f"for chunk in {chunks}:"]
    return [
        f"chunks = [{loop.step.batch}]",
        f"if {loop.step.this}.{FLAG}:",
        f"    chunks = {chunks}",
        "for chunk in chunks:",
    ]


def _by_start(loop: ChunkLoop) -> list[str]:
    """The head of a loop over chunks of a batch that holds more than tensors."""
    batch = loop.step.batch
    chunk = [
        "[  # tensors are cut along their second dimension, sequences sample by sample",
        "    part[:, start : start + steps]",
        "    if isinstance(part, torch.Tensor)",
        "    else [sample[start : start + steps] for sample in part]",
        f"    for part in {batch}",
        "]",
    ]
    steps, starts = f"{loop.step.this}.{FLAG}", f"range(0, len({batch}[0][0]), steps)"
    if not loop.may_be_off:
        first, *rest = (f"    {line}" for line in ["chunk = " + chunk[0], *chunk[1:]])
        return [f"steps = {steps}", f"for start in {starts}:", first, *rest]
    return [
        f"steps = {steps}",
        f"chunks = [{batch}]",
        "if steps:",
        "    chunks = [",
        *(f"        {line}" for line in chunk),
        f"        for start in {starts}",
        "    ]",
        "for chunk in chunks:",
    ]


def _one(loop: ChunkLoop) -> list[str]:
    return [*_step(loop, ""), *_after_step(loop)]


def _several(loop: ChunkLoop) -> list[str]:
    """One forward for each optimizer, after the one before has stepped, with the state that it left."""
    this, index = loop.step.this, loop.step.optimizer or ""
    return [
        f"for {index}, optimizer in enumerate(optimizers):",
        f"    {this}.toggle_optimizer(optimizer)",
        *(f"    {line}" if line else "" for line in _step(loop, index)),
        f"    {this}.untoggle_optimizer(optimizer)",
        *(f"    {line}" for line in _after_step(loop)),
    ]


def _step(loop: ChunkLoop, index: str) -> list[str]:
    """The step of one optimizer, through the class's own optimizer_step where it has one."""
    step, hooks = loop.step, loop.hooks
    given = ", ".join(filter(None, ("chunk", step.index, index, step.state)))
    called = f"{step.this}.{HELPER}({given})"
    body = [*zero_lines(step.this, step.index, hooks, index), f'{step.this}.manual_backward(output["loss"])']
    if STEPPING not in hooks.names:
        return [f"output = {called}", *body, "optimizer.step()"]
    bound = ["chunk", step.state, "output", *(["optimizer", index] if index else [])]
    return [
        "output = {}",
        "",
        f"def closure({', '.join(f'{name}={name}' for name in bound)}):",
        *(f"    {line}" for line in (f"output.update({called})", *body, 'return output["loss"]')),
        "",
        step_line(step.this, step.index, hooks, index),
    ]


def _after_step(loop: ChunkLoop) -> list[str]:
    clear = "torch.clear_autocast_cache()  # the next forward must see the new weights"
    taken = 'output.pop("hiddens")' if loop.collects else 'output["hiddens"]'
    detach = f"{loop.step.state} = apply_to_collection({taken}, torch.Tensor, torch.Tensor.detach)"
    keep = "outputs.append(apply_to_collection(output, torch.Tensor, torch.Tensor.detach))"
    return [*([clear] if loop.clear_autocast else []), detach, *([keep] if loop.collects else [])]
