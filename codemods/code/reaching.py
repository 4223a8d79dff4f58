"""Reaching definitions: which assignments of a function, or of a module, a reading of a name may see."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from codemods.code.nodes import CHILD_FIELDS

Space = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.ClassDef
_SPACES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
SWALLOWING = frozenset({"suppress", "ignored", "raises", "assertRaises", "assertRaisesRegex", "ExitStack"})
"""Managers that end what is raised in their body. Any other may, and hardly one does: a lock, a file, a mode of torch
are no reason to doubt what stands behind them, unless something is to be read `surely`."""
ROUNDS = 2
"""So often a loop runs until its assignments have reached its start."""


@dataclass(frozen=True)
class Definition:
    """What a name is bound to, None where that is no expression; `some` holds where it was seen not to be None,
    `true` where it was seen to count as true."""

    value: ast.expr | None
    some: bool = False
    true: bool = False


Env = frozenset[Definition]
PARAMETER = ast.Name("", ast.Load())
"""What stands for what a caller gives."""


_BOUND: WeakKeyDictionary[Space, frozenset[str | None]] = WeakKeyDictionary()
_SAID: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()
_MADE: WeakKeyDictionary[Space, dict[str, list[Definition]]] = WeakKeyDictionary()
"""The names that spaces may bind, those that statements and their heads say, and the definitions that spaces make of
names, as long as there are these."""


def _bound_in(space: Space) -> frozenset[str | None]:
    """The names that anything in a space may bind; what those inside it bind is read once for all that hold these."""
    if (known := _BOUND.get(space)) is not None:
        return known
    found: set[str | None] = set()
    stack: list[Any] = [space]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _SPACES and node is not space:
            found |= _bound_in(node)
            continue
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                found.add(node.id)
        elif kind is ast.alias:
            found.add(node.asname or node.name.split(".")[0])
        elif kind in NAMED:
            found.add(node.name)
        elif kind is ast.MatchMapping:
            found.add(node.rest)
        for name in CHILD_FIELDS.get(kind, ()):
            value = getattr(node, name)
            if type(value) is list:
                stack += value
            elif value is not None:
                stack.append(value)
    return _BOUND.setdefault(space, frozenset(found))


def reaching(space: Space, name: str, use: ast.AST | None, start: Env = frozenset(), *, surely: bool = False) -> Env:
    """The definitions of a name that the space itself makes and that may reach a reading in it, or its end where there
    is no reading; `start` are those that it begins with. `surely` none is missing: any `with` may end what is raised
    in its body, so that what was there before it reaches what stands behind it."""
    if name not in _bound_in(space):
        return start
    walk = _ReachingWalk(name, use, surely)
    end = walk.block(space.body, start)
    if use is None:
        return frozenset().union(*walk.left, end or ()) if walk.left or end else frozenset()
    return frozenset().union(*walk.seen)


def narrowed(space: Space, name: str, use: ast.AST) -> Definition:
    """What a space that does not bind a name itself has seen of it, wherever a reading of it comes about."""
    if name in _bound_in(space):
        return Definition(PARAMETER)
    walk = _ReachingWalk(name, use, False)
    walk.block(space.body, frozenset({Definition(PARAMETER)}))
    seen = frozenset().union(*walk.seen)
    true = bool(seen) and all(item.true for item in seen)
    return Definition(PARAMETER, bool(seen) and all(item.some or item.true for item in seen), true)


def definitions(space: Space, name: str) -> list[Definition]:
    """All definitions of a name that the space itself makes."""
    if name not in _bound_in(space):
        return []
    known = _MADE.setdefault(space, {})
    if name not in known:
        walk = _ReachingWalk(name, None, False)
        walk.block(space.body, frozenset())
        known[name] = list(walk.made)
    return known[name]


class _ReachingWalk:
    """Goes through the statements of a space with the definitions that reach each. `seen` are those that reach the
    reading, `left` those with which the space is left early."""

    def __init__(self, name: str, use: ast.AST | None, surely: bool) -> None:
        self.name, self.use, self.surely = name, use, surely
        self.named = use is None or (isinstance(use, ast.Name) and use.id == name)
        self.seen: list[Env] = []
        self.left: list[Env] = []
        self.made: dict[Definition, None] = {}
        self.jumps: list[list[Env]] = []

    def block(self, body: Iterable[ast.stmt], env: Env | None) -> Env | None:
        """The definitions behind a block; None where nothing gets there."""
        for node in body:
            if env is None:
                return None
            env = self.statement(node, env)
        return env

    def statement(self, node: Any, env: Env) -> Env | None:
        if isinstance(node, ast.If):
            return self._if(node, env)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self._loop(node, env)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, env)
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                env = self._said(item, env)
            swallows = self.surely or any(_swallows(item.context_expr) for item in node.items)
            return self._within(node.body, env) if swallows else self.block(node.body, env)
        if isinstance(node, ast.Match):
            return self._match(node, env)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            heads = [*node.decorator_list, *(node.args.defaults if not isinstance(node, ast.ClassDef) else node.bases)]
            for head in heads:
                env = self._said(head, env)
            return self._bound(None) if node.name == self.name else env
        env = self._said(node, env)
        if isinstance(node, ast.Return | ast.Raise):
            self.left.append(env)
            return None
        if isinstance(node, ast.Break | ast.Continue) and self.jumps:
            self.jumps[-1].append(env)
            return None
        return env

    def _within(self, body: list[ast.stmt], env: Env) -> Env:
        """The definitions behind the body of a `with` that ends what is raised anywhere in it."""
        known = set(self.made)
        after = self.block(body, env)
        return env.union(after or (), (item for item in self.made if item not in known))

    def _bound(self, value: ast.expr | None) -> Env:
        made = Definition(value)
        self.made[made] = None
        return frozenset({made})

    def _said(self, node: ast.AST, env: Env) -> Env:
        """The definitions behind what a statement says itself."""
        if self.named and not self._says_name(node):
            return env
        if self.use is not None and any(item is self.use for item in _inside(node)):
            self.seen.append(self._bound(None) if _is_held_apart(node, self.use, self.name) else env)
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return env
            target = node.target
        if isinstance(target, ast.Name) and target.id == self.name:
            return self._bound(node.value)  # type: ignore[attr-defined]
        if (pair := _paired(target, getattr(node, "value", None), self.name)) is not None:
            return self._bound(pair)
        for item in _inside(node):
            if isinstance(item, ast.NamedExpr) and item.target.id == self.name:
                env = env | self._bound(item.value)
            elif isinstance(item, ast.alias) and (item.asname or item.name.split(".")[0]) == self.name:
                env = self._bound(None)
            elif isinstance(item, ast.Name) and item.id == self.name and not isinstance(item.ctx, ast.Load):
                walrus = any(isinstance(other, ast.NamedExpr) and other.target is item for other in _inside(node))
                env = env if walrus else self._bound(None)
        return env

    def _says_name(self, node: ast.AST) -> bool:
        """Whether a statement itself binds or reads the name."""
        known = _SAID.get(node)
        if known is None:
            known = _SAID[node] = frozenset(_said_by(node))
        return self.name in known

    def _if(self, node: ast.If, env: Env) -> Env | None:
        env = self._said(node.test, env)
        first = self.block(node.body, _narrowed(node.test, self.name, env, True))
        return _joined(first, self.block(node.orelse, _narrowed(node.test, self.name, env, False)))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env | None:
        head: ast.AST = node.test if isinstance(node, ast.While) else node.iter
        env = self._said(head, env)
        self.jumps.append([])
        for _ in range(ROUNDS):
            inner = env = self._said(head, env) if isinstance(node, ast.While) else env
            if not isinstance(node, ast.While):
                inner = self._turns(node) or self._said(node.target, env)
            env = _joined(env, self.block(node.body, inner)) or env
            env = env.union(*self.jumps[-1])
        self.jumps.pop()
        return _joined(env, self.block(node.orelse, env))

    def _turns(self, node: ast.For | ast.AsyncFor) -> Env | None:
        """What a loop over written-out values binds the name to in its turns; None for any other."""
        plain = isinstance(node.target, ast.Name) and node.target.id == self.name
        if not plain or not isinstance(node.iter, ast.Tuple | ast.List | ast.Set):
            return None
        if not node.iter.elts or any(isinstance(item, ast.Starred) for item in node.iter.elts):
            return None
        return frozenset[Definition]().union(*map(self._bound, node.iter.elts))

    def _try(self, node: Any, env: Env) -> Env | None:
        before, known, left = env, set(self.made), len(self.left)
        after = self.block(node.body, env)
        thrown = before | {item for item in self.made if item not in known}
        ends = [self.block(node.orelse, after) if after is not None else None]
        for handler in node.handlers:
            start = self._bound(None) if handler.name == self.name else thrown
            ends.append(self.block(handler.body, start))
        joined: Env | None = None
        for end in ends:
            joined = _joined(joined, end)
        if not node.finalbody:
            return joined
        every = thrown.union(
            {item for item in self.made if item not in known},
            *self.left[left:],
            *(self.jumps[-1:] and self.jumps[-1]),
            joined or (),
        )
        end = self.block(node.finalbody, every)
        return end if joined is not None else None

    def _match(self, node: ast.Match, env: Env) -> Env | None:
        env = self._said(node.subject, env)
        joined: Env | None = None
        whole = False
        for case in node.cases:
            parts = list(ast.walk(case.pattern))
            named = any(self.name in (getattr(item, "name", None), getattr(item, "rest", None)) for item in parts)
            joined = _joined(joined, self.block(case.body, self._bound(None) if named else env))
            pattern = case.pattern
            whole = whole or (isinstance(pattern, ast.MatchAs) and pattern.pattern is None and case.guard is None)
        return joined if whole else _joined(joined, env)


def _paired(target: ast.expr | None, value: ast.expr | None, name: str) -> ast.expr | None:
    """What `a, b = 1, 2` gives a name; None where its parts do not stand side by side, or bind the name twice."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return None
    if any(isinstance(item, ast.Starred) for item in (*target.elts, *value.elts)):
        return None
    pairs = zip(target.elts, value.elts, strict=True)
    found = [given for item, given in pairs if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(item))]
    plain = [given for item, given in zip(target.elts, value.elts, strict=True) if getattr(item, "id", None) == name]
    return plain[0] if len(found) == len(plain) == 1 else None


