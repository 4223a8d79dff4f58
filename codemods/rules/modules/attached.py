"""Whether what a module has on `self` is Lightning's, and whether a Trainer has the module when a method is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.calls import last_name
from codemods.code.external_bindings import bound_by_name
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_super_call
from codemods.lightning.class_family import family, short_name, speaks
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.subclass_members import binds, bound_below

_STAGES = ("train", "validation", "test", "predict", "fit")
ATTACHED = frozenset({
    "configure_optimizers", "configure_callbacks", "configure_model", "configure_sharded_model", "setup", "teardown",
    "prepare_data", "transfer_batch_to_device", "optimizer_step", "optimizer_zero_grad", "lr_scheduler_step",
    "configure_gradient_clipping", "on_after_backward", "on_before_backward", "on_before_zero_grad",
    "on_before_optimizer_step", "on_save_checkpoint", "on_sanity_check_start", "on_sanity_check_end",
    *(f"{stage}_{what}" for stage in ("training", "validation", "test", "predict") for what in (
        "step", "step_end", "epoch_end", "end")),
    *(f"{stage}_dataloader" for stage in ("train", "val", "test", "predict")),
    *(f"on_{stage}_{what}" for stage in _STAGES for what in ("start", "end")),
    *(f"on_{stage}_{part}_{what}" for stage in _STAGES for part in ("epoch", "batch") for what in ("start", "end")),
    *(f"on_{part}_{what}" for part in ("epoch", "batch") for what in ("start", "end")),
})  # fmt: skip
"""Hooks that a Trainer calls, with the module in its hands."""
_BY_SOME_NAME = re.compile(r"setattr\(\s*self\s*,\s*(?![\"'])|self\.__dict__|vars\(self\)|def __getattr(ibute)?__")
"""How a class has attributes that its text does not name."""
_SETTINGS = re.compile(r"(\w*_)?(args|cfg|conf|config|flags|hp|hparams|opt|options|params|trainer)")
"""What is called so is no module."""


def bound_by_relatives(facts: Facts, fact: ClassFact, name: str) -> bool:
    """Whether the body of a class, or of one that shares instances with it, binds a name."""
    return any(binds(facts, (each.path, short_name(each)), name) for each in (fact, *family(facts, fact))) or bool(
        bound_below(facts, (fact.path, short_name(fact)), [name])
    )


def may_be_set(facts: Facts, fact: ClassFact, name: str) -> str | None:
    """Why an attribute may be the project's own, as the middle of a sentence; None where nothing speaks for it."""
    related = (fact, *family(facts, fact))
    if other := next((each for each in related if speaks(facts, each, _BY_SOME_NAME)), None):
        return f"{short_name(other)} sets attributes by computed names"
    if base := next((base for base in _unseen(facts, fact)), None):
        return f"{base}, which is not read here, may have it"
    for path, source in sorted(facts.sources.items()):
        if source.kind not in ("python", "notebook") or name.encode() not in source.unescaped:
            continue
        file = facts.open(path)
        if file is None or bound_by_name(name).search(source.unescaped) or any(_stores(file, name)):
            return f"{path} sets an attribute of that name"
    return None


def _unseen(facts: Facts, fact: ClassFact) -> Iterator[str]:
    for base in facts.lineage(fact):
        if (
            isinstance(base, str)
            and base != MODULE
            and not base.startswith(("lightning.", "torch.", "abc.", "typing."))
        ):
            yield base.rpartition(".")[2]


def _stores(file: PythonFile, name: str) -> Iterator[bool]:
    """Stores to an attribute of something that may be a module, other than `self`."""
    for node in file.attributes(name):
        owner = last_name(node.value) or ""
        stored = not isinstance(node.ctx, ast.Load)
        yield stored and owner != "self" and _SETTINGS.fullmatch(owner) is None


def may_be_alone(facts: Facts, method: str) -> str | None:
    """Why no Trainer may have a module when a method is called; None for a hook, and for what hooks alone call."""
    called = False
    for path, source in sorted(facts.sources.items()):
        if source.kind not in ("python", "notebook") or f".{method}".encode() not in source.unescaped:
            continue
        file = facts.open(path)
        if file is None:
            return f"{path} may call {method} itself"
        calls = {id(call.node.func): call for call in file.calls_near([method])}
        for node in file.attributes(method):
            call = calls.get(id(node))
            if call is None or not _is_from_hook(call, node):
                return f"{path}:{node.lineno} calls {method} itself, which fails if the module has no Trainer"
            called = True
    if method in ATTACHED or (called and not method.startswith("__")):
        return None
    return f"fixer assumes that {method} is called while a Trainer runs the module"


def _is_from_hook(call: CallNode, func: ast.Attribute) -> bool:
    if is_super_call(call.node, func.attr):
        return True
    functions = [item for item in call.within if isinstance(item, Function)]
    return (
        isinstance(func.value, ast.Name)
        and func.value.id == "self"
        and any(each.name in ATTACHED for each in functions)
    )
