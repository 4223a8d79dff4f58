"""How a LightningModule is optimized: by Lightning, or by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, results, targets_of
from codemods.lightning.facts import ClassFact, Facts

FLAG = "automatic_optimization"
NAMES = (FLAG, f"_{FLAG}")
Optimization = Literal["automatic", "manual", "unknown"]


def optimization(facts: Facts, file: PythonFile, fact: ClassFact) -> Optimization:
    """What the nearest of a class and its bases says that speaks of the flag, however it is spelled; automatic where
    none does. The classes of `file` are taken as they are there, which may be newer than the facts."""
    for member in facts.ancestry(fact) or (fact,):
        home = file if member.path == file.path else facts.open(member.path)
        node = next((item.node for item in home.classes if item.qualname == member.name), None) if home else None
        said = said_by(node) if node else "unknown"
        if said:
            return said
    return "automatic"


def said_by(node: ast.ClassDef) -> Optimization | None:
    """What a class itself says of the flag: in its body, on its instance, or by a property; None where it is silent.
    What it only reads says nothing."""
    found: set[bool | None] = set()
    for item in node.body:
        if isinstance(item, Function) and item.name == FLAG:
            found.add(_given_back(item))
    plain: set[ast.expr] = set()
    for each in every_node(node):
        for target in targets_of(each):
            if _last_name(target) in NAMES:
                found.add(_truth(getattr(each, "value", None)))
                plain.add(target)
    found |= {_truth(value) for value in _set_by_name(node)}
    for each in every_node(node):
        named = isinstance(each, ast.Attribute | ast.Name) and _last_name(each) in NAMES
        if named and each not in plain and not isinstance(getattr(each, "ctx", None), ast.Load):
            found.add(None)
    if not found:
        return None
    if len(found) > 1 or None in found:
        return "unknown"
    return "automatic" if found == {True} else "manual"


def _truth(node: ast.AST | None) -> bool | None:
    """The truth value that an expression spells."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


def _set_by_name(node: ast.ClassDef) -> Iterator[ast.expr]:
    """What `setattr(self, "automatic_optimization", ...)` gives the flag."""
    for each in every_node(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "setattr":
            named = each.args[1] if len(each.args) == 3 else None
            if isinstance(named, ast.Constant) and named.value in NAMES:
                yield each.args[2]


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _given_back(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool | None:
    """The one truth value that a property gives back."""
    values = {item.value if isinstance(item, ast.Constant) else None for item in results(function)}
    value = values.pop() if len(values) == 1 else None
    return value if isinstance(value, bool) else None
