"""How a training step takes its batch apart, read in its source and in that of what it hands the batch to.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Shape = Any
"""None: a tensor; a name: a tensor called so; a list: a row of shapes; a dict: shapes by key, "." marks attributes."""
DEPTH = 4
_MOST = 16
_OF_DICTS = frozenset({"items", "keys", "values", "get", "pop", "update", "copy"})
_OF_MODELS = ("input_ids", "attention_mask", "pixel_values", "input_values", "labels")
"""What models of transformers take besides what they require, of those that do."""


@dataclass(frozen=True)
class _Row:
    """A row of which the first and the last parts are known."""

    head: tuple[Shape, ...] = ()
    tail: tuple[Shape, ...] = ()

    def within(self, before: int, behind: int) -> _Row:
        """The row that this is a piece of: so many parts were left out of it."""
        return _Row((None,) * before + self.head, self.tail + (None,) * behind)


def taken_apart(module: Any) -> Shape:
    """How the training step of a module takes its batch apart; None where it does not, or where that is not seen."""
    function = inspect.getattr_static(type(module), "training_step", None)
    return _plain(_BatchReader(module, set()).read(function, 1, 0))


def _plain(shape: Shape) -> Shape:
    if isinstance(shape, _Row):
        return [_plain(each) for each in (*shape.head, *shape.tail)] if shape.head else None
    if isinstance(shape, dict):
        return {key: _plain(value) for key, value in shape.items()}
    return shape


class _BatchReader:
    """Reads how methods of an object, and functions, take one of their parameters apart."""

    def __init__(self, owner: Any, seen: set[Any]) -> None:
        self.owner, self.seen = owner, seen

    def read(self, function: Any, position: int | str, depth: int) -> Shape:
        tree = source_of(function)
        if tree is None or depth > DEPTH or (function, position) in self.seen:
            return None
        self.seen.add((function, position))
        parameters = [parameter.arg for parameter in (*tree.args.posonlyargs, *tree.args.args)]
        if isinstance(position, str):
            name = position if position in parameters else None
        else:
            name = parameters[position] if position < len(parameters) else None
        return self._name(tree, name, depth) if name else None

    def _name(self, tree: ast.AST, name: str, depth: int) -> Shape:
        """How a variable is taken apart."""
        found: Shape = None
        for node in ast.walk(tree):
            found = _merged(found, self._one(tree, node, name, depth))
        return found

    def _one(self, tree: ast.AST, node: ast.AST, name: str, depth: int) -> Shape:
        if isinstance(node, ast.Assign):
            return self._assigned(tree, node, name, depth)
        if isinstance(node, ast.Subscript) and _is(node.value, name) and (key := _key(node.slice)) is not None:
            if isinstance(key, str):
                return {key: self._inner(tree, node, depth)}
            inner = (self._inner(tree, node, depth),)
            return _Row(inner).within(key, 0) if key >= 0 else _Row((), inner).within(0, -key - 1)
        if isinstance(node, ast.Attribute) and _is(node.value, name) and node.attr not in _OF_DICTS:
            return None if hasattr(_tensor(), node.attr) else {".": None, node.attr: None}
        if isinstance(node, ast.Call):
            return self._call(node, name, depth)
        return None

    def _assigned(self, tree: ast.AST, node: ast.Assign, name: str, depth: int) -> Shape:
        """What is made of a variable, or of a piece of it, under another name."""
        found: Shape = None
        for target, value in _pairs(node):
            piece = _piece(value, name)
            new: Shape = None
            if piece and isinstance(target, ast.Tuple | ast.List):
                new = self._targets(tree, target, depth)
            elif piece and isinstance(target, ast.Name) and target.id != name and depth < DEPTH:
                new = self._name(tree, target.id, depth + 1)
            found = _merged(found, _whole(new, piece))
        return found

    def _targets(self, tree: ast.AST, target: ast.Tuple | ast.List, depth: int) -> Shape:
        shapes: list[Shape] = []
        for item in target.elts:
            if isinstance(item, ast.Starred):
                continue
            if isinstance(item, ast.Tuple | ast.List):
                shapes.append(self._targets(tree, item, depth))
            elif isinstance(item, ast.Name) and item.id != "_":
                inner = self._name(tree, item.id, depth + 1) if depth < 2 else None
                shapes.append(inner if inner is not None and item.id != "self" else item.id)
            else:
                shapes.append(None)
        return _Row(tuple(shapes))

    def _inner(self, tree: ast.AST, node: ast.Subscript, depth: int) -> Shape:
        """The name, or how it is taken apart, of what is taken out of a batch."""
        for other in ast.walk(tree):
            for target, value in _pairs(other) if isinstance(other, ast.Assign) else ():
                if value is node and isinstance(target, ast.Tuple | ast.List):
                    return self._targets(tree, target, depth)
                if _converted(value) is node and isinstance(target, ast.Name):
                    return target.id
        return None

    # -- what is called

    def _call(self, node: ast.Call, name: str, depth: int) -> Shape:
        """What a method, a module or a function of the project that is given the variable does with it."""
        given: list[tuple[int | str, tuple[int, int]]] = []
        given += [(number, piece) for number, item in enumerate(node.args) if (piece := _piece(item, name))]
        given += [(each.arg, piece) for each in node.keywords if each.arg and (piece := _piece(each.value, name))]
        stars = [piece for item in node.args if isinstance(item, ast.Starred) and (piece := _piece(item.value, name))]
        spread = any(each.arg is None and _is(each.value, name) for each in node.keywords)
        if not (given or stars or spread) or (called := self._called(node.func)) is None:
            return None
        function, owner, shift = called
        if stars:
            names = [item.arg for item in tree.args.args[shift:]] if (tree := source_of(function)) else []
            return _whole(_Row(tuple(names)), stars[0]) if names else None
        found: Shape = _keywords(function, shift) if spread else None
        reader = _BatchReader(owner, self.seen)
        for position, piece in given:
            moved = position if isinstance(position, str) else position + shift
            found = _merged(found, _whole(reader.read(function, moved, depth + 1), piece))
        return found

    def _called(self, node: ast.expr) -> tuple[Any, Any, int] | None:
        """The function that a call runs, the object that is its `self`, and how many of its parameters are that."""
        if isinstance(node, ast.Name) and node.id != "self":
            held = getattr(sys.modules.get(type(self.owner).__module__), node.id, None)
            return (held, self.owner, 0) if inspect.isfunction(held) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and _is(node.value.func, "super"):
            return _method(self.owner, node.attr)
        chain = _chained(node)
        if chain is None:
            return None
        owner = self.owner
        for name in chain[:-1]:
            owner = _held(owner, name)
        held = _held(owner, chain[-1]) if chain else owner
        return _method(held, "forward") if held is not None else _method(owner, chain[-1])


def _method(owner: Any, name: str) -> tuple[Any, Any, int] | None:
    """A method of a class that is not torch's own."""
    function = inspect.getattr_static(type(owner), name, None)
    if function is None or type(owner).__module__.startswith("torch."):
        return None
    return getattr(function, "__func__", function), owner, 0 if isinstance(function, staticmethod) else 1


