"""What the rest of the project says of a new epoch-end hook: callers, relatives and callbacks."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from codemods.code.collapsing import is_unwritten
from codemods.code.nodes import every_node, walk
from codemods.code.scopes import ROOT
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_super_call, may_return_none, mentions, parameters, results
from codemods.lightning.class_family import asked_of_another, clash, family, naming_files
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rules.hooks.callbacks import HANDED, Watcher, is_late, moving, noticed
from codemods.rules.hooks.epoch_end import (
    OLDEST,
    STAGES,
    EpochEnd,
    Stage,
    keeping_refusal,
    makes_in_init,
    names_index,
    own_calls,
    plain_step,
    read_hook,
    reads_flat,
    takes_index,
)
from codemods.rules.hooks.inherited_step_end import base_with_end, opened, steps_below
from codemods.rules.hooks.results import never_none
from codemods.rules.hooks.step_end import (
    always_gives,
    doubt,
    family_refusal,
    named_lines,
    own_refusal,
    spellings,
    used_elsewhere,
)

INDEX = b"dataloader_i"
RESULTS = ("EvalResult", "TrainResult")
OF_LIGHTNING = frozenset(f"{module}.{name}" for module in (ROOT, f"{ROOT}.core.step_result") for name in RESULTS)


@dataclass(frozen=True)
class HookFileSummary:
    """What a file shows to the others: the names of its classes with an old hook, the old hooks that the file
    itself does not forbid to rewrite with whether each reads its outputs, which `Class.hook` read them, the callbacks
    that are called about then, which `Class.step_end` always give something, which old hooks the code speaks of
    without defining them, and which of them in classes alone that have the hook, by `self` or `super()`."""

    classes: tuple[str, ...]
    hooks: frozenset[tuple[str, bool]]
    reading: frozenset[str]
    callbacks: tuple[Watcher, ...]
    ends: frozenset[str]
    speaks: frozenset[str]
    within: frozenset[str]


@dataclass(frozen=True)
class OutputKeeping:
    """How the outputs reach the new hook: the step puts them on a list, or the hook behind each batch does, or a loop
    that another rule writes, or there are none (`nowhere`), or nobody asks for them (`idle`). `several` keeps a list
    for each dataloader, `guard` leaves None out, `ends` has the step's result go through `*_step_end` first, `start`
    makes the list when the epoch starts rather than in the constructor, `outside` has the class's own `*_step_end`
    leave autocast, `whole` multiplies the loss by the batches that it was divided by, `detached` cuts off the history
    of all values."""

    where: Literal["step", "batch", "loop", "nowhere", "idle"]
    several: bool = False
    guard: bool = False
    ends: bool = False
    start: bool = False
    outside: bool = False
    whole: bool = False
    detached: bool = False


def file_refusal(file: PythonFile, item: ClassNode, hook: EpochEnd) -> str | None:
    """Why the class itself, or the rest of its file, forbids the rewrite of a hook."""
    if hook.refusal:
        return hook.refusal
    if sum(other.qualname == item.qualname for other in file.classes) > 1:
        return "the file defines two classes of that name"
    old = hook.stage.old
    known = {id(call.func) for call in own_calls(item, old)}
    for other in file.classes:
        if method := other.methods.get(old):
            known |= {id(node.func) for node in walk(method) if isinstance(node, ast.Call) and is_super_call(node, old)}
            if not (_comes_from(file, item, other) or _comes_from(file, other, item)):
                known |= {id(call.func) for call in own_calls(other, old)}
    lines = [node.lineno for node in file.attributes(old) if id(node) not in known]
    lines += mentions(file.tree, old)
    if lines:
        return f"{old} is used by name in line {min(lines)}"
    return (keeping_refusal(item, hook.stage) or _of_result(file, old)) if hook.reads else None


def _of_result(file: PythonFile, hook: str) -> str | None:
    """What was handed to a hook where a file speaks of Lightning's results (0.9 to 0.10): not a list."""
    named = (node for node, _ in file.nodes_near(RESULTS) if isinstance(node, ast.Name | ast.Attribute))
    found = next((dotted for node in named if (dotted := file.scope.resolve(node)) in OF_LIGHTNING), None)
    if found is None:
        return None
    return f"with {found.rpartition('.')[2]}, 0.9 gave {hook} one result of all batches, and 2.x has no such class"


