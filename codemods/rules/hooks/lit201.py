"""LIT201: epoch-end hooks that get the outputs of every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_super_call, results
from codemods.finding import Span
from codemods.lightning.class_family import definitions, family
from codemods.lightning.eras import fails_since_1
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_below, is_open
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.hooks.callbacks import (
    WAITING,
    Watcher,
    before,
    behind,
    late,
    later,
    moving,
    noticed,
    stale,
    watchers,
)
from codemods.rules.hooks.epoch_end import HALF, OLDEST, STAGES, EpochEnd, Stage, own_calls, read_hook, reads_flat
from codemods.rules.hooks.handed_outputs import ACCUMULATING, DETACHING, as_handed, changed, made_so
from codemods.rules.hooks.irregular_definitions import EVERY, PLAIN, STAGE_OF, odd
from codemods.rules.hooks.project_constraints import (
    INDEX,
    HookFileSummary,
    OutputKeeping,
    file_refusal,
    keeping,
    project_refusal,
)
from codemods.rules.hooks.results import train_result
from codemods.rules.hooks.step_end import (
    PARALLEL,
    PRECISION,
    TORCH,
    doubt,
    joined,
    leaves_autocast,
    named_lines,
    shown_ends,
    spellings,
)
from codemods.rules.hooks.validation_order import ended_before_validation
from codemods.rules.optimizers import plan as optimizers
from codemods.rules.tbptt import plan as tbptt

if TYPE_CHECKING:
    import libcst as cst

ASSUMED = " No release has given it any: fixer assumes that it is to read what each {stage.step} returned."
REVIVED = " No release since 1.0 has called it: it does so again."


def _present(file: PythonFile) -> bool:
    return any(name in file.text for name in STAGE_OF) and (
        any(name in item.methods for item in file.classes for name in STAGE_OF)
        or any(True for _ in odd(file))
        or any(watcher.moves for watcher in watchers(file))
    )


def _collect(file: PythonFile) -> HookFileSummary:
    hooks = [(item, hook) for item in file.classes for stage in EVERY if (hook := read_hook(item, stage))]
    classes = tuple(dict.fromkeys(item.node.name for item, _ in hooks))
    kinds = frozenset((hook.stage.old, hook.reads) for item, hook in hooks if not file_refusal(file, item, hook))
    reading = frozenset(f"{item.qualname}.{hook.stage.old}" for item, hook in hooks if hook.reads)
    based = frozenset(name for name in STAGE_OF if named_lines(file, name))
    speaks = frozenset(name for name in based if len(named_lines(file, name)) > _calls_within(file, name))
    return HookFileSummary(classes, kinds, reading, watchers(file), shown_ends(file, STAGES), speaks, based - speaks)


def _calls_within(file: PythonFile, name: str) -> int:
    """How many calls of a hook there are by `self` or, in the hook, by `super()` in classes that have it."""
    having = [item for item in file.classes if name in item.methods]
    based = sum(is_super_call(node, name) for item in having for node in walk(item.methods[name]))
    return based + len({id(call) for item in having for call in own_calls(item, name)})


def _context(collected: Any) -> tuple[bytes, ...]:
    """Files that name a class with an old hook are read, and those that define or name what would clash: they
    may subclass it, under whatever name."""
    hooks = {kind for shown in collected.values() for kind in shown.hooks}
    texts = {name.encode() for shown in collected.values() for name in shown.classes}
    for name, reads in hooks:
        stage = STAGE_OF[name]
        texts |= {*definitions([stage.new, stage.helper]), *spellings(stage.old)}
        if reads:
            texts |= {INDEX, *definitions([stage.step, stage.step_end, stage.start, stage.batch_end])}
            texts |= {*spellings(stage.step), *spellings(stage.step_end)}
    return tuple(sorted(texts))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if file.path not in facts.files:
        return
    for item in file.classes:
        fact = facts.of_class(file, item)
        hooks = _hooks(file, facts, item, fact) if fact else []
        if not fact or not hooks:
            continue
        plans = [_plan(file, facts, item, fact, hook) for hook in hooks]
        plans = [
            (_calls_end(item, hook, plan) and joined(facts, item, hook.stage)) or plan
            for hook, plan in zip(hooks, plans, strict=True)
        ]
        first = next(((hook, why) for hook, why in zip(hooks, plans, strict=True) if isinstance(why, str)), None)
        stages = [hook.stage for hook in hooks]
        for hook, plan in zip(hooks, plans, strict=True):
            if first and not isinstance(plan, str):
                plan = f"{first[0].stage.old} of the same class cannot be ({first[1]})"
            why = _ending(file, facts, item, hooks, plans) or late(facts, item, stages) or behind(facts, item, stages)
            why = why or stale(facts, item, stages) or ended_before_validation(facts, item, stages)
            why = why or before(facts, item, stages) or _handed(file, facts, item, fact, hooks, plans)
            yield _match(file, facts, item, hook, plan, why)
    yield from _moved(file, facts)
    for name, node, within in odd(file) if facts.uses_lightning else ():
        owner = facts.of_class(file, within)
        if within and not (owner and _may_be_module(facts, owner)):
            continue
        yield _manual(file.span(node), STAGE_OF[name], f"{name} is not an ordinary method in the body of its class")


def _hooks(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact) -> list[EpochEnd]:
    """The old hooks of a class that no other rule rewrites, the last stage first."""
    if not _may_be_module(facts, fact):
        return []
    hooks = [hook for stage in reversed(EVERY) if (hook := read_hook(item, stage))]
    place = facts, file.path, item.qualname
    if optimizers.keeps_outputs(*place) or tbptt.keeps_outputs(*place):
        hooks = [hook for hook in hooks if not hook.stage.train]
    module = facts.kind(fact) == MODULE
    return [hook for hook in hooks if module or not (hook.stage.later or hook.stage.half)]


def _may_be_module(facts: Facts, fact: ClassFact) -> bool:
    """Whether a class is, may be, or helps to make a LightningModule."""
    kind = facts.kind(fact)
    return kind == MODULE or (facts.uses_lightning and (kind is None or _is_mixin(facts, fact)))


def _is_mixin(facts: Facts, fact: ClassFact) -> bool:
    return facts.kind(fact) == "other" and any(facts.kind(child) in (MODULE, None) for child in facts.subclasses(fact))


def _ending(
    file: PythonFile, facts: Facts, item: ClassNode, hooks: list[EpochEnd], plans: list[_EpochEndPlan | str]
) -> str | None:
    """What may differ where a step of the class will call its `*_step_end`."""
    told = (
        doubt(file, facts, item, hook.stage)
        for hook, plan in zip(hooks, plans, strict=True)
        if _calls_end(item, hook, plan)
    )
    return next(filter(None, told), None)


def _handed(
    file: PythonFile,
    facts: Facts,
    item: ClassNode,
    fact: ClassFact,
    hooks: list[EpochEnd],
    plans: list[_EpochEndPlan | str],
) -> str:
    """What the hooks of a class may get by now that they did not get before."""
    return "".join(
        changed(file, facts, item, fact, hook, plan.keeping)
        for hook, plan in zip(hooks, plans, strict=True)
        if not isinstance(plan, str)
    )


def _calls_end(item: ClassNode, hook: EpochEnd, plan: _EpochEndPlan | str) -> bool:
    ends = not isinstance(plan, str) and plan.keeping and plan.keeping.ends
    return bool(ends) and hook.stage.step_end in item.methods and hook.stage.step in item.methods


def _moved(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The hooks of callbacks that read what an old hook of a module leaves, and can be called behind the new one."""
    for watcher in watchers(file):
        stage = next(stage for stage in STAGES if stage.new == watcher.hook)
        if not moving(facts, watcher) or not _is_watched(facts, stage, watcher):
            continue
        item = next(item for item in file.classes if item.qualname == watcher.owner)
        method, new = item.methods[watcher.hook], later(watcher.hook)
        reason = f"What it reads of the module or the Trainer is ready in {new}, as it was here after {stage.old}."
        message = f"since Lightning 2.0 {watcher.hook} of a callback runs before the module's own"
        edit = NodeEdit(method, partial(_called, name=new))
        yield Match(
            file.head(method), message, "unsafe", reason, stage.row, (edit,), unit=f"{file.path}:{item.qualname}"
        )


