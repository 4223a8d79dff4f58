"""TBP107: k chunks where chunks of k steps are meant, and loops over a number."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from codemods.code.calls import value_of
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import is_self_attribute, mentions, own_nodes, self_assignments, self_name, targets_of
from codemods.lightning.facts import Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.loops.classes import TRIGGERS, OptimizedModule, collect, loops, present
from codemods.rules.loops.loop_carried_state import RECURRENT, built
from codemods.rules.loops.optimization_intent import ASKED, is_meant
from codemods.rules.loops.optimizer_events import EventFlow

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP107"
CUTTING = ("tensor_split", "chunk")
STEPS = re.compile(r"^(truncated_)?t?bptt(_steps|_len|_length|_size)?$")
PERHAPS = re.compile(r"(seq|sequence|chunk|segment|window)_(len|length|size)$|^steps_per_(chunk|segment)$")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        if not is_meant(file, loop):
            continue
        for flow in loop.flows:
            training = _loops(flow)
            if training:
                yield from _pieces(file, flow)
                for node in training:
                    yield from _iterated(file, loop, flow, node)
                    yield from _axis(file, loop, flow, node)


def _loops(flow: EventFlow) -> list[ast.For]:
    """The loops of a method with a backward pass in them, innermost ones only."""
    found = []
    for event in flow.of("backward"):
        path = flow.loop_around(event.path)
        node = flow.statement(path) if path else None
        if isinstance(node, ast.For) and node not in found:
            found.append(node)
    return found


def _last_word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _pieces(file: PythonFile, flow: EventFlow) -> Iterator[Match]:
    found = [found for node in own_nodes(flow.function) if (found := _cutting(flow, node))]
    for function, number, _ in found:
        sure = STEPS.search(_last_word(number)) is not None
        text = file.source_of(number)
        message = f"`{function.attr}` makes `{text}` chunks, not chunks of `{text}` steps"
        if not all(item[2] for item in found):
            advice = (
                "Not rewritten: give the number by position, and the axis as `dim=`. "
                f"`split({brief(file, number)}, dim=...)` makes chunks of that size."
            )
            yield Match(file.span(function), message, "manual", advice)
            continue
        reason = "By its name it is the number of steps of a chunk; only `split` makes chunks of that length."
        edits = (NodeEdit(function, _split),)
        yield Match(file.span(function), message, "safe" if sure else "unsafe", reason, edits=edits)


def _cutting(flow: EventFlow, node: ast.AST) -> tuple[ast.Attribute, ast.expr, bool] | None:
    """The function of a call that cuts into a number of chunks which is named like a length, that number, and
    whether `split` takes the same arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in CUTTING:
        return None
    of_torch = flow.scope.resolve(node.func) in ("torch.tensor_split", "torch.chunk")
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    position = 1 if of_torch else 0
    named = next((keywords[name] for name in ("chunks", "sections", "indices_or_sections") if name in keywords), None)
    number = node.args[position] if len(node.args) > position else named
    if number is None or not (STEPS.search(_last_word(number)) or PERHAPS.search(_last_word(number))):
        return None
    plain = len(node.args) > position and set(keywords) <= {"dim"}
    return node.func, number, plain


def _split(node: cst.Attribute) -> cst.Attribute:
    import libcst as cst

    return node.with_changes(attr=cst.Name("split"))


def _iterated(file: PythonFile, around: OptimizedModule, flow: EventFlow, loop: ast.For) -> Iterator[Match]:
    named = STEPS.search(_last_word(loop.iter)) and _last_word(loop.iter) != "bptt"
    if named or _is_number(file, around, flow, loop.iter):
        what = "by its name it is how many steps a chunk has" if named else "the file sets it to a whole number only"
        reason = f"{what}. Loop over the chunks: `for chunk in batch.split({brief(file, loop.iter)}, dim=1):`."
        yield Match(file.span(loop.iter), "the loop goes over a number", "manual", f"Not rewritten: {reason}")
        return
    call = loop.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "range":
        return
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name) or not _is_split(flow, call.args[0].id):
        return
    name, target = call.args[0].id, loop.target
    message = f"`range({name})` fails: `{name}` holds the chunks, not their number"
    indexed = any(isinstance(node, ast.Name) and node.id == name for part in loop.body for node in walk(part))
    whole = isinstance(target, ast.Name) and not any(
        isinstance(node, ast.Subscript)
        and any(isinstance(inner, ast.Name) and inner.id == target.id for inner in walk(node.slice))
        for part in loop.body
        for node in walk(part)
    )
    if indexed == whole:
        advice = f"Loop over `{name}` itself, or over `range(len({name}))`."
        yield Match(
            file.span(call), message, "manual", f"Not rewritten: fixer cannot tell how the loop uses it. {advice}"
        )
        return
    text = f"range(len({name}))" if indexed else name
    yield Match(file.span(call), message, "safe", "As it is, it is a TypeError.", edits=(NodeEdit(call, _as(text)),))