def _comes_from(file: PythonFile, item: ClassNode, other: ClassNode) -> bool:
    """Whether a class of a file has another of the file above it."""
    above = [item]
    for each in above:
        names = {node.id for base in each.node.bases for node in every_node(base) if isinstance(node, ast.Name)}
        above += [one for one in file.classes if one.node.name in names and one not in above]
    return other in above


def project_refusal(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str | None:
    """Why the project forbids the rewrite of a hook that its own file allows."""
    stage = hook.stage
    return (
        _spoken_of(file, facts, fact, stage)
        or clash(facts, fact, {stage.new, *([stage.helper] if hook.apart else [])})
        or _overridden(file, facts, item, fact, hook)
        or _noticed(facts, item, stage)
    )


def _spoken_of(file: PythonFile, facts: Facts, fact: ClassFact, stage: Stage) -> str | None:
    """Another file that names the class and the hook, other than in a comment or in documentation."""
    shown = facts.collected("LIT201")
    if told := asked_of_another(facts, fact, stage.old):
        return told
    if (told := used_elsewhere(facts, fact, (stage.old,))) is None:
        return None
    naming = naming_files(facts, fact) - {file.path}
    related = {other.path for other in family(facts, fact)}
    speaking = {
        path
        for text in spellings(stage.old)
        for path in naming & facts.mentions.get(text, frozenset())
        if facts.kinds.get(path) != "docs"
        if facts.kinds.get(path) != "python"
        or path not in shown
        or stage.old in shown[path].speaks
        or (stage.old in shown[path].within and path in related)
    }
    return f"{stage.old} is used by name in {min(speaking)}" if speaking else None


def _overridden(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str | None:
    """Whether a relative's hook and this one are called through each other, or it cannot be told which is called."""
    stage = hook.stage
    above = {*facts.ancestry(fact)[1:]}
    below = {*facts.subclasses(fact)}
    calls_base = any(is_super_call(node, stage.old) for node in walk(item.methods[stage.old]))
    twins = {other.old for other in (*STAGES, *OLDEST) if other.step == stage.step} - {stage.old}
    for other in family(facts, fact):
        if older := sorted(twins & other.methods):
            return (
                f"{other.name} ({other.path}), a base class or subclass, defines {older[0]}, and both would become "
                f"{stage.new}"
            )
        if stage.old not in other.methods:
            continue
        told = f"{other.name} ({other.path}), a base class or subclass, defines {stage.old}"
        if other not in above | below or hook.apart or (calls_base and other in above):
            return told
        if other in above and _stands_apart(facts, other, stage):
            return told
        node = next((each for each in file.classes if other.path == file.path and each.qualname == other.name), None)
        calls = node and any(is_super_call(each, stage.old) for each in walk(node.methods[stage.old]))
        if calls and other in below:
            return told
    if calls_base and facts.kind(fact) != MODULE:
        return f"{stage.old} calls a base class that is no LightningModule"
    return None


def _stands_apart(facts: Facts, fact: ClassFact, stage: Stage) -> bool:
    """Whether the hook of a class is left, or made a helper, where one below it would become another."""
    file = facts.open(fact.path)
    item = next((each for each in file.classes if each.qualname == fact.name), None) if file else None
    hook = read_hook(item, stage) if item else None
    return hook is None or hook.apart


def _noticed(facts: Facts, item: ClassNode, stage: Stage) -> str | None:
    for path, shown in sorted(facts.collected("LIT201").items()):
        for watcher in shown.callbacks:
            why = noticed(item, stage, watcher)
            if why and why != HANDED and not moving(facts, watcher) and not is_late(item, stage, watcher):
                return (
                    f"a callback in {path} has {stage.new} and {why}: 1.x called it after {stage.old}, 2.x calls it "
                    "before the module's own, which may have to do what the callback does"
                )
    return None


def keeping(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> OutputKeeping | str:
    """How the outputs that a hook reads are kept, or why they cannot be."""
    stage = hook.stage
    relatives = family(facts, fact)
    ended = stage.step_end in item.methods or any(stage.step_end in other.methods for other in relatives)
    step = plain_step(item, stage)
    overridden = any(stage.step in other.methods and not _is_idle(facts, fact, other, stage) for other in relatives)
    if step and not results(step) and not overridden and not ended:
        return OutputKeeping("nowhere")
    why = _end_refusal(file, facts, item, fact, stage) if ended else None
    called = why is not None and _is_called_by_steps(facts, fact, stage)
    if why is not None and not called:
        return why
    ended = ended and not called
    named = bool(
        named_lines(file, stage.step)
        or used_elsewhere(facts, fact, (stage.step,))
        or asked_of_another(facts, fact, stage.step)
    )
    apart = ended and stage.step not in item.methods
    shared = any(stage.old in other.methods for other in relatives)
    several = not stage.train and _several(file, facts, item, relatives, hook)
    inside = step is not None and not (stage.train or overridden or named or shared or called)
    inside = inside and (not several or step is None or names_index(step))
    above = any(stage.old in other.methods for other in facts.ancestry(fact)[1:])
    start = several or above or not makes_in_init(item)
    watched = {*([] if inside else [stage.batch_end]), *([stage.start] if start else [])}
    if why := clash(facts, fact, watched):
        return why
    if inside:
        index = len(parameters(step)) > 2 if step else False
        return OutputKeeping("step", several and index, ends=ended, start=start)
    guard = not (apart or ended) and not _never_none(item, stage, overridden)
    return OutputKeeping("batch", several, guard, ended, start)


def _is_idle(facts: Facts, fact: ClassFact, other: ClassFact, stage: Stage) -> bool:
    """Whether the step of another class stands above one and does nothing but ask for this one's."""
    there = opened(facts, other) if other in facts.ancestry(fact)[1:] and stage.step in fact.methods else None
    return there is not None and is_unwritten(there[1].methods[stage.step])


def _is_called_by_steps(facts: Facts, fact: ClassFact, stage: Stage) -> bool:
    """Whether the steps of the classes below the one with the `*_step_end` give their results to that, or safely
    will."""
    base = fact if stage.step_end in fact.methods else base_with_end(facts, fact, stage)
    held = opened(facts, base) if base else None
    below = steps_below(facts, base, stage) if base and held else ""
    return held is not None and not isinstance(below, str) and not doubt(held[0], facts, held[1], stage)


def _never_none(item: ClassNode, stage: Stage, overridden: bool) -> bool:
    """Whether every step that a class may run plainly gives something at each of its ends."""
    step = plain_step(item, stage)
    if step is None or overridden:
        return False
    return not may_return_none(step) and all(never_none(item, step, value) for value in results(step))


def _end_refusal(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, stage: Stage) -> str | None:
    given = frozenset((path, name) for path, shown in facts.collected("LIT201").items() for name in shown.ends)
    if stage.step in item.methods and stage.step_end in item.methods:
        return own_refusal(file, item, stage) or family_refusal(facts, fact, stage, given)
    if stage.train or stage.step_end not in item.methods or not always_gives(item, stage):
        return f"{stage.step_end} changes what the hook gets"
    if named_lines(file, stage.step_end) or used_elsewhere(facts, fact, (stage.step_end,)):
        return f"{stage.step_end} changes what the hook gets, and is used by name"
    for other in family(facts, fact):
        if stage.step_end in other.methods:
            return f"{other.name} ({other.path}), a base class or subclass, defines {stage.step_end}"
    if any(stage.batch_end in other.methods for other in facts.classes()):
        return f"{stage.step_end} changes what the hook gets, and what {stage.batch_end} gets"
    return None


def _several(file: PythonFile, facts: Facts, item: ClassNode, relatives: tuple[ClassFact, ...], hook: EpochEnd) -> bool:
    """Whether the steps of a stage can be given the index of one of several dataloaders."""
    stage = hook.stage
    method = item.methods[stage.old]
    if reads_flat(method):
        return False
    if (own := item.methods.get(stage.step)) and takes_index(own):
        return True
    others = [other for other in relatives if stage.step in other.methods]
    if not own and not others:
        return True
    here = {each.qualname: each for each in file.classes}
    return any(
        takes_index(here[other.name].methods[stage.step])
        if other.path == file.path and other.name in here
        else other.path in facts.mentions.get(INDEX, frozenset())
        for other in others
    )
