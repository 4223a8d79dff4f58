"""LIT216: steps that log by a result object, as Lightning 0.9 and 0.10 had them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, own_nodes, self_name, uses
from codemods.lightning.facts import MODULE, Facts
from codemods.rewrite.whole_statements import without_statement
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.hooks.epoch_end import OLDEST, STAGES
from codemods.rules.hooks.project_constraints import OF_LIGHTNING

TRAIN, EVAL = "TrainResult", "EvalResult"
STEPS = {"training_step": TRAIN, "validation_step": EVAL, "test_step": EVAL}
MINIMIZED = "minimize"
WATCHED = ("checkpoint_on", "early_stop_on")
"""What a result was told to save by, or to stop by: the metrics of these names."""
LOGS = ("log", "log_dict")
SHARED = frozenset({"name", "value", "dictionary", "prog_bar", "logger", "on_step", "on_epoch", "sync_dist"})
"""Arguments that results and modules log by, with the same defaults in their steps."""
HOOKS = frozenset(stage.old for stage in (*STAGES, *OLDEST)) | {f"{step}_end" for step in STEPS}
"""Hooks that were handed a result."""
REASON = (
    "The module logs it, with the same defaults, and the step returns its loss; what is logged by step and by epoch is "
    "called `name_step` and `name_epoch` (in 0.9 it was `step_name` and `epoch_name`)."
)
MONITORED = (
    " ModelCheckpoint and EarlyStopping watched checkpoint_on and early_stop_on by themselves: give them monitor=."
)


@dataclass(frozen=True)
class ResultUse:
    """Where a step makes its result, what it is called, and every use of that name."""

    made: ast.Assign
    call: ast.Call
    name: str
    logs: tuple[ast.Call, ...]
    returned: tuple[ast.Return, ...]


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item, _ in facts.classes_of(file, MODULE):
        if HOOKS & item.methods.keys():
            continue
        for step, kind in STEPS.items():
            method = item.methods.get(step)
            found = _read(item, method, kind) if method else None
            if method and found:
                yield _match(file, method, found, kind)


def _read(item: ClassNode, method: Function, kind: str) -> ResultUse | None:
    """The result of a step, where it is made once, in its own block, logged by and returned, and nothing else."""
    if not is_plain(method) or not (this := self_name(method)) or this == "cls":
        return None
    made = [node for node in method.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    made = [node for node in made if isinstance(node.value, ast.Call) and _kind(item, node.value) == kind]
    if len(made) != 1 or len(made[0].targets) != 1 or not isinstance(target := made[0].targets[0], ast.Name):
        return None
    call = made[0].value
    assert isinstance(call, ast.Call)
    nodes = [*own_nodes(method)]
    told = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    logs = tuple(each for each in told if _logs(each, target.id))
    returned = tuple(node for node in nodes if isinstance(node, ast.Return))
    known = {id(target), *(id(each.func.value) for each in logs if isinstance(each.func, ast.Attribute))}
    known |= {id(each.value) for each in returned}
    plain = all(isinstance(each.value, ast.Name) and each.value.id == target.id for each in returned)
    if not plain or not returned or any(id(use) not in known for use in uses(method, target.id)):
        return None
    return ResultUse(made[0], call, target.id, logs, returned) if _arguments(call, kind) is not None else None


def _kind(item: ClassNode, call: ast.Call) -> str:
    dotted = item.scope.resolve(call.func) or ""
    return dotted.rpartition(".")[2] if dotted in OF_LIGHTNING else ""


def _logs(node: ast.Call, name: str) -> bool:
    """Whether a call is `result.log(...)` by what a module takes too."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in LOGS:
        return False
    given = isinstance(function.value, ast.Name) and function.value.id == name
    return given and len(node.args) <= 2 and all(keyword.arg in SHARED for keyword in node.keywords)


