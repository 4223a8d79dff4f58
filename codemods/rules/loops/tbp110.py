"""TBP110: chunks that are trained on half-precision copies of weights which a step has changed since."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_below, is_open
from codemods.rule import Example, Match, Rule
from codemods.rules.loops.classes import FLAG, TRIGGERS, OptimizedModule, collect, loops
from codemods.rules.loops.insertion_points import class_code, edit
from codemods.rules.loops.optimizer_events import Event, EventFlow
from codemods.rules.loops.steps import Put
from codemods.rules.loops.trainers import trainers_of

CODE = "TBP110"
CLEAR = "torch.clear_autocast_cache()"
COMMENT = "  # the next forward pass must see the new weights"
MIXED = (16, "16", "16-mixed", "bf16", "bf16-mixed")
REGIONS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
MESSAGE = "after this step autocast may use copies of the weights from before it"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if loop.state != "off" or "clear_autocast_cache" in class_code(file, loop):
            continue
        lightnings = _lightning_caches(loop)
        for flow in loop.flows:
            for event in reversed(flow.of("step")):
                where = _region(flow, event) or lightnings
                if where and _used_again(flow, event) and flow.plain:
                    yield _match(file, flow, event, where)


def _match(file: PythonFile, flow: EventFlow, event: Event, where: str) -> Match:
    place = file.span(flow.statement(event.path))
    taken = taken_name(file.scope.bindings, (("torch", None),))
    if taken or not flow.laid_out:
        reason = f"Not rewritten: fixer cannot tell where the call belongs. Call `{CLEAR}` after the step; {where}."
        return Match(place, MESSAGE, "manual", reason)
    put = Put(event.path, f"{CLEAR}{COMMENT}\n", after=True)
    reason = f"{where[0].upper()}{where[1:]}; if nothing is cached, the call has no effect."
    return Match(place, MESSAGE, "safe", reason, edits=edit(flow, put), imports=(("torch", None),))


def _used_again(flow: EventFlow, step: Event) -> bool:
    """Whether another forward and backward pass follows a step in the same run of the method."""
    loop = flow.loop_around(step.path)
    if loop is not None and any(event.path[: len(loop)] == loop for event in flow.of("backward")):
        return True
    return any(event.kind == "backward" for event in flow.events[flow.events.index(step) :])


def _region(flow: EventFlow, step: Event) -> str | None:
    """An autocast region of the method's own that a step stands in, and that what follows the step stands in too."""
    loop = flow.loop_around(step.path)
    for path, node in flow.around(step.path):
        if isinstance(node, ast.With) and any(_caches(flow, item.context_expr) for item in node.items):
            inside = [event for event in flow.events if event.path[: len(path)] == path]
            again = any(event.kind == "backward" for event in inside[inside.index(step) :])
            if again or (loop is not None and len(loop) > len(path)):
                return "the method opens an autocast region around the steps, and that caches in every version"
    return None


def _caches(flow: EventFlow, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or flow.scope.resolve(node.func) not in REGIONS:
        return False
    return not any(keyword.arg in ("cache_enabled", "enabled", None) for keyword in node.keywords)


def _lightning_caches(loop: OptimizedModule) -> str | None:
    """Why Lightning's own region caches for the class: its Trainer mixes precisions, under FSDP or on a release
    that caches (run on bf16-mixed: 2.5.4 is off by 2.3 where 2.6.6 is off by rounding)."""
    for trainer in trainers_of(loop.facts, loop.fact):
        precision, strategy = trainer.argument("precision"), trainer.argument("strategy")
        if precision is None or not precision.literal or precision.value not in MIXED:
            continue
        place = f"the Trainer at {trainer.path}:{trainer.line} mixes precisions"
        if strategy and "fsdp" in strategy.text.lower():
            return f"{place}, and under FSDP Lightning's region caches"
        if _admits_caching(loop.facts):
            return f"{place}, and up to Lightning 2.5.4, which the requirements allow, its region caches"
    return None


def _admits_caching(facts: Facts) -> bool:
    """Whether a pin says that such a release may run; an open pin leads to the newest one, which does not cache."""
    return not is_open(facts, LIGHTNING) and admits_below(facts, LIGHTNING, "2.5.5")


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
        with torch.autocast("cuda", dtype=torch.bfloat16):
            for part in batch.split(4):
                optimizer.zero_grad()
                self.manual_backward(self.layer(part).mean())
                optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
STEP = "                optimizer.step()\n"
AFTER = BEFORE.replace(STEP, f"{STEP}                {CLEAR}{COMMENT}\n")
PLAIN = BEFORE.replace('torch.autocast("cuda", dtype=torch.bfloat16)', "self.profiled()")

RULE = Rule(
    code=CODE,
    name="stale-autocast-weights",
    summary="`torch.clear_autocast_cache()` goes after a step that is followed by another forward pass under autocast",
    why=(
        "Autocast keeps half-precision copies of the weights until its outermost region ends. A training step that "
        "steps more than once inside one region trains what follows on the copies from before the step. Lightning "
        "runs the whole training step in one region: with such a cache up to 2.5.4, and under FSDP; a region of the "
        "module's own has one in every version."
    ),
    fix="safe",
    versions="any Lightning, if the region has a cache",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=lambda file: FLAG in file.text,
    examples=(Example(BEFORE, AFTER), Example(PLAIN, PLAIN)),
)
