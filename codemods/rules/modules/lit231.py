"""LIT231: `if self.trainer is not None`, which raises where no Trainer has the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_none, is_self_attribute, self_name
from codemods.lightning.facts import MODULE, Facts
from codemods.rewrite.spelled import parsed
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.modules.attached import bound_by_relatives, may_be_alone

MESSAGE = "self.trainer raises an error since Lightning 1.7 if the module has no Trainer"
WHY = "Its `_trainer` is None there, as self.trainer was; 2.x has no public name that tells it."
ASKING = (
    b".trainer is", b".trainer:", b".trainer)", b".trainer and ", b".trainer or ", b".trainer\n", b".trainer else",
    b'"trainer")', b"'trainer')",
)  # fmt: skip
"""What a file says that asks for it."""
_TESTS = (ast.If, ast.IfExp, ast.While)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The places at which a module asks whether a Trainer has it, in methods that are called without one too."""
    places = [node for node in file.attributes("trainer") if isinstance(node.value, ast.Name)]
    for item, fact in facts.classes_of(file, MODULE) if places else ():
        if bound_by_relatives(facts, fact, "trainer"):
            continue
        for name, node in _questions(item):
            if may_be_alone(facts, name) is not None:
                edit = NodeEdit(node, partial(parsed, text=f"{node.value.id}._trainer"))  # type: ignore[attr-defined]
                yield Match(file.span(node), MESSAGE, "unsafe", WHY, edits=(edit,))


def _questions(item: ClassNode) -> Iterator[tuple[str, ast.Attribute]]:
    """The readings of the Trainer that only ask whether it is there, each with the method that it stands in."""
    for name, method in item.methods.items():
        for outer in walk(method):
            asked: list[ast.expr] = []
            if isinstance(outer, ast.Compare) and len(outer.ops) == 1 and is_none(outer.comparators[0]):
                asked = [outer.left]
            elif isinstance(outer, ast.BoolOp):
                asked = outer.values
            elif isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not):
                asked = [outer.operand]
            elif isinstance(outer, _TESTS):
                asked = [outer.test]
            for node in asked:
                if isinstance(node, ast.Attribute) and is_self_attribute(node, "trainer", self_name(method)):
                    yield name, node


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def forward(self, x):
        if self.trainer is not None and self.trainer.training:
            x = self.augment(x)
        return self.net(x)
"""
AFTER = BEFORE.replace("if self.trainer is", "if self._trainer is")
HOOK = BEFORE.replace("forward(self, x)", "training_step(self, x, batch_idx)")

RULE = Rule(
    code="LIT231",
    name="module-without-trainer",
    summary="A module that no Trainer has is asked whether it has one",
    why=(
        "`self.trainer` gave None as long as no Trainer had the module. It is a RuntimeError since Lightning 1.7 (pull "
        "request 13638), also where code only asks for it: in `forward` of a model that is loaded to predict, for "
        "example. Hooks, which a Trainer calls, are left as they are."
    ),
    fix="unsafe",
    versions="written for Lightning < 1.7",
    triggers=ASKING,
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(HOOK, HOOK)),
    needs="1.7.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/13638",),
)
