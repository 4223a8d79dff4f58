"""Reading counts inside the methods of a class."""

from __future__ import annotations

import ast
import re

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, own_nodes, self_name
from codemods.lightning.facts import Facts
from codemods.rule import Match
from codemods.rules.steps.step_count_terms import TermReader

STEPS = "estimated_stepping_batches"
HOLDERS = ("self", "args", "hparams", "cfg", "config", "conf", "opt", "opts", "params", "hp")


def kind_of(file: PythonFile, facts: Facts, item: ClassNode) -> str | None:
    """What the class is (see `Facts.kind`)."""
    known = facts.of_class(file, item)
    return facts.kind(known) if known else None


def assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    """What a function assigns to each plain name; names that are bound in another way are left out."""
    found: dict[str, list[ast.expr]] = {}
    stored: dict[str, int] = {}
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign) and node.value
            else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:  # type: ignore[attr-defined]
                found.setdefault(target.id, []).append(node.value)  # type: ignore[attr-defined]
    return {name: values for name, values in found.items() if len(values) == stored[name]}


def reader_of(item: ClassNode, function: Function) -> TermReader:
    """Reads the expressions of a method."""
    values = assigned(function)
    me = self_name(function)

    def is_trainer(node: ast.expr) -> bool:
        pending, followed = [node], set[str]()
        while pending:
            one = pending.pop()
            if isinstance(one, ast.Attribute) and ast.unparse(one) == f"{me}.trainer":
                return True
            if isinstance(one, ast.Name) and one.id not in followed:
                followed.add(one.id)
                pending.extend(values.get(one.id, []))
        return False

    return TermReader(lambda name: values.get(name, []), is_trainer, item.scope.resolve)


def bare(text: str) -> str:
    """An attribute chain without the object that holds the settings: `self.hparams.epochs` is `args.epochs`."""
    parts = re.sub(r"\s+", "", text).split(".")
    while len(parts) > 1 and parts[0] in HOLDERS:
        parts = parts[1:]
    return ".".join(parts)


def manual(file: PythonFile, place: ast.expr | ast.stmt | ast.keyword, message: str, reason: str) -> Match:
    """A finding without a repair."""
    return Match(file.span(place), message, "manual", reason)
