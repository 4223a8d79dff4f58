"""Who binds and reads the names of a function or module, and which readings an assignment is sure to reach."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property
from typing import Any

from codemods.code.nodes import CHILD_FIELDS, every_node

Function = ast.FunctionDef | ast.AsyncFunctionDef
Path = tuple[tuple[int, int], ...]
WHOLE = frozenset({"locals", "vars", "eval", "exec", "globals"})
"""Functions that may read any name; `vars` of something reads none."""
STAR = "*"
"""What `from x import *` binds: any name."""
BINDING = frozenset({
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.ExceptHandler,
    ast.MatchAs, ast.MatchStar, ast.MatchMapping,
})  # fmt: skip
"""What binds names and is none."""
DEFINING = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


class NameUses:
    """What the body of a function, class or module says of names: how often each is bound, deleted and read, and where,
    by the blocks and positions that lead there."""

    def __init__(self) -> None:
        self.stores: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.deleted: Counter[str] = Counter()
        self.elsewhere: set[str] = set()
        self.open = False
        self._said: list[tuple[ast.Name | str | NameUses, Path]] = []

    def bind(self, name: str, path: Path) -> None:
        self.stores[name] += 1
        self._said.append((name, path))

    def read(self, node: ast.Name, path: Path) -> None:
        self.reads[node.id] += 1
        self._said.append((node, path))

    def take(self, node: ast.Name, path: Path) -> None:
        """Takes up a name that is read, bound or deleted."""
        if type(node.ctx) is ast.Load:
            self.read(node, path)
            self.open = self.open or node.id in WHOLE
        else:
            self.bind(node.id, path)
            if type(node.ctx) is ast.Del:
                self.deleted[node.id] += 1

    def add(self, inner: NameUses, path: Path) -> None:
        """Takes up what a function or class at the end of a path says."""
        for mine, others in ((self.stores, inner.stores), (self.reads, inner.reads), (self.deleted, inner.deleted)):
            for name, number in others.items():
                mine[name] += number
        self.elsewhere |= inner.elsewhere
        self.open = self.open or inner.open
        self._said.append((inner, path))

    @cached_property
    def places(self) -> tuple[dict[str, list[tuple[ast.Name, Path]]], dict[str, list[Path]]]:
        """Each reading of a name, and the places where each is bound."""
        loads: dict[str, list[tuple[ast.Name, Path]]] = {}
        stored: dict[str, list[Path]] = {}
        self._place((), loads, stored)
        return loads, stored

    def _place(
        self, before: Path, loads: dict[str, list[tuple[ast.Name, Path]]], stored: dict[str, list[Path]]
    ) -> None:
        for said, path in self._said:
            if type(said) is ast.Name:
                loads.setdefault(said.id, []).append((said, before + path))
            elif type(said) is str:
                stored.setdefault(said, []).append(before + path)
            elif isinstance(said, NameUses):
                said._place(before + path, loads, stored)


Parts = dict[int, tuple[ast.AST, NameUses]]
"""The parts of functions and classes by the identities of these, which they keep alive."""


class Names:
    """The names of a function or module, those of functions and classes inside it counted with them.

    `stores` counts what binds or deletes each name, a parameter and a `global` too (`global` twice: who else binds it
    is not seen), `reads` what reads it, `loads` holds each reading with the blocks and positions that lead to it.
    `open` holds where some reading may be of any name, `elsewhere` are the names of outer scopes that it binds. `parts`
    is what was read of functions and classes before, which is used again and added to.
    """

    def __init__(self, owner: Function | ast.Module, parts: Parts | None = None) -> None:
        part = _part(owner, {} if parts is None else parts)
        self._part = part
        self.stores, self.reads = Counter(part.stores), part.reads
        self.deleted, self.elsewhere, self.open = part.deleted, part.elsewhere, part.open
        self.parameters: frozenset[str] = frozenset()
        if not isinstance(owner, ast.Module):
            every = [node.arg for node in every_node(owner.args) if isinstance(node, ast.arg)]
            self.parameters = frozenset(every)
            self.stores.update(every)

    @property
    def loads(self) -> dict[str, list[tuple[ast.Name, Path]]]:
        return self._part.places[0]

    @property
    def stored_at(self) -> dict[str, list[Path]]:
        return self._part.places[1]

    def reaches(self, name: str, block: list[ast.stmt], index: int) -> list[ast.Name] | None:
        """The readings of a name where the statement at that position of a block binds it before each of them, and
        nothing else binds it; None where that is not so."""
        if self.open or self.stores[name] != 1 or name in self.parameters:
            return None
        if any(_behind(path, block, index) for path in self.stored_at.get(STAR, ())):
            return None
        found = self.loads.get(name, [])
        return [node for node, _ in found] if all(_behind(path, block, index) for _, path in found) else None

    def steady(self, name: str, block: list[ast.stmt], index: int) -> bool:
        """Whether a name is bound once at most, and not behind the statement at that position of a block."""
        places = self.stored_at.get(name, [])
        return self.stores[name] <= 1 and not any(_behind(path, block, index) for path in places)

    def is_never_read(self, name: str) -> bool:
        """Whether nothing reads or deletes a name, here or in the scopes around."""
        return not (self.reads[name] or self.deleted[name] or name in self.elsewhere or self.open)

    @property
    def bound(self) -> set[str]:
        """The names that the body binds or deletes, parameters among them where it does."""
        return {name for name, count in self.stores.items() if count > (name in self.parameters)}

    @property
    def said(self) -> set[str]:
        """Every name that is bound or read."""
        return {*self.stores, *self.reads, *self.elsewhere}


def _part(owner: ast.AST, parts: Parts) -> NameUses:
    """What is said in a function, class or module; what was read of it, or of those inside it, is not read again."""
    if id(owner) in parts:
        return parts[id(owner)][1]
    part = NameUses()
    stack: list[tuple[Any, Path]] = [(owner, ())]
    while stack:
        node, path = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            part.take(node, path)
            continue
        if kind in BINDING and node is not owner:
            for name in _bound(node):
                part.bind(name, path)
            if kind in DEFINING:
                part.add(_part(node, parts), path)
                continue
        elif kind is ast.Call and node.args and type(node.func) is ast.Name and node.func.id == "vars":
            part.read(node.func, path)
            stack.extend([(item, path) for item in (*node.args, *node.keywords)])
            continue
        elif kind is ast.Global or kind is ast.Nonlocal:
            part.stores.update([*node.names, *node.names])
            part.elsewhere.update(node.names)
        for field in CHILD_FIELDS.get(kind, ()):
            value = getattr(node, field)
            if type(value) is not list:
                if value is not None and type(value) is not ast.Constant:
                    stack.append((value, path))
            elif not value:
                continue
            elif isinstance(value[0], ast.stmt):
                stack.extend((item, (*path, (id(value), number))) for number, item in enumerate(value))
            else:
                stack.extend([(item, path) for item in value if item is not None and type(item) is not ast.Constant])
    parts[id(owner)] = owner, part
    return part


def _behind(path: Path, block: list[ast.stmt], index: int) -> bool:
    return any(place == id(block) and number > index for place, number in path)


def _bound(node: ast.AST) -> list[str]:
    """The names that a node which is no name binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inner = [] if isinstance(node, ast.ClassDef) else [node.args]
        return [node.name, *(item.arg for each in inner for item in every_node(each) if isinstance(item, ast.arg))]
    if isinstance(node, ast.Lambda):
        return [item.arg for item in every_node(node.args) if isinstance(item, ast.arg)]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    return [node.rest] if isinstance(node, ast.MatchMapping) and node.rest else []
