"""LIT201: epoch-end hooks that get the outputs of every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from codemods.facts import MODULE, ClassFact, Facts
from codemods.family import definitions
from codemods.finding import Span
from codemods.hooks.epoch_end import STAGES, EpochEnd, Stage, read_hook
from codemods.hooks.relations import Shown, callback_hooks, file_refusal, project_refusal, spellings
from codemods.hooks.results import train_result
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.source import ClassNode, PythonFile
from codemods.syntax import results, taken_name

if TYPE_CHECKING:
    import libcst as cst

COLLECTION = "lightning_utilities.core.apply_func"
STAGE_OF = {stage.old: stage for stage in STAGES}


def _present(file: PythonFile) -> bool:
    return any(name in file.text for name in STAGE_OF) and (
        any(name in item.methods for item in file.classes for name in STAGE_OF) or any(True for _ in _odd(file))
    )


def _collect(file: PythonFile) -> Shown | None:
    hooks = [(item, hook) for item in file.classes for stage in STAGES if (hook := read_hook(item, stage))]
    classes = tuple(dict.fromkeys(item.node.name for item, _ in hooks))
    kinds = frozenset((hook.stage.old, hook.reads) for item, hook in hooks if not file_refusal(file, item, hook))
    shown = Shown(classes, kinds, callback_hooks(file))
    return shown if shown.classes or shown.callbacks else None


def _context(collected: Any) -> tuple[bytes, ...]:
    """Files that name a class with an old hook are read, and those that define or name what would clash: they
    may subclass it, under whatever name."""
    hooks = {kind for shown in collected.values() for kind in shown.hooks}
    texts = {name.encode() for shown in collected.values() for name in shown.classes}
    for name, reads in hooks:
        stage = STAGE_OF[name]
        texts |= {*definitions([stage.new]), *spellings(stage.old)}
        if reads:
            texts |= {*definitions([stage.step, stage.start]), *spellings(stage.step)}
            texts |= {b"accumulate_grad_batches"} if stage.train else set()
    return tuple(sorted(texts))


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if file.path not in facts.files:
        return
    for item in file.classes:
        fact = facts.files[file.path].find(item.qualname)
        hooks = [hook for stage in reversed(STAGES) if (hook := read_hook(item, stage))]
        if not fact or not hooks or not _may_be_module(facts, fact):
            continue
        refusals = [_refusal(file, facts, item, fact, hook) for hook in hooks]
        first = next(((hook, why) for hook, why in zip(hooks, refusals, strict=True) if why), None)
        for hook, why in zip(hooks, refusals, strict=True):
            if first and not why:
                why = f"{first[0].stage.old} of the same class cannot be ({first[1]})"
            yield _match(file, item, hook, why)
    for name, node, within in _odd(file) if facts.uses_lightning else ():
        owner = facts.files[file.path].find(within.qualname) if within else None
        if within and not (owner and _may_be_module(facts, owner)):
            continue
        yield _manual(file.span(node), STAGE_OF[name], f"{name} is not a plain method in the body of its class")


def _odd(file: PythonFile) -> Iterator[tuple[str, ast.expr | ast.stmt, ClassNode | None]]:
    """Where an old hook is made without a plain `def`: assigned in a class or from outside, or defined in a
    branch of a class that does not have the new hook as well."""
    for item in file.classes:
        bound = list(_bound_below(item.node.body))
        served = {*item.methods, *(name for name, _ in bound)}
        for name, place in bound:
            if name in STAGE_OF and STAGE_OF[name].new not in served:
                yield name, place, item
    for name in STAGE_OF:
        for attribute in file.attributes(name):
            if isinstance(attribute.ctx, ast.Store):
                yield name, attribute, None


def _bound_below(nodes: list[ast.stmt]) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """The names that statements of a class bind without being a definition themselves."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        stack: list[ast.AST] = [node]
        while stack:
            inner = stack.pop()
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner.name, inner
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id, inner
            elif not isinstance(inner, ast.ClassDef | ast.Lambda):
                stack.extend(ast.iter_child_nodes(inner))


