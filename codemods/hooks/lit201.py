"""LIT201: epoch-end hooks that get the outputs of every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from codemods.facts import MODULE, ClassFact, Facts
from codemods.hooks.epoch_end import (
    STAGES,
    EpochEnd,
    Stage,
    always_returns,
    needs_guard,
    read_hook,
    train_result,
)
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, is_none, parameters, returns

if TYPE_CHECKING:
    import libcst as cst

COLLECTION = "lightning_utilities.core.apply_func"
NAMES = tuple(stage.old for stage in STAGES)


def _present(file: PythonFile) -> bool:
    return any(name in item.methods for item in file.classes for name in NAMES)


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    """The names of the classes with an old hook: files that name one are read, since they may subclass it."""
    found = tuple(item.node.name for item in file.classes if any(name in item.methods for name in NAMES))
    return found or None


def _context(collected: Any) -> tuple[bytes, ...]:
    return (
        b"accumulate_grad_batches",
        *(f".{name}".encode() for stage in STAGES for name in (stage.old, stage.step)),
        *sorted({name.encode() for names in collected.values() for name in names}),
    )


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if file.path not in facts.files or not facts.uses_lightning:
        return
    for item in file.classes:
        fact = facts.files[file.path].find(item.qualname)
        kind = facts.kind(fact) if fact else "other"
        hooks = [hook for stage in reversed(STAGES) if (hook := read_hook(item, stage))]
        if not fact or not hooks or kind not in (MODULE, None):
            continue
        refusals = [_refusal(file, facts, item, fact, hook, kind) for hook in hooks]
        first = next(((hook, why) for hook, why in zip(hooks, refusals, strict=True) if why), None)
        for hook, why in zip(hooks, refusals, strict=True):
            if first and not why:
                why = f"{first[0].stage.old} of the same class cannot be ({first[1]})"
            yield _match(file, item, hook, why)


def _match(file: PythonFile, item: ClassNode, hook: EpochEnd, refusal: str | None) -> Match:
    stage = hook.stage
    place = file.head(item.methods[stage.old])
    message = f"{stage.old} was removed in Lightning 2.0"
    if refusal:
        return Match(
            place,
            message,
            "manual",
            f"Not rewritten: {refusal}. Keep what each {stage.step} returns in a list on self, read it in "
            f"{stage.new}(self) and clear it there.",
            stage.row,
        )
    detach = stage.train and hook.reads
    return Match(
        place,
        message,
        "safe",
        f"{stage.new} reads the same results, kept by {stage.step} in a list that it empties."
        if hook.reads
        else f"{stage.old} does not read its outputs; {stage.new} is called at the same time.",
        stage.row,
        edits=(NodeEdit(item.node, lambda node: _written(node, item, hook)),),
        imports=(("torch", None), (COLLECTION, "apply_to_collection")) if detach else (),
        unit=f"{file.path}:{item.qualname}",
    )


def _refusal(
    file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, hook: EpochEnd, kind: str | None
) -> str | None:
    """The class's own reason, or what its callers, relatives and Trainers say against a rewrite."""
    stage = hook.stage
    if kind is None:
        return "it cannot be told whether the class is a LightningModule: a base class comes from elsewhere"
    if hook.refusal:
        return hook.refusal
    for name in (stage.old, stage.step) if hook.reads else (stage.old,):
        if file.attributes(name):
            return f"{name} is used by name in line {min(node.lineno for node in file.attributes(name))}"
        naming = facts.mentions.get(item.node.name.encode(), frozenset())
        callers = naming & facts.mentions.get(f".{name}".encode(), frozenset()) - {file.path}
        if callers:
            return f"{name} is used by name in {min(callers)}"
    relatives = [*(facts.ancestry(fact) or ())[1:], *facts.subclasses(fact)]
    watched = {stage.old, stage.new, stage.step} if hook.reads else {stage.old, stage.new}
    for other in relatives:
        clash = sorted(other.methods & watched)
        if clash:
            return f"{other.name} ({other.path}), a relative of the class, defines {clash[0]}"
    if stage.train and hook.reads and _accumulates(facts):
        return "a Trainer accumulates gradients, and 1.x divided the losses in the outputs by the window"
    return None


def _accumulates(facts: Facts) -> bool:
    counted = set()
    for trainer in facts.trainers:
        argument = trainer.argument("accumulate_grad_batches")
        if argument and argument.literal and argument.value in (1, None):
            counted.add(trainer.path)
        elif argument:
            return True
    return bool(facts.mentions.get(b"accumulate_grad_batches", frozenset()) - counted)


