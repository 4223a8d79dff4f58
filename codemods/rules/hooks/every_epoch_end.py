"""`on_epoch_start` and `on_epoch_end`, called by the hooks of the stages, as Lightning did beside them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, always_leaves, is_plain, is_self_attribute, parameters, returns
from codemods.finding import Fix
from codemods.lightning.class_family import family
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_below, is_open
from codemods.rule import NodeEdit, touches
from codemods.rules.hooks.callbacks import attributes_of
from codemods.rules.hooks.certain import SHIFTED, is_seen_whole
from codemods.rules.hooks.epoch_end import STAGES, Stage
from codemods.rules.hooks.lightnings_callbacks import hidden
from codemods.rules.hooks.same_point import after_others
from codemods.rules.hooks.validation_order import BEHIND

if TYPE_CHECKING:
    import libcst as cst

EPOCH_START = "on_epoch_start"
EPOCH_END = "on_epoch_end"
GIVEN = ("trainer", "pl_module")
_EVERY = "Lightning called it {when} the hook of each stage, which now does so itself."
_TRAINING = (
    "Lightning called it {when} the hook of each stage, before 1.2 only {when} that of training, which fixer assumes "
    "to be meant."
)
_CALLBACK = (
    "Up to 1.7 Lightning called it {when} training, validation and test epochs alike, as the three hooks do now, but "
    "between those of all callbacks and modules. Leave out the stages that are not meant."
)


@dataclass(frozen=True)
class AtEachStage:
    """The edits by which other hooks of a class call the one of each epoch, and how sure they are."""

    level: Fix
    reason: str
    edits: tuple[NodeEdit, ...]


def at_each_stage(facts: Facts, fact: ClassFact, item: ClassNode, name: str, kind: str) -> AtEachStage | None:
    """How the hooks of a class call the one of each epoch; None where it takes the place of another, where one is not
    plain or ends early, or where a relative has one too. A callback with none of them is left to the rename: training
    is most likely all that its owner thought of."""
    every = not is_open(facts, LIGHTNING) and not admits_below(facts, LIGHTNING, "1.2")
    stages = [stage for stage in STAGES if every or stage.train]
    if kind != CALLBACK:
        stages = [stage for stage in stages if _runs(facts, fact, stage)]
    hooks = [_hook(stage, name) for stage in stages]
    missing = [hook for hook in hooks if hook not in item.methods]
    if not any(stage.train for stage in stages) or (missing and not every):
        return None
    if any({name, *(_hook(stage, name) for stage in STAGES)} & other.methods for other in family(facts, fact)):
        return None
    if kind == CALLBACK and any(hidden(facts, fact, each) for each in hooks):
        return None
    given = GIVEN if kind == CALLBACK else ()
    there = [item.methods[hook] for hook in hooks if hook in item.methods]
    if (kind == CALLBACK and not there) or not _is_called_alone(item.methods[name], len(given)):
        return None
    if not all(_takes_more(each, name, given) for each in there):
        return None
    edits = [NodeEdit(each, partial(_calling, name=name, given=tuple(parameters(each)))) for each in there]
    if missing:
        edits.append(NodeEdit(item.methods[name], partial(_with_hooks, hooks=missing, name=name, given=given)))
    level, reason = _judged(facts, fact, item, name, kind, missing) if every else ("unsafe", _TRAINING)
    when = "behind" if name == EPOCH_END else "before"
    when = when if kind != CALLBACK else f"at the {name.rpartition('_')[2]} of"
    return AtEachStage(level, reason.format(when=when), tuple(edits))


def _judged(
    facts: Facts, fact: ClassFact, item: ClassNode, name: str, kind: str, missing: Sequence[str]
) -> tuple[Fix, str]:
    if kind == CALLBACK:
        return "unsafe", _CALLBACK
    if not is_seen_whole(facts, fact):
        return "unsafe", f"{_EVERY} Check the steps that others may give the class: their stages need it too."
    if order := _order(facts, item, name):
        return "unsafe", f"{_EVERY} Check the order: {order}."
    if not missing and name == EPOCH_END:
        return "safe", _EVERY
    if shared := sorted(attributes_of(item, name) & SHIFTED):
        return "unsafe", f"{_EVERY} It reads {shared[0]}, which may have another value there."
    if name == EPOCH_END and admits_below(facts, LIGHTNING, BEHIND):
        return "unsafe", f"{_EVERY} Lightning before {BEHIND} ended training epochs before their validation."
    others = (after_others(facts, _hook(stage, name)) for stage in STAGES if name != EPOCH_END)
    if order := next(filter(None, others), ""):
        return "unsafe", f"{_EVERY} Check the order: {order}."
    return "safe", _EVERY


def _hook(stage: Stage, name: str) -> str:
    return stage.new if name == EPOCH_END else stage.start


def _runs(facts: Facts, fact: ClassFact, stage: Stage) -> bool:
    """Whether a class or a relative of it has the step of a stage."""
    return any(stage.step in each.methods for each in (fact, *family(facts, fact)))


def _is_called_alone(method: Function, number: int) -> bool:
    """Whether a hook takes what it is given alone, and calls no base class."""
    asked = (node.id for node in ast.walk(method) if isinstance(node, ast.Name))
    return is_plain(method, decorated=True) and len(parameters(method)) == number and "super" not in asked


def _takes_more(hook: Function, name: str, given: Sequence[str]) -> bool:
    """Whether the hook of a stage can call another one each time: behind its last statement, or before its first."""
    if not is_plain(hook) or len(parameters(hook)) != len(given):
        return False
    return name == EPOCH_START or (not returns(hook) and not always_leaves(hook.body))


def _order(facts: Facts, item: ClassNode, name: str) -> str:
    """What could see that callbacks came between the hooks, as the end of a sentence."""
    for other in facts.classes():
        if name in other.methods and facts.kind(other) == CALLBACK:
            return f"{other.name} ({other.path}) has {name} too"
    logs = any(
        isinstance(node, ast.Call)
        and is_self_attribute(node.func, "log")
        and any(
            isinstance(value, ast.Attribute) for value in [*node.args[1:2], *(each.value for each in node.keywords)]
        )
        for node in ast.walk(item.node)
    )
    return "the class logs metrics, which callbacks could read before" if logs else ""


def _call(name: str, given: Sequence[str]) -> str:
    return f"self.{name}({', '.join(given)})\n"


def _calling(node: cst.FunctionDef, *, name: str, given: Sequence[str]) -> cst.FunctionDef:
    from codemods.rewrite.edits import body_of, statements, with_body

    body, call = body_of(node), statements(_call(name, given))
    if name == EPOCH_END:
        return with_body(node, [*body, *call])  # type: ignore[no-any-return]
    first = 1 if node.get_docstring() is not None else 0
    return with_body(node, [*body[:first], *call, *body[first:]])  # type: ignore[no-any-return]


@touches("beside")
def _with_hooks(
    node: cst.FunctionDef, *, hooks: Sequence[str], name: str, given: Sequence[str]
) -> cst.FlattenSentinel[cst.BaseStatement]:
    """The hook with those of the stages behind it, which call it."""
    import libcst as cst

    from codemods.rewrite.edits import spaced, statements

    heads = (f"def {hook}({', '.join(('self', *given))}):\n    {_call(name, given)}" for hook in hooks)
    return cst.FlattenSentinel([node, *(spaced(each) for head in heads for each in statements(head))])