def _is_watched(facts: Facts, stage: Stage, watcher: Watcher) -> bool:
    """Whether a callback reads what an old hook leaves that is rewritten."""
    for path, shown in sorted(facts.collected("LIT201").items()):
        file = facts.open(path) if any(name == stage.old for name, _ in shown.hooks) else None
        for item in file.classes if file else ():
            fact = facts.files[path].find(item.qualname)
            if file and fact and stage.old in item.methods and noticed(item, stage, watcher):
                hooks = _hooks(file, facts, item, fact)
                if hooks and not any(isinstance(_plan(file, facts, item, fact, hook), str) for hook in hooks):
                    return True
    return False


@touches("head")
def _called(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    return node.with_changes(name=node.name.with_changes(value=name))


def _match(
    file: PythonFile, facts: Facts, item: ClassNode, hook: EpochEnd, plan: _EpochEndPlan | str, doubt: str | None
) -> Match:
    stage = hook.stage
    place = file.head(item.methods[stage.old])
    if isinstance(plan, str):
        return _manual(place, stage, plan)
    kept = plan.keeping
    if stage.later and not _ran(file, facts):
        doubt = (doubt or "") + REVIVED
    if stage.half and hook.reads:
        doubt = (doubt or "") + ASSUMED.format(stage=stage)
    return Match(
        place,
        _message(stage),
        "unsafe" if doubt else "safe",
        _SAFE[kept.where if kept else "unread"].format(stage=stage) + (made_so(kept) if kept else "") + (doubt or ""),
        stage.row or None,
        edits=(NodeEdit(item.node, lambda node: _written(node, item, hook, plan)),),
        unit=f"{file.path}:{item.qualname}",
        imports=(*(TORCH if kept and kept.outside else ()), *(DETACHING if kept and kept.detached else ())),
        needs="2.0.0" if kept and _needs_2(stage, kept) else None,
    )


def _needs_2(stage: Stage, kept: OutputKeeping) -> bool:
    return kept.detached or (kept.where == "batch" and not (stage.train or kept.several))


_SAFE = {
    "step": "{stage.new} reads the same results, kept by {stage.step} in a list that it empties.",
    "batch": (
        "{stage.new} reads the same results, kept in a list that it empties: {stage.batch_end} gets what 1.x handed "
        "over, however {stage.step} made it."
    ),
    "nowhere": "{stage.step} returns nothing, so the list was always empty.",
    "idle": "{stage.old} passes its outputs to a method that does not read them: an empty list is enough.",
    "unread": "{stage.old} does not read its outputs; {stage.new} is called at the same time.",
}


def _manual(place: Span, stage: Stage, refusal: str) -> Match:
    return Match(
        place,
        _message(stage),
        "manual",
        f"Not rewritten: {refusal}. Append what each {stage.step} returns to a list on self, read it in "
        f"{stage.new}(self) and clear it there.",
        stage.row or None,
    )


def _ran(file: PythonFile, facts: Facts) -> bool:
    """Whether a pin admits a Lightning that called the oldest names, or, without one, no later one runs the file."""
    if is_open(facts, LIGHTNING):
        return fails_since_1(facts, file)
    return admits_below(facts, LIGHTNING, "1.0")


def _message(stage: Stage) -> str:
    if stage.half:
        return f"{stage.old} requires the outputs, but Lightning passes it nothing"
    if stage.later:
        return f"{stage.old} is no longer called since Lightning 1.0"
    return f"{stage.old} was removed in Lightning 2.0"


@dataclass(frozen=True)
class _EpochEndPlan:
    """What a rewrite does besides the new name: how outputs are kept, if they are read; whether a list that a base
    class fills is emptied, if not."""

    keeping: OutputKeeping | None
    clears: bool = False


def _plan(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> _EpochEndPlan | str:
    """How a hook is rewritten; or the class's own reason, or what its callers, relatives and callbacks say, against
    it."""
    if facts.kind(fact) is None:
        return "fixer cannot tell whether the class is a LightningModule: a base class comes from elsewhere"
    refusal = file_refusal(file, item, hook) or project_refusal(file, facts, item, fact, hook)
    if refusal:
        return refusal
    if hook.stage.later and _misreads(item, hook.stage):
        step = hook.stage.step
        return (
            f"it reads items by their names of what {step} returns, which is a tensor: called again, it would fail, so "
            "delete it, or repair that first"
        )
    if hook.idle and not any(hook.idle & other.methods for other in family(facts, fact)):
        return _EpochEndPlan(OutputKeeping("idle"))
    if hook.reads:
        kept = keeping(file, facts, item, fact, hook)
        if isinstance(kept, str):
            return kept
        outside = kept.ends and leaves_autocast(file, facts, item, hook.stage)
        return _EpochEndPlan(as_handed(file, facts, item, fact, hook, replace(kept, outside=outside)))
    shown = facts.collected("LIT201")
    above = facts.ancestry(fact)[1:]
    return _EpochEndPlan(
        None,
        any(f"{other.name}.{hook.stage.old}" in shown[other.path].reading for other in above if other.path in shown),
    )


def _misreads(item: ClassNode, stage: Stage) -> bool:
    """Whether a hook takes each of its outputs for a dict, where its class's own step returns tensors alone."""
    step = item.methods.get(stage.step)
    if step is None or not reads_flat(item.methods[stage.old]):
        return False
    return {train_result(item, step, each) for each in results(step)} == {"tensor"}


def _written(node: cst.ClassDef, item: ClassNode, hook: EpochEnd, plan: _EpochEndPlan) -> cst.ClassDef:
    from codemods.rules.hooks.keep_outputs_edits import cleared, keep_results

    return cleared(node, item, hook) if plan.clears else keep_results(node, item, hook, plan.keeping)


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return {"error": (self.layer(x) - y).abs().mean()}

    def validation_epoch_end(self, outputs):
        self.log("error", torch.stack([output["error"] for output in outputs]).mean())
"""
AFTER = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.validation_step_outputs = []
        self.layer = torch.nn.Linear(4, 1)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        output = {"error": (self.layer(x) - y).abs().mean()}
        self.validation_step_outputs.append(output)
        return output

    def on_validation_epoch_end(self):
        outputs, self.validation_step_outputs = self.validation_step_outputs, []
        self.log("error", torch.stack([output["error"] for output in outputs]).mean())
"""
UNREAD = BEFORE.replace('torch.stack([output["error"] for output in outputs]).mean()', "self.best")
UNREAD_AFTER = UNREAD.replace("def validation_epoch_end(self, outputs)", "def on_validation_epoch_end(self)")
ONE_BY_ONE = BEFORE.replace("(self, batch, batch_idx)", "(self, batch, batch_idx, dataloader_idx=0)").replace(
    'torch.stack([output["error"] for output in outputs]).mean()', "self.summary(outputs)"
)
SEVERAL_LOADERS = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def on_validation_epoch_start(self):
        self.validation_step_outputs = [[] for _ in self.trainer.num_val_batches]

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        x, y = batch
        output = {"error": (self.layer(x) - y).abs().mean()}
        self.validation_step_outputs[dataloader_idx].append(output)
        return output

    def on_validation_epoch_end(self):
        outputs, self.validation_step_outputs = self.validation_step_outputs, []
        if len(outputs) == 1:
            outputs = outputs[0]
        self.log("error", self.summary(outputs))
"""
TRAINING = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return {"loss": self.layer(batch).mean()}

    def training_epoch_end(self, outputs):
        self.log("mean", torch.stack([output["loss"] for output in outputs]).mean())
"""
TRAINING_AFTER = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.training_step_outputs = []
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return {"loss": self.layer(batch).mean()}

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.training_step_outputs.append(outputs)

    def on_train_epoch_end(self):
        outputs, self.training_step_outputs = self.training_step_outputs, []
        self.log("mean", torch.stack([output["loss"] for output in outputs]).mean())
"""
NOT_LIGHTNING = BEFORE.replace("(LightningModule)", "(torch.nn.Module)")

RULE = Rule(
    code="LIT201",
    name="epoch-end-outputs",
    summary="training_epoch_end, validation_epoch_end and test_epoch_end become on_*_epoch_end",
    why=(
        "Lightning 2.0 removed the hooks that were given the outputs of every step (guide rows M179-M181, pull "
        "request 16520): fit raises NotImplementedError, and test_epoch_end only when test() runs. The step now "
        "keeps its result in a list on self, and the hook takes the list and leaves an empty one, so that early "
        "returns and kept references are safe. Where the step is not the class's own, or too complex, and for "
        "training, the hook after each batch keeps them: on_train_batch_end gets the dict with the detached loss, "
        "divided by the accumulated batches, that 1.x handed over. Where the step may get the index of one of several "
        "dataloaders, there is a list for each, and the hook gets a list of lists if there are several. validation_end "
        "and test_end, as two of the hooks were called up to 0.6 and could be until 1.0, become the same; where no "
        "pin allows a release that called them, this waits for `--unsafe-fixes`."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; the result runs on 1.6 and later",
    triggers=(
        *(name.encode() for name in PLAIN),
        *definitions([stage.old for stage in (*OLDEST, *HALF)]),
        b"on_train_epoch_end",
        b"_step_end(",
    ),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(UNREAD, UNREAD_AFTER),
        Example(ONE_BY_ONE, SEVERAL_LOADERS),
        Example(TRAINING, TRAINING_AFTER),
        Example(NOT_LIGHTNING, NOT_LIGHTNING),
    ),
    breaks_in="2.0.0",
    needs="1.6.0",
    collect=_collect,
    context=_context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16520",),
    rows=partial(best_levels, tuple((stage.row, "safe") for stage in STAGES)),
    mentions=(*PRECISION, *PARALLEL, *WAITING, *ACCUMULATING),
)
