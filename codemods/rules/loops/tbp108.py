"""TBP108: a Trainer that clips or accumulates gradients for a module which optimizes manually."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.source import ClassNode, PythonFile
from codemods.lightning.class_family import clash
from codemods.lightning.facts import MODULE, ClassFact, Facts, TrainerFact, is_trainer_call
from codemods.rewrite.advice import called_on
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.loops.classes import FLAG, LoopClassSummary, collect, state_of
from codemods.rules.loops.trainers import (
    ACCUMULATE,
    CLIP,
    WORDS,
    fitted,
    refused,
    refused_here,
    refused_trainers,
    trainers_of,
)

if TYPE_CHECKING:
    import libcst as cst

CODE = "TBP108"
HOOK = "on_before_optimizer_step"
CLIPPED = "Lightning 2 refuses Trainer(gradient_clip_val=...) under manual optimization"
SUMMED = "Lightning 2 refuses Trainer(accumulate_grad_batches=...) under manual optimization"
CLIP_ADVICE = (
    f"Clip by `self.clip_gradients(optimizer, gradient_clip_val=...)` at the end of `{HOOK}`, "
    "where gradients are unscaled."
)
SUM_ADVICE = (
    "Write `self.manual_backward(loss / {0})`, step and zero the gradients under "
    "`if (batch_idx + 1) % {0} == 0 or self.trainer.is_last_batch:`, and remove the argument."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for trainer, fact in _pairs(file, facts):
        call = _call(file, facts, trainer)
        if trainer.path == file.path and call is not None:
            yield from _at_trainer(file, facts, trainer, fact, call)
        if not _is_written(facts, trainer):
            yield from _told_at_class(file, trainer, fact)
        elif fact.path == file.path and _refused(trainer, CLIP[0]) and _refusal(facts, trainer, fact) is None:
            yield from _at_class(file, trainer, fact)


def _pairs(file: PythonFile, facts: Facts) -> Iterator[tuple[TrainerFact, ClassFact]]:
    """Each Trainer that clips or accumulates, once a place, with each class that it fits and that optimizes manually,
    where the file holds one of the two."""
    told = any(item.told for items in facts.collected(CODE).values() for item in items)
    if not told and FLAG not in file.text:
        return
    own = facts.files[file.path].classes if file.path in facts.files else ()
    fitting = any(_is_manual(file, facts, fact) for fact in own)
    every = refused_trainers(facts) if fitting else refused_here(facts, file.path)
    places = {(trainer.path, trainer.line): trainer for trainer in reversed(every)}
    for trainer in reversed(places.values()):
        for fact in sorted(filter(None, fitted(facts, trainer)), key=lambda item: (item.path, item.name)):
            here = file.path in (trainer.path, fact.path)
            if here and _is_manual(file, facts, fact):
                yield trainer, fact


def _is_manual(file: PythonFile, facts: Facts, fact: ClassFact) -> bool:
    return facts.kind(fact) == MODULE and state_of(fact, facts, CODE, file) == "off"


def _refused(trainer: TrainerFact, name: str) -> bool:
    return any(argument.name == name for argument in refused(trainer))


def _is_written(facts: Facts, trainer: TrainerFact) -> bool:
    """Whether all that a Trainer is given is written in its call."""
    return trainer in facts.files[trainer.path].trainers


def _told_at_class(file: PythonFile, trainer: TrainerFact, fact: ClassFact) -> Iterator[Match]:
    """What is said of a class where a Trainer of another file is given what is written elsewhere."""
    for item in file.classes if file.path == fact.path != trainer.path else ():
        if item.qualname == fact.name:
            said = [name for name in (CLIP[0], ACCUMULATE) if _refused(trainer, name)]
            advice = CLIP_ADVICE if CLIP[0] in said else SUM_ADVICE.format("...")
            reason = f"Not rewritten: {trainer.path}:{trainer.line} gets {said[0]} from elsewhere. {advice}"
            yield Match(file.head(item.node), _message(fact), "manual", reason)


def _message(fact: ClassFact) -> str:
    return f"{fact.name} is trained by a Trainer that clips, which manual optimization refuses"


def _call(file: PythonFile, facts: Facts, trainer: TrainerFact) -> ast.Call | None:
    """The call of a Trainer in the file as it is now: the one with as many before it."""
    if trainer.path != file.path or not _is_written(facts, trainer):
        return None
    index = facts.files[file.path].trainers.index(trainer)
    calls = [call.node for call in file.calls if is_trainer_call(call)]
    return calls[index] if index < len(calls) else None


def _at_trainer(
    file: PythonFile, facts: Facts, trainer: TrainerFact, fact: ClassFact, call: ast.Call
) -> Iterator[Match]:
    keywords = {keyword.arg: keyword for keyword in call.keywords}
    if ACCUMULATE in keywords and _refused(trainer, ACCUMULATE):
        place = file.span(keywords[ACCUMULATE])
        number = called_on(file, keywords[ACCUMULATE].value)
        yield Match(
            place,
            SUMMED,
            "manual",
            f"Not rewritten: {fact.name} would have to do it itself. {SUM_ADVICE.format(number)}",
        )
    if CLIP[0] not in keywords or not _refused(trainer, CLIP[0]) or _is_taken_off(file, call):
        return
    place = file.span(keywords[CLIP[0]])
    why = _refusal(facts, trainer, fact)
    if why:
        yield Match(place, CLIPPED, "manual", f"Not rewritten: {why}. {CLIP_ADVICE}")
        return
    reason = f"As it is, fit() raises MisconfigurationException; {fact.name} clips where Lightning would have."
    yield Match(place, CLIPPED, "safe", reason, edits=(NodeEdit(call, _without_clipping),), unit=_unit(trainer, fact))


def _is_taken_off(file: PythonFile, call: ast.Call) -> bool:
    """Whether the Trainer that a call makes has its `gradient_clip_val` set to None again, as a module that does it
    itself leaves it."""
    made = {name for item in file.assignments if item.node.value is call for name in _names(item.node)}
    for item in file.assignments:
        for target, value in _pairs_of(item.node):
            owner = target.value if isinstance(target, ast.Attribute) and target.attr == CLIP[0] else None
            if isinstance(owner, ast.Name) and owner.id in made and isinstance(value, ast.Constant):
                return value.value is None
    return False


def _names(node: ast.Assign | ast.AnnAssign) -> set[str]:
    return {target.id for target, _ in _pairs_of(node) if isinstance(target, ast.Name)}


def _pairs_of(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What an assignment sets to what, side by side in tuples."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _refusal(facts: Facts, trainer: TrainerFact, fact: ClassFact) -> str | None:
    """Why the clipping of a Trainer does not go into a class, None where it does."""
    if fitted(facts, trainer) != {fact}:
        return "this Trainer may train other modules too"
    if len({(other.path, other.line) for other in trainers_of(facts, fact)}) > 1:
        return f"{fact.name} is trained by several Trainers"
    if not all((argument := trainer.argument(name)) is None or argument.literal for name in CLIP):
        return "the algorithm is not a literal"
    if list(facts.subclasses(fact)):
        return f"{fact.name} has subclasses"
    if not fact.methods:
        return f"{fact.name} has no methods of its own"
    found = clash(facts, fact, {HOOK, "configure_gradient_clipping", *CLIP})
    if found or {HOOK, "configure_gradient_clipping", *CLIP} & fact.methods:
        return found or f"{fact.name} has hooks of its own around the step"
    if fact.path in facts.mentions.get(b"clip_grad", frozenset()):
        return f"{fact.path} clips gradients itself"
    if fact.path in facts.mentions.get(b"use_pl_optimizer", frozenset()):
        return f"{fact.path} steps optimizers past Lightning's hooks"
    return None


def _text(argument: Any) -> str | None:
    return argument.text if argument else None


def _unit(trainer: TrainerFact, fact: ClassFact) -> str:
    return f"{fact.path}:{fact.name}:{trainer.path}"


def _at_class(file: PythonFile, trainer: TrainerFact, fact: ClassFact) -> Iterator[Match]:
    for item in file.classes:
        if item.qualname != fact.name or HOOK in item.methods:
            continue
        value, algorithm = (_text(trainer.argument(name)) for name in CLIP)
        change = partial(_clipping, value=value or "", algorithm=algorithm, before=_place(item))
        reason = f"The clipping of {trainer.path} moves to the end of {HOOK}, where gradients are unscaled."
        yield Match(
            file.head(item.node),
            _message(fact),
            "safe",
            reason,
            edits=(NodeEdit(item.node, change),),
            unit=_unit(trainer, fact),
        )


def _place(item: ClassNode) -> str:
    """The method in front of which the hook goes: the one behind the training step, as far as there is one."""
    names = list(item.methods)
    behind = names.index("training_step") + 1 if "training_step" in names else 0
    return names[min(behind, len(names) - 1)]


@touches("arguments")
def _without_clipping(node: cst.Call) -> cst.Call:
    from codemods.rewrite.edits import without_arguments

    return without_arguments(node, frozenset(CLIP))


@touches("beside")
def _clipping(node: cst.ClassDef, value: str, algorithm: str | None, before: str) -> cst.ClassDef:
    from codemods.rewrite.manual.writer import add_clipping

    return add_clipping(node, value, algorithm, before)


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    """With a class that optimizes manually, the files that say which Trainer trains it, and its subclasses."""
    off = {item.name.rpartition(".")[2] for items in collected.values() for item in items if _is_off(item)}
    return (f"def {HOOK}".encode(), b"def configure_gradient_clipping", *sorted(map(str.encode, off))) if off else ()


def _is_off(item: LoopClassSummary) -> bool:
    return item.flag == "off" and bool(item.name)


BEFORE = """\
import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.layer(batch).mean())
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.5)
    trainer.fit(Model(), loader)
