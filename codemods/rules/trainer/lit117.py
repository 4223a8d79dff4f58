"""LIT117: removed arguments of Trainer that a call hands on to it beside a configuration, as Hydra's `instantiate` does
and other functions that build what a section names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, taken
from codemods.lightning.arguments import removal
from codemods.lightning.calls import FROM_ARGS
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
    for call in (*built_by_hydra(file), *_built_by_others(file, facts)):
        for item in call.node.keywords:
            if item.arg in REMOVED:
                advice = INSTEAD.get(item.arg, OTHERWISE).format(brief(file, item.value))
                if item.arg == "gpus" and isinstance(item.value, ast.Constant) and item.value.value:
                    advice = f'write `accelerator="gpu", devices={brief(file, item.value)}`'
                passed = "Hydra passes it on" if _is_hydra(call) else f"`{ast.unparse(call.node.func)}` passes it on"
                reason = f"Not rewritten: {passed}, and Trainer refuses it; {advice}."
                yield Match(file.span(item), removal(item.arg), "manual", reason)


def built_by_hydra(file: PythonFile) -> Iterator[CallNode]:
    """The calls by which Hydra builds a Trainer."""
    for call in file.calls_near(("instantiate", "call")) if "hydra" in file.text else ():
        if _is_hydra(call) and _builds_trainer(file, call):
            yield call


def _is_hydra(call: CallNode) -> bool:
    return call.scope.resolve(call.node.func) in HYDRA


def _built_by_others(file: PythonFile, facts: Facts) -> Iterator[CallNode]:
    """The calls of other functions that get a section for a Trainer first, and by name what Trainer took once: those of
    a package, and those of the project that hand on what they get by `**`."""
    for call in file.calls_near(REMOVED) if reads_lightning(file) else ():
        asked = {item.arg for item in call.node.keywords if item.arg} & REMOVED
        if asked and call.node.args and not _is_hydra(call) and "trainer" in sections(file, call.node.args[0]):
            dotted = call.scope.resolve(call.node.func)
            found = facts.find_definition(dotted, file.path) if dotted else None
            if found is None:
                known = dotted is None or facts.path_of(dotted.rpartition(".")[0], file.path) is not None
                if not known and dotted not in (TRAINER, FROM_ARGS):
                    yield call
            elif _hands_on(*found, asked):
                yield call


def _hands_on(file: PythonFile, node: ast.AST, asked: Set[str]) -> bool:
    """Whether a function takes some arguments by `**`, and builds no Trainer by name, where other rules follow it."""
    if not isinstance(node, Function) or node.args.kwarg is None or "Trainer" in file.source_of(node):
        return False
    return not asked & {item.arg for item in taken(node)}


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
BUILDER = """\
from builders import object_from_dict
from pytorch_lightning.callbacks import ModelCheckpoint


def main(config, model):
    trainer = object_from_dict(config["trainer"], checkpoint_callback=ModelCheckpoint())
    trainer.fit(model)
"""
OTHER = OLD.replace("pytorch_lightning", "cluster")

RULE = Rule(
    code="LIT117",
    name="trainer-instantiated",
    summary="Removed arguments that Hydra, or another function that builds from a section, passes on to Trainer",
    why=(
        "What Hydra's `instantiate`, and functions like it, get besides a configuration they pass on: an argument that "
        "Trainer lost is a TypeError when the object is built, which nothing in the call shows."
    ),
    fix="manual",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"instantiate(", b"trainer"),
    words=tuple(name.encode() for name in sorted(REMOVED)),
    check=_check,
    examples=(Example(OLD, OLD), Example(OTHER, OTHER), Example(BUILDER, BUILDER)),
    breaks_in="2.0.0",
)
