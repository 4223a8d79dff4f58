"""Changes to the statements of a method, told by their paths: lines put in, moved, replaced and taken out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.syntax import SCOPES
from codemods.code.tree_copies import comes_from_above

if TYPE_CHECKING:
    import libcst as cst

    from codemods.rules.loops.optimizer_events import Path


@dataclass(frozen=True)
class Put:
    """Lines that go in front of, or behind, the statement at `path`."""

    path: Path
    text: str | Callable[[], str]
    after: bool = False


@dataclass(frozen=True)
class Move:
    """The statement at `path`, with its comments, goes in front of, or behind, the one at `to`."""

    path: Path
    to: Path
    after: bool = False


@dataclass(frozen=True)
class Drop:
    """The statement at `path` goes."""

    path: Path


@dataclass(frozen=True)
class Replacement:
    """The statement at `path` is replaced by what `change` returns for it."""

    path: Path
    change: Callable[[Any], Any]


Step = Put | Move | Drop | Replacement


@dataclass(frozen=True)
class Steps:
    """The change of a method that makes some steps."""

    steps: tuple[Step, ...]

    def __call__(self, node: cst.FunctionDef) -> cst.FunctionDef:
        return apply_steps(node, self.steps)

    def for_written(
        self, seen: ast.AST, written: ast.AST, hidden: Container[str], unbound: Container[str]
    ) -> Steps | None:
        """The same change of the method as it is `written`, where `seen` is its normal form; None where a statement
        has no one place there, binds a name that what the normal form leaves out reads (`hidden`), or speaks of one
        that is bound there (`unbound`)."""
        places = _by_place(written)
        counted = Counter(_place(node) for _, node in statements_of(seen))
        by_path = dict(statements_of(seen))
        found: list[Step] = []
        for step in self.steps:
            paths = [step.path, step.to] if isinstance(step, Move) else [step.path]
            nodes = [by_path.get(path) for path in paths]
            there = [places.get(_place(node), []) if node else [] for node in nodes]
            if any(len(item) != 1 for item in there) or any(counted[_place(node)] != 1 for node in nodes if node):
                return None
            if any(len(getattr(node, "copies", ())) > 1 for node in nodes):
                return None  # it stands for the same in several branches
            own = there[0][0][1]
            front = nodes[-1] if isinstance(step, Put | Move) and not step.after else None
            if front is not None and comes_from_above(front):
                return None
            if not isinstance(step, Put) and (own is not nodes[0] or _binds(own, hidden)):
                return None
            if isinstance(step, Put) and not (isinstance(step.text, str) and _speaks_not(step.text, unbound)):
                return None
            moved = replace(step, path=there[0][0][0])
            found.append(replace(moved, to=there[1][0][0]) if isinstance(moved, Move) else moved)
        return Steps(tuple(found))


def statements_of(function: ast.AST) -> Iterator[tuple[Path, ast.stmt]]:
    """The statements of a function with their paths, those of functions and classes inside it left out."""
    stack: list[tuple[Path, Any]] = [((), function)]
    while stack:
        above, node = stack.pop()
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            for index, item in enumerate(block if isinstance(block, list) else ()):
                path = (*above, (name, index))
                yield path, item
                if not isinstance(item, SCOPES):
                    stack.append((path, item))
        stack += [((*above, ("cases", index)), item) for index, item in enumerate(getattr(node, "cases", ()))]


def _by_place(function: ast.AST) -> dict[object, list[tuple[Path, ast.stmt]]]:
    found: dict[object, list[tuple[Path, ast.stmt]]] = {}
    for path, node in statements_of(function):
        found.setdefault(_place(node), []).append((path, node))
    return found


def _place(node: ast.stmt) -> object:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _binds(node: ast.AST, names: Container[str]) -> bool:
    return any(
        isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load) and item.id in names for item in walk(node)
    )


def _speaks_not(text: str, names: Container[str]) -> bool:
    """Whether new lines ask for none of some names, which may be bound behind the place where the lines go."""
    return not any(word in names for word in re.findall(r"\w+", text))


def apply_steps(function: cst.FunctionDef, steps: tuple[Step, ...]) -> cst.FunctionDef:
    """The method with the steps made; paths are those of the method as it is given."""
    import libcst as cst

    from codemods.rewrite.edits import statements

    before: dict[cst.CSTNode, list[Any]] = {}
    behind: dict[cst.CSTNode, list[Any]] = {}
    changes: dict[cst.CSTNode, Callable[[Any], Any]] = {}
    gone: set[cst.CSTNode] = set()
    for step in steps:
        node = at_path(function, step.path)
        if isinstance(step, Put):
            (behind if step.after else before).setdefault(node, []).extend(
                statements(step.text if isinstance(step.text, str) else step.text())
            )
        elif isinstance(step, Move):
            gone.add(node)
            place = behind if step.after else before
            place.setdefault(at_path(function, step.to), []).append(node.deep_clone())
        elif isinstance(step, Drop):
            gone.add(node)
        else:
            changes[node] = step.change

    class _Apply(cst.CSTTransformer):
        def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
            updated = super().on_leave(original_node, updated_node)
            if original_node in changes:
                updated = changes[original_node](updated)
            own = [] if original_node in gone else [updated]
            put = [*before.get(original_node, []), *own, *behind.get(original_node, [])]
            if len(put) == 1 and put[0] is updated:
                return updated
            return cst.FlattenSentinel(put) if put else cst.RemoveFromParent()

    changed = function.visit(_Apply())
    assert isinstance(changed, cst.FunctionDef)
    return changed


def at_path(function: cst.FunctionDef, path: Path) -> Any:
    """The statement that a path, counted on `ast`, leads to."""
    import libcst as cst

    node: Any = function
    for field, index in path:
        if field == "orelse":
            other = node.orelse
            if isinstance(other, cst.If):
                node = other
                continue
            node = other
        node = node.cases[index] if field == "cases" else node.body.body[index]
    return node
