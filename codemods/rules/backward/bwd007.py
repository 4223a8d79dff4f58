"""BWD007: several backward passes before one step, each of which reduces the gradients between processes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile, TextFile
from codemods.code.syntax import self_name
from codemods.lightning.facts import Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule
from codemods.rules.backward.ddp_usage import COUNTS, WORD, Ddp, StrategyUse, ddp_of, read_configured, read_spread
from codemods.rules.backward.names import MethodNames
from codemods.rules.backward.passes import Pass, read_pass, runs
from codemods.rules.backward.reach import left_out, reach_of
from codemods.rules.loops.classes import TRIGGERS, LoopClassSummary, OptimizedModule, loops, present
from codemods.rules.loops.classes import collect as collect_shown
from codemods.rules.loops.insertion_points import bound_before, class_code, edit, left, said_of
from codemods.rules.loops.optimizer_events import WHOLE, Event, EventFlow, Path
from codemods.rules.loops.steps import Drop, Replacement, Step

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD007"
MESSAGE = "each of several backward passes before one step reduces the gradients between processes"
PARTIAL = "the last of several backward passes before a step does not reach every parameter"
REASON = (
    "The gradient stays the same: what was summed is averaged at the last pass. Under plain DDP an earlier pass that "
    "reaches a part of the parameters fails (`Expected to have finished reduction`); under no-sync it does not."
)
ADVICE = "Put the earlier ones under `with optimizer.toggle_model(sync_grad=False):`, and the last one outside."
SYNCS = ("toggle", "no_sync", "block_backward_sync", "no_backward_sync")
SEES = r"\.grad\b|clip_grad|register_(?:full_backward_)?hook|post_accumulate|on_after_backward"
SEEN = (".grad", "clip_grad", "register_hook", "on_after_backward")
SHARES = re.compile(r"requires_grad|freeze|weight\s*=[^=]|parametri[sz]e|\.data\b")
MAYBE = "it trains by DDP, if {place}, which mentions it, is where its Trainer's strategy comes from"


@dataclass(frozen=True)
class BackwardWindow:
    """The backward passes of a method, in order, before a step, with no other event between them."""

    passes: tuple[Event, ...]
    step: Event


def collect(file: PythonFile) -> tuple[LoopClassSummary | StrategyUse, ...] | None:
    """What the classes of a file say of how they train, and which strategies of DDP stand behind names."""
    return (*(collect_shown(file) or ()), *read_spread(file)) or None


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    """Where a class may be trained, once there is one that optimizes by hand."""
    shown = (each for found in collected.values() for each in found)
    return (
        (b"Trainer", b"LightningCLI") if any(isinstance(each, LoopClassSummary) and each.flag for each in shown) else ()
    )


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        return
    for loop in loops(file, facts, CODE):
        if loop.state != "off" or any(word in class_code(file, loop) for word in SYNCS):
            continue
        found = [(flow, window) for flow in loop.flows for window in _windows(flow, _merged(flow))]
        ddp = ddp_of(facts, loop.fact, CODE) if found else None
        for flow, window in found if ddp else ():
            assert ddp is not None
            yield _match(file, loop, flow, window, ddp)


def _merged(flow: EventFlow) -> set[int]:
    """The backward passes that another rule joins to the one before them."""
    return {id(found.call) for run in runs(flow.function) if _is_seen(run) for found in run[1:]}


def _is_seen(run: list[Pass]) -> bool:
    return all(found.retains is not None for found in run)


def _windows(flow: EventFlow, merged: set[int]) -> Iterator[BackwardWindow]:
    """The windows of two passes and more, and of one that a loop repeats."""
    if not flow.plain:
        return
    run: list[Event] = []
    for event in flow.events:
        if event.kind == "backward":
            if id(event.call) not in merged:
                run.append(event)
        elif event.kind == "step":
            if len(run) > 1 or (run and _repeated(flow, run[-1], event)):
                yield BackwardWindow(tuple(run), event)
            run = []
        else:
            run = []


def _repeated(flow: EventFlow, event: Event, step: Event) -> bool:
    """Whether a loop around a pass ends before the step."""
    loop = flow.loop_around(event.path)
    return loop is not None and step.path[: len(loop)] != loop


def _match(file: PythonFile, loop: OptimizedModule, flow: EventFlow, window: BackwardWindow, ddp: Ddp) -> Match:
    last = window.passes[-1]
    place = file.span(flow.statement(last.path))
    missed = [] if ddp.looks or not ddp.sure else _missed(loop, flow, window)
    names = " and ".join(f"self.{name}" for name in missed)
    if missed and not (loop.relatives or SHARES.search(class_code(file, loop))):
        reason = (
            f"Not rewritten: an earlier pass goes back to {names}, this one does not, and DDP ({ddp.place}) waits for "
            "every parameter in each pass: the ranks step with gradients of their own, and the next pass fails "
            "(`Expected to have finished reduction`). Go backward once, by "
            f"`self.manual_backward({_summed(file, flow, window)})`, or train with "
            '`Trainer(strategy="ddp_find_unused_parameters_true")`.'
        )
        return Match(place, PARTIAL, "manual", reason)
    place = file.span(flow.statement(window.passes[0].path))
    why = _refusal(file, loop, flow, window) if ddp.sure else MAYBE.format(place=ddp.place)
    if missed:
        why = f"the last pass may not go back to {names}, as an earlier one does, and DDP waits for every parameter"
    if why:
        return left(place, MESSAGE, why, ADVICE)
    first = window.passes[0]
    known = bound_before(flow, window.step, first.path)
    owner = file.source_of(window.step.receiver) if known else f"{self_name(flow.function)}.optimizers()"
    steps = [step for group in _groups(file, flow, window.passes[:-1]) for step in _wrapped(file, flow, group, owner)]
    if _repeated(flow, last, window.step):
        steps += _wrapped(file, flow, [last], owner, _last_round(flow, last) or "True")
    return Match(place, MESSAGE, "safe", REASON, edits=edit(flow, *steps))


def _summed(file: PythonFile, flow: EventFlow, window: BackwardWindow) -> str:
    """The sum of the losses of a window, where they have names of their own."""
    found = [read_pass(flow.statement(event.path), flow.function) for event in window.passes]
    losses = [brief(file, item.loss) if item and isinstance(item.loss, ast.Name) else "..." for item in found]
    return " + ".join(losses) if len(set(losses)) == len(losses) else "..."


def _missed(loop: OptimizedModule, flow: EventFlow, window: BackwardWindow) -> list[str]:
    """The modules that an earlier pass goes back to and the last one does not, going by the class alone."""
    found = [read_pass(flow.statement(event.path), flow.function) for event in window.passes]
    reached = [reach_of(item.loss, loop.item, flow.function) for item in found if item]
    if len(reached) != len(found):
        return []
    return sorted({name for item in reached[:-1] for name in left_out(item, reached[-1], loop.item)})


def _refusal(file: PythonFile, loop: OptimizedModule, flow: EventFlow, window: BackwardWindow) -> str | None:
    passes = window.passes
    if window.step.optimizer != WHOLE:
        return "it is not one optimizer of Lightning's, whose toggle_model would leave every parameter as it is"
    if any(_branch(flow, event, window.step) for event in passes):
        return "a pass is in a branch, so that fixer cannot tell which is the last"
    if any(isinstance(event.call.func, ast.Attribute) and event.call.func.attr == "backward" for event in passes):
        return "a pass does not use self.manual_backward"
    if _repeated(flow, passes[-1], window.step) and not _last_round(flow, passes[-1]):
        return "the last pass is in a loop, all whose rounds but the last are earlier ones"
    if any(keyword.arg == "inputs" for event in passes for keyword in event.call.keywords):
        return "a pass computes the gradients of some weights alone, and DDP waits for the others"
    if "use_pl_optimizer" in class_code(file, loop) or not flow.laid_out:
        return "the code is too complex for fixer to rewrite"
    if said_of(file, loop, SEES, *SEEN) or re.search(r"register_hook|post_accumulate", file.text):
        return "something looks at the gradients, which are each process's own until the last pass"
    return None


def _branch(flow: EventFlow, event: Event, step: Event) -> bool:
    """Whether a pass stands in a branch or `while` that the step does not stand in."""
    return any(
        isinstance(node, ast.If | ast.While) and step.path[: len(path) + 1] != event.path[: len(path) + 1]
        for path, node in flow.around(event.path)
    )


def _groups(file: PythonFile, flow: EventFlow, passes: tuple[Event, ...]) -> list[list[Event]]:
    """The passes, those together that follow one another in a block without a comment between them."""
    groups = [[passes[0]]] if passes else []
    for first, second in pairwise(passes):
        one, two = flow.statement(first.path), flow.statement(second.path)
        beside = second.path == _next(first.path) and two.lineno == (one.end_lineno or one.lineno) + 1
        if beside and not file.has_comment(one.lineno, two.end_lineno or two.lineno):
            groups[-1].append(second)
        else:
            groups.append([second])
    return groups


def _next(path: Path) -> Path:
    return (*path[:-1], (path[-1][0], path[-1][1] + 1))


def _last_round(flow: EventFlow, event: Event) -> str | None:
    """What is true in the last round of the loop around a pass: of `for index, part in enumerate(parts)`, with parts
    whose number is known."""
    path = event.path[:-1]
    node = flow.statement(path) if path else None
    if not isinstance(node, ast.For) or node.orelse or not isinstance(node.target, ast.Tuple):
        return None
    index, call = node.target.elts[0], node.iter
    plain = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
    if not (plain and isinstance(call, ast.Call) and isinstance(index, ast.Name)):
        return None
    parts = call.args[0]
    if flow.scope.lookup("enumerate") or not (isinstance(call.func, ast.Name) and call.func.id == "enumerate"):
        return None
    bound = MethodNames(flow.function).bound
    leaves = any(isinstance(inner, ast.Break | ast.Continue | ast.Return) for inner in walk(node))
    if leaves or not isinstance(parts, ast.Name) or len(bound.get(index.id, [])) != 1:
        return None
    values = bound.get(parts.id, [])
    sized = len(values) == 1 and values[0].whole and _is_sized(values[0].value)
    return f"{index.id} == len({parts.id}) - 1" if sized else None


def _is_sized(value: ast.expr) -> bool:
    """Whether a value certainly has a length: a list, or a tensor cut into parts."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in ("chunk", "split", "tensor_split", "unbind")
    return isinstance(value, ast.List | ast.Tuple | ast.ListComp)


