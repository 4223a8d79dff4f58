"""TBP111: a state that the module, or a part of it, keeps on itself and takes into the next batch or chunk with its
history."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.scopes import bind
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import results, self_name, taken_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.backward.training import ProjectTraining, TrainingFacts
from codemods.rules.backward.training import collect as collect_notes
from codemods.rules.loops.insertion_points import edit_of, left
from codemods.rules.loops.loop_carried_state import Shape
from codemods.rules.loops.optimizer_events import EventFlow, Path, calls_on, calls_on_self, is_laid_out, read_flow
from codemods.rules.loops.stateful_layers import SETS_UP, CarriedCall, find_kept, stores
from codemods.rules.loops.stateful_submodules import RECURRENT, StatefulClass, StatefulSubmodule, find_parts, read_held
from codemods.rules.loops.steps import Put, Replacement, Step
from codemods.rules.loops.tbp106 import IMPORTS, cut_of, retains, without_retain

CODE = "TBP111"
ROOTS = frozenset({"training_step", "forward", "on_train_batch_start", "on_train_batch_end"})
ADVICE = "Detach it, whatever its structure, before it is used again."
BATCH = (
    "The second batch's backward pass fails on the graph of the first, which is freed, or whose weights have changed; "
    "cut at the start of the step, each batch has its own."
)
CHUNK = "The second chunk's backward pass fails on the graph of the first; cut, each chunk has its own."


@dataclass(frozen=True)
class HistoryState:
    """A state that is kept with its history: the attributes, as they are written behind `self.`, what each of them
    holds, where it is made, and the loops over chunks that go through it, none where a training step goes through it
    once. `unclear` is why it may be set anew after all."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    made: ast.stmt | ast.expr
    loops: tuple[Path, ...]
    unclear: str | None = None


def collect(file: PythonFile) -> tuple[TrainingFacts | StatefulClass, ...] | None:
    """What the classes of a file say of how they train, and which keep a state."""
    return (*(collect_notes(file) or ()), *read_held(file)) or None


def _present(file: PythonFile) -> bool:
    return "training_step" in file.text


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    held = {
        (path, each.name): each
        for path, found in facts.collected(CODE).items()
        for each in found
        if isinstance(each, StatefulClass)
    }
    for item in file.classes:
        step = item.methods.get("training_step")
        fact = notes.fact(file, item) if step else None
        if not isinstance(step, ast.FunctionDef) or fact is None or facts.kind(fact) != MODULE:
            continue
        if {"hiddens", "optimizer_idx"} & {argument.arg for argument in step.args.args}:
            continue
        reached = notes.reached(fact, ROOTS)
        recurrent = any(word in file.text for word in RECURRENT)
        kept = list(find_kept(file, item, reached)) if recurrent else []
        parts = list(find_parts(file, facts, item, reached, held))
        flow = read_flow(step, bind(step, scope=item.scope)) if kept or parts else None
        states = _states(item, step, flow, kept, parts) if flow or results(step) else []
        if states:
            relative = next((f"{other.name} ({other.path})" for other in family(facts, fact)), None)
            yield _match(file, step, flow, states, relative)


def _states(
    item: ClassNode,
    step: ast.FunctionDef,
    flow: EventFlow | None,
    kept: list[CarriedCall],
    parts: list[StatefulSubmodule],
) -> list[HistoryState]:
    chunks = [flow.loop_around(event.path) for event in flow.of("backward")] if flow else []
    paths = [path for path in dict.fromkeys(chunks) if flow and path]
    found = []
    for each in kept:
        around = [path for path in paths if flow and _runs_in(flow.statement(path), each, step)]
        loops = [flow.statement(path) for path in around] if flow else []
        if not any(_set_anew(item, step, each, name, loops) for name in each.names):
            found.append(HistoryState(each.names, each.shapes, each.made, tuple(around)))
    for part in parts:
        around = [path for path in paths if flow and _calls_part(flow.statement(path), item, step, part)]
        inside = {id(node) for path in around if flow for node in walk(flow.statement(path))}
        before = {id(node) for node in walk(step) if around and id(node) not in inside}
        if any(id(node) not in before for node in part.tended):
            continue
        names, shapes = zip(*part.held.kept, strict=True)
        written = tuple(f"{part.attribute}.{name}" for name in names)
        found.append(HistoryState(written, shapes, part.call, tuple(around), part.unclear))
    return found


def _calls_part(loop: ast.stmt, item: ClassNode, step: ast.FunctionDef, part: StatefulSubmodule) -> bool:
    """Whether a loop calls a part of the class, itself or by a method of the class."""
    called = calls_on(loop, self_name(step))
    if any(isinstance(node, ast.Name) and node.id == self_name(step) for node in map(_function, walk(loop))):
        called.add("forward")
    methods = [item.methods[name] for name in called if name in item.methods]
    return part.attribute in called or any(part.attribute in calls_on_self(method) for method in methods)


def _function(node: ast.AST) -> ast.AST | None:
    return node.func if isinstance(node, ast.Call) else None


def _runs_in(loop: ast.stmt, kept: CarriedCall, step: ast.FunctionDef) -> bool:
    """Whether the call that makes a state is a part of a loop, or of a method that the loop calls."""
    this = self_name(step)
    if kept.method is step:
        return any(node is kept.made for node in walk(loop))
    called = calls_on(loop, this)
    itself = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == this for node in walk(loop)
    )
    return kept.method.name in called or (kept.method.name == "forward" and itself)