def _joined(one: Env | None, other: Env | None) -> Env | None:
    return other if one is None else one if other is None else one | other


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is below it, what runs later and comprehensions' own names left out."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, ast.comprehension):
            stack.extend([item.iter, *item.ifs])
        elif not isinstance(item, NESTED):
            stack.extend(ast.iter_child_nodes(item))


def _said_by(node: ast.AST) -> Iterator[str]:
    """The names that a node binds or reads, but for what runs later."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is ast.Name:
            yield item.id
        elif kind is ast.alias:
            yield item.asname or item.name.split(".")[0]
        elif kind not in NESTED:
            for field in CHILD_FIELDS.get(kind, ()):
                value = getattr(item, field)
                if type(value) is list:
                    stack.extend(value)
                else:
                    stack.append(value)


def _swallows(node: ast.expr) -> bool:
    """Whether what a `with` enters ends what is raised in its body."""
    called = node.func if isinstance(node, ast.Call) else node
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in SWALLOWING


def _is_held_apart(node: ast.AST, use: ast.AST, name: str) -> bool:
    """Whether a reading in a statement is of a comprehension's own name, or of a generator, which runs later."""
    for item in _inside(node):
        if isinstance(item, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) and item is not use:
            first = item.generators[0].iter
            inside = any(each is use for each in ast.walk(item)) and not any(each is use for each in ast.walk(first))
            targets = (each for part in item.generators for each in ast.walk(part.target))
            own = any(isinstance(each, ast.Name) and each.id == name for each in targets)
            if inside and (own or isinstance(item, ast.GeneratorExp)):
                return True
    return False


def _narrowed(test: ast.expr, name: str, env: Env, holds: bool) -> Env:
    """The definitions that are left where a test on a name holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _narrowed(test.operand, name, env, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for part in test.values:
            env = _narrowed(part, name, env, holds)
        return env
    if isinstance(test, ast.Name) and test.id == name:
        return frozenset(replace(item, true=True) for item in env) if holds else env
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name:
        none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if len(test.ops) == 1 and none:
            some = isinstance(test.ops[0], ast.IsNot | ast.NotEq) is holds
            return frozenset(replace(item, some=True) for item in env) if some else env
    return env
