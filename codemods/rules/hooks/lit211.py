"""LIT211: hooks that Lightning does not call any more, without a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.collapsing import is_unwritten
from codemods.code.nodes import walk
from codemods.code.scopes import ROOT, Scope
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, always_leaves, is_name, is_super_call, parameters, self_name
from codemods.finding import Fix
from codemods.lightning.calls_by_name import asked_otherwise, methods_around, of_base
from codemods.lightning.class_family import definitions, family
from codemods.lightning.eras import era
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.rewrite.advice import head
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.hooks.bar_items import HOOKS as BAR_HOOKS
from codemods.rules.hooks.bar_items import left_out
from codemods.rules.hooks.batch_point import POINTS, STEPS, counts, differs
from codemods.rules.hooks.certain import TOLD, told_of_training_alone, why_certain
from codemods.rules.hooks.data_state import REASON, giving_state, has_other_state
from codemods.rules.hooks.epoch_end import IN_PLACE, OLDEST, STAGES, Stage
from codemods.rules.hooks.every_epoch_end import EPOCH_END, EPOCH_START, at_each_stage
from codemods.rules.hooks.inherited_step_end import ending_with, inherited_ends, steps_below
from codemods.rules.hooks.lightnings_callbacks import hidden
from codemods.rules.hooks.removed_hooks import DATA, DATA_HOOKS, HOOKS, RemovedHook
from codemods.rules.hooks.renamed_hooks import hands_up, renamed, renamed_counting, renamed_handing_up
from codemods.rules.hooks.same_point import after_others, keeps_given, reads_state
from codemods.rules.hooks.step_end import (
    PARALLEL,
    PRECISION,
    TORCH,
    alone,
    doubt,
    family_refusal,
    joined,
    lacking,
    leaves_autocast,
    own_refusal,
    shown_ends,
    spellings,
)
from codemods.rules.hooks.stray_calls import stray_calls
from codemods.rules.hooks.wrapping import AS_NOW, LOOKING, gone, looks_for_unused
from codemods.rules.hooks.wrapping import HOOK as WRAPPING

if TYPE_CHECKING:
    import libcst as cst
IDLE = (f"{ROOT}.data_loader", f"{ROOT}.core.decorators.data_loader")
"""Decorators that did nothing any more, which LIT001 takes out."""
LATER = {stage.old: {stage.later, stage.new} for stage in OLDEST}
"""Hooks that LIT201 rewrites, unless the class has them by their later names too."""
ASLEEP = "The Lightning that the project requires does not call it: the rewrite runs code that does not run now."
BAR = "It only left {} out of the progress bar, which shows it again."
LEAVES = " 1.x called it after the autocast region of the step, which it leaves for that."
ALIKE = "It ran for training batches alone, next to the hook that takes its place, and nothing tells the two apart."
COUNTING = f"{ALIKE.rstrip('.')} but global_step, which holds the batch already since 1.6: it is taken out."
RELATED = {EPOCH_START, EPOCH_END, *DATA_HOOKS}
"""Hooks of which the classes above and below have a say, whatever file they stand in."""
STEP_ENDS = {stage.step_end: stage for stage in STAGES}


@dataclass(frozen=True)
class _Ends:
    """The names of a file's classes with a `*_step_end` or a related hook, which `Class.step_end` always give
    something, and which are called by a step of their own class once that is rewritten."""

    classes: tuple[str, ...]
    given: frozenset[str]
    called: frozenset[str]


def _collect(file: PythonFile) -> _Ends | None:
    ending = [(item, stage) for item in file.classes for stage in STAGES if stage.step_end in item.methods]
    classes = [item.node.name for item in file.classes if RELATED & item.methods.keys()]
    if not ending and not classes:
        return None
    called = {f"{item.qualname}.{stage.step_end}" for item, stage in ending if own_refusal(file, item, stage) is None}
    classes += [item.node.name for item, _ in ending]
    return _Ends(tuple(classes), shown_ends(file, STAGES), frozenset(called))


def _context(collected: Any) -> tuple[bytes, ...]:
    """Files that name a class with a step end, or could define or call what belongs to it, are read."""
    texts = {name.encode() for ends in collected.values() for name in ends.classes}
    names = {name.rpartition(".")[2] for ends in collected.values() for name in ends.called}
    for name in names:
        stage = STEP_ENDS[name]
        texts |= {*definitions([stage.step, stage.step_end]), *spellings(stage.step), *spellings(stage.step_end)}
    return tuple(sorted(texts))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        old = [name for name in item.methods if name in HOOKS or name in DATA_HOOKS]
        fact = facts.of_class(file, item) if old else None
        kind = facts.kind(fact) if fact else None
        for name in old:
            hook = (DATA_HOOKS if kind == DATA else HOOKS).get(name)
            if not (fact and hook and kind in hook.kinds) or _called(file, name):
                continue
            if name in LATER and not LATER[name] & item.methods.keys():
                continue
            if name in STEP_ENDS:
                found = _step_end(file, facts, fact, item, name, hook)
            else:
                found = iter([_match(file, facts, fact, item, name, hook, kind)])
            yield from (_woken(facts, hook, match) for match in found)
    yield from inherited_ends(file, facts)
    yield from stray_calls(file, facts)


def _woken(facts: Facts, hook: RemovedHook, match: Match) -> Match:
    """A match whose rewrite makes a hook run that did not so far, since the project asks for a Lightning without it: it
    may be in nobody's mind, though it stands there."""
    if match.fix != "safe" or match.reason == AS_NOW or era(facts, f"{hook.since}.0") != "after":
        return match
    return replace(match, fix="unsafe", reason=f"{ASLEEP} {match.reason}")


