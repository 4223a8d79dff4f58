"""BWD005: retain_graph=True on the only, or last, backward pass of a step."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.code.calls import method_around
from codemods.code.nodes import every_node, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, results, self_assignments, self_name
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.optimization import Optimization
from codemods.rewrite.advice import brief, called_on
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.backward.names import path_of
from codemods.rules.backward.passes import UNSEEN, Pass, Truth, later_backward, read_pass, told
from codemods.rules.backward.training import STEPS, ProjectTraining, collect

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD005"
MESSAGE = "the last backward pass of a step keeps its graph (retain_graph=True)"
REASON = "Nothing after it in the step goes backward again, so the graph is only kept in memory."
PERHAPS = (
    " If a module keeps a tensor of this batch with its history for the "
    "next batch, torch now raises an error: detach it there."
)
OURS = frozenset({"log", "log_dict", "optimizers", "lr_schedulers", "manual_backward", "clip_gradients", "parameters"})
FORWARD = frozenset({"training_step", "forward", "__call__"})


def _present(file: PythonFile) -> bool:
    return "retain_graph" in file.text and "backward" in file.text and bool(file.classes)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    for item in file.classes:
        step = item.methods.get("training_step")
        fact = notes.fact(file, item) if step else None
        if step is None or fact is None or facts.kind(fact) != MODULE or not _by_hand(step, notes.modes(fact)):
            continue
        reached = notes.reached(fact, STEPS)
        if any("training_step" in names for names in _callers(item)):
            continue
        last = _last(step, reached, told(facts, file, (item.node, step)))
        if last:
            run = notes.reached(fact, FORWARD)
            alone = (facts.ancestry(fact) or ()) == (fact,) and not any(True for _ in facts.subclasses(fact))
            yield _match(file, last, _kept(item, run), alone and _is_closed(file, item, run))


def _by_hand(step: Function, modes: set[Optimization]) -> bool:
    """Whether nobody but the step goes backward: it optimizes manually, or gives Lightning nothing with a history."""
    cut = all(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("detach", "item")
        for value in results(step)
    )
    return modes == {"manual"} or (modes == {"automatic"} and cut)


def _callers(item: ClassNode) -> Iterator[set[str]]:
    """What each method of a class calls of its instance."""
    for method in item.methods.values():
        own = self_name(method)
        yield {
            node.func.attr
            for node in every_node(method)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == own
        }


def _last(step: Function, reached: frozenset[str], truth: Truth) -> Pass | None:
    """The backward pass of a step behind which there is no other, where it keeps its graph, or may, and runs once."""
    passes = [found for node in every_node(step) if (found := read_pass(node, step, truth))]
    looped = {
        id(inner)
        for node in every_node(step)
        if node is not step and isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.Lambda | ast.ListComp)
        for inner in every_node(node)
    }
    passes.sort(key=lambda found: found.call.lineno)
    if not passes or id(passes[-1].statement) in looped or passes[-1].retains is False:
        return None
    last = passes[-1]
    return None if later_backward(step, last.call.end_lineno or last.call.lineno, reached) else last


def _kept(item: ClassNode, reached: frozenset[str]) -> ast.Assign | None:
    """The first statement of a step that keeps something computed on the instance, with its history."""
    found = [
        node
        for name, method in item.methods.items()
        if name in reached
        for node in every_node(method)
        if isinstance(node, ast.Assign)
        and any(_holds_self(target, self_name(method)) for target in node.targets)
        and not _is_cut(node.value)
    ]
    return min(found, key=lambda node: node.lineno) if found else None


def _holds_self(target: ast.expr, own: str) -> bool:
    return any(isinstance(node, ast.Attribute) and is_self_attribute(node, node.attr, own) for node in walk(target))


def _is_cut(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return True
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("detach", "item", "optimizers") for node in walk(value)
    )


def _is_closed(file: PythonFile, item: ClassNode, reached: frozenset[str]) -> bool:
    """Whether a step runs nothing but the class's own methods and modules of torch.nn, which keep no history."""
    methods = {id(method): method for name, method in item.methods.items() if name in reached}
    for call in file.calls:
        place = method_around(call)
        if place is None or place[0] is not item.node or id(place[1]) not in methods:
            continue
        function, own = call.node.func, self_name(place[1])
        if isinstance(function, ast.Name):
            known = call.scope.lookup(function.id)
            if function.id == own or (known is None and hasattr(builtins, function.id)):
                continue
            if not (known or "").startswith("torch."):
                return False
        path = path_of(function)
        if path[:1] != (own,) or (len(path) == 2 and (path[1] in OURS or path[1] in item.methods)):
            continue
        if len(path) != 2 or not _is_torch_module(path[1], item, file):
            return False
    return True


def _is_torch_module(name: str, item: ClassNode, file: PythonFile) -> bool:
    """Whether an attribute is built once in the class, of modules of torch.nn alone."""
    found = [node.value for method in item.methods.values() for node in self_assignments(method, name)]
    if len(found) != 1 or not isinstance(found[0], ast.Call):
        return False
    built = {id(node) for node in every_node(found[0]) if isinstance(node, ast.Call)}
    calls = [call for call in file.calls if id(call.node) in built]
    return len(calls) == len(built) and all(
        (call.scope.resolve(call.node.func) or "").startswith("torch.nn.") for call in calls
    )


def _match(file: PythonFile, last: Pass, kept: ast.Assign | None, closed: bool) -> Match:
    if kept:
        target, value = " = ".join(brief(file, each) for each in kept.targets), called_on(file, kept.value)
        reason = (
            f"Not rewritten: line {kept.lineno} keeps something of this batch on the module, perhaps with its history, "
            f"which retain_graph hides. If it is a tensor, write `{target} = {value}.detach()` there; "
            "then remove `retain_graph=True`."
        )
        return Match(file.span(last.call), MESSAGE, "manual", reason)
    if last.retains is None:
        return Match(file.span(last.call), MESSAGE, "manual", UNSEEN)
    edits = (NodeEdit(last.call, _freed),)
    if closed:
        return Match(file.span(last.call), MESSAGE, "safe", REASON, edits=edits)
    return Match(file.span(last.call), MESSAGE, "unsafe", f"{REASON}{PERHAPS}", edits=edits)


@touches("arguments")
def _freed(node: cst.Call) -> cst.Call:
    from codemods.rewrite.edits import without_arguments

    return without_arguments(node, frozenset({"retain_graph"}))


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.net(batch).mean(), retain_graph=True)
        optimizer.step()
"""
AFTER = BEFORE.replace(", retain_graph=True", "")
KEPT = BEFORE.replace("        self.manual", "        self.state = self.net(batch)\n        self.manual")
GIVEN = BEFORE.replace("__init__(self)", "__init__(self, net)", 1).replace(
    "torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())", "net"
)

RULE = Rule(
    code=CODE,
    name="needless-retain-graph",
    summary="`retain_graph=True` goes from the last backward pass of a step",
    why=(
        "`retain_graph=True` keeps the graph for another backward pass through it. On the last one of a step it only "
        "costs memory, or hides that a tensor of this batch is used for the next one with its history, so that each "
        "pass goes further back. Where a step runs more than modules of torch.nn, something may keep such a "
        "tensor, so there this is `unsafe`: torch reports it by an error."
    ),
    fix="safe",
    versions="every Lightning release since 1.5",
    triggers=(b"retain_graph", b"automatic_optimization", b"def training_step"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(KEPT, KEPT), Example(GIVEN, GIVEN)),
    needs="1.5.0",
    collect=collect,
    present=_present,
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",),
    warns=True,
)
