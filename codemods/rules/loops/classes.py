"""Which classes are trained by a loop of their own, or are meant to be, and what their relatives say of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codemods.code.scopes import bind
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, own_nodes, self_name, super_init_index, targets_of
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.family import family
from codemods.rules.loops.flow import EVENTS, Flow, calls_on_self, read_flow

FLAG = "automatic_optimization"
NAMES = ("optimizer", "opt", "optim")
TRIGGERS = (FLAG.encode(), b"manual_backward", b".optimizers(", *(f"self.{name}.step(".encode() for name in NAMES))
PLAIN = ("torch.", "abc.", "typing.", "object")
Flagged = Literal["", "off", "lost", "unclear"]


@dataclass(frozen=True)
class Shown:
    """What a class says to other files: whether it switches automatic optimization off (`lost`: before
    `super().__init__()`, which switches it on again; `unclear`: by more than a plain False), and which methods its
    training step calls on self."""

    name: str
    flag: Flagged
    reached: frozenset[str]


@dataclass(frozen=True)
class Loop:
    """A LightningModule whose training step, or a method that it calls, has optimizer events.

    `state` is how it is trained as things are; `flows` the methods with events that training reaches, the training
    step first.
    """

    item: ClassNode
    fact: ClassFact
    facts: Facts
    state: Flagged
    flows: tuple[Flow, ...]

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
        return all(
            base is not None
            and (
                base == MODULE or base.startswith(("torch.", "abc.", "typing.", "object")) or self._found(base, member)
            )
            for member in self.facts.ancestry(self.fact) or ()
            for base in member.bases
        )

    def _found(self, base: str, member: ClassFact) -> bool:
        return self.facts.find_class(base, member.path) is not None


def present(file: PythonFile) -> bool:
    """Whether a file may hold a class whose training has optimizer events of its own."""
    return ("backward" in file.text or "zero_grad" in file.text) and "def " in file.text


def collect(file: PythonFile) -> tuple[Shown, ...] | None:
    """What the classes of a file say to others, where there is anything to say."""
    told = [item for item in _shown(file).values() if item.flag or item.reached]
    if _set_from_outside(file):
        told.append(Shown("", "unclear", frozenset()))
    return tuple(told) or None


def loops(file: PythonFile, facts: Facts, code: str) -> Iterator[Loop]:
    """The classes of a file whose training has optimizer events of its own. What other files say was collected by
    the rule `code`."""
    if not present(file) or file.path not in facts.files:
        return
    names = [item.qualname for item in file.classes]
    for item in file.classes:
        eventful = _flows(file, item)
        fact = facts.files[file.path].find(item.qualname) if eventful else None
        if fact is None or names.count(item.qualname) > 1 or facts.kind(fact) != MODULE:
            continue
        reached = _reached(item, fact, facts, code, file)
        flows = tuple(flow for name, flow in eventful if name in reached)
        if flows:
            yield Loop(item, fact, facts, state_of(fact, facts, code, file), flows)


def _told(fact: ClassFact, facts: Facts, code: str, file: PythonFile) -> Shown | None:
    """What a class says: one of the file as it is now, of another as it was when it was read."""
    if fact.path == file.path:
        return _shown(file).get(fact.name)
    found = facts.files[fact.path].collected.get(code) or ()
    return next((item for item in found if item.name == fact.name), None)


def _shown(file: PythonFile) -> dict[str, Shown]:
    """What the classes of a file say, by name."""
    known: dict[str, Shown] | None = file.memo.get("loops.shown")
    if known is None:
        known = file.memo["loops.shown"] = {item.qualname: _read(file, item) for item in file.classes}
    return known


def _read(file: PythonFile, item: ClassNode) -> Shown:
    reached = _closure(item, {"training_step"}) - {"training_step"} if "training_step" in item.methods else set()
    return Shown(item.qualname, _flag(item) if FLAG in file.text else "", frozenset(reached))


def _flows(file: PythonFile, item: ClassNode) -> list[tuple[str, Flow]]:
    """The methods of a class that have optimizer events, by name, the training step first."""
    known: dict[int, list[tuple[str, Flow]]] = file.memo.setdefault("loops.flows", {})
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
    told = [_told(member, facts, code, file) for member in facts.ancestry(fact) or ()]
    return _closure(item, {"training_step"}.union(*(shown.reached for shown in told if shown)))


def _closure(item: ClassNode, names: set[str]) -> set[str]:
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            method = item.methods.get(name)
            names |= calls_on_self(method) - found if method else set()
    return found


def _flag(item: ClassNode) -> Flagged:
    if FLAG in item.methods:
        return "unclear"
    flags: list[Flagged] = []
    for node in item.node.body:
        targets = targets_of(node)
        if any(isinstance(target, ast.Name) and target.id == FLAG for target in targets):
            flags.append("off" if _is_false(node) else "unclear")
    for name, method in item.methods.items():
        this = self_name(method)
        for inner in own_nodes(method):
            if is_self_attribute(inner, FLAG, this) or is_self_attribute(inner, f"_{FLAG}", this):
                flags.append(_set_there(method, inner) if name == "__init__" else "unclear")
    if "off" in flags and set(flags) <= {"off", "lost"}:
        return "off"
    return "" if not flags else "lost" if set(flags) == {"lost"} else "unclear"


def _is_false(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Constant) and value.value is False


def _set_there(init: ast.FunctionDef | ast.AsyncFunctionDef, target: ast.AST) -> Flagged:
    """What a mention of the flag in the constructor does, where it is a plain statement of its body."""
    index = flag_index(init)
    if index is None or target not in ast.walk(init.body[index]):
        return "unclear"
    called = super_init_index(init)
    return "lost" if called is not None and index < called else "off"


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


def state_of(fact: ClassFact, facts: Facts, code: str, file: PythonFile) -> Flagged:
    """How a class, of this or another file, is trained, from what it, its relatives and others who set the flag say."""
    itself = _told(fact, facts, code, file)
    own: Flagged = itself.flag if itself else ""
    if own in ("off", "unclear"):
        return own
    related = [
        (other, told) for other in family(facts, fact) if (told := _told(other, facts, code, file)) and told.flag
    ]
    if any(told.flag == "unclear" for _, told in related) or _set_from_outside(file) or _set_elsewhere(facts, code):
        return "unclear"
    above = facts.ancestry(fact) or ()
    if any(told.flag == "off" for other, told in related if other in above):
        return "off"
    return "unclear" if related else own


def _set_elsewhere(facts: Facts, code: str) -> bool:
    return any(not item.name for items in facts.collected(code).values() for item in items)


def _set_from_outside(file: PythonFile) -> bool:
    """Whether the flag is set on something else than self, or given to a call, in the file."""
    if FLAG not in file.text:
        return False
    stored = any(
        not isinstance(node.ctx, ast.Load) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        for node in file.attributes(FLAG)
    )
    return stored or any(keyword.arg == FLAG for call in file.calls for keyword in call.node.keywords)