def _step_end(
    file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode, name: str, hook: RemovedHook
) -> Iterator[Match]:
    """A step end that the class's own step can call, that an inherited step will call, or that is left."""
    stage = STEP_ENDS[name]
    message = f"{name} is no longer called since Lightning {hook.since}"
    collected = facts.collected("LIT211")
    given = frozenset((path, each) for path, ends in collected.items() for each in ends.given)
    place = file.head(item.methods[name])
    if stage.step not in item.methods:
        above = next((other for other in facts.ancestry(fact)[1:] if stage.step in other.methods), None)
        ends = collected.get(above.path) if above else None
        called = (
            above and ends and f"{above.name}.{name}" in ends.called and not family_refusal(facts, above, stage, given)
        )
        if above and (called or _is_called_in(facts, above, stage)):
            yield from _inherited(file, facts, above, item, stage, Match(place, message, "safe", "", hook.row))
            return
    below = steps_below(facts, fact, stage)
    if not isinstance(below, str):
        yield from _of_steps_below(file, facts, item, stage, Match(place, message, "safe", "", hook.row))
        return
    alone_here = stage.step in item.methods and not is_unwritten(item.methods[stage.step])
    refusal = own_refusal(file, item, stage) or family_refusal(facts, fact, stage, given)
    refusal = below if refusal and not alone_here and any(facts.subclasses(fact)) else refusal
    refusal = f"{refusal}. {hook.reason}" if refusal else joined(facts, item, stage)
    if refusal:
        yield Match(place, message, "manual", f"Not rewritten: {refusal}.", hook.row)
        return
    edits = [NodeEdit(item.methods[stage.step], partial(ending_with, step_end=name))]
    unsure = doubt(file, facts, item, stage)
    told = unsure + alone(facts, stage)
    if lost := lacking(item, stage):
        edits.append(
            NodeEdit(item.methods[name], partial(_giving_back, name=lost, whole=always_leaves(item.methods[name].body)))
        )
        told = f" Where it returned nothing, 1.x kept what it had been given.{told}"
    leaves = leaves_autocast(file, facts, item, stage)
    if leaves:
        edits.append(NodeEdit(item.methods[name], _outside))
        told = f"{LEAVES}{told}"
    reason = f"{stage.step} now gives its result to {name} itself, as Lightning did.{told}"
    imports = TORCH if leaves else ()
    unit = f"{file.path}:{item.qualname}"
    level: Fix = "unsafe" if unsure else "safe"
    yield Match(place, message, level, reason, hook.row, tuple(edits), imports, unit=unit, needs=hook.needs)