def _may_be_module(facts: Facts, fact: ClassFact) -> bool:
    """Whether a class is, may be, or helps to make a LightningModule."""
    kind = facts.kind(fact)
    return kind == MODULE or (facts.uses_lightning and (kind is None or _is_mixin(facts, fact)))


def _is_mixin(facts: Facts, fact: ClassFact) -> bool:
    return facts.kind(fact) == "other" and any(facts.kind(child) in (MODULE, None) for child in facts.subclasses(fact))


def _match(file: PythonFile, item: ClassNode, hook: EpochEnd, refusal: str | None) -> Match:
    stage = hook.stage
    place = file.head(item.methods[stage.old])
    if refusal:
        return _manual(place, stage, refusal)
    return Match(
        place,
        _message(stage),
        "safe",
        f"{stage.new} reads the same results, kept by {stage.step} in a list that it empties."
        if hook.reads
        else f"{stage.old} does not read its outputs; {stage.new} is called at the same time.",
        stage.row,
        edits=(NodeEdit(item.node, lambda node: _written(node, item, hook)),),
        imports=_imports(item, hook),
        unit=f"{file.path}:{item.qualname}",
    )


def _manual(place: Span, stage: Stage, refusal: str) -> Match:
    return Match(
        place,
        _message(stage),
        "manual",
        f"Not rewritten: {refusal}. Keep what each {stage.step} returns in a list on self, read it in "
        f"{stage.new}(self) and clear it there.",
        stage.row,
    )


def _message(stage: Stage) -> str:
    return f"{stage.old} was removed in Lightning 2.0"


def _imports(item: ClassNode, hook: EpochEnd) -> tuple[tuple[str, str | None], ...]:
    """What the kept results of a training step need: dicts have their tensors detached."""
    step = item.methods.get(hook.stage.step)
    if not hook.stage.train or not hook.reads or step is None:
        return ()
    dicts = any(train_result(step, value, item.scope) == "dict" for value in results(step))
    return (("torch", None), (COLLECTION, "apply_to_collection")) if dicts else ()


def _refusal(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd) -> str | None:
    """The class's own reason, or what its callers, relatives and Trainers say against a rewrite."""
    if facts.kind(fact) is None:
        return "it cannot be told whether the class is a LightningModule: a base class comes from elsewhere"
    if _is_mixin(facts, fact):
        return "the class is no LightningModule itself but a part of some"
    taken = taken_name(file.scope.bindings, _imports(item, hook))
    if taken:
        return f"the file uses the name `{taken}` for something else"
    return file_refusal(file, item, hook) or project_refusal(file, facts, item, fact, hook)


def _written(node: cst.ClassDef, item: ClassNode, hook: EpochEnd) -> cst.ClassDef:
    from codemods.hooks.keep import keep_results

    return keep_results(node, item, hook)


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
SEVERAL_LOADERS = BEFORE.replace("(self, batch, batch_idx)", "(self, batch, batch_idx, dataloader_idx=0)")
NOT_LIGHTNING = BEFORE.replace("(LightningModule)", "(torch.nn.Module)")

RULE = Rule(
    code="LIT201",
    name="epoch-end-outputs",
    summary="training_epoch_end, validation_epoch_end and test_epoch_end become on_*_epoch_end",
    why=(
        "Lightning 2.0 removed the hooks that were handed the outputs of every step (guide rows M179-M181, pull "
        "request 16520): fit raises NotImplementedError, and test_epoch_end only when test() runs. The step now "
        "keeps its result in a list on self, and the hook takes the list and leaves an empty one, so that early "
        "returns and kept references are safe. Training outputs are dicts with a detached loss, as 1.x made them; "
        "their other tensors are detached too, so that no graph is kept for an epoch."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; the result runs on 1.6 and later",
    triggers=(*(name.encode() for name in STAGE_OF), b"on_train_epoch_end"),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(UNREAD, UNREAD_AFTER),
        Example(SEVERAL_LOADERS, SEVERAL_LOADERS),
        Example(NOT_LIGHTNING, NOT_LIGHTNING),
    ),
    breaks_in="2.0.0",
    needs="1.6.0",
    collect=_collect,
    context=_context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16520",),
)
