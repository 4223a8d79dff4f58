"""The state of a trace: which weights lie cast in autocast's cache, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from codemods.code.syntax import Function
from codemods.rules.autocast.members import Key, Members
from codemods.rules.autocast.names import Grad, Region

Condition = tuple[str, bool]
Conditions = frozenset[Condition]


@dataclass(frozen=True)
class ExecutedStatement:
    """A statement being executed; `turn` counts executions, so that two runs through a loop differ."""

    statement: ast.stmt
    turn: int
    no_grad: bool = False


@dataclass(frozen=True)
class Frame:
    """A function (None for a module) being executed, the file that it stands in, and the statements entered in it,
    outermost first."""

    number: int
    path: str
    function: Function | None
    steps: tuple[ExecutedStatement, ...]


@dataclass(frozen=True)
class TraceSite:
    """Where something happens: the call, and the frames that lead to it, outermost first."""

    node: ast.AST
    turn: int
    frames: tuple[Frame, ...]

    def shown(self, path: str) -> str:
        """The line, as a message on that file names it: its own line that leads there, and the place itself."""
        line, place = getattr(self.node, "lineno", 1), self.frames[-1].path
        if place == path:
            return f"line {line}"
        own = [frame.steps[-1].statement.lineno for frame in self.frames if frame.path == path and frame.steps]
        return f"line {own[-1]} ({place}:{line})" if own else f"{place}:{line}"


@dataclass(frozen=True)
class Cast:
    """Weights of a module, cast by a forward. `off` holds where that ran without gradient; `changed` is where
    the weights were changed in place since, `sure` whether that was seen to be these weights."""

    key: Key
    off: bool
    conditions: Conditions
    site: TraceSite
    changed: TraceSite | None = None
    sure: bool = True


@dataclass(frozen=True)
class Meeting:
    """A forward (`read`) that meets a cast which it must not use. `regions` are those around it, `owners` the classes
    whose methods run, outermost first, with what their `self` is."""

    cast: Cast
    read: TraceSite
    key: Key
    regions: tuple[Region, ...]
    owners: tuple[tuple[Members, Key], ...]

    @property
    def members(self) -> Members | None:
        """The class whose method runs innermost."""
        return self.owners[-1][0] if self.owners else None

    @property
    def prefix(self) -> Key:
        return self.owners[-1][1] if self.owners else ("self",)


@dataclass
class CacheState:
    """What is known at one point of a trace. `toggled` are the modules that an optimizer left trainable (None
    for all, empty where it cannot be seen), `clears` counts how often the cache was cleared by hand,
    `frame` is the call that runs, and `prefix` what `self` is in it."""

    grad: Grad = field(default_factory=lambda: Grad(True))
    grad_text: str = ""
    regions: tuple[Region, ...] = ()
    casts: tuple[Cast, ...] = ()
    conditions: Conditions = frozenset()
    frozen: frozenset[Key] = frozenset()
    toggled: frozenset[Key] | None = None
    clears: int = 0
    frame: int = 0
    prefix: Key = ()
    env: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def copy(self) -> CacheState:
        return replace(self, env=dict(self.env), versions=dict(self.versions))

    @property
    def caches(self) -> bool:
        """Whether a forward reads and fills the cache here."""
        return bool(self.regions) and self.regions[-1].caches

    def variants(self) -> list[tuple[bool, Conditions]]:
        """Whether gradients are on, with the conditions under which that is so."""
        if self.grad.test is None:
            return [(self.grad.on, self.conditions)]
        return [(on, self.conditions | {(self.grad_text, on is self.grad.on)}) for on in (True, False)]

    def trains(self, key: Key) -> bool:
        """Whether the weights of a module may get a gradient here: others are not cached."""
        if any(related(key, frozen) and len(frozen) <= len(key) for frozen in self.frozen):
            return False
        return self.toggled is None or any(related(key, item) for item in self.toggled)

    def cast(self, key: Key, off: bool, conditions: Conditions, site: TraceSite) -> None:
        """Notes that a forward fills the cache, unless an earlier one certainly did."""
        earlier = [item for item in self.casts if item.key == key]
        if any(item.conditions <= conditions for item in earlier):
            return
        for item in earlier:
            if len(rest := item.conditions - conditions) == 1:
                text, holds = next(iter(rest))
                conditions |= {(text, not holds)}
        self.casts = (*self.casts, Cast(key, off, conditions, site))

    def forward(self, key: Key, site: TraceSite) -> list[tuple[Cast, bool]]:
        """Notes a forward of a module; returns the casts that it meets, and whether gradients are on then."""
        if not self.caches or not self.trains(key):
            return []
        met = [
            (cast, on)
            for on, holding in self.variants()
            for cast in self.casts
            if related(cast.key, key) and not exclusive(cast.conditions, holding)
        ]
        for on, holding in self.variants():
            self.cast(key, not on, holding, site)
        return met

    def change(self, keys: Iterable[Key] | None, site: TraceSite, sure: bool) -> None:
        """Notes that weights were changed in place (None: those of some module)."""
        wanted = None if keys is None else list(keys)
        self.casts = tuple(
            replace(item, changed=site, sure=sure)
            if item.changed is None and (wanted is None or any(related(item.key, key) for key in wanted))
            else item
            for item in self.casts
        )


def related(first: Key, second: Key) -> bool:
    """Whether one of two modules is, or may be a part of, the other."""
    length = min(len(first), len(second))
    return first[:length] == second[:length]


def exclusive(first: Conditions, second: Conditions) -> bool:
    """Whether two things cannot both happen."""
    return any((text, not holds) in second for text, holds in first)


def _joined(casts: list[tuple[Cast, ...]]) -> tuple[Cast, ...]:
    """All casts, each once; most ways do not cast anything, and their casts are those of before."""
    first, *others = casts
    return first if all(other is first for other in others) else tuple(dict.fromkeys(chain(*casts)))


def merged(states: list[CacheState]) -> CacheState:
    """What is known where several ways meet. Where one of them cleared the cache, its author has seen to it."""
    first = states[0]
    if len(states) == 1:
        return first
    names = dict.fromkeys(name for other in states for name in other.env)
    env = {name: first.env.get(name) for name in names}
    for name in names:
        if any(name not in other.env or other.env[name] != env[name] for other in states):
            env[name] = None
    versions = {
        name: max(other.versions.get(name, 0) for other in states)
        for name in sorted({name for other in states for name in other.versions})
    }
    clears = max(other.clears for other in states)
    kept = [other for other in states if other.clears == clears]
    same = all(other.toggled == first.toggled for other in states)
    return replace(
        first,
        casts=_joined([other.casts for other in kept]),
        clears=clears,
        conditions=frozenset.intersection(*(other.conditions for other in states)),
        frozen=frozenset.intersection(*(other.frozen for other in states)),
        toggled=first.toggled if same else None,
        env=env,
        versions=versions,
    )
