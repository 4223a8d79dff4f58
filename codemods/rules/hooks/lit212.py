"""LIT212: what a callback returns from on_save_checkpoint in order to have it saved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_name,
    is_plain,
    is_super_call,
    may_return_none,
    parameters,
    results,
    self_name,
    uses,
)
from codemods.finding import Fix
from codemods.lightning.class_family import clash, definitions
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.hooks.step_end import named_lines, spellings, used_elsewhere

if TYPE_CHECKING:
    import libcst as cst

SAVE, LOAD = "on_save_checkpoint", "on_load_checkpoint"
NEW = {SAVE: "state_dict", LOAD: "load_state_dict"}
STATE = re.compile(r"state", re.IGNORECASE)
"""What the name of a parameter holds that takes a callback's own state."""
WHOLE = f"{LOAD} of a callback is given the whole checkpoint since Lightning 1.8, not the callback's state"
TAKE = "Not rewritten: what it is given is saved elsewhere. Take it in `def load_state_dict(self, state_dict)`."


def _present(file: PythonFile) -> bool:
    return any(LOAD in item.methods or results(item.methods[SAVE]) for item in file.classes if {*NEW} & {*item.methods})


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    names = tuple(item.node.name for item in file.classes if SAVE in item.methods and results(item.methods[SAVE]))
    return names or None


def _context(collected: Any) -> tuple[bytes, ...]:
    texts = {name.encode() for names in collected.values() for name in names}
    if texts:
        texts |= {*definitions([*NEW, *NEW.values()]), *spellings(SAVE), *spellings(LOAD)}
    return tuple(sorted(texts))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        save = item.methods.get(SAVE)
        fact = facts.of_class(file, item) if save else None
        if save is None or fact is None or facts.kind(fact) != CALLBACK or not _gives(item, save):
            continue
        yield _match(file, item, save, _refusal(file, facts, item, fact, save))
    yield from _alone(file, facts)


def _alone(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Hooks that take the state which a class above saves."""
    for item in file.classes:
        load = item.methods.get(LOAD)
        given = parameters(load) if load and SAVE not in item.methods else []
        if load is None or len(given) != 3 or not STATE.search(given[2]) or not uses(load, given[2]):
            continue
        fact = facts.of_class(file, item)
        if fact and facts.kind(fact) == CALLBACK:
            yield Match(file.head(load), WHOLE, "manual", TAKE, "M117")


def _gives(item: ClassNode, save: Function) -> bool:
    """Whether a hook returns something other than the checkpoint that it was given, or, where the class reads no state,
    than what the class above gave, which keeps its own."""
    values, given = results(save), {*parameters(save)[-1:]}
    if LOAD not in item.methods:
        given |= {*_of_above(save)}
        values = [value for value in values if not is_super_call(value, SAVE)]
    return any(not (isinstance(value, ast.Name) and value.id in given) for value in values)


def _of_above(save: Function) -> Iterator[str]:
    """The names of what the class above gave, of which nothing but a result is made."""
    for node in save.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and is_super_call(node.value, SAVE):
            spoken = sum(isinstance(each, ast.Name) and each.id == target.id for each in walk(save))
            if spoken == 1 + sum(is_name(value, target.id) for value in results(save)):
                yield target.id


def _refusal(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, save: Function) -> str | None:
    load = item.methods.get(LOAD)
    for name, method in ((SAVE, save), (LOAD, load)):
        if method is None:
            continue
        if not is_plain(method) or len(parameters(method)) != 3 or self_name(method) != "self":
            return f"{name} is not an ordinary method of three parameters"
        seen = parameters(method) if name == SAVE else parameters(method)[:2]
        used = [each for each in seen if uses(method, each)]
        if used:
            return f"{name} uses `{used[0]}`, which {NEW[name]} does not get"
        if uses(method, "super"):
            return f"{name} calls its base class"
        if lines := named_lines(file, name):
            return f"{name} is used by name in line {min(lines)}"
    if may_return_none(save):
        return f"{SAVE} does not always return a state"
    if own := [name for name in NEW.values() if name in item.methods]:
        return f"the class has {own[0]} already"
    told = used_elsewhere(facts, fact, (SAVE, LOAD))
    return told or clash(facts, fact, {*NEW, *NEW.values()})


def _match(file: PythonFile, item: ClassNode, save: Function, refusal: str | None) -> Match:
    place = file.head(save)
    message = f"what a callback returns from {SAVE} is no longer saved since Lightning 1.8"
    if refusal:
        reason = (
            f"Not rewritten: {refusal}. Return it from `def state_dict(self)`, "
            "take it in `def load_state_dict(self, state_dict)`."
        )
        return Match(place, message, "manual", reason, "M117")
    methods = [item.methods[name] for name in (SAVE, LOAD) if name in item.methods]
    edits = tuple(NodeEdit(method, partial(_renamed, name=method.name)) for method in methods)
    reason = "Lightning saves what state_dict returns at the same place, and passes it to load_state_dict."
    return Match(place, message, "safe", reason, "M117", edits, unit=f"{file.path}:{item.qualname}")


@touches("head")
def _renamed(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    import libcst as cst

    from codemods.rewrite.edits import without_parameter
    from codemods.rules.hooks.keep_outputs_edits import alone

    dropped = [param.name.value for param in node.params.params[1 : 4 if name == SAVE else 3]]
    for parameter in dropped:
        node = without_parameter(node, parameter)
    return alone(node).with_changes(name=cst.Name(NEW[name]))


def _rows() -> tuple[tuple[str, Fix], ...]:
    return (("M117", "safe"),)


BEFORE = """\
from pytorch_lightning import Callback


class Count(Callback):
    def __init__(self):
        self.seen = 0

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        return {"seen": self.seen}

    def on_load_checkpoint(self, trainer, pl_module, callback_state):
        self.seen = callback_state["seen"]
"""
AFTER = BEFORE.replace("on_save_checkpoint(self, trainer, pl_module, checkpoint)", "state_dict(self)").replace(
    "on_load_checkpoint(self, trainer, pl_module, callback_state)", "load_state_dict(self, callback_state)"
)
ASKS = BEFORE.replace('{"seen": self.seen}', '{"seen": trainer.global_step}')

RULE = Rule(
    code="LIT212",
    name="callback-state",
    summary="The state of a callback goes through state_dict and load_state_dict",
    why=(
        "Up to 1.7 Lightning saved what Callback.on_save_checkpoint returned, and passed that to on_load_checkpoint. "
        "Now it ignores what is returned, without an error, and on_load_checkpoint gets the whole checkpoint (guide "
        "rows M117, pull request 11887): the state is lost, or a KeyError. state_dict and load_state_dict do what "
        "the two did."
    ),
    fix="safe",
    versions="written for Lightning < 1.8; the result runs on 1.6 and later",
    triggers=(f"def {SAVE}".encode(), f"def {LOAD}".encode()),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(ASKS, ASKS)),
    breaks_in="1.8.0",
    needs="1.6.0",
    collect=_collect,
    context=_context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/11887",),
    rows=_rows,
)