def _arguments(call: ast.Call, kind: str) -> dict[str, ast.expr] | None:
    """What a result is made with, by name."""
    found = {str(keyword.arg): keyword.value for keyword in call.keywords}
    if call.args:
        found |= {MINIMIZED if kind == TRAIN else WATCHED[1]: call.args[0]}
    allowed = {*WATCHED, *((MINIMIZED,) if kind == TRAIN else ())}
    if any(isinstance(found.get(name), ast.Constant) for name in WATCHED):
        return None  # 0.10 took True and False for watching what is minimized, or nothing
    whole = len(call.args) <= 1 and len(found) == len(call.args) + len(call.keywords) and found.keys() <= allowed
    return found if whole and (kind == EVAL or MINIMIZED in found) else None


def _match(file: PythonFile, method: Function, found: ResultUse, kind: str) -> Match:
    given, this = _arguments(found.call, kind) or {}, self_name(method)
    loss = given.get(MINIMIZED)
    named = loss.id if isinstance(loss, ast.Name) and _stays(method, loss) else ""
    lines = [f'{this}.log("{name}", {file.source_of(given[name])})' for name in WATCHED if name in given]
    if loss is not None and not named:
        lines.insert(0, f"{found.name} = {file.source_of(loss)}")
    edits = [_instead(file, found.made, lines)]
    for log in found.logs:
        assert isinstance(log.func, ast.Attribute)
        edits.append(TextEdit(*file.offsets(log.func.value), str(this)))
    for each in found.returned:
        assert each.value is not None
        if named:
            edits.append(TextEdit(*file.offsets(each.value), named))
        elif loss is None and each is method.body[-1] and len(method.body) > 1:
            edits.append(_with_blanks(file, without_statement(file, each)))
        elif loss is None:
            edits.append(TextEdit(*file.offsets(each), "return"))
    message = f"`{kind}` was removed after Lightning 0.10.0"
    watched = any(name in given for name in WATCHED)
    return Match(file.span(found.call), message, "unsafe", REASON + (MONITORED if watched else ""), edits=tuple(edits))


def _stays(method: Function, loss: ast.Name) -> bool:
    """Whether a name is the same at the end of a step as where a result is made of it."""
    return not any(use.lineno > loss.lineno for use in uses(method, loss.id) if not isinstance(use.ctx, ast.Load))


def _with_blanks(file: PythonFile, edit: TextEdit) -> TextEdit:
    """The edit that takes out a line, with the empty ones before it."""
    above = file.text[: edit.start]
    kept = len(above.rstrip()) + len(above[len(above.rstrip()) :].partition("\n")[0]) + 1
    return replace(edit, start=min(kept, edit.start)) if not edit.replacement else edit


def _instead(file: PythonFile, statement: ast.stmt, lines: list[str]) -> TextEdit:
    """A statement's place with other lines, or without it."""
    if not lines:
        return without_statement(file, statement)
    newline = "\r\n" if "\r\n" in file.text else "\n"
    return TextEdit(*file.offsets(statement), f"{newline}{' ' * statement.col_offset}".join(lines))


BEFORE = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        result = pl.TrainResult(minimize=loss)
        result.log("train_loss", loss, prog_bar=True)
        return result

    def validation_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        result = pl.EvalResult(checkpoint_on=loss)
        result.log("val_loss", loss)
        return result
"""
AFTER = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        self.log("checkpoint_on", loss)
        self.log("val_loss", loss)
"""
KEPT = BEFORE.replace("        return result", "        result.batch = batch\n        return result")

RULE = Rule(
    code="LIT216",
    name="result-objects",
    summary="Steps that log by TrainResult or EvalResult log by the module",
    why=(
        "Lightning 0.9 and 0.10 had steps return a TrainResult or an EvalResult that they logged by (pull request 3968 "
        "took them out in 1.0): a step that makes one ends with an AttributeError since. `self.log` has the same "
        "arguments and, in a step, the same defaults, as the sources of 0.9.0 and 0.10.0 have them. No release that "
        "had results installs today, so that nothing of this was run beside it: it waits for `--unsafe-fixes`."
    ),
    fix="unsafe",
    versions="Lightning 0.9 and 0.10 -> 1.0 and later",
    triggers=(TRAIN.encode(), EVAL.encode()),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(KEPT, KEPT)),
    breaks_in="1.0.0",
    needs="1.0.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/3968",),
)
