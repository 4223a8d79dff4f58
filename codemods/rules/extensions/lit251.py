"""LIT251: `load_checkpoint` of a CheckpointIO or a strategy, which is given `weights_only=` since 2.6."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, parameters
from codemods.lightning.facts import ClassFact, Facts
from codemods.rule import Example, Match, NodeEdit, Rule

if TYPE_CHECKING:
    import libcst as cst

METHOD, GIVEN = "load_checkpoint", "weights_only"
MESSAGE = f"{METHOD} is given `{GIVEN}=` since Lightning 2.6, and does not take it"
REASON = "It takes the argument now, and loads as it did; hand it to torch.load where files may hold more than tensors."
LEFT = f"Not rewritten: its parameters are unusual ones; add `{GIVEN}=None` to them."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        method = item.methods.get(METHOD)
        fact = facts.of_class(file, item) if method else None
        if method is None or fact is None or not _is_loading(facts, fact):
            continue
        if GIVEN in parameters(method) or method.args.kwarg:
            continue
        if method.args.vararg or method.args.kwonlyargs or _reads(method):
            yield Match(file.head(method), MESSAGE, "manual", LEFT)
        else:
            yield Match(file.head(method), MESSAGE, "safe", REASON, edits=(NodeEdit(method, _taking),))


def _reads(method: Function) -> bool:
    """Whether a method reads the name already, of which it would then get the argument."""
    return any(isinstance(node, ast.Name) and node.id == GIVEN for node in walk(method))


def _is_loading(facts: Facts, fact: ClassFact) -> bool:
    """Whether Lightning loads a checkpoint by a class: it is a CheckpointIO or a strategy."""
    bases = (canonical(base) for member in facts.ancestry(fact) for base in member.bases if base)
    return any(
        base.startswith((f"{ROOT}.", "lightning_fabric.")) and base.endswith(("CheckpointIO", "Strategy"))
        for base in bases
    )


def _taking(node: cst.FunctionDef) -> cst.FunctionDef:
    """A method that takes the argument too."""
    import libcst as cst

    bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    more = cst.Param(cst.Name(GIVEN), default=cst.Name("None"), equal=bare)
    return node.with_changes(params=node.params.with_changes(params=[*node.params.params, more]))


BEFORE = """\
import torch
from lightning.pytorch.plugins.io import CheckpointIO


class Plain(CheckpointIO):
    def load_checkpoint(self, path, storage_options=None):
        return torch.load(path)
"""
AFTER = BEFORE.replace("storage_options=None)", "storage_options=None, weights_only=None)")
OPEN = BEFORE.replace("storage_options=None)", "**options)")

RULE = Rule(
    code="LIT251",
    name="load-checkpoint-argument",
    summary="`load_checkpoint` of a CheckpointIO or a strategy takes `weights_only=`",
    why=(
        "Since 2.6 the Trainer hands `weights_only=` of fit down to `strategy.load_checkpoint`, and that "
        "to `checkpoint_io.load_checkpoint`, by name and always: one without the argument ends with a TypeError when a "
        "checkpoint is loaded (read in 2.5.5 and 2.6.6)."
    ),
    fix="safe",
    versions="Lightning 1.5 - 2.5 -> 2.6 and later",
    triggers=(f"def {METHOD}(".encode(),),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(OPEN, OPEN)),
    breaks_in="2.6.0",
)