def _written(node: cst.ClassDef, item: ClassNode, hook: EpochEnd) -> cst.ClassDef:
    from codemods import edits

    stage = hook.stage
    given = parameters(item.methods[stage.old])[0]

    def rename(method: cst.FunctionDef) -> list[Any]:
        method = edits.without_parameter(method, method.params.params[1].name.value)
        method = method.with_changes(name=method.name.with_changes(value=stage.new))
        if not hook.reads:
            return [method]
        body = edits.body_of(method)
        taken = edits.statements(f"{given}, self.{stage.kept} = self.{stage.kept}, []\n")
        index = edits.after_docstring(body)
        return [edits.with_body(method, [*body[:index], *taken, *body[index:]])]

    node = edits.change_method(node, stage.old, rename)
    if not hook.reads:
        return node
    node = edits.change_method(node, stage.step, lambda step: [_keeping(step, item, stage)])
    made = f"self.{stage.kept} = []\n"
    if "__init__" in item.methods:
        return edits.change_method(node, "__init__", lambda init: edits.after_super_init(init, made))
    return edits.add_method(node, f"def {stage.start}(self):\n    {made}", before=stage.step)


def _keeping(step: cst.FunctionDef, item: ClassNode, stage: Stage) -> cst.FunctionDef:
    """The step with its result put on the list at every `return`."""
    import libcst as cst

    pending = iter(returns(item.methods[stage.step]))

    class Keep(cst.CSTTransformer):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
            return node is step

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return False

        def visit_ClassDef(self, node: cst.ClassDef) -> bool:
            return False

        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> Any:
            last = updated_node.body[-1]
            if any(isinstance(part, cst.Return) for part in updated_node.body[:-1]):
                raise ValueError("a statement follows a return on its line")
            if not isinstance(last, cst.Return):
                return updated_node
            found = next(pending)
            if found.value is None or last.value is None or is_none(found.value):
                return updated_node
            return cst.FlattenSentinel(_kept_lines(updated_node, last, found.value, item, stage))

        def leave_SimpleStatementSuite(
            self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
        ) -> Any:
            if not isinstance(updated_node.body[-1], cst.Return):
                return updated_node
            line = cst.SimpleStatementLine(body=updated_node.body)
            kept = self.leave_SimpleStatementLine(line, line)
            return cst.IndentedBlock(body=list(kept)) if isinstance(kept, cst.FlattenSentinel) else updated_node

    result: cst.FunctionDef = step.visit(Keep())  # type: ignore[assignment]
    return result


def _kept_lines(
    line: cst.SimpleStatementLine, last: cst.Return, value: ast.expr, item: ClassNode, stage: Stage
) -> list[cst.BaseStatement]:
    import libcst as cst

    from codemods import edits

    step = item.methods[stage.step]
    named = isinstance(value, ast.Name)
    name = value.id if isinstance(value, ast.Name) else _free_name(step)
    lines: list[cst.BaseStatement] = []
    if not named:
        assign = edits.statements(f"{name} = None\n")[0]
        assert last.value is not None
        assign = assign.with_changes(
            body=[
                assign.body[0].with_changes(value=last.value)  # type: ignore[index]
            ]
        )
        lines.append(assign)
    append = f"self.{stage.kept}.append({_stored(step, value, name, stage)})\n"
    if not stage.train and needs_guard(step, value) and not always_returns(item, value):
        append = f"if {name} is not None:\n    {append}"
    lines.extend(edits.statements(append))
    before = list(line.body[:-1])
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    if before:
        lines.insert(0, line.with_changes(body=before, trailing_whitespace=cst.TrailingWhitespace()))
        lines[1] = lines[1].with_changes(leading_lines=[])
    returned = last.with_changes(value=cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" "))
    lines.append(line.with_changes(body=[returned], leading_lines=[]))
    return lines


def _free_name(step: Function) -> str:
    used = {node.id for node in ast.walk(step) if isinstance(node, ast.Name)}
    return next(name for name in ("output", "result", "step_output", "returned") if name not in used)


def _stored(step: Any, value: ast.expr, name: str, stage: Stage) -> str:
    """1.x handed training outputs over as dicts of detached tensors, the others as they were returned."""
    if not stage.train:
        return name
    if train_result(step, value) == "tensor":
        return f'{{"loss": {name}.detach()}}'
    return f"apply_to_collection({name}, torch.Tensor, torch.Tensor.detach)"


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
        "returns and kept references are safe. Training outputs are dicts of detached tensors, as 1.x made them."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; the result runs on 1.6 and later",
    triggers=tuple(f"def {name}".encode() for name in NAMES),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(UNREAD, UNREAD_AFTER),
        Example(SEVERAL_LOADERS, SEVERAL_LOADERS),
        Example(NOT_LIGHTNING, NOT_LIGHTNING),
    ),
    breaks_in="2.0.0",
    collect=_collect,
    context=_context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16520",),
)
