"""LIT229: what a LightningModule has as a property, and a class sets on `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rewrite.whole_statements import removal
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
DEVICE = "device"
TOLD = (
    "`self.device` says where the module is: on the CPU until Lightning moves it. Parameters, buffers and modules that "
    "__init__ puts there move with it; check other tensors."
)
ASKED = ("torch.device", "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.cuda.current_device")
"""Calls that only say where something may be."""
WEIGHTS = ("parameters", "buffers")
"""Methods of modules whose first result says where one is."""
PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Call,
    ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for name, advice in PROPERTIES.items():
        if name not in file.text:
            continue
        stored = {id(node) for node in file.attributes(name) if isinstance(node.ctx, ast.Store)}
        for item in file.classes if stored else ():
            places = [node for node in _set_on_self(item, name) if id(node) in stored]
            fact = facts.of_class(file, item) if places else None
            if fact is None or facts.kind(fact) != MODULE or _is_replaced(facts, fact, name):
                continue
            for node in places:
                message = f"self.{name} cannot be set in Lightning 2: it is a property of LightningModule"
                statement = _idle_statement(file, node) if name == DEVICE else None
                if statement is not None:
                    yield Match(file.span(node), message, "unsafe", TOLD, edits=(removal(file, statement),))
                else:
                    yield Match(file.span(node), message, "manual", f"Not rewritten: {advice.format(name)}.")


def _idle_statement(file: PythonFile, node: ast.Attribute) -> ast.Assign | None:
    """The statement that sets an attribute and does nothing besides, with no comment to go with it."""
    for item in file.assignments:
        if isinstance(item.node, ast.Assign) and item.node.targets == [node]:
            parts = [part for part in walk(item.node.value) if isinstance(part, ast.Call)]
            asked = all(_only_asks(file, part) for part in parts)
            plain = all(isinstance(part, PLAIN) for part in walk(item.node.value) if isinstance(part, ast.expr))
            lines = range(item.node.lineno, (item.node.end_lineno or item.node.lineno) + 1)
            return item.node if asked and plain and not any(map(file.comment, lines)) else None
    return None


def _only_asks(file: PythonFile, call: ast.Call) -> bool:
    """Whether a call says where something may be, or is a part of `next(self.net.parameters())`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in WEIGHTS:
        return not call.args and not call.keywords
    first = isinstance(call.func, ast.Name) and call.func.id in ("next", "iter", "list") and not call.keywords
    return (first and [type(item) for item in call.args] == [ast.Call]) or (
        file.scope.resolve(call.func) or ""
    ) in ASKED


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
AFTER = BEFORE.replace("        self.device = device\n", "")
OF_A_PART = BEFORE.replace("= device", "= next(self.net.parameters()).device")
COUNTED = BEFORE.replace("self.device = device", "self.global_step = 0")
OWN = BEFORE.replace("    def __init__", "    device = None\n\n    def __init__")

RULE = Rule(
    code="LIT229",
    name="read-only-property",
    summary="Properties of LightningModule that a class sets are named",
    why=(
        "Where a LightningModule is, which process it is in, what its Trainer counts and who logs for it are "
        "properties without a setter: setting one is an AttributeError. Some were plain attributes up to 0.7, or had a "
        "setter until later. A device that is only set, or asked of a parameter, goes with --unsafe-fixes; the rest is "
        "named."
    ),
    fix="unsafe",
    versions="written for Lightning < 2.0",
    triggers=tuple(f".{name}".encode() for name in PROPERTIES),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(OF_A_PART, AFTER), Example(COUNTED, COUNTED), Example(OWN, OWN)),
    breaks_in="2.0.0",
)
