"""LIT240: environment variables that Lightning reads no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rewrite.whole_statements import without_statement
from codemods.rule import Example, Match, Rule, best_levels


@dataclass(frozen=True)
class Variable:
    """A variable that is read no more since `since`; `advice` says what to do instead, empty where nothing."""

    since: str
    row: str
    advice: str


VARIABLES: Mapping[str, Variable] = {
    "PL_TORCH_DISTRIBUTED_BACKEND": Variable(
        "1.8", "M130", "write `Trainer(strategy=DDPStrategy(process_group_backend=...))`"
    ),
    "PL_INTER_BATCH_PARALLELISM": Variable("2.0", "M229", ""),
    "PL_RECONCILE_PROCESS": Variable(
        "2.0", "M286", "torchrun ends processes that hang: start the script by `torchrun --nproc_per_node=... ...`"
    ),
    "PL_FAULT_TOLERANT_TRAINING": Variable(
        "2.0",
        "M289",
        "save checkpoints by `ModelCheckpoint(every_n_train_steps=..., save_last=True)`, "
        "and resume by "
        '`trainer.fit(..., ckpt_path="last")`',
    ),
}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    settings = {
        id(target.slice): item.node
        for item in file.assignments
        if isinstance(item.node, ast.Assign) and len(item.node.targets) == 1
        for target in item.node.targets
        if isinstance(target, ast.Subscript) and ast.unparse(target.value).rpartition(".")[2] == "environ"
    }
    gone = [item for item in settings.values() if _is_deleted(item)]
    for node in walk(file.tree):
        name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if not isinstance(node, ast.Constant) or name not in VARIABLES:
            continue
        variable = VARIABLES[name]
        message = f"`{name}` is no longer read since Lightning {variable.since}"
        setting = settings.get(id(node))
        if variable.advice or setting is None:
            advice = variable.advice or "the feature was removed: delete what asks for it"
            yield Match(file.span(node), message, "manual", f"Not rewritten: {advice}.", variable.row)
        else:
            reason = "The feature was removed: the statement is deleted."
            edit = without_statement(file, setting, gone)
            yield Match(file.span(node), message, "safe", reason, variable.row, (edit,))


def _is_deleted(setting: ast.Assign) -> bool:
    key = getattr(setting.targets[0], "slice", None)
    variable = VARIABLES.get(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    return variable is not None and not variable.advice


BEFORE = """\
import os

from pytorch_lightning import Trainer

os.environ["PL_INTER_BATCH_PARALLELISM"] = "1"
trainer = Trainer()
"""
AFTER = "from pytorch_lightning import Trainer\n\ntrainer = Trainer()\n"
READ = BEFORE.replace(
    'os.environ["PL_INTER_BATCH_PARALLELISM"] = "1"', 'print(os.environ["PL_FAULT_TOLERANT_TRAINING"])'
)


def _rows() -> tuple[tuple[str, Fix], ...]:
    return best_levels((item.row, "manual" if item.advice else "safe") for item in VARIABLES.values())


RULE = Rule(
    code="LIT240",
    name="environment-variable",
    summary="Environment variables that Lightning reads no more",
    why=(
        "Setting them does nothing any more, without an error (guide rows M130, M229, M286, M289): the backend of the "
        "process group, parallelism between batches, fault-tolerant training and the killing of hanging processes."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=tuple(name.encode() for name in VARIABLES),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(READ, READ)),
    rows=_rows,
)
