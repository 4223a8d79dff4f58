"""The parts of a manual loop, as text and as changes to a class."""

from __future__ import annotations

from functools import partial
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods.rewrite import edits
from codemods.rewrite.manual.batch_outputs import BATCH_END, RETURNED
from codemods.rewrite.manual.configured import ConfiguredOptimizers, Schedule
from codemods.rewrite.manual.hooks import COUNT, STEPPING, ZEROING, HookParameters, Hooks
from codemods.rewrite.manual.signature import without_old

HOOK = "on_before_optimizer_step"
EPOCH_END = "on_train_epoch_end"
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


def add_clipping(
    node: cst.ClassDef, value: str, algorithm: str | None, before: str, through: bool = False
) -> cst.ClassDef:
    """The class with clipping at the end of `on_before_optimizer_step`, where gradients are unscaled, as automatic
    optimization clips: by `clip_gradients`, or, with `through`, by the class's own `configure_gradient_clipping`.

    The hook goes before the method `before` where there is none; the value becomes a class attribute, so that old
    checkpoints load.
    """
    node = edits.add_class_statement(node, f"gradient_clip_val = {value}\n")

    def call(this: str, optimizer: str) -> str:
        method = "configure_gradient_clipping" if through else "clip_gradients"
        given = algorithm or ("None" if through else "")
        last = f", gradient_clip_algorithm={given}" if given else ""
        return f"{this}.{method}({optimizer}, gradient_clip_val={this}.gradient_clip_val{last})\n"

    if not edits.has_method(node, HOOK):
        text = f"def {HOOK}(self, optimizer):\n    {call('self', 'optimizer')}"
        return edits.add_method(node, text, before=before)

    def change(method: cst.FunctionDef) -> list[Any]:
        this, optimizer, *_ = (param.name.value for param in method.params.params)
        return [edits.with_body(method, [*edits.body_of(method), *edits.statements(call(this, optimizer))])]

    return edits.change_method(node, HOOK, change)


def shed(node: cst.ClassDef, hooks: HookParameters) -> cst.ClassDef:
    """The class with its hooks as 2.x, or the loop, calls them."""
    kept = dict(hooks.kept)
    for name, dead in hooks.dead:
        node = edits.change_method(node, name, partial(_shorter, dead=dead, kept=kept.get(name, ())))
    for name, index in hooks.found:
        node = edits.change_method(node, name, partial(_found, index=index))
    return edits.change_method(node, STEPPING, _counting) if hooks.counted else node


def _shorter(hook: cst.FunctionDef, dead: tuple[str, ...], kept: tuple[str, ...]) -> list[Any]:
    return [without_old(hook, dead, kept)]


def _found(hook: cst.FunctionDef, index: str) -> list[Any]:
    """The hook, which 2.x gives no index, with the index of the optimizer that it gets at its top."""
    this, optimizer, *_ = (param.name.value for param in hook.params.params)
    return [_begun(hook, f"{index} = [each.optimizer for each in {this}.optimizers()].index({optimizer})\n")]


def _counting(hook: cst.FunctionDef) -> list[Any]:
    """The hook with the global_step of before its step wherever it reads one."""
    this = hook.params.params[0].name.value
    owner = m.Name(this) | m.Attribute(value=m.Name(this), attr=m.Name("trainer"))
    read = m.Attribute(value=owner, attr=m.Name(COUNT))
    counted = cst.ensure_type(m.replace(hook, read, cst.Name(COUNT)), cst.FunctionDef)
    return [_begun(counted, f"{COUNT} = {this}.trainer.{COUNT}  # the step below counts at once\n")]


def count_batches(node: cst.ClassDef, optimizers: int | None, before: str) -> cst.ClassDef:
    """The class whose global_step counts a batch once, by a property before the method `before`."""
    this = m.Attribute(value=m.Attribute(value=m.Name("self"), attr=m.Name("trainer")), attr=m.Name(COUNT))
    own = cst.Attribute(value=cst.Name("self"), attr=cst.Name(COUNT))
    node = cst.ensure_type(m.replace(node, this, own), cst.ClassDef)
    each = str(optimizers) if optimizers else "(len(self.trainer.optimizers) or 1)"
    steps = "super().global_step" if optimizers else "steps and steps"
    text = [
        "@property",
        f"def {COUNT}(self):",
        '    """A batch counts once, though each optimizer makes a step."""',
        *([] if optimizers else ["    steps = super().global_step"]),
        f"    return {steps} // {each}",
    ]
    return edits.add_method(node, "\n".join(text) + "\n", before=before)


def take_outputs(node: cst.ClassDef) -> cst.ClassDef:
    """The class whose `on_train_batch_end` takes the outputs out of what the loop returns."""

    def change(hook: cst.FunctionDef) -> list[Any]:
        given = hook.params.params[1].name.value
        return [_begun(hook, f'{given} = {given}["{RETURNED}"]\n')]

    return edits.change_method(node, BATCH_END, change)


