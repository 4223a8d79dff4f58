"""Whether a class is trained by DDP, as its Trainer's call, what stands for its strategy, and configurations say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.configurations.evidence import is_trainer
from codemods.lightning.configurations.mappings import Malformed
from codemods.lightning.configurations.owners import owned
from codemods.lightning.facts import ClassFact, Facts, TrainerFact, is_trainer_call
from codemods.lightning.project_trainers import project_trainers
from codemods.rules.loops.trainers import fitted, trainers_of

NAMING = ("strategy", "accelerator", "distributed_backend")
COUNTS = ("devices", "gpus", "num_processes", "num_nodes")
WORD = b"ddp"
UNUSED = "find_unused_parameters_true"


@dataclass(frozen=True)
class StrategyUse:
    """A strategy of DDP that a file shows elsewhere than in a Trainer's call: what it is called, and the line of that
    call, or of the entry of a configuration. The name is that of no class."""

    name: str
    line: int
    strategy: str


@dataclass(frozen=True)
class Ddp:
    """DDP as a class is trained by it: where that is said, whether it looks for unused parameters, and whether it is
    `sure` that the class is."""

    place: str
    looks: bool
    sure: bool = True


def read_spread(file: PythonFile) -> tuple[StrategyUse, ...]:
    """The strategies of DDP that names and options stand for in the Trainer calls of a file."""
    if WORD.decode() not in file.text:
        return ()
    found = []
    for call in filter(is_trainer_call, file.calls_near(["Trainer"])):
        given = [keyword.value for keyword in call.node.keywords if keyword.arg in NAMING]
        names = [value for node in given for value in _values(file, node) if value.startswith(WORD.decode())]
        if names:
            found.append(StrategyUse(f"{call.node.lineno}:", call.node.lineno, names[0]))
    return tuple(found)


def _values(file: PythonFile, node: ast.expr, depth: int = 0) -> Iterator[str]:
    """The texts that an expression may be: through names, the arms of a choice, and the defaults of options."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _values(file, node.body, depth)
        yield from _values(file, node.orelse, depth)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _values(file, value, depth)
    elif isinstance(node, ast.Name) and depth < 4:
        for item in file.assignments_to(node.id):
            if item.node.value is not None:
                yield from _values(file, item.node.value, depth + 1)
    elif isinstance(node, ast.Attribute):
        yield from _defaults(file, node.attr)


def _defaults(file: PythonFile, option: str) -> Iterator[str]:
    for call in file.calls_near(["add_argument"]):
        spoken = [item.value for item in call.node.args if isinstance(item, ast.Constant)]
        if f"--{option}" in [str(word).replace("-", "_").replace("__", "--", 1) for word in spoken]:
            for keyword in call.node.keywords:
                if keyword.arg == "default" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def read_configured(file: TextFile) -> tuple[StrategyUse, ...] | None:
    """The strategies of DDP in the sections of a configuration that are a Trainer's."""
    try:
        found = [item for item in owned(file) if item.name == "trainer" or is_trainer(item.target)]
    except Malformed:
        return None
    return (
        tuple(
            StrategyUse("", file.span(*entry.key_at).line, entry.value)
            for item in found
            for entry in item.arguments
            if entry.key in NAMING and isinstance(entry.value, str) and entry.value.startswith(WORD.decode())
        )
        or None
    )


def ddp_of(facts: Facts, fact: ClassFact, code: str) -> Ddp | None:
    """DDP as a class is, or may be, trained by it; None where nothing says so. What files show of it was collected by
    the rule `code`."""
    trainers = tuple(trainers_of(facts, fact))
    for trainer in trainers:
        place = f"the Trainer at {trainer.path}:{trainer.line}"
        if _is_ddp(trainer):
            return Ddp(place, any(UNUSED in found.text for name in NAMING if (found := trainer.argument(name))))
        shown = facts.files[trainer.path].collected.get(code) or ()
        spread = next((each for each in shown if isinstance(each, StrategyUse) and each.line == trainer.line), None)
        if spread:
            return Ddp(place, UNUSED in spread.strategy)
    if not _is_open(facts, trainers):
        return None
    for path, texts in sorted(facts.collected_texts(code).items()):
        return Ddp(f"{path}:{texts[0].line}", UNUSED in texts[0].strategy)
    naming = sorted(path for path in facts.mentions.get(WORD, ()) if facts.kinds.get(path) != "docs")
    return Ddp(naming[0], False, False) if naming else None


def _is_open(facts: Facts, trainers: tuple[TrainerFact, ...]) -> bool:
    """Whether a strategy may come to a Trainer that trains the class from where its call does not show it."""
    known = trainers or tuple(
        each for each in project_trainers(facts) if not each.evaluates and None in fitted(facts, each)
    )
    given = [each.argument("strategy") for each in known]
    if any(each.open_ended for each in known) or any(each and not each.literal for each in given):
        return True
    return not trainers and any(file.indirect_trainers for file in facts.files.values())


def _is_ddp(trainer: TrainerFact) -> bool:
    """Whether a Trainer is seen to train by DDP: by its name, or since there are several devices and no other."""
    for name in NAMING:
        found = trainer.argument(name)
        if found and found.literal and isinstance(found.value, str) and found.value.startswith(WORD.decode()):
            return True
    if trainer.argument("strategy") or trainer.argument("distributed_backend") or trainer.open_ended:
        return False
    return any(_is_several(found.value) for name in COUNTS if (found := trainer.argument(name)) and found.literal)


def _is_several(value: Any) -> bool:
    return (isinstance(value, list) and len(value) > 1) or (type(value) is int and value > 1)