def _of_steps_below(file: PythonFile, facts: Facts, item: ClassNode, stage: Stage, match: Match) -> Iterator[Match]:
    """What is left to do of a step end that the steps of the classes below call, or will call."""
    if leaves_autocast(file, facts, item, stage):
        edit = NodeEdit(item.methods[stage.step_end], _outside)
        reason = f"The steps of the classes below it give it their results, as Lightning did.{LEAVES}"
        yield replace(match, reason=reason, edits=(edit,), imports=TORCH)


def _inherited(
    file: PythonFile, facts: Facts, above: ClassFact, item: ClassNode, stage: Stage, match: Match
) -> Iterator[Match]:
    """What is left to do of a step end that the step of a class above calls, or will call."""
    owner = facts.find_opened(f"{facts.files[above.path].module}.{above.name}", above.path)
    unsure = bool(owner and stage.step_end in owner[1].methods and doubt(owner[0], facts, owner[1], stage))
    reason = f"{stage.step} of {above.name} gives it its result, as Lightning did.{LEAVES}"
    if leaves_autocast(file, facts, item, stage):
        edit = NodeEdit(item.methods[stage.step_end], _outside)
        yield replace(match, fix="unsafe" if unsure else "safe", reason=reason, edits=(edit,), imports=TORCH)
    elif unsure:
        reason = f"Not rewritten: {stage.step} of {above.name} ({above.path}) calls it with unsafe rewrites alone."
        yield replace(match, fix="manual", reason=reason)


def _is_called_in(facts: Facts, above: ClassFact, stage: Stage) -> bool:
    """Whether the step of a class calls its own `*_step_end` already."""
    owner = facts.find_opened(f"{facts.files[above.path].module}.{above.name}", above.path)
    step = owner[1].methods.get(stage.step) if owner else None
    return step is not None and any(
        isinstance(node, ast.Attribute) and node.attr == stage.step_end and ast.unparse(node.value) == self_name(step)
        for node in ast.walk(step)
    )


def _outside(node: cst.FunctionDef) -> cst.FunctionDef:
    from codemods.rules.hooks.keep_outputs_edits import outside

    return outside(node)


def _giving_back(node: cst.FunctionDef, *, name: str, whole: bool) -> cst.FunctionDef:
    from codemods.rules.hooks.keep_outputs_edits import giving_back

    return giving_back(node, name, whole)


def _called(file: PythonFile, name: str) -> bool:
    """Whether the file calls the method itself, so that it is not for Lightning alone; one `*_step_end` that another
    one calls is no less for Lightning."""
    return any(
        isinstance(call.node.func, ast.Attribute)
        and call.node.func.attr == name
        and not of_base(call.node, name)
        and not (name in STEP_ENDS and STEP_ENDS.keys() & methods_around(call))
        for call in file.calls_near([name])
    )


def _asked(file: PythonFile, facts: Facts, name: str) -> str | None:
    """Why a hook keeps its name: something asks for it otherwise than the same hook of another class."""
    path = next((path for path, _, _ in asked_otherwise(file, facts, name)), None)
    return f"{name} is used by name in {path}" if path else None