def _set_anew(item: ClassNode, step: ast.FunctionDef, kept: CarriedCall, name: str, loops: list[ast.stmt]) -> bool:
    """Whether something sets the attribute where the next batch, or the next chunk of the loops, may find it so."""
    called_by = {name: calls_on_self(method) for name, method in item.methods.items()}
    in_loops = {called for loop in loops for called in calls_on(loop, self_name(step))}
    for method, statement in stores(item, name, kept):
        callers = {caller for caller, called in called_by.items() if method.name in called}
        if method.name in SETS_UP or (callers and callers <= SETS_UP):
            continue
        if not loops or any(node is statement for loop in loops for node in walk(loop)):
            return True
        if method is not step and (method is kept.method or method.name in in_loops or not callers):
            return True
    return False


def _match(
    file: PythonFile, step: ast.FunctionDef, flow: EventFlow | None, states: list[HistoryState], relative: str | None
) -> Match:
    names = [f"self.{name}" for state in states for name in state.names]
    chunked = any(state.loops for state in states)
    said = " and ".join(f"`{name}`" for name in dict.fromkeys(names))
    message = f"{said} is carried into the next {'chunk' if chunked else 'batch'} with its whole history"
    place = file.span(states[0].made)
    steps: list[Step] = [cut for state in states for cut in _cuts(step, flow, state)]
    needs = IMPORTS if any("apply_to" in str(cut.text) for cut in steps if isinstance(cut, Put)) else ()
    unclear = next((state.unclear for state in states if state.unclear), None)
    loops = [path for state in states for path in state.loops]
    why = unclear or _refusal(file, step, flow, loops, relative, needs)
    if why:
        return left(place, message, why, ADVICE)
    backwards = flow.of("backward") if flow else []
    if len(backwards) == 1 and retains(backwards[0].call):
        steps.append(Replacement(backwards[0].path, without_retain))
    return Match(place, message, "safe", CHUNK if chunked else BATCH, edits=edit_of(step, *steps), imports=needs)


def _refusal(
    file: PythonFile,
    step: ast.FunctionDef,
    flow: EventFlow | None,
    loops: list[Path],
    relative: str | None,
    needs: tuple[tuple[str, str | None], ...],
) -> str | None:
    if relative:
        return f"{relative}, a base class or subclass, may cut it"
    if not is_laid_out(step) or (flow is not None and not flow.plain):
        return "the training step is too complex for fixer to rewrite"
    if flow and any(isinstance(node, ast.Continue) for path in loops for node in walk(flow.statement(path))):
        return "the loop continues from several places"
    taken = taken_name(file.scope.bindings, needs)
    return f"this file uses the name `{taken}` for something else" if taken else None


def _cuts(step: ast.FunctionDef, flow: EventFlow | None, state: HistoryState) -> Iterator[Put]:
    """The lines that cut a state: at the end of each round of its loops, or at the start of the training step, where
    it may still be None."""
    this = self_name(step)
    names = [f"{this}.{name}" for name in state.names]
    for path in state.loops if flow else ():
        last = (*path, ("body", len(flow.statement(path).body) - 1))  # type: ignore[union-attr]
        for name, shape in zip(names, state.shapes, strict=True):
            cut = f"{name}.detach()" if shape == "tensor" else cut_of(name)
            yield Put(last, f"{name} = {cut}\n", after=True)
    if not state.loops:
        first = step.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(step.body) > 1
        for name in names:
            yield Put((("body", int(documented)),), f"{name} = {cut_of(name)}\n")


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(1, 8, batch_first=True)
        self.state = None

    def training_step(self, batch, batch_idx):
        out, self.state = self.rnn(batch, self.state)
        return out.pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
CALL = "        out, self.state = self.rnn(batch, self.state)\n"
AFTER = BEFORE.replace(
    CALL, f"        self.state = apply_to_collection(self.state, torch.Tensor, torch.Tensor.detach)\n{CALL}"
).replace(
    "LightningModule\n", "LightningModule\nfrom lightning_utilities.core.apply_func import apply_to_collection\n", 1
)
ANEW = BEFORE.replace(CALL, f"        self.state = None\n{CALL}")
PART = """\
import torch
from lightning.pytorch import LightningModule


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(1, 8, batch_first=True)
        self.state = None

    def forward(self, x):
        out, self.state = self.rnn(x, self.state)
        return out


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def training_step(self, batch, batch_idx):
        return self.encoder(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
CUT_PART = PART.replace(
    "        return self.encoder(",
    "        self.encoder.state = apply_to_collection(self.encoder.state, torch.Tensor, torch.Tensor.detach)\n"
    "        return self.encoder(",
).replace(
    "LightningModule\n", "LightningModule\nfrom lightning_utilities.core.apply_func import apply_to_collection\n", 1
)

RULE = Rule(
    code=CODE,
    name="kept-state-not-detached",
    summary="a recurrent state that the module, or a part of it, keeps is detached before the next batch or chunk",
    why=(
        "A state that `self` holds keeps the graph that made it. The next batch's backward pass goes on into that "
        "graph, which is freed: `Trying to backward through the graph a second time`; retain_graph=True only changes "
        "the error. Detached where it is taken over, the state is used and the history is not, which is truncated "
        "back-propagation."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=(b"training_step", *(word.encode() for word in RECURRENT)),
    check=_check,
    collect=collect,
    present=_present,
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER), Example(ANEW, ANEW), Example(PART, CUT_PART)),
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html",),
)
