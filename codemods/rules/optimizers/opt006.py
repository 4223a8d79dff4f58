"""OPT006: an optimizer_step that does not run the closure it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, is_self_attribute, parameters, self_name, uses
from codemods.finding import Fix
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.optimization import optimization
from codemods.rewrite.manual.closure import INDEX, bare_steps, closure_parameter, ignores_closure, may_skip_closure
from codemods.rewrite.manual.module import not_plain
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.optimizers.opt001 import collect, context
from codemods.rules.optimizers.plan import verdicts

CODE = "OPT006"
HOOK = "optimizer_step"
NEW = "optimizer_closure"
UNCLEAR = "fixer cannot tell whether it uses manual optimization, where no closure is run"


def _present(file: PythonFile) -> bool:
    return any(HOOK in item.methods for item in file.classes)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    written = {each.item.name for each in verdicts(facts, CODE) if each.item.path == file.path and each.what == "loop"}
    for item in file.classes:
        method = item.methods.get(HOOK) if item.qualname not in written else None
        fact = facts.of_class(file, item) if method else None
        if method is None or fact is None or facts.kind(fact) != MODULE or not may_skip_closure(method):
            continue
        kind = optimization(facts, file, fact)
        if kind != "manual":
            match = _match(file, item, method)
            yield (
                match if kind == "automatic" else replace(match, fix="manual", reason=_left(method, UNCLEAR), edits=())
            )


def _match(file: PythonFile, item: ClassNode, method: Function) -> Match:
    name = f"{item.node.name}.{HOOK}"
    if not ignores_closure(method):
        message = f"{name} does not run its closure each time, which is an error since Lightning 1.5"
        return Match(
            file.head(method),
            message,
            "manual",
            _left(method, "which batches skip it is a decision of the code"),
        )
    message = f"{name} does not run its closure, where forward and backward are since Lightning 1.1"
    why = _refusal(method)
    if why:
        return Match(file.head(method), message, "manual", _left(method, why))
    level: Fix = "unsafe" if (read := _changed(item, method)) else "safe"
    reason = "The step runs it, as automatic optimization does."
    if read:
        reason = f"`{read[0]}` is read before the step, and now before the forward pass that sets it."
    return Match(file.head(method), message, level, reason, None, tuple(_edits(file, method)), needs=_needs(method))


def _left(method: Function, why: str) -> str:
    """Why a method is not rewritten, and what to write in it."""
    closure = closure_parameter(method) or NEW
    steps = bare_steps(method)
    optimizer = ast.unparse(steps[0].func.value) if steps and isinstance(steps[0].func, ast.Attribute) else "optimizer"
    return (
        f"Not rewritten: {why}. Write `{optimizer}.step(closure={closure})` where it steps, and `{closure}()` where it "
        "does not; what reads gradients belongs in on_before_optimizer_step."
    )


def _needs(method: Function) -> str:
    return "1.1.0" if closure_parameter(method) else "2.0.0"


def _refusal(method: Function) -> str | None:
    """What keeps `optimizer.step()` from getting the closure."""
    steps = bare_steps(method)
    if not is_plain(method):
        return not_plain(method)
    closure = closure_parameter(method)
    if closure and uses(method, closure):
        return "it is run on some paths, and not on others"
    place = _place(method, steps)
    if place is None:
        return "it is not one `optimizer.step()` that every batch reaches"
    if any("grad" in word for statement in method.body[:place] for word in _words(statement)):
        return "it uses gradients before the step, where there are none yet"
    if closure is None and _stand_in(method) is None:
        return "it has no parameter for the closure"
    return None


def _place(method: Function, steps: list[ast.Call]) -> int | None:
    """Where the only step stands among the statements of a method, none of which may leave before it."""
    for index, statement in enumerate(method.body):
        if isinstance(statement, ast.Expr) and len(steps) == 1 and statement.value is steps[0]:
            return index
        if any(isinstance(node, ast.Return | ast.Raise) for node in walk(statement)):
            return None
    return None


def _words(node: ast.AST) -> Iterator[str]:
    for each in walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def _stand_in(method: Function) -> ast.arg | None:
    """The parameter for the optimizer's index that 2.x gives the closure, where nothing reads it."""
    last = method.args.args[-1]
    fits = len(parameters(method)) == 4 and INDEX.fullmatch(last.arg) and not uses(method, last.arg)
    return last if fits else None


def _changed(item: ClassNode, method: Function) -> list[str]:
    """What the method reads of itself before the step and another method sets."""
    place = _place(method, bare_steps(method)) or 0
    this = self_name(method)
    read = [
        node.attr
        for statement in method.body[:place]
        for node in walk(statement)
        if isinstance(node, ast.Attribute) and is_self_attribute(node, node.attr, this)
    ]
    written = {
        node.attr
        for name, other in item.methods.items()
        if name not in ("__init__", HOOK)
        for node in walk(other)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return [name for name in read if name in written]


def _edits(file: PythonFile, method: Function) -> Iterator[TextEdit]:
    call = bare_steps(method)[0]
    name = closure_parameter(method)
    if name is None:
        parameter = _stand_in(method)
        assert parameter is not None
        yield TextEdit(*file.offsets(parameter), NEW)
    yield TextEdit(*file.offsets(call), f"{file.source_of(call.func)}(closure={name or NEW})")


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx):
        if self.trainer.global_step < 500:
            for group in optimizer.param_groups:
                group["lr"] = self.trainer.global_step / 500.0 * self.hparams.lr
        optimizer.step()
        optimizer.zero_grad()
"""
AFTER = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if self.trainer.global_step < 500:
            for group in optimizer.param_groups:
                group["lr"] = self.trainer.global_step / 500.0 * self.hparams.lr
        optimizer.step(closure=optimizer_closure)
        optimizer.zero_grad()
"""
SOMETIMES = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if batch_idx % 2 == 0:
            optimizer.step(closure=optimizer_closure)
"""

RULE = Rule(
    code=CODE,
    name="step-without-closure",
    summary="An `optimizer_step` that calls `optimizer.step()` alone passes it the closure",
    why=(
        "Until 1.0 Lightning called backward before `optimizer_step`; since 1.1 both forward and backward are in the "
        "closure that it passes. A step without it changes no weight, and Lightning 1.5 and later end the first "
        "batch with `The closure hasn't been executed`."
    ),
    fix="safe",
    versions="written for Lightning < 1.1; a closure that is run only sometimes: < 1.5",
    triggers=(b"def optimizer_step(",),
    check=_check,
    collect=collect,
    context=context,
    present=_present,
    examples=(Example(BEFORE, AFTER), Example(SOMETIMES, SOMETIMES)),
    breaks_in="1.1.0",
    needs="1.1.0",
    references=("https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#optimizer-step",),
)
