"""`on_epoch_end` of a module that has the hook of each of its stages: these call it, as Lightning did behind them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, always_leaves, is_plain, is_self_attribute, parameters, returns
from codemods.finding import Fix
from codemods.lightning.class_family import family
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_below, is_open
from codemods.rule import NodeEdit
from codemods.rules.hooks.epoch_end import STAGES, Stage

if TYPE_CHECKING:
    import libcst as cst

EPOCH_END = "on_epoch_end"
_EVERY = "Lightning called it after the hook of each stage, which now does so itself."
_TRAINING = (
    "Lightning called it after the hook of each stage, before 1.2 only "
    "after that of training, which fixer assumes to be "
    "meant."
)


@dataclass(frozen=True)
class AtEachStage:
    """The edits by which other hooks of a class call `on_epoch_end`, and how sure they are."""

    level: Fix
    reason: str
    edits: tuple[NodeEdit, ...]


def at_each_stage(facts: Facts, fact: ClassFact, item: ClassNode) -> AtEachStage | None:
    """How the hooks of a class call its `on_epoch_end`, None where it lacks one of a stage that it has, where one is
    not plain or ends early, or where a relative has one too."""
    stages = [stage for stage in STAGES if stage.step in item.methods]
    names = {EPOCH_END, *(stage.new for stage in STAGES)}
    if not any(stage.train for stage in stages) or any(names & other.methods for other in family(facts, fact)):
        return None
    if not _is_called_alone(item.methods[EPOCH_END]) or not all(_takes_more(item, stage) for stage in stages):
        return None
    every = not is_open(facts, LIGHTNING) and not admits_below(facts, LIGHTNING, "1.2")
    called = [stage for stage in stages if every or stage.train]
    edits = tuple(NodeEdit(item.methods[stage.new], _calling) for stage in called)
    if not every:
        return AtEachStage("unsafe", _TRAINING, edits)
    if order := _order(facts, item):
        return AtEachStage("unsafe", f"{_EVERY} Check the order: {order}.", edits)
    return AtEachStage("safe", _EVERY, edits)


def _is_called_alone(method: Function) -> bool:
    """Whether a hook takes nothing and calls no base class."""
    asked = (node.id for node in ast.walk(method) if isinstance(node, ast.Name))
    return is_plain(method) and not parameters(method) and "super" not in asked


def _takes_more(item: ClassNode, stage: Stage) -> bool:
    """Whether a class has the hook of a stage, and a statement behind its last one is run each time."""
    hook = item.methods.get(stage.new)
    if hook is None or not is_plain(hook) or parameters(hook):
        return False
    return not returns(hook) and not always_leaves(hook.body)


def _order(facts: Facts, item: ClassNode) -> str:
    """What could see that callbacks came between the hooks, as the end of a sentence."""
    for other in facts.classes():
        if EPOCH_END in other.methods and facts.kind(other) == CALLBACK:
            return f"{other.name} ({other.path}) has {EPOCH_END} too"
    logs = any(
        isinstance(node, ast.Call)
        and is_self_attribute(node.func, "log")
        and any(
            isinstance(value, ast.Attribute) for value in [*node.args[1:2], *(each.value for each in node.keywords)]
        )
        for node in ast.walk(item.node)
    )
    return "the class logs metrics, which callbacks could read before" if logs else ""


def _calling(node: cst.FunctionDef) -> cst.FunctionDef:
    from codemods.rewrite.edits import body_of, statements, with_body

    return with_body(node, [*body_of(node), *statements(f"self.{EPOCH_END}()\n")])  # type: ignore[no-any-return]
