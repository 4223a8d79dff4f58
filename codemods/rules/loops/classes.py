"""Which classes are trained by a loop of their own, or are meant to be, and what their relatives say of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from codemods.code.scopes import bind
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.optimization import FLAG as FLAG
from codemods.lightning.optimization import Answer, FlagSummary, answer, answer_of, set_elsewhere, told
from codemods.rules.loops.optimizer_events import EVENTS, EventFlow, calls_on_self, read_flow

NAMES = ("optimizer", "opt", "optim")
TRIGGERS = (FLAG.encode(), b"manual_backward", b".optimizers(", *(f"self.{name}.step(".encode() for name in NAMES))
PLAIN = ("torch.", "abc.", "typing.", "object")
Flagged = Literal["", "off", "lost", "unclear"]


@dataclass(frozen=True)
class LoopClassSummary:
    """What a class says to other files: of automatic optimization, and which methods its training step calls on
    self."""

    name: str
    told: FlagSummary | None
    reached: frozenset[str]

    @property
    def flag(self) -> Flagged:
        """Whether it switches automatic optimization off by itself (`lost`: before `super().__init__()`, which
        switches it on again; `unclear`: at times only, or on)."""
        return _state(answer([self.told]))


@dataclass(frozen=True)
class OptimizedModule:
    """A LightningModule whose training step, or a method that it calls, has optimizer events.

    `state` is how it is trained as things are; `flows` the methods with events that training reaches, the training
    step first.
    """

    item: ClassNode
    fact: ClassFact
    facts: Facts
    state: Flagged
    flows: tuple[EventFlow, ...]

    @cached_property
    def relatives(self) -> tuple[ClassFact, ...]:
        return family(self.facts, self.fact)

    def elsewhere(self, *words: str) -> bool:
        """Whether a file of a relative, other than the class's own, holds one of some words (which the rule has to
        have among its `mentions`)."""
        paths = {other.path for other in self.relatives} - {self.fact.path}
        return any(paths & self.facts.mentions.get(word.encode(), frozenset()) for word in words)

    def known_whole(self) -> bool:
        """Whether every base of the class is the project's own or Lightning's, so that nothing of it is unseen."""
        seen = all(base is not None for member in self.facts.ancestry(self.fact) for base in member.bases)
        line = self.facts.lineage(self.fact)
        return seen and all(isinstance(each, ClassFact) or each == MODULE or each.startswith(PLAIN) for each in line)


def present(file: PythonFile) -> bool:
    """Whether a file may hold a class whose training has optimizer events of its own."""
    return ("backward" in file.text or "zero_grad" in file.text) and "def " in file.text


def collect(file: PythonFile) -> tuple[LoopClassSummary, ...] | None:
    """What the classes of a file say to others, where there is anything to say."""
    return tuple(item for item in _shown(file).values() if item.told or item.reached) or None


def loops(file: PythonFile, facts: Facts, code: str) -> Iterator[OptimizedModule]:
    """The classes of a file whose training has optimizer events of its own. What other files say was collected by
    the rule `code`."""
    if not present(file) or file.path not in facts.files:
        return
    for item in file.classes:
        if not (eventful := _flows(file, item)):
            continue
        alike = [fact for fact in facts.files[file.path].classes if fact.name == item.qualname]
        if not alike or any(facts.kind(fact) != MODULE for fact in alike):
            continue
        fact = alike[-1]
        reached = _reached(item, fact, facts, code, file)
        flows = tuple(flow for name, flow in eventful if name in reached)
        if flows:
            yield OptimizedModule(item, fact, facts, state_of(fact, facts, code, file, begun=True), flows)


def _told(fact: ClassFact, facts: Facts, code: str, file: PythonFile) -> LoopClassSummary | None:
    """What a class says: one of the file as it is now, of another as it was when it was read."""
    if fact.path == file.path:
        return _shown(file).get(fact.name)
    found = facts.files[fact.path].collected.get(code) or ()
    return next((item for item in found if item.name == fact.name), None)


def _shown(file: PythonFile) -> dict[str, LoopClassSummary]:
    """What the classes of a file say, by name."""
    known: dict[str, LoopClassSummary] | None = file.memo.get("loops.shown")
    if known is None:
        known = file.memo["loops.shown"] = {}
        for item in file.classes:
            shown, before = _read(file, item), known.get(item.qualname)
            known[item.qualname] = replace(shown, reached=shown.reached | before.reached) if before else shown
    return known


def _read(file: PythonFile, item: ClassNode) -> LoopClassSummary:
    reached = _closure(item, {"training_step"}) - {"training_step"} if "training_step" in item.methods else set()
    return LoopClassSummary(item.qualname, told(file, item), frozenset(reached))


def _flows(file: PythonFile, item: ClassNode) -> list[tuple[str, EventFlow]]:
    """The methods of a class that have optimizer events, by name, the training step first."""
    known: dict[int, list[tuple[str, EventFlow]]] = file.memo.setdefault("loops.flows", {})
    if id(item.node) not in known:
        eventful = _eventful(file)
        methods = [(name, method) for name, method in item.methods.items() if id(method) in eventful]
        read = [(name, read_flow(method, bind(method, scope=item.scope))) for name, method in methods]
        found = [(name, flow) for name, flow in read if flow]
        known[id(item.node)] = sorted(found, key=lambda pair: (pair[0] != "training_step", pair[0]))
    return known[id(item.node)]


def _eventful(file: PythonFile) -> set[int]:
    """The functions of a file that hold a call of an optimizer event, at any depth."""
    found: set[int] | None = file.memo.get("loops.eventful")
    if found is None:
        found = file.memo["loops.eventful"] = {
            id(function)
            for call in file.calls_near(EVENTS)
            if isinstance(call.node.func, ast.Attribute) and call.node.func.attr in EVENTS
            for function in call.within
        }
    return found


def _reached(item: ClassNode, fact: ClassFact, facts: Facts, code: str, file: PythonFile) -> set[str]:
    """The class's own methods that training runs: the training step, and what it or a base's training step calls."""
    every = [_told(member, facts, code, file) for member in facts.ancestry(fact) or ()]
    return _closure(item, {"training_step"}.union(*(shown.reached for shown in every if shown)))


def _closure(item: ClassNode, names: set[str]) -> set[str]:
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            method = item.methods.get(name)
            names |= calls_on_self(method) - found if method else set()
    return found


def _is_false(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Constant) and value.value is False


def flag_index(init: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Where in a constructor's body the one statement `self.automatic_optimization = False` stands."""
    found = [
        index
        for index, node in enumerate(init.body)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and is_self_attribute(node.targets[0], FLAG, self_name(init))
        and _is_false(node)
    ]
    return found[0] if len(found) == 1 else None


