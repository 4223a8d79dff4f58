"""TBP113: steps of an optimizer that the module keeps itself, which Lightning does not count."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, returns, self_name
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.loops.classes import NAMES, TRIGGERS, collect, loops
from codemods.rules.loops.tbp103 import asked_of_lightning

CODE = "TBP113"
CONFIGURES = "configure_optimizers"
MESSAGE = "Steps of `{}`, which is not one of `self.optimizers()`, are not counted since Lightning 1.6"
EFFECT = "global_step stays 0: max_steps is not reached, and ModelCheckpoint writes nothing"
ASSUMED = f"Without it {EFFECT}. Hooks of the step run again, and mixed precision unscales its gradients."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for loop in loops(file, facts, CODE):
        configured = loop.item.methods.get(CONFIGURES)
        if loop.state != "off" or configured is None:
            continue
        given = _given(configured)
        alone = len(given) == 1 and _is_plain(configured) and not _is_configured_below(file, facts, loop.item)
        for name in sorted(given):
            for method, node in _stepped(loop.item, name):
                yield _match(file, node, f"self.{name}", alone and method == "training_step")


def _is_configured_below(file: PythonFile, facts: Facts, item: ClassNode) -> bool:
    """Whether a class below one gives Lightning other optimizers."""
    fact = facts.of_class(file, item)
    return fact is None or any(CONFIGURES in below.methods for below in facts.subclasses(fact))


def _match(file: PythonFile, node: ast.Attribute, name: str, alone: bool) -> Match:
    if not alone:
        reason = f"Not rewritten: {EFFECT}; step what `self.optimizers()` gives for it."
        return Match(file.span(node), MESSAGE.format(name), "manual", reason)
    this = getattr(node.value, "id", "self")
    return Match(
        file.span(node),
        MESSAGE.format(name),
        "unsafe",
        ASSUMED,
        edits=(NodeEdit(node, partial(asked_of_lightning, this=this)),),
    )


def _given(configured: Function) -> set[str]:
    """The attributes of the module that it gives Lightning as optimizers: by themselves, in a list or a dictionary."""
    own = self_name(configured)
    parts = [part for statement in returns(configured) if statement.value for part in _optimizers(statement.value)]
    held = (_of_dictionary(part) if isinstance(part, ast.Dict) else part for part in parts)
    return {each.attr for each in held if isinstance(each, ast.Attribute) and is_self_attribute(each, each.attr, own)}


def _optimizers(value: ast.expr) -> list[ast.expr]:
    """What of a returned value is an optimizer, or a dictionary with one, in any case of several;
    `[optimizers], [schedulers]` has both."""
    if isinstance(value, ast.IfExp):
        return [*_optimizers(value.body), *_optimizers(value.orelse)]
    if not isinstance(value, ast.List | ast.Tuple):
        return [value]
    listed = [part for part in value.elts if isinstance(part, ast.List | ast.Tuple)]
    return _optimizers(listed[0]) if listed else [part for each in value.elts for part in _optimizers(each)]


def _of_dictionary(node: ast.Dict) -> ast.expr | None:
    pairs = zip(node.keys, node.values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "optimizer"), None)


def _is_plain(configured: Function) -> bool:
    """Whether a method gives one optimizer and nothing else, whatever it is asked."""
    given = [item.value for item in returns(configured)]
    chosen = any(isinstance(node, ast.IfExp) for item in returns(configured) for node in walk(item))
    return len(given) == 1 and given[0] is not None and not chosen and len(_optimizers(given[0])) == 1


def _stepped(item: ClassNode, name: str) -> Iterator[tuple[str, ast.Attribute]]:
    """The methods and readings in them of an attribute whose `step` is called, by itself or by a name it is given."""
    for method in item.methods.values():
        if method.name in (CONFIGURES, "__init__"):
            continue
        own, nodes = self_name(method), [*walk(method)]
        stepped = {
            ast.unparse(node.func.value)
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
        }
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
                if isinstance(node.func.value, ast.Attribute) and is_self_attribute(node.func.value, name, own):
                    yield method.name, node.func.value
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                kept = [target.id for target in node.targets if isinstance(target, ast.Name)]
                if is_self_attribute(node.value, name, own) and not stepped.isdisjoint(kept):
                    yield method.name, node.value


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.layer.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizer
        opt.zero_grad()
        self.manual_backward(self.layer(batch).mean())
        opt.step()

    def configure_optimizers(self):
        return [self.optimizer]
"""
AFTER = BEFORE.replace("opt = self.optimizer\n", "opt = self.optimizers()\n")
SEVERAL = BEFORE.replace("return [self.optimizer]", "return [self.optimizer, self.other]")

RULE = Rule(
    code=CODE,
    name="uncounted-steps",
    summary="A manual loop steps what `self.optimizers()` gives, whose steps Lightning counts",
    why=(
        "Since 1.6 global_step counts the steps of the optimizers that `self.optimizers()` gives (pull "
        "request 11805); up to 1.5 it counted batches. A module that keeps its optimizer as an attribute and steps it "
        "trains, but global_step stays 0: max_steps is not reached, schedules that read it stand still, and "
        "ModelCheckpoint takes nothing to be new and writes no file (run on 1.5.10 and 2.6.6)."
    ),
    fix="unsafe",
    stops=False,
    versions="written for Lightning < 1.6",
    triggers=TRIGGERS,
    check=_check,
    collect=collect,
    present=lambda file: "backward" in file.text and any(name in file.text for name in NAMES),
    examples=(Example(BEFORE, AFTER), Example(SEVERAL, SEVERAL)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/11805",),
)