def _begun(hook: cst.FunctionDef, line: str) -> cst.FunctionDef:
    """The hook with a line at its top."""
    body = edits.body_of(hook)
    at = edits.after_docstring(body)
    return edits.with_body(hook, [*body[:at], *edits.statements(line), *body[at:]])  # type: ignore[no-any-return]


def zero_lines(this: str, batch_idx: str, hooks: Hooks, index: str) -> list[str]:
    """The statements that clear an optimizer's gradients, by the hooks that the class has for it."""
    before = [f"{this}.on_before_zero_grad(optimizer)"] if "on_before_zero_grad" in hooks.names else []
    if ZEROING not in hooks.names:
        return [*before, "optimizer.zero_grad()"]
    given = f", {index}" if ZEROING in hooks.reads else ""
    return [*before, f"{this}.{ZEROING}({this}.current_epoch, {batch_idx}, optimizer{given})"]


def step_line(this: str, batch_idx: str, hooks: Hooks, index: str) -> str:
    """The call of the class's own optimizer_step, with a `closure`."""
    given = f", {index}" if STEPPING in hooks.reads else ""
    return f"{this}.{STEPPING}({this}.current_epoch, {batch_idx}, optimizer{given}, closure)"


def schedule_lines(this: str, batch_idx: str, configured: ConfiguredOptimizers, stepped: str = "") -> list[str]:
    """The statements that step schedulers where automatic optimization did, to stand at the end of a training step.

    `stepped` is the condition under which the optimizers made a step in this batch, where they do not in every one.
    Schedulers that wait for a metric are left to `add_plateaus`.
    """
    schedules = configured.schedules
    if not configured.fixed:
        step = [f"for config in {this}.trainer.lr_scheduler_configs:", "    config.scheduler.step()"]
        return _guarded(_due(schedules[0], this, batch_idx, stepped), step) if schedules else []
    if len(set(schedules)) == 1 and schedules[0].monitor is None:
        step = [f"{this}.lr_schedulers().step()"]
        if len(schedules) > 1:
            step = [f"for scheduler in {this}.lr_schedulers():", "    scheduler.step()"]
        return _guarded(_due(schedules[0], this, batch_idx, stepped), step)
    lines: list[str] = []
    for index, schedule in enumerate(schedules):
        if schedule.monitor is None:
            step = [f"schedulers[{index}].step()"]
            lines += _guarded(_due(schedule, this, batch_idx, stepped), step)
    return [f"schedulers = {this}.lr_schedulers()", *lines] if lines else []


def _due(schedule: Schedule, this: str, batch_idx: str, stepped: str) -> str:
    """When a scheduler is stepped, at the end of a training step; empty for always."""
    every = schedule.frequency
    if schedule.interval == "step":
        counted = _divides(f"{batch_idx} + 1", every)
        return " and ".join(filter(None, (stepped, counted)))
    counted = _divides(f"{this}.current_epoch + 1", every)
    return " and ".join(filter(None, (f"{this}.trainer.is_last_batch", counted)))


def _divides(count: str, every: int | str) -> str:
    """The condition under which a count is a multiple; empty for always."""
    if every == 1:
        return ""
    plain = str(every).replace(".", "").replace("_", "").isalnum()
    return f"({count}) % {every if plain else f'({every})'} == 0"


def _guarded(condition: str, lines: list[str]) -> list[str]:
    return [f"if {condition}:", *(f"    {line}" for line in lines)] if condition else lines


def add_plateaus(node: cst.ClassDef, configured: ConfiguredOptimizers, after: str) -> cst.ClassDef:
    """The class with the schedulers that wait for a metric stepped at the end of `on_train_epoch_end`, which comes
    after validation as automatic optimization's own step of them does. A hook that is not there yet goes behind the
    method `after`."""
    schedules = configured.schedules
    if all(schedule.monitor is None for schedule in schedules):
        return node

    def lines(this: str) -> str:
        found: list[str] = []
        for index, schedule in enumerate(schedules):
            if schedule.monitor is not None:
                taken = f"{this}.lr_schedulers()" if len(schedules) == 1 else f"{this}.lr_schedulers()[{index}]"
                step = f"{taken}.step({this}.trainer.callback_metrics[{schedule.monitor}])"
                due = _divides(f"{this}.current_epoch + 1", schedule.frequency)
                found += _guarded(due, [step])
        return "\n".join(found) + "\n"

    if edits.has_method(node, EPOCH_END):

        def change(method: cst.FunctionDef) -> list[Any]:
            body = [*edits.body_of(method), *edits.statements(lines(method.params.params[0].name.value))]
            return [edits.with_body(method, body)]

        return edits.change_method(node, EPOCH_END, change)
    text = f"def {EPOCH_END}(self):\n" + "".join(f"    {line}\n" for line in lines("self").splitlines())
    added = edits.spaced(edits.statements(text)[0])
    return edits.change_method(node, after, lambda method: [method, added])
