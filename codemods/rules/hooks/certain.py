"""Where a hook that is called at other times than the one before does the same all the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.source import ClassNode
from codemods.code.syntax import Function, parameters, self_name
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.lightning.family import family
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rules.hooks.unheard import Unheard

_EVALUATED = ("validation_step", "test_step")
_SET = re.compile(rb"\.(?:validation|test)_step\s*=(?!=)|setattr\(")
_PLAIN_BASES = ("lightning.", "torch.nn.", "abc.", "object", "typing.Generic")
_OF_TRAINER = frozenset({
    "checkpoint_callback", "checkpoint_callbacks", "datamodule", "default_root_dir", "fast_dev_run", "global_rank",
    "is_global_zero", "local_rank", "log_dir", "log_every_n_steps", "logger", "loggers", "max_epochs", "max_steps",
    "node_rank", "num_devices", "num_nodes", "world_size",
})  # fmt: skip
"""What a Trainer says alike before and behind a checkpoint's training state is restored."""
_OF_MODULE = frozenset({"device", "global_rank", "hparams", "local_rank", "logger", "print", "save_hyperparameters"})
"""The same of a module."""


def why_certain(facts: Facts, fact: ClassFact, item: ClassNode, method: Function, hook: Unheard, kind: str) -> str:
    """Why a hook under its new name does what it did; empty where that is not sure."""
    if hook.sure in ("trains", "epochs") and kind == MODULE and _only_trains(facts, fact):
        return "The class has no validation_step and no test_step, so it ran in training alone."
    if hook.sure == "epochs" and not admits_from(facts, LIGHTNING, "1.2.0"):
        return "The pins say a Lightning before 1.2, where it ran in training alone."
    if hook.sure == "reads" and not any(_reads_state(item, method, kind)):
        return (
            "on_fit_start is called before the sanity check too; a checkpoint's training state is restored behind it, "
            "and the method reads none of that."
        )
    return ""


def _only_trains(facts: Facts, fact: ClassFact) -> bool:
    """Whether no instance of a class has anything to evaluate: it, what is above it and what is below it are known."""
    every = [fact, *family(facts, fact)]
    above = [base for each in every for base in facts.lineage(each) if isinstance(base, str)]
    if any(not base.startswith(_PLAIN_BASES) for base in above) or any(None in each.bases for each in every):
        return False
    return not any(name in each.methods for each in every for name in _EVALUATED) and not _is_set(facts)


def _is_set(facts: Facts) -> bool:
    """Whether a file may put a step on a class."""
    if "hooks.steps_set" not in facts.memo:
        facts.memo["hooks.steps_set"] = any(
            source.kind in ("python", "notebook") and b"_step" in source.unescaped and _SET.search(source.unescaped)
            for source in facts.sources.values()
        )
    found: bool = facts.memo["hooks.steps_set"]
    return found


def _reads_state(item: ClassNode, method: Function, kind: str) -> Iterator[bool]:
    """Whether each use of the Trainer and of the module in a hook may be of what a checkpoint restores."""
    own, (trainer, module) = self_name(method), [*parameters(method), "", ""][:2]
    owners = {id(node.value): node for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    for node in ast.walk(method):
        used = owners.get(id(node))
        if isinstance(node, ast.Name) and node.id in (trainer, module):
            allowed = _OF_TRAINER if node.id == trainer else _OF_MODULE
            yield used is None or used.attr not in allowed
        elif isinstance(node, ast.Name) and node.id == own:
            yield used is None or not _is_own(item, used, owners, kind)


def _is_own(item: ClassNode, used: ast.Attribute, owners: dict[int, ast.Attribute], kind: str) -> bool:
    """Whether what a hook reads of its own class is nothing that a checkpoint restores."""
    if used.attr in item.methods:
        return False
    if kind == CALLBACK:
        return id(used) not in owners or owners[id(used)].attr not in ("current_epoch", "global_step", "optimizers")
    if used.attr == "trainer":
        return id(used) in owners and owners[id(used)].attr in _OF_TRAINER
    return used.attr in _OF_MODULE
