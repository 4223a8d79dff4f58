"""Changes to the statements of a method, told by their paths: lines put in, moved, replaced and taken out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst

    from codemods.loops.flow import Path


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
class Change:
    """The statement at `path` is replaced by what `change` returns for it."""

    path: Path
    change: Callable[[Any], Any]


Step = Put | Move | Drop | Change


def apply_steps(function: cst.FunctionDef, steps: tuple[Step, ...]) -> cst.FunctionDef:
    """The method with the steps made; paths are those of the method as it is given."""
    import libcst as cst

    from codemods.edits import statements

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
        node = node.body.body[index]
    return node
