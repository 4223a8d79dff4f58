"""The values that a project's yacs configurations begin with (`_C.TRAINER.GPUS = 1`), which files and command lines
replace by others of the same type alone (yacs and fvcore, `_check_and_coerce_cfg_value_type`)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.code.syntax import root_name, targets_of
from codemods.lightning.facts import Facts

NODES = frozenset({
    "yacs.config.CfgNode", "fvcore.common.config.CfgNode", "detectron2.config.CfgNode",
})  # fmt: skip
SHORTEST = 2
"""So many names behind the first tell of a configuration: one may be an attribute of anything."""


@dataclass(frozen=True)
class StatedValue:
    """A value that a module states for a place in a configuration: the names behind the first, and where it is."""

    path: tuple[str, ...]
    known: bool
    value: Any
    place: tuple[str, int, int]


def stated_in_code(facts: Facts, node: ast.expr) -> tuple[StatedValue, ...]:
    """What the project's configurations begin with where an expression reads: `cfg.TRAINER.GPUS`."""
    path = path_of(node)
    if path is None or len(path) < SHORTEST:
        return ()
    known: dict[tuple[str, ...], tuple[StatedValue, ...]] = facts.of_sources.setdefault("yacs", {})
    if path not in known:
        files = (facts.open(name) for name, source in facts.holding(path[-1]) if source.kind == "python")
        known[path] = tuple(each for file in files if file for each in _stated(file) if each.path == path)
    return known[path]


def path_of(node: ast.expr) -> tuple[str, ...] | None:
    """The names of attributes behind the name that a chain of them begins with."""
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.append(node.attr)
        node = node.value
    return tuple(reversed(found)) if isinstance(node, ast.Name) else None


def _stated(file: PythonFile) -> tuple[StatedValue, ...]:
    """What the statements of a module set in a node that it makes."""
    if "yacs" not in file.memo:
        file.memo["yacs"] = tuple(_values(file)) if "CfgNode" in file.text else ()
    found: tuple[StatedValue, ...] = file.memo["yacs"]
    return found


def _values(file: PythonFile) -> list[StatedValue]:
    own = [item for item in file.assignments if not item.within]
    made = {
        target.id
        for item in own
        if isinstance(item.node.value, ast.Call) and _is_node(file, item.node.value.func)
        for target in targets_of(item.node)
        if isinstance(target, ast.Name)
    }
    found = []
    for item in own:
        known, value = literal(item.node.value) if item.node.value else (False, None)
        for target in targets_of(item.node):
            if isinstance(target, ast.Attribute) and root_name(target) in made:
                place = file.path, target.lineno, target.col_offset
                plain = known and isinstance(item.node, ast.Assign)
                found.append(StatedValue(path_of(target) or (), plain, value, place))
    return found


def _is_node(file: PythonFile, called: ast.expr) -> bool:
    """Whether what is called is the class of such nodes, an own one of that, or another name for one."""
    if file.scope.resolve(called) in NODES:
        return True
    name = called.id if isinstance(called, ast.Name) else ""
    bases = [base for item in file.classes if item.qualname == name for base in item.node.bases]
    given = [item.node.value for item in file.assignments_to(name) if not item.within] if name else []
    alias = len(given) == 1 and isinstance(given[0], ast.Name) and given[0].id != name and _is_node(file, given[0])
    return alias or any(file.scope.resolve(base) in NODES for base in bases)
