"""TBP106: a state carried from chunk to chunk that is not cut from its history, or only in part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import (
    Function,
    is_self_attribute,
    may_return_none,
    results,
    self_name,
    taken_name,
    targets_of,
)
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.backward.windows import loss_of
from codemods.rules.loops.classes import TRIGGERS, OptimizedModule, collect, loops, present
from codemods.rules.loops.insertion_points import class_text, edit, left
from codemods.rules.loops.loop_carried_state import CUT, CarriedState, find_carried
from codemods.rules.loops.optimization_intent import ASKED, is_meant
from codemods.rules.loops.optimizer_events import Event, EventFlow, Path
from codemods.rules.loops.steps import Put, Replacement, Step
from codemods.rules.loops.tbp105 import TRUNCATES

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP106"
IMPORTS: tuple[tuple[str, str | None], ...] = (
    ("torch", None),
    ("lightning_utilities.core.apply_func", "apply_to_collection"),
)
SUMMED = "Go backward from the chunk's own loss, and sum up its detach(); or once, after the loop, from the sum."
HOLDING = {"tuple", "list", "isinstance", "clone", "contiguous", "to"}
"""What gives back a tensor with its history, or what holds such."""
ADVICE = "Detach the state, whatever its structure, after the step of each chunk."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if not is_meant(file, loop) and loop.state != "off":
            continue
        for flow in loop.flows:
            for state in find_carried(file, loop.item, flow):
                yield from _state_match(file, loop, flow, state)
            yield from _sums(file, flow)


def _sums(file: PythonFile, flow: EventFlow) -> Iterator[Match]:
    """Backward passes of a loop on what is summed up from chunk to chunk."""
    for event in flow.of("backward"):
        loss, around = loss_of(event.call, flow.function), flow.loop_around(event.path)
        if not isinstance(loss, ast.Name) or around is None or retains(event.call):
            continue
        stores = [
            node
            for node in walk(flow.statement(around))
            if isinstance(node, ast.Name) and node.id == loss.id and not isinstance(node.ctx, ast.Load)
        ]
        body = flow.statement(around).body  # type: ignore[attr-defined]
        added = [node for node in body if node.lineno < loss.lineno and _adds(node, loss.id)]
        cut = f"{loss.id}.detach_" in map(ast.unparse, _callees(flow.statement(around)))
        if len(stores) == len(added) == 1 and event.path[:-1] == around and not cut:
            message = f"`{loss.id}` keeps the history of each chunk"
            why = "its second backward pass fails on the graph of the first, and the intention is not clear"
            yield left(file.span(added[0]), message, why, SUMMED)


def _callees(statement: ast.stmt) -> list[ast.expr]:
    return [node.func for node in walk(statement) if isinstance(node, ast.Call)]


def _adds(node: ast.stmt, name: str) -> bool:
    """Whether a statement adds something to a name, which keeps its history."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and node.target.id == name
    targets, value = targets_of(node), getattr(node, "value", None)
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or not isinstance(value, ast.BinOp):
        return False
    parts = (value.left, value.right) if isinstance(value.op, ast.Add) else ()
    return targets[0].id == name and any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _state_match(file: PythonFile, loop: OptimizedModule, flow: EventFlow, state: CarriedState) -> Iterator[Match]:
    named = " and ".join(f"`{name}`" for name in state.names)
    body = flow.statement(state.loop).body  # type: ignore[attr-defined]
    if not state.cuts:
        if not state.certain and _may_be_cut_elsewhere(file, loop, flow):
            return
        message = f"{named} is carried to the next chunk with its whole history"
        step: Step = Put(_end(flow, state), _cut_text(state))
    else:
        if why := _cuts_nothing(file, loop, flow, state, body):
            yield left(file.span(body[state.cuts[0]]), f"{named} keeps its history from chunk to chunk", why, ADVICE)
            return
        found = _wrong_depth(state, body)
        if found is None:
            return
        message, step = found
    yield _judged(file, loop, flow, state, message, step)