def _match(
    file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode, name: str, hook: RemovedHook, kind: str
) -> Match:
    method = item.methods[name]
    message = f"{name} is no longer called since Lightning {hook.since}"
    row = hook.row or None
    unused = looks_for_unused(method, item.scope) if name == WRAPPING else None
    if unused is False and len(item.node.body) > 1 and not any(name in other.methods for other in family(facts, fact)):
        return Match(file.head(method), message, "safe", AS_NOW, row, (NodeEdit(method, gone),))
    if unused:
        return Match(file.head(method), message, "manual", f"{LOOKING}.", row)
    if name in BAR_HOOKS and len(item.node.body) > 1 and (items := left_out(method)):
        reason = f"{BAR.format(' and '.join(items))} {hook.reason}."
        return Match(file.head(method), message, "unsafe", reason, row, (NodeEdit(method, gone),))
    if kind == DATA:
        if refusal := has_other_state(file, facts, fact, item):
            return Match(file.head(method), message, "manual", f"Not rewritten: {refusal}. {hook.reason}.", row)
        edit = NodeEdit(method, partial(giving_state, name=name))
        return Match(file.head(method), message, "unsafe", REASON, row, (edit,), unit=f"{file.path}:{item.qualname}")
    if not hook.new:
        return Match(file.head(method), message, "manual", f"{hook.reason}.", row)
    unit = f"{file.path}:{item.qualname}"
    certain = kind != CALLBACK and hook.new not in item.methods and why_certain(facts, fact, item, hook, method)
    every = name in (EPOCH_START, EPOCH_END) and not certain
    if every and (found := at_each_stage(facts, fact, item, name, kind)):
        return Match(file.head(method), message, found.level, found.reason, row, found.edits, unit=unit)
    refusal = _refusal(facts, fact, item, name, method, hook, kind) or _asked(file, facts, name)
    if refusal:
        plain = len(parameters(method)) == hook.takes + (2 if kind == CALLBACK else 0)
        new = head(method, name=hook.new, adds=hook.adds) if plain else f"def {hook.new}(self, ...)"
        reason = f"Not rewritten: {refusal}. {hook.reason} Move it to `{new}`."
        return Match(file.head(method), message, "manual", reason, row)
    counted = kind == CALLBACK and name in POINTS and counts(facts, method, name)
    change = partial(renamed_counting, trainer=parameters(method)[0]) if counted else renamed
    edit = NodeEdit(method, partial(change, hook=hook))
    level, reason = _judged(facts, fact, item, method, hook, kind)
    if hands_up(method, hook):
        edit = NodeEdit(method, partial(renamed_handing_up, hook=hook))
        level = "unsafe" if kind == CALLBACK else level
    return Match(file.head(method), message, level, reason, row, (edit,), unit=unit, needs=hook.needs)


def _judged(
    facts: Facts, fact: ClassFact, item: ClassNode, method: Function, hook: RemovedHook, kind: str
) -> tuple[Fix, str]:
    """The level of the rename and why it has that: a callback's and a module's are safe in other cases."""
    if kind != CALLBACK and (certain := why_certain(facts, fact, item, hook, method)):
        return "safe", certain
    if kind == CALLBACK and method.name in POINTS:
        if told := differs(facts, item, method, method.name):
            return hook.level, f"{hook.reason} {told}"
        return "safe", COUNTING if counts(facts, method, method.name) else ALIKE
    if kind == CALLBACK and told_of_training_alone(facts, hook):
        return "safe", TOLD
    if not hook.same or kind != CALLBACK:
        return hook.level, hook.reason
    if keeping := keeps_given(item):
        return hook.level, f"{hook.reason} {keeping} keeps what it is given."
    if read := reads_state(method):
        return hook.level, f"{hook.reason} {read}"
    if told := after_others(facts, hook.new):
        return hook.level, f"{hook.reason} Check the order: {told}."
    return "safe", f"{hook.reason} It uses none of that."


def _made_beside(item: ClassNode, new: str) -> str | None:
    """The hook of an epoch's outputs whose own rewrite brings the class a hook of that name."""
    for stage in (*STAGES, *OLDEST):
        starts = () if "__init__" in item.methods else (stage.start,)
        if stage.old in item.methods and new in (stage.new, stage.batch_end, *starts):
            return stage.old
    return None


def _refusal(
    facts: Facts, fact: ClassFact, item: ClassNode, name: str, method: Function, hook: RemovedHook, kind: str
) -> str | None:
    if hook.new in item.methods:
        return f"the class has {hook.new} already"
    twins = [other for other in item.methods if other != name and (twin := HOOKS.get(other)) and twin.new == hook.new]
    if twins:
        return f"{twins[0]} of the same class would become {hook.new} too"
    if needing := _made_beside(item, hook.new):
        return f"what {needing} of the same class becomes needs {hook.new} too"
    for other in family(facts, fact):
        clashing = sorted({name, hook.new} & other.methods)
        if clashing:
            return f"{other.name} ({other.path}), a base class or subclass, defines {clashing[0]}"
    if kind == CALLBACK and not hands_up(method, hook) and (own := hidden(facts, fact, hook.new)):
        return own
    expected = hook.takes + (2 if kind == CALLBACK else 0)
    decorated = any(not _hands_on(node, item.scope) for node in method.decorator_list)
    if not _takes(method, expected, bool(hook.adds)) or method.args.vararg or method.args.kwonlyargs or decorated:
        return "it is not an ordinary method with the parameters that it was given"
    if set(hook.adds) & {node.id for node in walk(method) if isinstance(node, ast.Name)}:
        return "it uses the name of a parameter that the new hook gets"
    asks = not hands_up(method, hook) and any(is_name(node, "super") for node in walk(method))
    if asks or any(
        isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == name
        and of_base(node, name)
        and not is_super_call(node, name)
        for node in walk(method)
    ):
        return "it calls its base class"
    return None


