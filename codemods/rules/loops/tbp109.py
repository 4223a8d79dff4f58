"""TBP109: schedulers that configure_optimizers returns and that nobody steps under manual optimization."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, assigned_once, is_none, own_nodes, returns, self_name
from codemods.lightning.facts import Facts
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rule import Example, Match, Rule, best_levels
from codemods.rules.loops.classes import FLAG, TRIGGERS, OptimizedModule, collect, loops
from codemods.rules.loops.insertion_points import edit, left, optimizers, said_of
from codemods.rules.loops.optimizer_events import EventFlow, Path
from codemods.rules.loops.steps import Put

CODE = "TBP109"
MESSAGE = "configure_optimizers returns schedulers, but nothing steps them: the learning rate never changes"
ADVICE = "Manual optimization leaves them to the module: step `self.lr_schedulers()` where the rate is to change."
KEY = "lr_scheduler"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        method = loop.item.methods.get("configure_optimizers")
        if loop.state != "off" or method is None or not any(flow.of("step") for flow in loop.flows):
            continue
        given = [node.value for node in returns(method) if node.value is not None]
        value = next((node for node in given if _has_schedulers(node, method)), None)
        if value is None or _stepped(file, loop):
            continue
        yield _match(file, loop, value)


def _has_schedulers(value: ast.expr, method: Function) -> bool:
    """Whether a returned value plainly holds schedulers: a pair of lists, or dicts with `lr_scheduler`."""
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        return any(isinstance(key, ast.Constant) and key.value == KEY and not is_none(item) for key, item in pairs)
    if not isinstance(value, ast.Tuple | ast.List):
        return False
    if any(isinstance(item, ast.Dict) for item in value.elts):
        return any(_has_schedulers(item, method) for item in value.elts)
    lists = [assigned_once(method, item) for item in value.elts]
    return len(lists) == 2 and all(isinstance(item, ast.List) and item.elts for item in lists)


def _stepped(file: PythonFile, loop: OptimizedModule) -> bool:
    """Whether the class, a relative or a callback steps something else than the optimizers that were read."""
    known = {id(event.call) for flow in loop.flows for event in flow.of("step")}
    for method in loop.item.methods.values():
        for node in walk(method):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "step" and id(node) not in known:
                    return True
                if node.func.attr in ("lr_schedulers", "lr_scheduler_step"):
                    return True
    pattern = r"lr_schedulers|lr_scheduler_step|sched\w*(\[[^\]]*\])?\.step|scheduler_configs"
    return said_of(file, loop, pattern, "lr_schedulers", "scheduler.step", "sched.step", "lr_scheduler_step")


def _match(file: PythonFile, loop: OptimizedModule, value: ast.expr) -> Match:
    place = file.span(value)
    known = optimizers(loop)
    flow = loop.flows[0]
    if isinstance(known, str):
        return left(place, MESSAGE, known, ADVICE)
    end = _end(flow)
    why = "" if known.schedules and loop.known_whole() else "fixer cannot read all of the class"
    why = why or _not_plain(known)
    if flow.function.name != "training_step" or end is None or not flow.laid_out:
        why = why or "fixer cannot tell where the training step ends"
    if why or end is None:
        return left(place, MESSAGE, why, ADVICE)
    path, after = end
    put = Put(path, partial(_lines, self_name(flow.function), known), after=after)
    reason = (
        "Stepped where automatic optimization would: at the end of the batch, or of the epoch's last one. What was "
        "trained so far was trained at a constant rate, and may be tuned for it."
    )
    return Match(place, MESSAGE, "unsafe", reason, edits=edit(flow, put))


def _end(flow: EventFlow) -> tuple[Path, bool] | None:
    """Where the last thing of a training step goes: in front of its only return, or behind its last statement."""
    body = flow.function.body
    given = [node for node in own_nodes(flow.function) if isinstance(node, ast.Return)]
    last: Path = (("body", len(body) - 1),)
    if not given:
        return last, True
    return (last, False) if given == [body[-1]] and _is_plain(given[0].value) else None


def _is_plain(value: ast.expr | None) -> bool:
    return value is None or not any(isinstance(node, ast.Call | ast.Await) for node in walk(value))


def _not_plain(known: ConfiguredOptimizers) -> str:
    """What keeps the schedulers from being stepped at the end of a batch."""
    if not known.fixed:
        return "configure_optimizers returns its schedulers in different ways"
    if any(schedule.monitor for schedule in known.schedules):
        return "a scheduler steps on a monitored metric after validation"
    return "a scheduler has a frequency other than 1" if any(item.frequency != 1 for item in known.schedules) else ""


def _lines(this: str, known: ConfiguredOptimizers) -> str:
    from codemods.rewrite.manual.writer import schedule_lines

    return "".join(f"{line}\n" for line in schedule_lines(this, "", known))


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.layer(batch).mean())
        optimizer.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]
"""
STEP = "        optimizer.step()\n"
AFTER = BEFORE.replace(STEP, f"{STEP}        if self.trainer.is_last_batch:\n            self.lr_schedulers().step()\n")

RULE = Rule(
    code=CODE,
    name="schedulers-never-stepped",
    summary="Schedulers of a module under manual optimization are stepped at the end of its training step",
    why=(
        "Since 1.3 Lightning steps schedulers under automatic optimization alone; under manual optimization what "
        "configure_optimizers returns is kept and never used, without an error. Where it is plain what was meant the "
        "steps can be written, but training then differs from all training before."
    ),
    fix="unsafe",
    versions="Lightning 1.3 and later",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=lambda file: FLAG in file.text and "configure_optimizers" in file.text,
    needs="1.3.0",
    mentions=(b"lr_schedulers", b"scheduler.step", b"sched.step", b"lr_scheduler_step"),
    rows=partial(best_levels, (("B20", "unsafe"),)),
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/6825",),
)
