"""The parts of a manual loop, as text and as changes to a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods import edits
from codemods.manual.optimizers import Scheduler

HOOK = "on_before_optimizer_step"
FLAG_OFF = "self.automatic_optimization = False"


def switch_off(node: cst.ClassDef, attribute: bool = False) -> cst.ClassDef:
    """The class with automatic optimization off: behind `super().__init__()`, in place of an explicit True, or as a
    class attribute where there is no constructor, or `attribute` asks for one (a subclass whose own constructor
    comes in between has it too)."""
    target = m.Assign(targets=[m.AssignTarget(m.Attribute(m.Name("self"), m.Name("automatic_optimization")))])
    if not edits.has_method(node, "__init__") or (attribute and not m.findall(node, target)):
        return edits.add_class_statement(node, "automatic_optimization = False\n")

    def change(init: cst.FunctionDef) -> list[Any]:
        if m.findall(init, target):
            return [m.replace(init, target, lambda found, _: found.with_changes(value=cst.Name("False")))]
        return edits.after_super_init(init, FLAG_OFF + "\n")

    return edits.change_method(node, "__init__", change)


def add_clipping(node: cst.ClassDef, value: str, algorithm: str | None, before: str) -> cst.ClassDef:
    """The class with clipping at the end of `on_before_optimizer_step`, where gradients are unscaled, as automatic
    optimization clips. The hook goes before the method `before` where there is none; the value becomes a class
    attribute, so that old checkpoints load."""
    node = edits.add_class_statement(node, f"gradient_clip_val = {value}\n")
    given = f", gradient_clip_algorithm={algorithm}" if algorithm else ""
    if not edits.has_method(node, HOOK):
        text = (
            f"def {HOOK}(self, optimizer):\n"
            f"    self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val{given})\n"
        )
        return edits.add_method(node, text, before=before)

    def change(method: cst.FunctionDef) -> list[Any]:
        this, optimizer = (param.name.value for param in method.params.params)
        call = f"{this}.clip_gradients({optimizer}, gradient_clip_val={this}.gradient_clip_val{given})\n"
        return [edits.with_body(method, [*edits.body_of(method), *edits.statements(call)])]

    return edits.change_method(node, HOOK, change)


def scheduler_lines(this: str, schedulers: Sequence[Scheduler]) -> list[str]:
    """The statements that step schedulers where automatic optimization did, to stand at the end of a training step
    that made an optimizer step."""
    if not schedulers:
        return []
    if len(schedulers) == 1:
        return _when(schedulers[0].interval, this, [f"{this}.lr_schedulers().step()"])
    if len({scheduler.interval for scheduler in schedulers}) == 1:
        step = [f"for scheduler in {this}.lr_schedulers():", "    scheduler.step()"]
        return _when(schedulers[0].interval, this, step)
    lines = [f"schedulers = {this}.lr_schedulers()"]
    for index, scheduler in enumerate(schedulers):
        lines += _when(scheduler.interval, this, [f"schedulers[{index}].step()"])
    return lines


def _when(interval: str, this: str, lines: list[str]) -> list[str]:
    if interval == "step":
        return lines
    return [f"if {this}.trainer.is_last_batch:", *(f"    {line}" for line in lines)]
