"""What older releases handed to training_epoch_end, and on_train_batch_end is not given."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from dataclasses import replace
from typing import TypeGuard

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    assigned_to,
    is_name,
    is_self_attribute,
    parameters,
    results,
    taken_name,
    uses,
)
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.optimization import optimization
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from
from codemods.rules.hooks.dict_uses import DictUses
from codemods.rules.hooks.epoch_end import EpochEnd, plain_step
from codemods.rules.hooks.project_constraints import OutputKeeping
from codemods.rules.hooks.results import train_result

DIVIDED = "1.5"
"""The first release that divided the loss in the outputs by accumulate_grad_batches: `loops/optimization/
optimizer_loop.py` of 1.5.10, not `loops/epoch/training_epoch_loop.py` of 1.4.9."""
ATTACHED = "1.6"
"""The first release that left their history to the other values of a dict: 1.5.10 detached them with a warning."""
DETACHING = (("lightning_utilities.core.apply_func", "apply_to_collection"), ("torch", None))
ATTACHED_NOW = (
    " What else training_epoch_end got came detached up to Lightning 1.5, and keeps its history since: return it "
    "detached."
)
ACCUMULATING = (
    b"accumulate_grad_batches",
    b"GradientAccumulationScheduler",
    b"add_argparse_args",
    b"from_argparse_args",
    b"LightningCLI",
)
_SET = re.compile(rb"accumulate_grad_batches[\"']?[ \t]*(?::[ \t]*\w+[ \t]*=|[=:])([^,)#\r\n]*)")
_ONE = re.compile(rb"[\s\"']*(?:1|None|null|~)[\s\"'}]*")
_OTHERWISE = re.compile(
    rb"-accumulate_grad_batches|\bGradientAccumulationScheduler\b|\b(?:add|from)_argparse_args\b|\bLightningCLI\b"
)
_WITHOUT = frozenset(
    {"argmax", "argmin", "argsort", "bool", "detach", "int", "item", "long", "numpy", "size", "tolist"}
)
"""Methods whose result has no history."""
_KEEPING = frozenset({
    "clone", "contiguous", "cpu", "cuda", "float", "flatten", "max", "mean", "min", "permute", "reshape", "squeeze",
    "sum", "to", "transpose", "unsqueeze", "view",
})  # fmt: skip
"""Methods whose result has the history of what they are called on, and no other."""


def as_handed(
    file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd, kept: OutputKeeping
) -> OutputKeeping:
    """How the outputs of a training are kept as the releases that the project is for handed them over."""
    if not hook.stage.train or kept.where != "batch":
        return kept
    whole = _is_divided(file, facts, item, fact, hook) and not admits_from(facts, LIGHTNING, DIVIDED, "2.0")
    whole = whole and optimization(facts, file, fact) == "automatic"
    free = taken_name(file.scope.bindings, DETACHING) is None
    return replace(kept, whole=whole, detached=free and _was_detached(file, facts, item, hook))


def made_so(kept: OutputKeeping) -> str:
    """What is said of outputs that are made as older releases handed them over, as further sentences."""
    whole = (
        " It multiplies the loss, which Lightning divides by accumulate_grad_batches since 1.5." if kept.whole else ""
    )
    return whole + (" It detaches all values, as Lightning did up to 1.5." if kept.detached else "")


def changed(
    file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd, kept: OutputKeeping | None
) -> str:
    """What a hook may get by now that it did not get before, as further sentences."""
    if kept is None or kept.where != "batch" or not hook.stage.train:
        return ""
    told = "" if kept.whole else _divided(file, facts, item, fact, hook)
    return told + (ATTACHED_NOW if not kept.detached and _was_detached(file, facts, item, hook) else "")


def _divided(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str:
    """What is said of the loss that a hook gets, where it may have been whole and may be divided now."""
    if not _is_divided(file, facts, item, fact, hook):
        return ""
    return (
        " The loss that training_epoch_end got was whole up to Lightning 1.4, and is divided since by "
        f"accumulate_grad_batches, which {accumulating(facts)} may set."
    )


def _is_divided(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> bool:
    """Whether a hook may read a loss that an older release did not divide."""
    if not admits_below(facts, LIGHTNING, DIVIDED) or not accumulating(facts):
        return False
    return _asks_for_loss(item.methods[hook.stage.old], hook.apart) and optimization(facts, file, fact) != "manual"


def accumulating(facts: Facts) -> str:
    """A file by which gradients may be accumulated over several batches; empty where there is none."""
    if "hooks.accumulating" not in facts.memo:
        spoken = {
            path for word in ACCUMULATING for path in facts.mentions.get(word, ()) if facts.kinds.get(path) != "docs"
        }
        found = (path for path in sorted(spoken) if _accumulates(facts.sources[path].unescaped))
        facts.memo["hooks.accumulating"] = next(found, "")
    known: str = facts.memo["hooks.accumulating"]
    return known


def _accumulates(data: bytes) -> bool:
    return bool(_OTHERWISE.search(data)) or any(not _ONE.fullmatch(value) for value in _SET.findall(data))


def _asks_for_loss(method: Function, apart: bool) -> bool:
    """Whether a hook may read the losses among its outputs, or hands them to somebody who may."""
    given = next(iter(parameters(method)), None)
    if apart or given is None:
        return True
    loops = [
        (node.target, node.iter)
        for node in walk(method)
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name)
    ]
    counted = [node.args[0] for node in walk(method) if _is_len(node)]
    plain = set(map(id, [*counted, *(gone_through for _, gone_through in loops)]))
    if any(id(use) not in plain for use in uses(method, given)):
        return True
    keyed = {id(node.value) for node in walk(method) if _is_other_key(node)} | {id(target) for target, _ in loops}
    items = {target.id for target, gone_through in loops if is_name(gone_through, given)}
    return any(id(use) not in keyed for name in items for use in uses(method, name))


def _is_len(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1


def _is_other_key(node: ast.AST) -> TypeGuard[ast.Subscript]:
    """Whether a node is an item of a dict by a key that is written out and is not that of the loss."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
        return False
    return isinstance(node.slice.value, str) and node.slice.value != "loss"