def _held(owner: Any, name: str) -> Any:
    """What an object holds itself under a name: no property of it is asked."""
    inner = getattr(owner, "__dict__", {})
    return inner.get(name, (inner.get("_modules") or {}).get(name))


def _chained(node: ast.expr) -> list[str] | None:
    """The names of `self.a.b`."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return names if _is(node, "self") else None


def _keywords(function: Any, shift: int) -> Shape:
    """What a function takes that is given a batch as its keywords."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[shift:]
    except (TypeError, ValueError):
        return None
    plain = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    return {one.name: None for one in plain if one.default is one.empty or one.name in _OF_MODELS} or None


# -- expressions


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: `x, y = batch[0], batch[1]` says two things."""
    for target in node.targets:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(node.value, ast.Tuple | ast.List):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _piece(node: ast.expr, name: str) -> tuple[int, int] | None:
    """How many parts are left out before and behind where an expression is a variable, or a row without its first or
    its last parts; None where it is neither."""
    if _is(node, name):
        return 0, 0
    if not (isinstance(node, ast.Subscript) and _is(node.value, name) and isinstance(node.slice, ast.Slice)):
        return None
    before, behind = (_key(each) if each else 0 for each in (node.slice.lower, node.slice.upper))
    if not (isinstance(before, int) and isinstance(behind, int)) or before < 0 or behind > 0:
        return None
    return (before, -behind) if node.slice.step is None else None


def _whole(shape: Shape, piece: tuple[int, int] | None) -> Shape:
    """What a variable is where a piece of it has a shape."""
    if piece is None or piece == (0, 0):
        return shape if piece else None
    return shape.within(*piece) if isinstance(shape, _Row) else None


def _key(node: ast.expr) -> int | str | None:
    """A key, or a place in a row, that is written out."""
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    value = getattr(node.operand if isinstance(node, ast.UnaryOp) else node, "value", None)
    if isinstance(value, str):
        return value if sign == 1 else None
    return sign * value if type(value) is int and value < _MOST else None


def _converted(node: ast.expr) -> ast.expr:
    """What methods such as `.to(device)` and `.float()` are called on."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def source_of(function: Any) -> ast.FunctionDef | None:
    """The syntax tree of a function, also behind a decorator."""
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def _merged(one: Shape, other: Shape) -> Shape:
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return other if one is None or (isinstance(one, str) and other is not None) else one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key)) for key in [*one, *(k for k in other if k not in one)]}
    if isinstance(one, _Row) and isinstance(other, _Row):
        tails = _zipped(one.tail[::-1], other.tail[::-1])
        return _Row(_zipped(one.head, other.head), tails[::-1])
    return one


def _zipped(one: Sequence[Shape], other: Sequence[Shape]) -> tuple[Shape, ...]:
    size = max(len(one), len(other))
    padded = [(*row, *[None] * (size - len(row))) for row in (one, other)]
    return tuple(_merged(left, right) for left, right in zip(*padded, strict=True))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _tensor() -> type:
    import torch

    return torch.Tensor