def state_of(fact: ClassFact, facts: Facts, code: str, file: PythonFile, begun: bool = False) -> Flagged:
    """How a class, of this or another file, is trained, from what it, its relatives and others who set the flag say;
    with `begun` once the training has begun, where hooks in front of it may say so."""
    state = _flagged(fact, facts, code, file, begun)
    itself = _told(fact, facts, code, file)
    if itself and itself.flag and state in ("off", "unclear"):
        return state
    if set_elsewhere(facts, file):
        return "unclear"
    related = [other for other in family(facts, fact) if (shown := _told(other, facts, code, file)) and shown.flag]
    if state == "off":
        below = [_flagged(other, facts, code, file, begun) for other in facts.subclasses(fact)]
        return "unclear" if "unclear" in below else "off"
    return "unclear" if related else state


def _flagged(fact: ClassFact, facts: Facts, code: str, file: PythonFile, begun: bool) -> Flagged:
    """How a class is trained, going by it and the classes above it."""

    def told_of(member: ClassFact) -> FlagSummary | None:
        shown = _told(member, facts, code, file)
        return shown.told if shown else None

    found = answer_of(facts, fact, told_of)
    return "off" if begun and found.begun == "manual" else _state(found)


def _state(found: Answer) -> Flagged:
    if found.kind == "automatic":
        return "lost" if found.lost else "unclear" if found.said else ""
    return "off" if found.kind == "manual" else "unclear"