def _cuts_nothing(
    file: PythonFile, loop: OptimizedModule, flow: EventFlow, state: CarriedState, body: list[ast.stmt]
) -> str | None:
    """Why the one statement that seems to cut the state leaves it whole, always or on some chunks."""
    backwards = _inside(flow, state, "backward")
    if len(state.cuts) != 1 or not state.certain or any(retains(event.call) for event in backwards):
        return None
    statement = body[state.cuts[0]]
    if isinstance(statement, ast.If):
        counted = isinstance(statement.test, ast.Compare) and isinstance(statement.test.left, ast.BinOp)
        if not counted or not _is_seldom(statement.test.left) or statement.orelse:  # type: ignore[attr-defined]
            return None
        return f"it is cut where `{file.source_of(statement.test)}` alone, and the chunk after another one fails"
    call = statement.value if isinstance(statement, ast.Assign) else None
    called = _called(file, loop, flow, call) if isinstance(call, ast.Call) else None
    if called is None or not _keeps_history(called):
        return None
    return f"`{file.source_of(call.func)}` gives it back with its history"  # type: ignore[union-attr]


def _is_seldom(node: ast.BinOp) -> bool:
    """Whether something is counted modulo more than one."""
    always = isinstance(node.right, ast.Constant) and node.right.value == 1
    return isinstance(node.op, ast.Mod) and not always


def _called(file: PythonFile, loop: OptimizedModule, flow: EventFlow, call: ast.Call) -> Function | None:
    """The function of the file, or of the class where no relative has another, that a call runs."""
    function = call.func
    if isinstance(function, ast.Name):
        found = [node for node in file.tree.body if isinstance(node, ast.FunctionDef) and node.name == function.id]
        return found[0] if len(found) == 1 else None
    if not isinstance(function, ast.Attribute) or not is_self_attribute(
        function, function.attr, self_name(flow.function)
    ):
        return None
    inherited = any(function.attr in other.methods for other in loop.relatives)
    return None if inherited else loop.item.methods.get(function.attr)


def _keeps_history(function: Function) -> bool:
    """Whether a function only takes a state apart and puts it together again."""
    calls = [node.func for node in walk(function) if isinstance(node, ast.Call)]
    names = {getattr(node, "attr", getattr(node, "id", "")) for node in calls}
    given = [any(isinstance(part, ast.Name) for part in walk(value)) for value in results(function)]
    plain = names <= {*HOLDING, function.name} and not function.decorator_list and not may_return_none(function)
    return plain and all(given) and not CUT.search(_text(function))


def _text(function: Function) -> str:
    return "\n".join(ast.unparse(node) for node in function.body).replace(function.name, "")


def _judged(
    file: PythonFile, loop: OptimizedModule, flow: EventFlow, state: CarriedState, message: str, step: Step
) -> Match:
    place = file.span(flow.statement(state.loop).body[state.made])  # type: ignore[attr-defined]
    backwards = _inside(flow, state, "backward")
    needs = IMPORTS if "apply_to_collection" in str(getattr(step, "text", "apply_to_collection")) else ()
    taken = taken_name(file.scope.bindings, needs)
    if not flow.laid_out or taken or len(backwards) != 1:
        why = (
            f"this file uses the name `{taken}` for something else"
            if taken
            else "the loop is too complex for fixer to rewrite"
        )
        return left(place, message, why, ADVICE)
    if isinstance(step, Put):
        step = Put(step.path, step.text, after=True)
    steps: list[Step] = [step]
    kept = retains(backwards[0].call)
    if kept:
        steps.append(Replacement(backwards[0].path, without_retain))
    if kept and not _inside(flow, state, "step"):
        reason = (
            "With retain_graph=True and the step after the loop this works, and back-propagates through all chunks."
        )
        if not TRUNCATES.search(class_text(file, loop)):
            return Match(
                place, message, "manual", f"{reason} If that is not the intention: {ADVICE[0].lower()}{ADVICE[1:]}"
            )
        return Match(
            place,
            message,
            "unsafe",
            f"{reason} With the cut it does so through one chunk.",
            edits=edit(flow, *steps),
            imports=needs,
        )
    reason = "The second chunk's backward pass fails on the graph of the first; cut, each chunk has its own."
    if state.cuts:
        reason = f"As it is, it fails; this cuts the state that `{_call_text(file, flow, state)}` returns, all of it."
    if not state.certain:
        reason += " fixer cannot tell whether the state has a history; where it has none, cutting it changes nothing."
    return Match(place, message, "safe" if state.certain else "unsafe", reason, edits=edit(flow, *steps), imports=needs)


