"""Copies of trees that share with the original all that is the same in both."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, TypeVar

from codemods.code.nodes import CHILD_FIELDS, every_node

Node = TypeVar("Node", bound=ast.AST)
BLOCKS = ("body", "orelse", "finalbody")
LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
STATEMENT_FIELDS = {
    kind: tuple(name for name in (*BLOCKS, "handlers", "cases") if name in kind._fields)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind not in (ast.Lambda, ast.IfExp, ast.Expression)
}


class MovedLine(int):
    """The number of a line that stands elsewhere than it is run: it comes behind the line that runs it, and in front
    of the next."""

    key: tuple[int, ...]

    def __new__(cls, number: int, place: int = 0) -> MovedLine:
        made = super().__new__(cls, number)
        made.key = (*_key(place), int(number))
        return made

    def __lt__(self, other: int) -> bool:
        return self.key < _key(other)

    def __le__(self, other: int) -> bool:
        return self.key <= _key(other)

    def __gt__(self, other: int) -> bool:
        return self.key > _key(other)

    def __ge__(self, other: int) -> bool:
        return self.key >= _key(other)


def _key(line: int) -> tuple[int, ...]:
    return line.key if isinstance(line, MovedLine) else (line,)


def run_at(node: Node, place: ast.stmt) -> Node:
    """A copy of a node, of which nothing is in a text, as run where another statement stands."""
    for item in every_node(node):
        if (line := getattr(item, "lineno", None)) is not None:
            vars(item).update(lineno=MovedLine(line, place.lineno), end_lineno=MovedLine(item.end_lineno, place.lineno))  # type: ignore[attr-defined]
    return node


def changed(node: Node, **fields: Any) -> Node:
    """A copy of a node with other values in some fields, which is `made_of` it."""
    made = type(node).__new__(type(node))
    vars(made).update(vars(node), **fields, made_of=node, copies=())
    vars(made).pop("stands_for", None)
    return made


def at(node: Node, place: ast.AST) -> Node:
    """A copy of a node which stands where another does; it is `made_of` nothing."""
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    made = changed(node, **{name: getattr(place, name) for name in names})
    vars(made).update(made_of=None)
    return made


def made_from(node: ast.AST, new: Node) -> Node:
    """A new node, which stands where another does and is `made_of` it."""
    made = ast.copy_location(new, node)
    vars(made).update(made_of=node)
    return made


def twin(node: Node, *others: ast.AST) -> Node:
    """A copy of a node and of all that is below it, at the same places. `copies` tells of each node what it is a copy
    of: of the node, and of what stands there in others of the same shape."""
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        same = [getattr(other, name) for other in others]
        if isinstance(value, list):
            fields[name] = [
                twin(item, *(each[index] for each in same)) if isinstance(item, ast.AST) else item
                for index, item in enumerate(value)
            ]
        else:
            fields[name] = twin(value, *same) if isinstance(value, ast.AST) else value
    made = changed(node, **fields)
    vars(made).update(made_of=None, copies=(node, *others))
    return made


def written_as(node: ast.AST, written: Container[int]) -> list[ast.AST]:
    """The nodes of a text, which are told by their identities, that a node of its normal form is, or is a copy of;
    nothing where it is neither."""
    if id(node) in written:
        return [node]
    copies = getattr(node, "copies", ())
    found = [written_as(item, written) for item in copies]
    return [node for each in found for node in each] if all(found) else []


def made_of(node: ast.AST, written: Container[int]) -> ast.AST | None:
    """The node of a text that a node of its normal form was made of, if there is one."""
    while (one := getattr(node, "made_of", None)) is not None:
        node = one
        if len(found := written_as(node, written)) == 1:
            return found[0]
    return None


def stands_for(node: ast.AST, written: Container[int]) -> ast.AST | None:
    """The node of a text in whose place a node of its normal form stands, which may be more than it was made of."""
    while (one := getattr(node, "made_of", None)) is not None:
        if (whole := getattr(node, "stands_for", None)) is not None:
            return made_of(whole, written) or next(iter(written_as(whole, written)), None)
        node = one
    found = written_as(node, written)
    return found[0] if len(found) == 1 else None


def replaced(node: Node, swap: Callable[[ast.AST], ast.AST | None]) -> Node:
    """The tree with what `swap` gives instead of a node, where it gives something; what is above is copied, all else
    is the same. `swap` is asked of a node when all below it are done."""
    fields: dict[str, Any] = {}
    for name in CHILD_FIELDS.get(type(node), ()):
        value = getattr(node, name)
        if type(value) is list:
            if not value:
                continue
            new = [replaced(item, swap) if isinstance(item, ast.AST) else item for item in value]
            if any(one is not other for one, other in zip(new, value, strict=True)):
                fields[name] = new
        elif isinstance(value, ast.AST) and (one := replaced(value, swap)) is not value:
            fields[name] = one
    made = changed(node, **fields) if fields else node
    other: Any = swap(made)
    return made if other is None else other


def replaced_at(node: Node, places: Sequence[ast.AST], swap: Callable[[ast.AST], ast.AST | None]) -> Node:
    """The same where something is given for some nodes alone, and for what these are in."""
    every = [place.lineno for place in places if isinstance(place, ast.expr | ast.stmt)]
    if any(isinstance(line, MovedLine) for line in every):
        return replaced(node, swap)
    return _replaced_in(node, sorted(every), swap)


def _replaced_in(item: Node, lines: Sequence[int], swap: Callable[[ast.AST], ast.AST | None]) -> Node:
    """The same of a module or class for the statements in which one of some lines is; of anything else all of it.

    It is no function of `replaced_at`: one that calls itself there would be a cycle, and keep the module."""
    if not isinstance(item, ast.Module | ast.ClassDef) or getattr(item, "decorator_list", None):
        return replaced(item, swap)
    parts: dict[str, list[Any]] = {
        "body": [_replaced_in(each, lines, swap) if _holds(each, lines) else each for each in item.body]
    }
    if isinstance(item, ast.ClassDef) and item.bases:
        parts["bases"] = [replaced(each, swap) if _holds(each, lines) else each for each in item.bases]
    new = {
        name: made
        for name, made in parts.items()
        if any(one is not other for one, other in zip(made, getattr(item, name), strict=True))
    }
    return changed(item, **new) if new else item


def _holds(item: Any, lines: Sequence[int]) -> bool:
    if getattr(item, "scattered", False):
        return True  # parts of the class stand elsewhere
    first = min([item.lineno, *(each.lineno for each in getattr(item, "decorator_list", ()))])
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= item.end_lineno


def with_statements(
    node: Node,
    swap: Callable[[ast.AST], ast.AST | None],
    deeper: bool = True,
    of: tuple[type[ast.AST], ...] = (ast.AST,),
) -> Node:
    """The same of the statements of a tree alone, and of the handlers and cases that hold some; without `deeper` not
    of those in functions and classes inside it. `swap` is asked of nodes of some classes alone."""
    fields: dict[str, Any] = {}
    every = of[0] is ast.AST
    for name in STATEMENT_FIELDS.get(type(node), ()):
        value = getattr(node, name)
        new: list[Any] | None = None
        for index, item in enumerate(value):
            one: Any = item
            if STATEMENT_FIELDS[type(item)]:
                if deeper or not isinstance(item, DEFINING):
                    one = with_statements(item, swap, deeper, of)
            elif every:
                one = swap(item) or item
            if one is not item:
                new = new or [*value]
                new[index] = one
        if new:
            fields[name] = new
    made = changed(node, **fields) if fields else node
    other: Any = swap(made) if every or isinstance(made, of) else None
    return made if other is None else other


NO_HEADS = (*BLOCKS, "handlers", "cases", "decorator_list")
"""What of a statement is not said in its head."""


def comes_from_above(node: ast.stmt) -> bool:
    """Whether a statement of a normal form says what the text says in a line of its own above it, so that what is put
    in front of the one comes behind the other; what a helper says is run where it is called."""
    heads = (value for name, value in ast.iter_fields(node) if name not in NO_HEADS)
    every = (item for value in heads for item in (value if isinstance(value, list) else [value]))
    inner = (each for item in every if isinstance(item, ast.AST) for each in every_node(item))
    return any(
        isinstance(each, ast.expr) and not isinstance(each.lineno, MovedLine) and each.lineno < int(node.lineno)
        for each in inner
    )


def blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, class or module, those of functions and classes inside it left out."""
    stack: list[Any] = [owner]
    while stack:
        node = stack.pop()
        for name in BLOCKS:
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body
                stack.extend(item for item in body if STATEMENT_FIELDS[type(item)] and not isinstance(item, DEFINING))
        stack.extend(getattr(node, "handlers", ()))
        stack.extend(getattr(node, "cases", ()))
