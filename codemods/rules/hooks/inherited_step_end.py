"""A `*_step_end` of a base class to which the steps of the classes below it can give their results themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.collapsing import is_unwritten
from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import may_return_none, parameters, returns
from codemods.lightning.class_family import asked_of_another, family, short_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rule import Match, NodeEdit, touches
from codemods.rules.hooks.epoch_end import STAGES, Stage, plain_step
from codemods.rules.hooks.removed_hooks import HOOKS
from codemods.rules.hooks.step_end import alone, always_gives, doubt, joined
from codemods.rules.tbptt.module import sets_flag

if TYPE_CHECKING:
    import libcst as cst

Below = dict[ClassFact, bool]
"""Classes with a step of their own, and whether that gives its result to the `*_step_end` already."""


def opened(facts: Facts, fact: ClassFact) -> tuple[PythonFile, ClassNode] | None:
    """A class as it stands in its file."""
    file = facts.open(fact.path)
    item = next((each for each in file.classes if each.qualname == fact.name), None) if file else None
    return (file, item) if file and item else None


def base_with_end(facts: Facts, fact: ClassFact, stage: Stage) -> ClassFact | None:
    """The nearest class above one that has a `*_step_end`."""
    return next((each for each in facts.ancestry(fact)[1:] if stage.step_end in each.methods), None)


def steps_below(facts: Facts, base: ClassFact, stage: Stage) -> Below | str:
    """The classes below one with a `*_step_end` whose own steps can call that, or why they cannot."""
    known: dict[tuple[ClassFact, str], Below | str] = facts.memo.setdefault("hooks.steps below", {})
    if (base, stage.step) not in known:
        known[base, stage.step] = _steps_below(facts, base, stage)
    return known[base, stage.step]


def _steps_below(facts: Facts, base: ClassFact, stage: Stage) -> Below | str:
    held = opened(facts, base)
    own = held[1].methods.get(stage.step) if held else None
    if held is None or not always_gives(held[1], stage) or (own is not None and not is_unwritten(own)):
        return f"the class has no simple {stage.step} of its own that could call {stage.step_end}"
    if why := joined(facts, held[1], stage):
        return why
    if not stage.train and stage.old in base.methods:
        return f"the class has no simple {stage.step} of its own that could call {stage.step_end}"
    below, found = {*facts.subclasses(base)}, {}
    for other in family(facts, base):
        if stage.step_end in other.methods:
            return f"{other.name} ({other.path}), a base class or subclass, defines {stage.step_end} too"
        if stage.step not in other.methods:
            continue
        there = opened(facts, other)
        if there is None or (other not in below and not is_unwritten(there[1].methods[stage.step])):
            return f"{other.name} ({other.path}), a base class, has a {stage.step} of its own"
        if other in below and not is_unwritten(there[1].methods[stage.step]):
            calls = calls_end(there[1], stage)
            if isinstance(calls, str):
                return f"{calls} in {other.name} ({other.path})"
            found[other] = calls
    if any(found.keys() & {*facts.ancestry(each)[1:]} for each in found):
        return f"one {stage.step} below it stands above another"
    return _spoken(facts, base, {*found}, stage) or found or f"no class of the project has a {stage.step} below it"


def calls_end(item: ClassNode, stage: Stage) -> bool | str:
    """Whether each end of the class's own step calls the `*_step_end` already, or why none of them can."""
    step = plain_step(item, stage, starred=True)
    if step is None or may_return_none(step):
        return f"{stage.step} may return None, with which {stage.step_end} would be called,"
    if stage.train and (sets_flag(item) or "hiddens" in parameters(step)):
        return f"{stage.step} passes hidden states on"
    ends = [_is_end(node.value, stage) for node in returns(step)]
    if any(ends) and not all(ends):
        return f"{stage.step} calls {stage.step_end} at times"
    return all(ends)


def _is_end(node: ast.expr | None, stage: Stage) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == f"self.{stage.step_end}"


def _spoken(facts: Facts, base: ClassFact, found: set[ClassFact], stage: Stage) -> str | None:
    """Who else speaks of the step or of the `*_step_end` of these classes."""
    homes = {base.path, *(each.path for each in found)}
    names = (stage.step, stage.step_end)
    called = re.compile("|".join(rf"\b{re.escape(short_name(each))}\b" for each in (base, *found)).encode())
    naming = {path for name in names for path, source in facts.holding(f".{name}") if called.search(source.unescaped)}
    for path in sorted(naming | homes):
        file = facts.open(path)
        ends = {id(node.func) for each in (file.classes if file else ()) for node in _ends_of(each, stage)}
        for name in names:
            if file is None or any(id(node) not in ends for node in file.attributes(name)):
                return f"{name} is used by name in {path}"
    told = (asked_of_another(facts, each, name, frozenset(homes)) for each in (base, *found) for name in names)
    return next(filter(None, told), None)


def _ends_of(item: ClassNode, stage: Stage) -> list[ast.Call]:
    """The calls of the `*_step_end` at the ends of a class's own step."""
    step = item.methods.get(stage.step)
    values = [node.value for node in walk(step) if isinstance(node, ast.Return)] if step else []
    return [node for node in values if isinstance(node, ast.Call) and _is_end(node, stage)]


def inherited_ends(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The steps of a file that can give their results to a `*_step_end` of a class above, as Lightning did."""
    for item in file.classes:
        fact = facts.of_class(file, item)
        for stage in STAGES if fact and facts.kind(fact) == MODULE else ():
            step = item.methods.get(stage.step)
            base = base_with_end(facts, fact, stage) if fact and step and stage.step_end not in item.methods else None
            below = steps_below(facts, base, stage) if base else ""
            held = opened(facts, base) if base else None
            if not base or not held or not step or isinstance(below, str) or fact not in below:
                continue
            if calls_end(item, stage) is False:
                unsure = doubt(held[0], facts, held[1], stage)
                yield Match(
                    file.head(step),
                    f"{stage.step_end} of {base.name} ({base.path}) is no longer called since Lightning 2.0",
                    "unsafe" if unsure else "safe",
                    f"{stage.step} now gives its result to it itself, as Lightning did.{unsure}{alone(facts, stage)}",
                    HOOKS[stage.step_end].row,
                    (NodeEdit(step, partial(ending_with, step_end=stage.step_end)),),
                    unit=f"{file.path}:{item.qualname}",
                    needs=HOOKS[stage.step_end].needs,
                )


@touches("head")
def ending_with(node: cst.FunctionDef, *, step_end: str) -> cst.FunctionDef:
    """The step with each result given to its `*_step_end`."""
    from codemods.rules.hooks.keep_outputs_edits import ending

    return ending(node, step_end)
