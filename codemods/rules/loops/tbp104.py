"""TBP104: zero_grad that wipes the gradient before the step uses it, or that is nowhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import self_name
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.loops.classes import TRIGGERS, OptimizedModule, collect, loops, present
from codemods.rules.loops.insertion_points import (
    CLIPS,
    before,
    below,
    bound_before,
    class_code,
    direct,
    edit,
    handed_on,
    left,
    optimizers,
    said_of,
)
from codemods.rules.loops.optimization_intent import ASKED, is_meant
from codemods.rules.loops.optimizer_events import Event, EventFlow, Path
from codemods.rules.loops.steps import Drop, Move, Put, Step

CODE = "TBP104"
WIPES = "zero_grad clears the gradient before the step uses it"
NOWHERE = "this manual loop never sets the gradients to zero"
EARLY = "the step comes before a backward pass whose gradient no step uses"
EARLY_REASON = (
    "What the last pass computed was set to zero with the next batch, and torch refuses to go back through weights "
    "that the step has changed; after all passes the step uses them all."
)
SUMMED = (
    "With one zero_grad before them the step gets the gradients of all passes, which changes the training: if the "
    "last alone is to train, delete the passes before it."
)
UNPLAIN = "fixer cannot tell where it belongs here"
READS = re.compile(r"\.grad\b|autograd|toggle|on_train_batch_end")
HOOKS = r"register_\w*hook|on_after_backward|on_before_zero_grad"
HEARD = ("register_hook", "on_after_backward", "on_before_zero_grad")
ZEROED = re.compile("z?b+zb+s")
STEPPED = re.compile("zb+sb+")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if not is_meant(file, loop):
            continue
        for flow in loop.flows:
            wiped = [event for event in reversed(flow.of("zero")) if _step_behind(flow, event)]
            for event in wiped:
                yield from _wipes(file, flow, event)
            yield from _unused(file, loop, flow)
        yield from _nowhere(file, loop)


def _step_behind(flow: EventFlow, zero: Event) -> Event | None:
    """The step of the same optimizer behind a `zero_grad`, with nothing between that could make a gradient."""
    block, (field, index) = flow.block(zero.path), zero.path[-1]
    for later in range(index + 1, len(block)):
        path = (*zero.path[:-1], (field, later))
        event = direct(flow, path)
        if event:
            same = event.optimizer == zero.optimizer or (not zero.optimizer and flow.single is not None)
            return event if event.kind == "step" and same and flow.plain else None
        if below(flow, path) or not flow.harmless(block[later]):
            return None
    return None


def _wipes(file: PythonFile, flow: EventFlow, zero: Event) -> Iterator[Match]:
    step = _step_behind(flow, zero)
    if step is None or not flow.of("backward"):
        return
    place = file.span(flow.statement(zero.path))
    move = _moved(flow, zero, step) if flow.laid_out else None
    if move is None:
        yield left(place, WIPES, UNPLAIN)
        return
    reason = "The step after it had no gradient, so nothing was learned from this backward pass; now the step uses it."
    yield Match(place, WIPES, "safe", reason, edits=edit(flow, move))


def _unused(file: PythonFile, loop: OptimizedModule, flow: EventFlow) -> Iterator[Match]:
    """Backward passes of one block whose gradients no step gets to see: a `zero_grad` behind them, in front of the
    next, or, as the block begins with it, in its next run."""
    events = flow.events
    beside = flow.single is not None and len({event.path[:-1] for event in events}) == 1 and len(loop.flows) == 1
    if not beside or READS.search(class_code(file, loop)) or said_of(file, loop, HOOKS, *HEARD):
        return
    kinds = "".join(event.kind[0] for event in events)
    if ZEROED.fullmatch(kinds):
        zero = events[kinds.rindex("z")]
        place, reason = file.span(flow.statement(zero.path)), "As it is, only the last pass trains. " + SUMMED
        first, block = events[kinds.rindex("z") - 1].path[-1][1], flow.block(zero.path)
        if not all(map(flow.harmless, block[first + 1 : zero.path[-1][1]])):
            return
        if flow.laid_out:
            yield Match(place, WIPES, "unsafe", reason, edits=edit(flow, Drop(zero.path)))
        else:
            yield left(place, WIPES, UNPLAIN)
    elif STEPPED.fullmatch(kinds):
        step, last = events[kinds.index("s")], events[-1]
        place = file.span(flow.statement(step.path))
        if flow.laid_out and _plain_between(flow, step, last):
            moves = (Move(path, last.path, after=True) for path in _with_clipping(file, flow, step))
            yield Match(place, EARLY, "safe", EARLY_REASON, edits=edit(flow, *moves))
        else:
            yield left(place, EARLY, UNPLAIN)


def _plain_between(flow: EventFlow, first: Event, second: Event) -> bool:
    """Whether nothing of the module but its logging runs between two statements of a block."""
    between = flow.block(first.path)[first.path[-1][1] + 1 : second.path[-1][1]]
    nodes = [node for statement in between for node in walk(statement)]
    logging = {
        id(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("log", "log_dict")
    }
    this = self_name(flow.function)
    return all(not isinstance(node, ast.Name) or node.id != this or id(node) in logging for node in nodes)


def _with_clipping(file: PythonFile, flow: EventFlow, step: Event) -> list[Path]:
    """A step and the lines in front of it that clip gradients."""
    found = [step.path]
    while found[0][-1][1] and CLIPS.search(file.source_of(flow.statement(before(found[0])))):
        found.insert(0, before(found[0]))
    return found


def _moved(flow: EventFlow, zero: Event, step: Event) -> Step | None:
    run = _run(flow, zero)
    if run:
        if len(run) > 1 and flow.single is None:
            return None
        first = run[-1]
        if _zeroed_before(flow, zero, first):
            return Drop(zero.path)
        if bound_before(flow, zero, first):
            return Move(zero.path, first)
        return Move(zero.path, step.path, after=True)
    earlier = any(event.kind == "backward" and _above(event.path, zero.path) for event in flow.events)
    return Move(zero.path, step.path, after=True) if earlier and flow.single else None


def _run(flow: EventFlow, zero: Event) -> list[Path]:
    """The statements in front of a `zero_grad`, in its block, that make the gradient which it wipes: nearest first."""
    found: list[Path] = []
    for back in range(1, zero.path[-1][1] + 1):
        path = before(zero.path, back)
        events = below(flow, path)
        if any(event.kind != "backward" for event in events):
            break
        if events:
            found.append(path)
    return found


def _zeroed_before(flow: EventFlow, zero: Event, first: Path) -> bool:
    for back in range(1, first[-1][1] + 1):
        event = direct(flow, before(first, back))
        if event or below(flow, before(first, back)):
            return event is not None and event.kind == "zero" and event.optimizer == zero.optimizer
    return False


def _above(path: Path, inner: Path) -> bool:
    """Whether a statement stands in a block around another, in front of it."""
    depth = len(path)
    return (
        depth < len(inner) and path[:-1] == inner[: depth - 1] and path[-1][0] == inner[depth - 1][0] and path < inner
    )


def _nowhere(file: PythonFile, loop: OptimizedModule) -> Iterator[Match]:
    flow = next((flow for flow in loop.flows if flow.of("step")), None)
    if flow is None or flow.single is None or len(loop.flows) > 1 or handed_on(flow):
        return
    steps, backwards = flow.of("step"), flow.of("backward")
    if not backwards or said_of(file, loop, r"zero_grad|\.grad\b|super\(\S*\.training_step", "zero_grad", ".grad"):
        return
    place = file.span(flow.statement(steps[0].path))
    known = optimizers(loop)
    if len(steps) > 1 or not flow.laid_out or not loop.known_whole() or not _in_order(flow, backwards[0], steps[0]):
        yield left(place, NOWHERE, UNPLAIN)
        return
    text = f"{file.source_of(steps[0].receiver)}.zero_grad()\n"
    run = _run(flow, steps[0])
    in_front = bool(run) and bound_before(flow, steps[0], run[-1])
    put = Put(run[-1], text) if in_front else Put(steps[0].path, text, after=True)
    reason = "Each backward pass added to the gradients of all before it, which no step is meant to use again."
    doubt = f" The optimizer may do it itself: {known}." if isinstance(known, str) else ""
    yield Match(place, NOWHERE, "unsafe" if doubt else "safe", f"{reason}{doubt}", edits=edit(flow, put))


def _in_order(flow: EventFlow, backward: Event, step: Event) -> bool:
    return flow.events.index(backward) < flow.events.index(step)


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.rnn = torch.nn.GRU(1, 8, batch_first=True)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        state = None
        for chunk in batch.split(4, dim=1):
            out, state = self.rnn(chunk, state)
            loss = out.pow(2).mean()
            self.manual_backward(loss)
            optimizer.zero_grad()
            optimizer.step()
            state = state.detach()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
BACKWARD = "            self.manual_backward(loss)\n"
ZERO = "            optimizer.zero_grad()\n"
AFTER = BEFORE.replace(BACKWARD + ZERO, ZERO + BACKWARD)
STEP = "            optimizer.step()\n"
KEPT = BACKWARD.replace("loss)", "loss, retain_graph=True)")
SECOND = "            self.manual_backward(state.pow(2).mean())\n"
EARLY_STEP = AFTER.replace(BACKWARD + STEP, KEPT + STEP + SECOND)
LATE_STEP = AFTER.replace(BACKWARD, KEPT + SECOND)

RULE = Rule(
    code=CODE,
    name="zero-grad-order",
    summary="`zero_grad` between backward and step moves before backward; where there is none, it is added",
    why=(
        "Under manual optimization only the training step sets gradients to zero. Between backward and step it "
        "takes the gradient away before it is used: nothing is learned, and nothing fails. Without it each step uses "
        "the sum of all gradients since training began. Of several backward passes a zero_grad between them leaves the "
        "last one, and a step between them the first ones, alone to train."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=present,
    mentions=(*ASKED, b"zero_grad", b".grad", *(word.encode() for word in HEARD)),
    examples=(
        Example(BEFORE, AFTER),
        Example(BEFORE.replace(ZERO, ""), AFTER),
        Example(AFTER, AFTER),
        Example(EARLY_STEP, LATE_STEP),
    ),
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)
