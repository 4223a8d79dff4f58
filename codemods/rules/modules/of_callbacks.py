"""What a callback asks of the module about its Trainer, which it is given as well: `pl_module.use_amp`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import CALLBACK, Facts


@dataclass(frozen=True)
class ModuleAttribute:
    """An attribute of the module in a hook of a callback, the name by which that has the Trainer, and the nodes that
    it stands in."""

    node: ast.Attribute
    trainer: str
    within: tuple[ast.AST, ...]


def of_callbacks(file: PythonFile, facts: Facts, names: Collection[str]) -> Iterator[ModuleAttribute]:
    """The readings of attributes of the module in hooks of callbacks, where no file of the project sets one of that
    name."""
    for item, _ in facts.classes_of(file, CALLBACK):
        for name, method in item.methods.items():
            given = _given(method) if name.startswith("on_") else None
            for node in walk(method) if given else ():
                if isinstance(node, ast.Attribute) and node.attr in names and given and _is_of(node, given[1]):
                    yield ModuleAttribute(node, given[0], (item.node, method))


def _is_of(node: ast.Attribute, owner: str) -> bool:
    return isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == owner


def _given(method: Function) -> tuple[str, str] | None:
    """The names of the Trainer and the module, where a hook binds neither anew."""
    names = [item.arg for item in (*method.args.posonlyargs, *method.args.args)]
    stored = {node.id for node in walk(method) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return (names[1], names[2]) if len(names) > 2 and not stored & {*names[1:3]} else None