def _was_detached(file: PythonFile, facts: Facts, item: ClassNode, hook: EpochEnd) -> bool:
    """Whether an older release cut off a history that a hook's outputs have by now."""
    return admits_below(facts, LIGHTNING, ATTACHED) and _may_have_history(file, item, plain_step(item, hook.stage))


def _may_have_history(file: PythonFile, item: ClassNode, method: Function | None, seen: tuple[str, ...] = ()) -> bool:
    """Whether a training step, or a method that gives it its result, may return a tensor with a history beside its
    loss."""
    if method is None or method.name in seen:
        return True
    shown = DictUses(file, method)
    for value in results(method):
        made = assigned_to(method, value.id) if isinstance(value, ast.Name) else [value]
        named = _is_loss(value) and not any(isinstance(each, ast.Dict) for each in made)
        if named or train_result(item, method, value) == "tensor":
            continue
        asked = [item.methods.get(last_name(each.func) or "") for each in made if _is_own_call(each)]
        if made and len(asked) == len(made):
            if any(_may_have_history(file, item, each, (*seen, method.name)) for each in asked):
                return True
            continue
        found = shown.items(value)
        if found is None or not all(_is_without(method, each) for key, each in found.items() if key != "loss"):
            return True
    return False


def _is_loss(value: ast.expr) -> bool:
    """Whether a value is the loss alone, by its name."""
    name = last_name(value) or ""
    return name == "loss" or name.endswith("_loss")


def _is_own_call(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and is_self_attribute(node.func, getattr(node.func, "attr", ""))


def _is_without(step: Function, node: ast.expr, seen: Container[str] = ()) -> bool:
    """Whether a value in a step has no history: a number, a part of the batch, or what was cut off from it."""
    match node:
        case ast.Constant() | ast.Compare() | ast.JoinedStr():
            return True
        case ast.Subscript(value=value):
            return _is_without(step, value, seen)
        case ast.BinOp(left=left, right=right):
            return _is_without(step, left, seen) and _is_without(step, right, seen)
        case ast.Call(func=ast.Name(id="len" | "int" | "float")):
            return True
        case ast.Call(func=ast.Attribute(attr=name)) if name in _WITHOUT:
            return True
        case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in _KEEPING:
            return _is_without(step, value, seen)
        case ast.Name(id=name) if name not in seen:
            return _is_bound_without(step, name, (*seen, name) if isinstance(seen, tuple) else (name,))
    return False


def _is_bound_without(step: Function, name: str, seen: tuple[str, ...]) -> bool:
    stored = [use for use in uses(step, name) if not isinstance(use.ctx, ast.Load)]
    found = [
        node.value
        for node in walk(step)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for each in (target.elts if isinstance(target, ast.Tuple) else [target])
        if isinstance(each, ast.Name) and each.id == name
    ]
    if len(found) != len(stored) or not (found or name in parameters(step)):
        return False
    return all(_is_without(step, value, seen) for value in found)
