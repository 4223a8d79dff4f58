"""Whether a project trains on several devices, or may: by its Trainers, or by a section of a configuration."""

from __future__ import annotations

from typing import Any

from codemods.code.source import TextFile
from codemods.lightning.configurations.evidence import is_trainer
from codemods.lightning.configurations.mappings import Malformed
from codemods.lightning.configurations.owners import owned
from codemods.lightning.facts import Facts, TrainerFact
from codemods.lightning.project_trainers import project_trainers

COUNTS = ("devices", "gpus", "num_nodes", "num_processes", "tpu_cores")
NAMES = ("strategy", "accelerator", "distributed_backend")
SEVERAL = ("ddp", "fsdp", "deepspeed")
WORDS = tuple(name.encode() for name in (*COUNTS, *NAMES))
"""What a configuration holds that may ask for several devices."""


def spreads(facts: Facts, code: str) -> bool:
    """Whether a Trainer of the project trains on several devices, or may; `code` is of the rule that has collected
    what `configured` tells of configurations."""
    if facts.collected_texts(code):
        return True
    return any(map(_is_on_several, facts.trainers)) or any(map(_is_on_several, project_trainers(facts, perhaps=True)))


def _is_on_several(trainer: TrainerFact) -> bool:
    return any(
        _several(argument.name, argument.value if argument.literal else None, argument.text)
        for argument in trainer.arguments
    )


def _several(name: str, value: Any, text: str) -> bool:
    """Whether an argument of a Trainer, or what a configuration has for one, asks for several devices."""
    if name in NAMES:
        return any(word in text.lower() for word in SEVERAL)
    if name not in COUNTS:
        return False
    return len(value) > 1 if isinstance(value, list) else type(value) is int and (value > 1 or value == -1)


def configured(file: TextFile) -> bool | None:
    """Whether a section of a configuration that is a Trainer's asks for several devices."""
    try:
        found = [item for item in owned(file) if item.name == "trainer" or is_trainer(item.target)]
    except Malformed:
        return None
    return any(_several(each.key, each.value, str(each.value)) for item in found for each in item.arguments) or None
