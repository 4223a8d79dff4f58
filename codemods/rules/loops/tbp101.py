"""TBP101: a training step that makes its own optimizer steps, while Lightning makes them too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, is_super_call, parameters, results, self_name, super_init_index
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.loops.classes import FLAG, TRIGGERS, OptimizedModule, collect, loops
from codemods.rules.loops.insertion_points import class_code, left, optimizers, said_of
from codemods.rules.loops.optimization_intent import ASKED, missing_optimizers, not_plain, raw_backwards, steps_itself
from codemods.rules.loops.optimizer_events import Event, EventFlow, is_laid_out
from codemods.rules.loops.steps import Put, Steps
from codemods.rules.loops.trainers import WORDS, refusing

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP101"
UNSTEPPED = (
    "Return the loss, without manual_backward; or set `self.automatic_optimization = False`, with zero_grad before the "
    "pass and the optimizer's step after it."
)
UNCHECKED = "_verify_is_manual_optimization"
"""Lightning's own check, which a class that overrides it switches off."""
BACKWARD = "manual_backward"
ADVICE = "Set `self.automatic_optimization = False` after `super().__init__()`."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if loop.state == "" and steps_itself(file, loop) and (_fails(file, loop) or _repeats(loop)):
            yield _match(file, loop)
        elif loop.state == "" and FLAG not in class_code(file, loop):
            yield from _unstepped(file, loop)


def _unstepped(file: PythonFile, loop: OptimizedModule) -> Iterator[Match]:
    """A call of manual_backward where no step goes with it."""
    calls = [event.call for flow in loop.flows for event in flow.of("backward") if _is_manual(event)]
    if not calls or _is_its_own(loop) or any(flow.of("step") for flow in loop.flows):
        return
    step = loop.item.methods.get("training_step")
    returned = step is not None and bool(results(step))
    if not _is_unchecked(loop):
        why = "Lightning refuses it there"
    elif returned:
        why = "Lightning goes backward through the loss that is returned a second time"
    else:
        return
    message = f"{loop.item.node.name} calls manual_backward, but automatic optimization is on"
    yield left(file.span(calls[0]), message, why, UNSTEPPED)


def _match(file: PythonFile, loop: OptimizedModule) -> Match:
    node = loop.item.node
    step = loop.item.methods.get("training_step")
    place = file.head(step if step else node)
    message = f"{node.name} steps its optimizer itself, but automatic optimization is on"
    init = loop.item.methods.get("__init__")
    raws = raw_backwards(file, loop)
    why = _refusal(loop) or not_plain(file, loop)
    if init is not None and (super_init_index(init) is None or self_name(init) != "self" or not is_laid_out(init)):
        why = why or "__init__ has no simple `super().__init__(...)` after which the flag could be set"
    if why:
        return left(place, message, why, ADVICE)
    flag = NodeEdit(init, _behind_super(init)) if init is not None else NodeEdit(node, _in_class)
    change = (flag, *(NodeEdit(raw.call.node, raw.change) for raw in raws if raw.change))
    if _fails(file, loop):
        reason = "As it is, it fails: by manual_backward, a second backward pass, or a missing optimizer."
        return Match(place, message, "safe", reason, edits=change)
    known = optimizers(loop)
    if isinstance(known, str) or (known.schedules and not said_of(file, loop, r"lr_schedulers|sched\w*\.step")):
        reason = "Lightning then makes no step of its own any more, and no longer steps schedulers where there are any."
        return Match(place, message, "unsafe", reason, edits=change)
    return Match(
        place,
        message,
        "safe",
        "Lightning made one more step after each step of the loop, without its gradients.",
        edits=change,
    )


def _refusal(loop: OptimizedModule) -> str | None:
    step = loop.item.methods.get("training_step")
    if step is not None and {"optimizer_idx", "hiddens"} & set(parameters(step)):
        return "training_step takes what Lightning 1.x gave it under automatic optimization"
    if not all(_always(flow) for flow in loop.flows if flow.of("backward")):
        return "the backward pass is in a branch, and fixer cannot tell what trains the other"
    return refusing(loop.facts, loop.fact)


def _always(flow: EventFlow) -> bool:
    """Whether some backward pass of a method is not in a branch."""
    return any(
        not any(isinstance(node, ast.If | ast.Try | ast.Match) for _, node in flow.around(event.path))
        for event in flow.of("backward")
    )


def _fails(file: PythonFile, loop: OptimizedModule) -> bool:
    """Whether it fails as it is: manual_backward is refused, a loss that is returned too goes backward twice, and an
    optimizer that nobody sets is not there."""
    if missing_optimizers(file, loop):
        return True
    if not _is_unchecked(loop) and any(_is_manual(event) for flow in loop.flows for event in flow.of("backward")):
        return True
    step = loop.item.methods.get("training_step")
    return step is not None and bool(results(step))


def _is_manual(event: Event) -> bool:
    return isinstance(event.call.func, ast.Attribute) and event.call.func.attr == BACKWARD


def _is_unchecked(loop: OptimizedModule) -> bool:
    """Whether manual_backward is let pass whatever the flag says."""
    unchecked = UNCHECKED in loop.item.methods or any(UNCHECKED in other.methods for other in loop.relatives)
    return unchecked or _is_its_own(loop)


def _is_its_own(loop: OptimizedModule) -> bool:
    """Whether manual_backward is a method of the project, which does not go on to Lightning's."""
    own = loop.item.methods.get(BACKWARD)
    if own is None:
        return any(BACKWARD in other.methods for other in loop.relatives)
    return not any(is_super_call(node, BACKWARD) for node in walk(own))


def _repeats(loop: OptimizedModule) -> bool:
    """Whether Lightning's own step, with nothing returned, comes behind one that was made by hand."""
    return any(
        event.kind == "step" and not any(later.kind == "zero" for later in flow.events[index:])
        for flow in loop.flows
        for index, event in enumerate(flow.events)
    )


def _behind_super(init: Function) -> Steps:
    return Steps((Put((("body", super_init_index(init) or 0),), f"self.{FLAG} = False\n", after=True),))


@touches("beside")
def _in_class(node: cst.ClassDef) -> cst.ClassDef:
    from codemods.rewrite.edits import add_class_statement

    return add_class_statement(node, f"{FLAG} = False\n")


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        for part in batch.split(4):
            optimizer.zero_grad()
            self.manual_backward(self.layer(part).mean())
            optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
SUPER = "        super().__init__()\n"
AFTER = BEFORE.replace(SUPER, f"{SUPER}        self.automatic_optimization = False\n")
INIT = "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(8, 1)\n\n"
BARE = BEFORE.replace(INIT, "").replace("self.layer(part)", "self(part)")
IN_CLASS = BARE.replace("(LightningModule):\n", "(LightningModule):\n    automatic_optimization = False\n\n")

RULE = Rule(
    code=CODE,
    name="missing-manual-flag",
    summary="`automatic_optimization = False` is set where the training step makes the optimizer steps itself",
    why=(
        "While automatic optimization is on, Lightning runs training_step inside its own optimizer step: it refuses "
        "manual_backward (MisconfigurationException), goes backward a second time through a loss that is returned, "
        "and steps again where nothing is returned."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=(*TRIGGERS, *WORDS),
    check=_check,
    collect=collect,
    present=lambda file: "backward" in file.text and "training_step" in file.text,
    mentions=(*ASKED, b"lr_schedulers"),
    examples=(Example(BEFORE, AFTER), Example(BARE, IN_CLASS), Example(AFTER, AFTER)),
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)
