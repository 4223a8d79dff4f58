"""LIT229: what a LightningModule has as a property, and a class sets on `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rule import Example, Match, Rule

_OWN_NAME = "store the value under another name, such as `self.own_{} = ...`"
PROPERTIES = {
    "device": "delete `self.{} = ...`: Lightning sets it when it moves the module",
    "current_epoch": f"the Trainer counts its epochs itself: {_OWN_NAME}",
    "global_step": f"the Trainer counts its steps itself: {_OWN_NAME}",
    "global_rank": f"the Trainer says which process this is: {_OWN_NAME}",
    "local_rank": f"the Trainer says which process this is: {_OWN_NAME}",
    "logger": f"give a logger to `Trainer(logger=...)`; {_OWN_NAME}",
    "loggers": f"give loggers to `Trainer(logger=[...])`; {_OWN_NAME}",
    "on_gpu": "delete `self.{} = ...`: `self.device` says it",
}
"""What has no setter, and what to do instead."""


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for name, advice in PROPERTIES.items():
        if name not in file.text:
            continue
        stored = {id(node) for node in file.attributes(name) if isinstance(node.ctx, ast.Store)}
        for item in file.classes if stored else ():
            places = [node for node in _set_on_self(item, name) if id(node) in stored]
            fact = facts.files[file.path].find(item.qualname) if places and file.path in facts.files else None
            if fact is None or facts.kind(fact) != MODULE or _is_replaced(facts, fact, name):
                continue
            for node in places:
                message = f"self.{name} cannot be set in Lightning 2: it is a property of LightningModule"
                yield Match(file.span(node), message, "manual", f"Not rewritten: {advice.format(name)}.")


def _set_on_self(item: ClassNode, name: str) -> Iterator[ast.Attribute]:
    for method in item.methods.values():
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and is_self_attribute(node, name, self_name(method)):
                yield node


def _is_replaced(facts: Facts, fact: ClassFact, name: str) -> bool:
    """Whether a class, one that it inherits from, or one below it may have the name in the place of the property."""
    for other in (*facts.ancestry(fact), *facts.subclasses(fact)):
        file = facts.open(other.path)
        found = next((each for each in file.classes if each.qualname == other.name), None) if file else None
        if found is None or name in other.methods or any(_binds(statement, name) for statement in found.node.body):
            return True
    return False


def _binds(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self, device):
        super().__init__()
        self.device = device
"""
OWN = BEFORE.replace("    def __init__", "    device = None\n\n    def __init__")

RULE = Rule(
    code="LIT229",
    name="read-only-property",
    summary="Properties of LightningModule that a class sets are named",
    why=(
        "Where a LightningModule is, which process it is in, what its Trainer counts and who logs for it are "
        "properties without a setter: setting one is an AttributeError. Some were plain attributes up to 0.7, or had a "
        "setter until later."
    ),
    fix="manual",
    versions="written for Lightning < 2.0",
    triggers=tuple(f".{name}".encode() for name in PROPERTIES),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(OWN, OWN)),
    breaks_in="2.0.0",
)
