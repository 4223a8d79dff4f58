"""Trainers of the project itself: whether their constructors hand what they are given on to Lightning's."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.facts import TRAINER, ClassFact, Facts
from codemods.scopes import canonical
from codemods.source import CallNode, PythonFile
from codemods.syntax import Function, is_super_call, own_nodes


def is_lightnings(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether `super().__init__(...)` reaches Lightning's own constructor: no class of the project stands between."""
    if not is_super_call(call.node, "__init__"):
        return False
    owner = next((item for item in reversed(call.within) if isinstance(item, ast.ClassDef)), None)
    name = next((item.qualname for item in file.classes if item.node is owner), None)
    fact = facts.find_class(f"{file.module}.{name}", file.path) if name else None
    return fact is not None and _reached(facts, fact) == TRAINER


def hands_on(facts: Facts, dotted: str, near: str, names: Iterable[str]) -> bool:
    """Whether a Trainer of the project, as the file `near` calls it, gives Lightning's constructor those keywords as
    it gets them, and takes no `gpus` itself."""
    fact = facts.find_class(dotted, near)
    if fact is None or _reached(facts, fact) != TRAINER:
        return False
    if "__init__" not in fact.methods:
        return True
    found = facts.find_opened(dotted, near)
    init = found[1].methods.get("__init__") if found else None
    if init is None or init.decorator_list:
        return False
    nodes = list(own_nodes(init))
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_super_call(node, "__init__")]
    arguments = init.args
    taken = {item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    if len(calls) != 1 or calls[0].args or "gpus" in taken:
        return False
    given = {item.arg: item.value for item in calls[0].keywords if item.arg}
    for name in names:
        if name in taken:
            value = given.get(name)
            if not (isinstance(value, ast.Name) and value.id == name) or _is_stored(nodes, name):
                return False
        elif name in given or not _expands(init, calls[0], nodes, name):
            return False
    return True


def _reached(facts: Facts, fact: ClassFact, depth: int = 0) -> str:
    """What `super().__init__` in a class reaches: Trainer, "" where nothing has one, or "?"."""
    for base in fact.bases:
        if base and canonical(base) == TRAINER:
            return TRAINER
        if base in ("object", "abc.ABC"):
            continue
        parent = facts.find_class(base, fact.path) if base and depth < 9 else None
        if parent is None or "__init__" in parent.methods:
            return "?"
        if above := _reached(facts, parent, depth + 1):
            return above
    return ""


def _is_stored(nodes: Iterable[ast.AST], name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in nodes)


def _expands(init: Function, call: ast.Call, nodes: list[ast.AST], name: str) -> bool:
    """Whether the call gets the function's own `**`, in which nothing changes a keyword of that name."""
    rest = init.args.kwarg.arg if init.args.kwarg else None
    if rest is None or _is_stored(nodes, rest):
        return False
    whole = [item for item in call.keywords if item.arg is None]
    if not any(isinstance(item.value, ast.Name) and item.value.id == rest for item in whole) or len(whole) > 1:
        return False
    spoken = (node.value for node in nodes if isinstance(node, ast.Constant))
    called = (node for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("update", "clear", "pop"))
    return name not in spoken and not any(
        isinstance(node.value, ast.Name) and node.value.id == rest and node.attr != "pop" for node in called
    )
