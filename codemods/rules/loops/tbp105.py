"""TBP105: no optimizer step at all, or one behind the loop in which each chunk's gradient was wiped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, results, self_name
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.loops.classes import FLAG, TRIGGERS, OptimizedModule, collect, loops, present, state_of
from codemods.rules.loops.insertion_points import (
    CLIPS,
    before,
    behind_clipping,
    below,
    bound_before,
    class_code,
    class_text,
    direct,
    edit,
    handed_on,
    left,
    optimizers,
    said_of,
)
from codemods.rules.loops.loop_carried_state import find_carried
from codemods.rules.loops.optimization_intent import ASKED, is_meant
from codemods.rules.loops.optimizer_events import Event, EventFlow, Path
from codemods.rules.loops.steps import Move, Put

CODE = "TBP105"
NEVER = "no optimizer ever steps, so that nothing is trained"
UNUSED = "automatic optimization is off, and nothing calls backward on the loss that is returned"
TRAINS = r"backward|\.step\b|optimizer_step|super\(\S*\.training_step|\.grad\b|autograd|optimizers\(\)|fabric"
BEHIND = "the optimizer steps once, after the loop in which each chunk's gradient was set to zero"
STEPS = (
    r"(?<!sched)(?<!scheduler)(?<!schedulers\(\))\.step\b|optimizer_step|super\(\S*\.training_step|register_\w*hook"
    r"|\.grad\b"
)
TRUNCATES = re.compile(r"bptt", re.IGNORECASE)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if loop.state == "off" and not any(flow.of("step") for flow in loop.flows):
            yield from _never(file, loop)
        elif is_meant(file, loop):
            for flow in loop.flows:
                yield from _behind(file, loop, flow)
    if FLAG in file.text:
        yield from _untrained(file, facts)


def _untrained(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Classes that return a loss under manual optimization, where nobody goes backward through it."""
    for item in file.classes:
        step, fact = item.methods.get("training_step"), facts.of_class(file, item)
        if step is None or fact is None or facts.kind(fact) != MODULE or not results(step):
            continue
        if state_of(fact, facts, CODE, file, begun=True) != "off":
            continue
        loop = OptimizedModule(item, fact, facts, "off", ())
        if isinstance(optimizers(loop), str) or not loop.known_whole() or _hands_itself_on(step):
            continue
        if not said_of(file, loop, TRAINS, "backward", ".step(", "optimizer_step", ".grad"):
            reason = (
                "Not rewritten: the intention is not clear. Delete `automatic_optimization = False`, and Lightning "
                "optimizes the returned loss; or call zero_grad, self.manual_backward and step in the training step."
            )
            yield Match(file.head(step), UNUSED, "manual", reason)


def _hands_itself_on(step: Function) -> bool:
    """Whether a method gives its instance, or a function of it, to somebody who may train it."""
    this = self_name(step)
    return any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part).partition(".")[0] == this
        for node in walk(step)
        if isinstance(node, ast.Call)
        for part in [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(part, ast.Name) or ast.unparse(part).endswith(("optimizers", "model", "net"))
    )


def _never(file: PythonFile, loop: OptimizedModule) -> Iterator[Match]:
    flow = next((flow for flow in loop.flows if flow.of("backward")), None)
    if flow is None or said_of(file, loop, STEPS, ".step(", "optimizer_step", ".grad") or handed_on(flow):
        return
    if not loop.known_whole() or isinstance(optimizers(loop), str):
        return
    backwards, zeros = flow.of("backward"), [event for event in flow.of("zero") if event.optimizer]
    place = file.span(flow.statement(backwards[-1].path))
    why = ""
    if len(loop.flows) > 1 or len(backwards) > 1 or flow.single is None or not flow.laid_out or not zeros:
        why = "fixer cannot tell where the step belongs here"
    elif not _same_block(zeros[0], backwards[0]) or not bound_before(flow, zeros[0], backwards[0].path):
        why = "zero_grad and backward are not in the same block"
    if why:
        yield left(place, NEVER, why)
        return
    path = behind_clipping(file, flow, backwards[0].path)
    text = f"{file.source_of(zeros[0].receiver)}.step()\n"
    reason = "zero_grad and backward are there, for each chunk; the step that they prepare is missing."
    yield Match(place, NEVER, "safe", reason, edits=edit(flow, Put(path, text, after=True)))


def _same_block(first: Event, second: Event) -> bool:
    return first.path[:-1] == second.path[:-1] and first.path[-1][0] == second.path[-1][0]


def _behind(file: PythonFile, loop: OptimizedModule, flow: EventFlow) -> Iterator[Match]:
    steps = flow.of("step")
    if len(steps) != 1 or flow.single is None or handed_on(flow) or re.search(r"\.grad\b", class_code(file, loop)):
        return
    above, moved = _loop_before(file, flow, steps[0].path)
    if above is None:
        return
    inside = below(flow, above)
    if [event.kind for event in inside] not in (["zero", "backward"], ["backward", "zero"]):
        return
    if any(event.path[:-1] != above or event.path[-1][0] != "body" for event in inside):
        return
    place = file.span(flow.statement(steps[0].path))
    state = next((item for item in find_carried(file, loop.item, flow) if item.loop == above), None)
    advice = "Step in the loop, after backward; or, to sum the gradients of all chunks, call zero_grad before it."
    if state is None or not flow.laid_out or not bound_before(flow, steps[0], above):
        yield Match(place, BEHIND, "manual", f"Only the last one's gradient is used, if any. {advice}")
        return
    backward = next(event for event in inside if event.kind == "backward")
    target = behind_clipping(file, flow, backward.path)
    moves = tuple(Move(path, target, after=True) for path in moved)
    plain = TRUNCATES.search(class_text(file, loop)) is not None or bool(state.cuts)
    reason = "Only the last chunk's gradient was used, if any; truncated back-propagation steps for each chunk."
    yield Match(place, BEHIND, "safe" if plain else "unsafe", reason, edits=edit(flow, *moves))


def _loop_before(file: PythonFile, flow: EventFlow, step: Path) -> tuple[Path | None, tuple[Path, ...]]:
    """The loop in front of a step in its block, and what has to go into it: the step, and clipping before it."""
    moved = [step]
    for back in range(1, step[-1][1] + 1):
        path = before(step, back)
        statement = flow.statement(path)
        if isinstance(statement, ast.For) and below(flow, path):
            return path, tuple(moved)
        if direct(flow, path) or below(flow, path) or not flow.harmless(statement):
            return None, ()
        if CLIPS.search(file.source_of(statement)):
            moved.insert(0, path)
    return None, ()


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
            optimizer.zero_grad()
            self.manual_backward(loss)
            state = state.detach()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
BACKWARD = "            self.manual_backward(loss)\n"
DETACH = "            state = state.detach()\n"
AFTER = BEFORE.replace(BACKWARD, f"{BACKWARD}            optimizer.step()\n")
OUTSIDE = BEFORE.replace(DETACH, f"{DETACH}        optimizer.step()\n")

RULE = Rule(
    code=CODE,
    name="missing-step",
    summary="A manual loop without `step`, or with one after the loop that zeroes, steps for each chunk",
    why=(
        "Under manual optimization Lightning never steps an optimizer. A loop with zero_grad and backward and no step "
        "runs, logs a loss and trains nothing; with one step after the loop it uses the last chunk's gradient alone."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=lambda file: FLAG in file.text or present(file),
    mentions=(*ASKED, b"backward", b".step(", b"optimizer_step", b".grad"),
    examples=(Example(BEFORE, AFTER), Example(OUTSIDE, AFTER), Example(AFTER, AFTER)),
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)