def _is_number(file: PythonFile, loop: OptimizedModule, flow: EventFlow, node: ast.expr) -> bool:
    """Whether an expression is an attribute that its file sets to a whole number alone."""
    if not isinstance(node, ast.Attribute) or not is_self_attribute(node, node.attr, self_name(flow.function)):
        return False
    made = [each for method in loop.item.methods.values() for each in self_assignments(method, node.attr)]
    plain = {target for each in made for target in (each.targets if isinstance(each, ast.Assign) else [each.target])}
    if any(not isinstance(each.ctx, ast.Load) and each not in plain for each in file.attributes(node.attr)):
        return False
    if mentions(file.tree, node.attr):
        return False
    return bool(made) and all(isinstance(each.value, ast.Constant) and type(each.value.value) is int for each in made)


def _as(text: str) -> Callable[[cst.Call], cst.BaseExpression]:
    def change(node: cst.Call) -> cst.BaseExpression:
        import libcst as cst

        return cst.parse_expression(text)

    return change


def _is_split(flow: EventFlow, name: str) -> bool:
    """Whether a name is bound once in the method, to what `split` and the like return."""
    stored = [
        node
        for node in walk(flow.function)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    values = [
        getattr(node, "value", None)
        for node in own_nodes(flow.function)
        for target in targets_of(node)
        if isinstance(target, ast.Name) and target.id == name
    ]
    value = values[0] if len(values) == len(stored) == 1 else None
    return (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in (*CUTTING, "split")
    )


def _axis(file: PythonFile, loop: OptimizedModule, flow: EventFlow, node: ast.For) -> Iterator[Match]:
    """A split of the batch's samples: of the axis that the recurrent layer does not take as time."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "split":
        return
    if not isinstance(node.target, ast.Name) or len(call.args) > 2 or flow.scope.resolve(call.func):
        return
    dim = call.args[1] if len(call.args) == 2 else value_of(call, "dim")
    axis = dim.value if isinstance(dim, ast.Constant) else 0 if dim is None else None
    for inner in (item for part in node.body for item in walk(part)):
        if not isinstance(inner, ast.Call) or len(inner.args) < 2 or not isinstance(inner.func, ast.Attribute):
            continue
        fed = isinstance(inner.args[0], ast.Name) and inner.args[0].id == node.target.id
        time = _time_axis(loop, inner.func.attr) if fed else None
        if time is not None and axis in (0, 1) and axis != time:
            reason = (
                f"`{inner.func.attr}` takes time along axis {time}. Split every part of the batch along it: dim={time}."
            )
            message = "the loop splits the batch into groups of samples, not into stretches of time"
            yield Match(file.span(call), message, "manual", f"Not rewritten: {reason}")


def _time_axis(loop: OptimizedModule, attribute: str) -> int | None:
    if built(loop.item, attribute) not in RECURRENT:
        return None
    (made,) = [node for method in loop.item.methods.values() for node in self_assignments(method, attribute)]
    keywords = {keyword.arg: keyword.value for keyword in getattr(made.value, "keywords", [])}
    given = keywords.get("batch_first")
    if None in keywords or len(getattr(made.value, "args", [])) > 4:
        return None
    if given is None:
        return 0
    return int(given.value is True) if isinstance(given, ast.Constant) else None


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.GRU(1, 8, batch_first=True)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        state = None
        for chunk in batch.tensor_split(self.truncated_bptt_steps, dim=1):
            out, state = self.rnn(chunk, state)
            optimizer.zero_grad()
            self.manual_backward(out.pow(2).mean())
            optimizer.step()
            state = state.detach()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
AFTER = BEFORE.replace("tensor_split", "split")
NUMBER = BEFORE.replace("truncated_bptt_steps", "n_chunks")
OVER_INT = BEFORE.replace("batch.tensor_split(self.truncated_bptt_steps, dim=1)", "self.truncated_bptt_steps")

RULE = Rule(
    code=CODE,
    name="chunks-not-steps",
    summary="`tensor_split(k)` and `chunk(k)` become `split(k)` where k is the length of a chunk",
    why=(
        "`x.tensor_split(k)` and `x.chunk(k)` make k chunks, `x.split(k)` makes chunks of k steps, which is what "
        "truncated_bptt_steps has always meant. Lightning's own page on truncated back-propagation shows the first."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=present,
    mentions=ASKED,
    examples=(Example(BEFORE, AFTER), Example(NUMBER, NUMBER), Example(OVER_INT, OVER_INT)),
    references=("https://lightning.ai/docs/pytorch/stable/common/tbptt.html",),
)
