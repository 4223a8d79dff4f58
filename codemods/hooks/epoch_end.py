"""What one class says about an epoch-end hook that gets the outputs of its steps."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.hooks.results import train_result
from codemods.source import ClassNode
from codemods.syntax import (
    Function,
    crowded_return,
    finally_leaves,
    is_plain,
    is_super_call,
    parameters,
    results,
    self_name,
    super_init_index,
    uses,
)
from codemods.tbptt.module import FLAG, sets_flag


@dataclass(frozen=True)
class Stage:
    """One of the three stages: the old hook, the step whose results it gets, and what replaces it."""

    old: str
    step: str
    row: str

    @property
    def new(self) -> str:
        return f"on_{self.old.replace('training', 'train')}"

    @property
    def start(self) -> str:
        return self.new.replace("_end", "_start")

    @property
    def kept(self) -> str:
        return f"{self.step}_outputs"

    @property
    def train(self) -> bool:
        return self.step == "training_step"


SEES_LOCALS = ("eval", "exec", "locals", "vars")
BACKWARD = ("backward", "manual_backward", "grad")
STAGES = (
    Stage("training_epoch_end", "training_step", "M179"),
    Stage("validation_epoch_end", "validation_step", "M180"),
    Stage("test_epoch_end", "test_step", "M181"),
)


@dataclass(frozen=True)
class EpochEnd:
    """An epoch-end hook of a class. `refusal` is why the class alone forbids a rewrite; `reads` whether the
    hook looks at the outputs at all, so that they have to be kept."""

    name: str
    stage: Stage
    refusal: str | None
    reads: bool


def read_hook(item: ClassNode, stage: Stage) -> EpochEnd | None:
    """The class's old hook of that stage, None where it has none with the old signature."""
    hook = item.methods.get(stage.old)
    if hook is None:
        return None
    given = parameters(hook)
    reads = bool(given) and any(uses(hook, name) for name in (given[0], *SEES_LOCALS))
    return EpochEnd(item.qualname, stage, _refusal(item, stage, hook, reads), reads)


def _refusal(item: ClassNode, stage: Stage, hook: Function, reads: bool) -> str | None:
    if not is_plain(hook) or len(parameters(hook)) != 1:
        return f"{stage.old} is not a plain method of (self, outputs)"
    if stage.new in item.methods:
        return f"the class has {stage.new} too, and both would have to be merged"
    if any(is_super_call(node, stage.old) for node in ast.walk(hook)):
        return f"{stage.old} calls its base class"
    if stage.train and any(isinstance(node, ast.Attribute) and node.attr in BACKWARD for node in ast.walk(hook)):
        return f"{stage.old} propagates back, for which the outputs would have to keep their history"
    if stage.train and results(hook):
        return f"{stage.old} returns a value, which 1.x refused"
    if _logs_by_return(hook):
        return f"{stage.old} returns a dict with `log` or `progress_bar`, which nothing reads since 1.0: log it instead"
    return _step_refusal(item, stage, hook) if reads else None


def _logs_by_return(hook: Function) -> bool:
    keys = {
        key.value
        for node in ast.walk(hook)
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    }
    return bool(results(hook)) and bool(keys & {"log", "progress_bar"})


def _step_refusal(item: ClassNode, stage: Stage, hook: Function) -> str | None:
    step = item.methods.get(stage.step)
    if step is None:
        return f"the class does not define {stage.step} itself"
    if not is_plain(step):
        return f"{stage.step} is not a plain method"
    if not stage.train and len(parameters(step)) > 2:
        return (
            f"{stage.step} takes a third argument, the dataloader's index: with several dataloaders the outputs are "
            "lists of lists"
        )
    if finally_leaves(step) or crowded_return(step):
        return f"{stage.step} has a return that another statement may undo"
    if f"{stage.step}_end" in item.methods:
        return f"{stage.step}_end changes what the hook gets"
    if not results(step):
        return f"{stage.step} returns nothing, so the hook got an empty list"
    if any(is_super_call(node, stage.step) for node in ast.walk(step)):
        return f"{stage.step} calls its base class"
    if stage.train and (sets_flag(item) or {"hiddens", "optimizer_idx"} & set(parameters(step))):
        return f"with {FLAG} or several optimizers the outputs are lists of lists"
    if stage.train and not all(train_result(step, value, item.scope) for value in results(step)):
        return f"{stage.step} does not plainly return a loss or a dict with `loss`"
    return _place_refusal(item, stage, hook)


def _place_refusal(item: ClassNode, stage: Stage, hook: Function) -> str | None:
    """Why there is no sure place where the list could begin its life."""
    init = item.methods.get("__init__")
    if init is None and stage.start in item.methods:
        return f"the class has {stage.start} but no __init__ in which the list could be made"
    if init is not None and (super_init_index(init) is None or self_name(init) != "self"):
        return "__init__ has no plain `super().__init__(...)` behind which the list could be made"
    if self_name(hook) != "self" or self_name(item.methods[stage.step]) != "self":
        return "a method does not call its instance `self`"
    if any(isinstance(node, ast.Attribute) and node.attr == stage.kept for node in ast.walk(item.node)):
        return f"the class already uses the attribute {stage.kept}"
    return None