def _takes(method: Function, number: int, more: bool) -> bool:
    """Whether a method takes what a hook is given, and of anything else a default, where `more` is not added to it."""
    taken = len(parameters(method))
    return taken == number or (not more and taken - len(method.args.defaults) <= number <= taken)


def _hands_on(decorator: ast.expr, scope: Scope) -> bool:
    """Whether a decorator gives the method whatever it is called with."""
    dotted = scope.resolve(decorator.func if isinstance(decorator, ast.Call) else decorator) or ""
    ranked = dotted.startswith("lightning") and dotted.endswith(".rank_zero_only")
    return dotted in (*IN_PLACE, *IDLE) or (ranked and not isinstance(decorator, ast.Call))


BEFORE = """\
from pytorch_lightning import Callback


class Stop(Callback):
    def on_keyboard_interrupt(self, trainer, pl_module):
        print("stopped")
"""
AFTER = """\
from pytorch_lightning import Callback


class Stop(Callback):
    def on_exception(self, trainer, pl_module, exception):
        if isinstance(exception, KeyboardInterrupt):
            print("stopped")
"""
ENDED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return {"guess": self(batch)}

    def training_step_end(self, output):
        return self.loss(output["guess"])
"""
ENDED_AFTER = ENDED.replace('{"guess": self(batch)}', 'self.training_step_end({"guess": self(batch)})')
SHARED = BEFORE + "\n    def on_exception(self, trainer, pl_module, exception):\n        pass\n"
EVERY_STAGE = """\
from pytorch_lightning import Callback


class Count(Callback):
    def on_epoch_end(self, trainer, pl_module):
        print(trainer.current_epoch)
"""


def _rows() -> tuple[tuple[str, Fix], ...]:
    def best(name: str, hook: RemovedHook) -> Fix:
        may = hook.same or hook.trains or name in POINTS
        return "safe" if may else hook.level if hook.new or name in STEP_ENDS else "manual"

    return best_levels((hook.row, best(name, hook)) for name, hook in (*HOOKS.items(), *DATA_HOOKS.items()))


RULE = Rule(
    code="LIT211",
    name="unheard-hook",
    summary="Hooks that Lightning stopped to call become those that it calls",
    why=(
        "Lightning removed some thirty hooks between 1.6 and 2.1 and calls none of them now. Nothing fails: the "
        "method stands there and is not called (guide rows M055-M059, M067, M068, M084-M087, M096-M103, M233-M235). "
        "Where another hook is called at the same point the method takes its name (for what is called a little "
        "later, safely where nothing of the project tells the two points apart), and a step calls its own "
        "*_step_end or the one of a class above, unsafely where a precision is set, since autocast now spans "
        "both, or DataParallel, which "
        "is gone; on_epoch_start and on_epoch_end are called by the hooks of the stages where the project's "
        "Lightning called them in each; where "
        "it joins what DataParallel's copies returned, where it ran more "
        "often than that one, as on_epoch_end did in a class that is "
        "evaluated too, or has no equivalent, the choice is yours. Where the project asks "
        "for a Lightning that does not call the hook, the rewrite is "
        "unsafe: it runs code that did not run before."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=(
        *(f"def {name}".encode() for name in (*HOOKS, *DATA_HOOKS)),
        *(f").{name}(".encode() for name in HOOKS),
        *(f"def {stage.step}(".encode() for stage in STAGES),
    ),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(ENDED, ENDED_AFTER),
        Example(SHARED, SHARED),
        Example(EVERY_STAGE, EVERY_STAGE),
    ),
    breaks_in="2.0.0",
    needs="1.7.0",
    collect=_collect,
    context=_context,
    rows=_rows,
    mentions=(
        *PRECISION,
        *PARALLEL,
        *STEPS,
        *(f".{name}".encode() for name, hook in HOOKS.items() if hook.new or name in STEP_ENDS),
        *(f".{stage.step}".encode() for stage in STAGES),
    ),
)