def _call_text(file: PythonFile, flow: EventFlow, state: CarriedState) -> str:
    """The function whose call makes the state, as it is written."""
    made = flow.statement(state.loop).body[state.made]  # type: ignore[attr-defined]
    calls = [node for node in walk(made) if isinstance(node, ast.Call)]
    return file.source_of(calls[0].func) if calls else "the loop"


def _inside(flow: EventFlow, state: CarriedState, kind: str) -> list[Event]:
    return [event for event in flow.events if event.kind == kind and event.path[: len(state.loop)] == state.loop]


def retains(call: ast.Call) -> bool:
    return any(keyword.arg == "retain_graph" for keyword in call.keywords)


def without_retain(line: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    from codemods.rewrite.edits import without_arguments

    statement: Any = line.body[0]
    call = without_arguments(statement.value, frozenset({"retain_graph"}))
    return line.with_changes(body=[statement.with_changes(value=call)])


def _end(flow: EventFlow, state: CarriedState) -> Path:
    """The last statement of the body that the cut has to stand behind: optimizer events, and the state's making."""
    inner = [event.path[len(state.loop)][1] for event in flow.events if event.path[: len(state.loop)] == state.loop]
    body = flow.statement(state.loop).body  # type: ignore[attr-defined]
    last = max([*inner, state.made])
    while last + 1 < len(body) and "clear_autocast_cache" in ast.unparse(body[last + 1]):
        last += 1
    return (*state.loop, ("body", last))


def _cut_text(state: CarriedState) -> str:
    if set(state.shapes) == {"tensor"}:
        return f"{', '.join(state.names)} = {', '.join(f'{name}.detach()' for name in state.names)}\n"
    return "".join(f"{name} = {cut_of(name)}\n" for name in state.names)


def cut_of(name: str) -> str:
    return f"apply_to_collection({name}, torch.Tensor, torch.Tensor.detach)"


def _may_be_cut_elsewhere(file: PythonFile, loop: OptimizedModule, flow: EventFlow) -> bool:
    """Whether the call that makes the state may give it back without a history."""
    others = loop.facts.mentions.get(b"detach", frozenset()) | loop.facts.mentions.get(b"no_grad", frozenset())
    own = "".join(file.source_of(method) for method in loop.item.methods.values() if method is not flow.function)
    return bool(others - {file.path}) or CUT.search(own) is not None or not loop.known_whole()


def _wrong_depth(state: CarriedState, body: list[ast.stmt]) -> tuple[str, Step] | None:
    """What is wrong with the one statement that cuts the state, and the right one; None where it may be right."""
    if len(state.cuts) != 1 or not state.certain:
        return None
    index = state.cuts[0]
    statement = body[index]
    path = (*state.loop, ("body", index))
    targets = targets_of(statement)
    if len(state.names) == 2 and len(targets) == 1 and isinstance(targets[0], ast.Name):
        return _one_of_two(statement, targets[0].id, state, path)
    if len(state.names) != 1 or len(targets) != 1 or not isinstance(statement, ast.Assign):
        return None
    name, shape = state.names[0], state.shapes[0]
    if not isinstance(targets[0], ast.Name) or targets[0].id != name:
        return None
    depth = _depth(statement.value, name)
    fails = {
        "whole": shape in ("pair", "nested"),
        "each": shape in ("tensor", "nested"),
        "first": shape in ("pair", "nested"),
    }
    if depth is None or not fails[depth]:
        return None
    said = {"whole": "as if it were one tensor", "each": "one by one at the wrong depth", "first": "only in part"}
    message = f"`{name}` is detached {said[depth]}"
    return message, Replacement(
        path, partial(_replaced, text=f"{name}.detach()" if shape == "tensor" else cut_of(name))
    )


def _one_of_two(statement: ast.stmt, name: str, state: CarriedState, path: Path) -> tuple[str, Step] | None:
    if name not in state.names or _depth(getattr(statement, "value", None), name) != "whole":
        return None
    other = next(item for item in state.names if item != name)
    return f"only `{name}` of the state is detached, `{other}` keeps its whole history", Put(
        path, f"{other} = {other}.detach()\n"
    )


def _depth(value: ast.expr | None, name: str) -> str | None:
    """How a statement detaches `name`: as a `whole`, `each` of its elements, or the `first` and not the second."""
    if value is None:
        return None
    text = ast.unparse(value)
    if text == f"{name}.detach()":
        return "whole"
    if isinstance(value, ast.Call) and len(value.args) == 1 and ast.unparse(value.func) in ("tuple", "list"):
        value = value.args[0]
    if isinstance(value, ast.ListComp | ast.GeneratorExp) and len(value.generators) == 1:
        only = value.generators[0]
        if isinstance(only.target, ast.Name) and not only.ifs and ast.unparse(only.iter) == name:
            return "each" if ast.unparse(value.elt) == f"{only.target.id}.detach()" else None
    halves = {f"({name}[0].detach(), {name}[1])", f"({name}[0], {name}[1].detach())"}
    return "first" if text in halves else None


def _replaced(line: cst.SimpleStatementLine, text: str) -> cst.SimpleStatementLine:
    import libcst as cst

    statement: Any = line.body[0]
    return line.with_changes(body=[statement.with_changes(value=cst.parse_expression(text))])


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.rnn = torch.nn.LSTM(1, 8, batch_first=True)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        state = None
        for chunk in batch.split(4, dim=1):
            out, state = self.rnn(chunk, state)
            loss = out.pow(2).mean()
            optimizer.zero_grad()
            self.manual_backward(loss, retain_graph=True)
            optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
STEP = "            optimizer.step()\n"
DETACH = "            state = apply_to_collection(state, torch.Tensor, torch.Tensor.detach)\n"
IMPORT = "from lightning.pytorch import LightningModule\n"
ADDED = f"{IMPORT}from lightning_utilities.core.apply_func import apply_to_collection\n"
AFTER = BEFORE.replace(STEP, STEP + DETACH).replace(", retain_graph=True", "").replace(IMPORT, ADDED)
WRONG = BEFORE.replace(STEP, f"{STEP}            state = state.detach()\n").replace(", retain_graph=True", "")
RIGHT = WRONG.replace("LSTM", "GRU")

RULE = Rule(
    code=CODE,
    name="undetached-state",
    summary="The state that a manual loop carries from chunk to chunk is cut from its history, whatever its structure",
    why=(
        "Without a cut the second chunk's backward pass runs into the graph of the first, which is freed ('Trying to "
        "backward through the graph a second time'); retain_graph=True only changes the error, since the step has "
        "changed the weights in place, or, with the step after the loop, keeps all graphs. An LSTM's state is a "
        "tuple, a GRU's a tensor: detaching at the wrong depth fails or cuts a part."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=present,
    needs="1.8.0",
    mentions=(*ASKED, b"detach", b"no_grad"),
    examples=(Example(BEFORE, AFTER), Example(WRONG, AFTER), Example(RIGHT, RIGHT)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/issues/20517",),
)