"""
SETUP = "    def configure_optimizers(self):\n"
CLIPPING = (
    f"    def {HOOK}(self, optimizer):\n"
    "        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)\n\n"
)
AFTER = BEFORE.replace(", gradient_clip_val=0.5", "").replace(SETUP, CLIPPING + SETUP)
AFTER = AFTER.replace("(LightningModule):\n", "(LightningModule):\n    gradient_clip_val = 0.5\n\n")
SUMS = BEFORE.replace("gradient_clip_val=0.5", "accumulate_grad_batches=4")

RULE = Rule(
    code=CODE,
    name="refused-trainer-arguments",
    summary="`Trainer(gradient_clip_val=...)` moves into the module that optimizes manually",
    why=(
        "With a module under manual optimization, fit() raises MisconfigurationException where the Trainer is given "
        "gradient_clip_val or accumulate_grad_batches: the module has to do both itself."
    ),
    fix="safe",
    versions="Lightning 1.3 and later; what is written needs 2.0",
    triggers=(FLAG.encode(), *WORDS),
    check=_check,
    collect=collect,
    context=_context,
    present=lambda file: FLAG in file.text or any(word.decode() in file.text for word in WORDS),
    mentions=(b"clip_grad", b"use_pl_optimizer"),
    needs="2.0.0",
    rows=partial(best_levels, (("B20", "safe"),)),
    examples=(Example(BEFORE, AFTER), Example(SUMS, SUMS)),
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)
