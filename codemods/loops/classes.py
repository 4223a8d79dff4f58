"""Which classes are trained by a loop of their own, or are meant to be, and what their relatives say of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codemods.facts import MODULE, ClassFact, Facts
from codemods.family import family
from codemods.loops.flow import Flow, calls_on_self, read_flow
from codemods.scopes import bind
from codemods.source import ClassNode, PythonFile
from codemods.syntax import is_self_attribute, own_nodes, self_name, super_init_index

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
    shown = [_shown(item) for item in file.classes]
    told = [item for item in shown if item.flag or item.reached]
    if _set_from_outside(file):
        told.append(Shown("", "unclear", frozenset()))
    return tuple(told) or None


def loops(file: PythonFile, facts: Facts, code: str) -> Iterator[Loop]:
    """The classes of a file whose training has optimizer events of its own. What other files say was collected by
    the rule `code`."""
    if not present(file):
        return
    shown = _said(file, facts, code)
    names = [item.qualname for item in file.classes]
    for item in file.classes:
        fact = facts.files[file.path].find(item.qualname) if file.path in facts.files else None
        if fact is None or names.count(item.qualname) > 1 or facts.kind(fact) != MODULE:
            continue
        flows = tuple(_flows(item, _reached(item, fact, facts, shown)))
        if flows:
            yield Loop(item, fact, facts, _state(fact, facts, shown, file), flows)


def _said(file: PythonFile, facts: Facts, code: str) -> dict[tuple[str, str], Shown]:
    """What every class says, by path and name; those of the file as it is now."""
    shown = {(path, item.name): item for path, items in facts.collected(code).items() for item in items}
    return shown | {(file.path, item.qualname): _shown(item) for item in file.classes}


def state_of(fact: ClassFact, facts: Facts, code: str, file: PythonFile) -> Flagged:
    """How a class, of this or another file, is trained."""
    return _state(fact, facts, _said(file, facts, code), file)


def _reached(item: ClassNode, fact: ClassFact, facts: Facts, shown: dict[tuple[str, str], Shown]) -> tuple[str, ...]:
    """The class's own methods that training runs: the training step, and what it or a base's training step calls."""
    own = shown[fact.path, fact.name].reached
    for base in (facts.ancestry(fact) or ())[1:]:
        told = shown.get((base.path, base.name))
        own = own | told.reached if told else own
    reached = _closure(item, {"training_step", *own})
    return tuple(sorted(reached & item.methods.keys(), key=lambda name: (name != "training_step", name)))


def _closure(item: ClassNode, names: set[str]) -> set[str]:
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            method = item.methods.get(name)
            names |= calls_on_self(method) - found if method else set()
    return found


def _flows(item: ClassNode, names: tuple[str, ...]) -> Iterator[Flow]:
    for name in names:
        method = item.methods[name]
        flow = read_flow(method, bind(method, scope=item.scope))
        if flow:
            yield flow


def _shown(item: ClassNode) -> Shown:
    reached = _closure(item, {"training_step"}) - {"training_step"} if "training_step" in item.methods else set()
    return Shown(item.qualname, _flag(item), frozenset(reached))


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


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment with a value assigns to."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) and node.value is not None else []


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


def _state(fact: ClassFact, facts: Facts, shown: dict[tuple[str, str], Shown], file: PythonFile) -> Flagged:
    """How the class is trained, from what it, its relatives and others who set the flag say."""
    said_itself = shown.get((fact.path, fact.name))
    own = said_itself.flag if said_itself else ""
    if own in ("off", "unclear"):
        return own
    related = [(other, shown.get((other.path, other.name))) for other in family(facts, fact)]
    said: set[str] = {told.flag for _, told in related if told and told.flag}
    above = facts.ancestry(fact) or ()
    said |= {told.flag for (_, name), told in shown.items() if not name}
    if "unclear" in said or _set_from_outside(file):
        return "unclear"
    if any(told and told.flag == "off" for other, told in related if other in above):
        return "off"
    return "unclear" if said else own


def _set_from_outside(file: PythonFile) -> bool:
    """Whether the flag is set on something else than self, or given to a call, in the file."""
    stored = any(
        not isinstance(node.ctx, ast.Load) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        for node in file.attributes(FLAG)
    )
    return stored or any(keyword.arg == FLAG for call in file.calls for keyword in call.node.keywords)
