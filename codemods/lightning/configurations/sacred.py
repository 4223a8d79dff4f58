"""The values of a configuration that the functions of a Sacred experiment state (`@ex.config`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, targets_of
from codemods.lightning.facts import Facts

STATING = frozenset({"config", "named_config"})
TAKING = frozenset({"automain", "capture", "command", "main"})
UPDATING = ("add_config", "add_named_config", "config_hook", "config_updates")
"""What gives a configuration values in other ways."""
_IMPORT = re.compile(rb"^\s*(?:import|from)\s+sacred\b", re.MULTILINE)
HANDED = "_config"
"""The parameter in which Sacred hands the whole configuration to the functions of an experiment."""


def is_handed(facts: Facts, function: Function, name: str) -> bool:
    """Whether a parameter is the configuration that Sacred hands over."""
    return name == HANDED and _is_decorated(function, TAKING) and _is_used(facts)


def stated_values(facts: Facts, key: str) -> tuple[Any, ...] | None:
    """The values that the project's experiments state for a key; None where one is worked out when it runs."""
    found: list[Any] = []
    if _is_used(facts) and any(facts.holding(word) for word in UPDATING):
        return None
    for file in _files(facts):
        for node in walk(file.tree):
            if isinstance(node, Function) and _is_decorated(node, STATING):
                for value in _bound(node, key):
                    known, constant = literal(value) if value is not None else (False, None)
                    if not known:
                        return None
                    found.append(constant)
    return tuple(found)


def _bound(function: Function, key: str) -> Iterator[ast.expr | None]:
    """What a function binds a name to, None for what is no plain assignment."""
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id == key and not isinstance(node.ctx, ast.Load):
            plain = (
                each.value
                for each in walk(function)
                if isinstance(each, ast.Assign | ast.AnnAssign) and any(node is target for target in targets_of(each))
            )
            yield next(plain, None)


def _is_decorated(function: Function, names: frozenset[str]) -> bool:
    plain = (item.func if isinstance(item, ast.Call) else item for item in function.decorator_list)
    return any(isinstance(item, ast.Attribute) and item.attr in names for item in plain)


def _files(facts: Facts) -> Iterator[PythonFile]:
    """The files that may state something of an experiment's configuration, where the project imports Sacred."""
    for path, source in facts.holding("config") if _is_used(facts) else ():
        if source.kind == "python" and (file := facts.open(path)) is not None:
            yield file


def _is_used(facts: Facts) -> bool:
    return any(_IMPORT.search(source.unescaped) for _, source in facts.holding("sacred"))
