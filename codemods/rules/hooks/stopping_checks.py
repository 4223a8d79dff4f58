"""Calls of EarlyStopping's own check by classes that derive from it: it takes the Trainer alone since 1.3."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT
from codemods.code.source import PythonFile
from codemods.code.syntax import is_self_attribute, is_super_call, self_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts
from codemods.rule import Match, NodeEdit, touches

if TYPE_CHECKING:
    import libcst as cst

NAME = "_run_early_stopping_check"
MESSAGE = f"{NAME} takes the Trainer alone since Lightning 1.3"
READS_NOTHING = "It reads nothing of the module."
MAY_DO = "Not rewritten: what is given beside the Trainer may do something; do that before, and give the Trainer alone."


def stopping_checks(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """What hands it the module too, in classes that have no check of their own."""
    if not file.attributes(NAME):
        return
    for item in file.classes:
        fact = facts.of_class(file, item)
        if fact is None or not _has_lightnings(facts, fact):
            continue
        for method in item.methods.values():
            for node in walk(method):
                if isinstance(node, ast.Call) and _gives_module(node, self_name(method)):
                    yield _match(file, node)


def _match(file: PythonFile, node: ast.Call) -> Match:
    """What becomes of a call: what is given beside the Trainer goes where it is a name."""
    if isinstance((*node.args, *(item.value for item in node.keywords))[1], ast.Name):
        return Match(file.span(node), MESSAGE, "safe", READS_NOTHING, edits=(NodeEdit(node, _cut),))
    return Match(file.span(node), MESSAGE, "manual", MAY_DO)


def _has_lightnings(facts: Facts, fact: ClassFact) -> bool:
    """Whether the check of a class is that of EarlyStopping, and of no class of the project."""
    bases = [base for base in facts.lineage(fact) if isinstance(base, str)]
    ours = any(base.startswith(ROOT) and base.endswith(".EarlyStopping") for base in bases)
    return ours and not any(NAME in each.methods for each in (fact, *family(facts, fact)))


def _gives_module(node: ast.Call, me: str | None) -> bool:
    """Whether the check of the instance is called with the Trainer and one thing more."""
    if not (me and is_self_attribute(node.func, NAME, me)) and not is_super_call(node, NAME):
        return False
    plain = not any(isinstance(each, ast.Starred) for each in node.args) and all(each.arg for each in node.keywords)
    whole = bool(node.args) and len(node.args) + len(node.keywords) == 2
    return plain and whole and "trainer" not in [each.arg for each in node.keywords]


@touches("arguments")
def _cut(node: cst.Call) -> cst.Call:
    import libcst as cst

    return node.with_changes(args=[node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
