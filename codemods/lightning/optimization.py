"""How a LightningModule is optimized: by Lightning, or by hand."""

from __future__ import annotations

import ast
from typing import Literal

from codemods.facts import ClassFact, Facts
from codemods.nodes import every_node
from codemods.source import PythonFile
from codemods.syntax import Function, results, targets_of

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
                value = getattr(each, "value", None)
                found.add(value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None)
                plain.add(target)
    for each in every_node(node):
        named = isinstance(each, ast.Attribute | ast.Name) and _last_name(each) in NAMES
        if named and each not in plain and not isinstance(getattr(each, "ctx", None), ast.Load):
            found.add(None)
    if not found:
        return None
    if len(found) > 1 or None in found:
        return "unknown"
    return "automatic" if found == {True} else "manual"


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _given_back(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool | None:
    """The one truth value that a property gives back."""
    values = {item.value if isinstance(item, ast.Constant) else None for item in results(function)}
    value = values.pop() if len(values) == 1 else None
    return value if isinstance(value, bool) else None
