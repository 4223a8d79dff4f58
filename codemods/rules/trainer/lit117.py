"""LIT117: removed arguments of Trainer that a call hands on to it through Hydra's `instantiate`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.arguments import removal
from codemods.lightning.configurations.evidence import REMOVED, sections
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.trainer_variables import reads_lightning
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule

HYDRA = ("hydra.utils.instantiate", "hydra.utils.call")
INSTEAD = {
    "resume_from_checkpoint": "write `trainer.fit(..., ckpt_path={})`, or so in validate, test or predict",
    "gpus": 'write `accelerator="gpu" if {0} else "cpu", devices={0} or "auto"`',
    "checkpoint_callback": "write `callbacks=[ModelCheckpoint(...)]`, or `enable_checkpointing=...` with True or False",
    "progress_bar_refresh_rate": "write `callbacks=[TQDMProgressBar(refresh_rate={})]`",
}
OTHERWISE = "remove it, and give what the rule for `Trainer(...)` names instead"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in built_by_hydra(file):
        for item in call.node.keywords:
            if item.arg in REMOVED:
                advice = INSTEAD.get(item.arg, OTHERWISE).format(brief(file, item.value))
                if item.arg == "gpus" and isinstance(item.value, ast.Constant) and item.value.value:
                    advice = f'write `accelerator="gpu", devices={brief(file, item.value)}`'
                reason = f"Not rewritten: Hydra passes it on, and Trainer refuses it; {advice}."
                yield Match(file.span(item), removal(item.arg), "manual", reason)


def built_by_hydra(file: PythonFile) -> Iterator[CallNode]:
    """The calls by which Hydra builds a Trainer."""
    for call in file.calls_near(("instantiate", "call")) if "hydra" in file.text else ():
        if call.scope.resolve(call.node.func) in HYDRA and _builds_trainer(file, call):
            yield call


def _builds_trainer(file: PythonFile, call: CallNode) -> bool:
    """Whether what is built is annotated as Lightning's Trainer, or is of a section for one beside Lightning."""
    for item in file.assignments:
        if item.node.value is call.node and isinstance(item.node, ast.AnnAssign):
            return call.scope.resolve(item.node.annotation) == TRAINER
    return bool(call.node.args) and "trainer" in sections(file, call.node.args[0]) and reads_lightning(file)


OLD = """\
import hydra
from pytorch_lightning import Trainer


def main(cfg):
    trainer: Trainer = hydra.utils.instantiate(cfg.trainer, gpus=2, resume_from_checkpoint="last.ckpt")
    trainer.fit(hydra.utils.instantiate(cfg.model, gpus=2))
"""
OTHER = OLD.replace("pytorch_lightning", "cluster")

RULE = Rule(
    code="LIT117",
    name="trainer-instantiated",
    summary="Removed arguments that Hydra passes on to Trainer",
    why=(
        "What Hydra's `instantiate` gets besides a configuration it passes on: an argument that Trainer lost is a "
        "TypeError when the object is built, which nothing in the call shows."
    ),
    fix="manual",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"instantiate(",),
    words=tuple(name.encode() for name in sorted(REMOVED)),
    check=_check,
    examples=(Example(OLD, OLD), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
)
