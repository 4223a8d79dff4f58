"""Assignments that nothing needs once an expression is gone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import parents_of, walk
from codemods.code.source import PythonFile
from codemods.rule import NodeEdit, touches

if TYPE_CHECKING:
    import libcst as cst

# fmt: off
PURE = frozenset({
    "ceil", "dataloader", "device_count", "float", "floor", "get", "int", "is_available", "len", "max", "min", "round",
    "train_dataloader",
})
# fmt: on


@dataclass(frozen=True)
class Dead:
    """Statements that can go, and names that are not needed any more but stay."""

    statements: tuple[ast.Assign, ...]
    names: tuple[str, ...]

    @property
    def edits(self) -> tuple[NodeEdit, ...]:
        return tuple(NodeEdit(node, _nothing) for node in self.statements)

    @property
    def note(self) -> str:
        """A sentence on the names that stay."""
        return f" Not used any more: {', '.join(f'`{name}`' for name in self.names)}." if self.names else ""


def dead_after(file: PythonFile, space: ast.AST, gone: Sequence[ast.AST], written: str = "None") -> Dead:
    """What nothing in a function (or module) needs once some of its nodes are gone; the names of the expression that is
    written in their place stay."""
    parents = parents_of(space)
    uses: dict[str, list[ast.Name]] = {}
    for node in walk(space):
        if isinstance(node, ast.Name):
            uses.setdefault(node.id, []).append(node)
    watched = _watched(space)
    away = {id(node) for item in gone for node in walk(item)}
    statements: list[ast.Assign] = []
    names: list[str] = []
    kept = {node.id for node in walk(ast.parse(f"({written}\n)", mode="eval")) if isinstance(node, ast.Name)}
    todo = sorted({node.id for item in gone for node in walk(item) if isinstance(node, ast.Name)})
    while todo:
        name = todo.pop(0)
        stores = [node for node in uses.get(name, []) if not isinstance(node.ctx, ast.Load)]
        loads = [node for node in uses.get(name, []) if isinstance(node.ctx, ast.Load) and id(node) not in away]
        if loads or not stores or name in names or name in kept:
            continue
        statement = parents.get(stores[0]) if len(stores) == 1 else None
        if (
            isinstance(statement, ast.Assign)
            and name not in watched
            and "*" not in watched
            and _can_go(file, statement, parents)
        ):
            statements.append(statement)
            away |= {id(node) for node in walk(statement)}
            todo += sorted({node.id for node in walk(statement.value) if isinstance(node, ast.Name)})
        else:
            names.append(name)
    return Dead(tuple(statements), tuple(names))


def _watched(space: ast.AST) -> set[str]:
    """Names that are declared global or nonlocal, and `*` where all of them may be looked up by name."""
    found = set[str]()
    for node in walk(space):
        if isinstance(node, ast.Global | ast.Nonlocal):
            found |= set(node.names)
        elif isinstance(node, ast.Call) and _name(node) in ("locals", "vars", "globals", "eval", "exec"):
            found.add("*")
    return found


def _can_go(file: PythonFile, node: ast.Assign, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a statement does nothing but get the loader or compute a number, stands among others, and has no comment
    but one on the loader."""
    around = parents.get(node)
    siblings = getattr(around, "body", [])
    calls = [item for item in walk(node.value) if isinstance(item, ast.Call)]
    lines = file.lines[max(node.lineno - 2, 0) : node.end_lineno]
    above = lines[0].lstrip()
    commented = any("#" in line for line in lines[1:]) or (above.startswith("#") and "loader" not in above)
    return (
        len(node.targets) == 1
        and isinstance(siblings, list)
        and node in siblings
        and len(siblings) > 1
        and not commented
        and all(_name(call) in PURE for call in calls)
        and not _shares_line(siblings, node)
    )


def _shares_line(siblings: Collection[ast.stmt], node: ast.stmt) -> bool:
    first, last = node.lineno, node.end_lineno or node.lineno
    return any(other is not node and first <= (other.end_lineno or 0) and other.lineno <= last for other in siblings)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@touches("whole")
def _nothing(node: Any) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()