def _wrapped(
    file: PythonFile, flow: EventFlow, group: list[Event], owner: str, synced: str = "False"
) -> Iterator[Step]:
    others = [file.source_of(flow.statement(event.path)) for event in group[1:]]
    head = f"with {owner}.toggle_model(sync_grad={synced}):\n    pass\n"
    yield Replacement(group[0].path, partial(_without_sync, head=head, others="".join(f"{text}\n" for text in others)))
    for event in group[1:]:
        yield Drop(event.path)


def _without_sync(line: cst.SimpleStatementLine, head: str, others: str) -> Any:
    """A backward pass, and those right behind it, in a `with`."""
    from codemods.rewrite.edits import statements, with_body

    block = statements(head)[0]
    inner = [line.with_changes(leading_lines=[]), *(statements(others) if others else [])]
    return with_body(block, inner).with_changes(leading_lines=line.leading_lines)


BEFORE = """\
import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.net(batch[0]).mean())
        self.manual_backward(self.net(batch[1]).pow(2).mean())
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


trainer = Trainer(devices=2, strategy="ddp")
trainer.fit(Model())
"""
FIRST = "        self.manual_backward(self.net(batch[0]).mean())\n"
AFTER = BEFORE.replace(FIRST, f"        with optimizer.toggle_model(sync_grad=False):\n    {FIRST}")
A = BEFORE.replace('devices=2, strategy="ddp"', "devices=1")
PART = BEFORE.replace("Linear(8, 1)\n", "Linear(8, 1)\n        self.other = torch.nn.Linear(8, 1)\n").replace(
    "self.net(batch[0])", "(self.net(batch[0]) + self.other(batch[0]))"
)

RULE = Rule(
    code=CODE,
    name="no-sync-before-last",
    summary="under DDP the earlier of several backward passes before a step go under no-sync",
    why=(
        "DDP averages gradients between processes in every backward pass, and waits for each parameter in each of "
        "them. Of several passes before one step the last alone has to: `toggle_model(sync_grad=False)` holds the "
        "earlier ones back, as Lightning's own accumulation does. A last pass that provably reaches fewer parameters "
        "than an earlier one is named: the ranks then step with gradients of their own, and the pass after it fails. "
        "With ddp_find_unused_parameters_true both orders are right (run on two processes)."
    ),
    fix="safe",
    versions="every Lightning release since 1.5",
    triggers=(*TRIGGERS, WORD, *(f"{name}=".encode() for name in COUNTS)),
    check=_check,
    collect=collect,
    collect_text=read_configured,
    context=_context,
    kinds=("python", "yaml"),
    text_triggers=(WORD,),
    present=present,
    mentions=(*(word.encode() for word in SEEN), WORD),
    needs="1.5.0",
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER), Example(A, A), Example(PART, PART)),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
)
