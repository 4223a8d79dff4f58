"""LIT235: attributes that `prepare_data` sets, in a project that trains on several devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile, TextFile
from codemods.code.syntax import Function, is_self_attribute, self_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.several_devices import WORDS, configured, spreads
from codemods.rule import Example, Match, Rule
from codemods.rules.modules.lit233 import DATA

CODE = "LIT235"
HOOK = "prepare_data"
CALLED = b".prepare_data("
MESSAGE = "`prepare_data` sets `self.{}`, which since Lightning 0.8 it does in one process of each node alone"
REASON = (
    "Not rewritten: with several devices the other processes do not have it, and `{}` in line {} fails there; "
    "DataParallel, and ddp_spawn up to 1.5, handed it on. Set it in `setup(self, stage)`, which each process calls, "
    "and leave downloads here."
)


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        return
    for item in file.classes:
        hook = item.methods.get(HOOK)
        fact = facts.of_class(file, item) if hook else None
        if hook is None or fact is None or not _is_prepared(facts, fact):
            continue
        read = [(node, place) for node in _set(hook) if (place := _read(item, hook, node))]
        if read and spreads(facts, CODE) and not _is_called(facts):
            node, place = read[0]
            reason = REASON.format(file.source_of(place), place.lineno)
            yield Match(file.span(node), MESSAGE.format(node.attr), "manual", reason)


def _is_prepared(facts: Facts, fact: ClassFact) -> bool:
    """Whether a Trainer prepares data by a class: by a module, or by a data module."""
    return facts.kind(fact) == MODULE or DATA in facts.lineage(fact)


def _is_called(facts: Facts) -> bool:
    """Whether the project prepares data itself, in each process."""
    calling = facts.mentions.get(CALLED, frozenset())
    return any(facts.kinds.get(path) != "docs" for path in calling)


def _set(method: Function) -> list[ast.Attribute]:
    """The attributes of the instance that a method sets."""
    this = self_name(method)
    return [
        node
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and is_self_attribute(node, node.attr, this)
    ]


def _read(item: ClassNode, hook: Function, node: ast.Attribute) -> ast.Attribute | None:
    """Where another method of the class reads an attribute, which nothing but its constructor sets besides."""
    others = [method for method in item.methods.values() if method is not hook]
    if any(each.attr == node.attr for method in others if method.name != "__init__" for each in _set(method)):
        return None
    return next(
        (
            each
            for method in others
            for each in walk(method)
            if isinstance(each, ast.Attribute)
            and isinstance(each.ctx, ast.Load)
            and is_self_attribute(each, node.attr, self_name(method))
            and method.name != "__init__"
        ),
        None,
    )


PREPARED = """\
from pytorch_lightning import LightningDataModule, Trainer
from torch.utils.data import DataLoader


class Digits(LightningDataModule):
    def prepare_data(self):
        self.digits = download()

    def train_dataloader(self):
        return DataLoader(self.digits)


trainer = Trainer(accelerator="gpu", devices=2)
"""
ALONE = PREPARED.replace("devices=2", "devices=1")

RULE = Rule(
    code=CODE,
    name="prepared-state",
    summary="Attributes that `prepare_data` sets are named where several devices train",
    why=(
        "Lightning calls prepare_data in one process of each node (`can_prepare_data` of 0.8.5, `data_connector.py` "
        "of 2.6.6); up to 0.7 each process called it. What it sets on `self` is missing in all others: DataParallel "
        "had one process, and ddp_spawn, the default for several devices from 1.0 on, called it before its processes "
        "started up to 1.5. Their successor in 2.0, DDP, starts the script once more for each device."
    ),
    fix="manual",
    versions="every Lightning release since 0.8",
    triggers=(b"def prepare_data", b"Trainer("),
    text_triggers=WORDS,
    kinds=("python", "yaml", "json"),
    check=_check,
    spelled=lambda text: HOOK in text,
    collect_text=configured,
    mentions=(CALLED,),
    examples=(Example(PREPARED, PREPARED), Example(ALONE, ALONE)),
    references=("https://lightning.ai/docs/pytorch/stable/data/datamodule.html#prepare-data",),
)
