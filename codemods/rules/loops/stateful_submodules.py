"""State that a module of the project keeps on itself, and that the LightningModule which calls it carries on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.said_by_code import code_of
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.lightning.facts import Facts
from codemods.rules.loops.loop_carried_state import CUT, Shape, built
from codemods.rules.loops.optimizer_events import calls_on_self
from codemods.rules.loops.stateful_layers import SETS_UP, find_kept, stores

RECURRENT = ("LSTM", "GRU", "RNN")


@dataclass(frozen=True)
class StatefulClass:
    """A class whose instances keep the state of a recurrent layer with its history from one call to the next: the
    attributes, what each holds, and the methods that set one of them anew and that no call of the instance runs."""

    name: str
    kept: tuple[tuple[str, Shape], ...]
    resets: frozenset[str]


@dataclass(frozen=True)
class StatefulSubmodule:
    """A module that a class holds as `self.attribute` and calls where it trains: where it does so first, what the
    module keeps, where the file may set that anew or cut it more often than once an epoch, and why it cannot be told
    whether somebody does."""

    attribute: str
    held: StatefulClass
    call: ast.Call
    tended: tuple[ast.Attribute, ...]
    unclear: str | None


def read_held(file: PythonFile) -> tuple[StatefulClass, ...]:
    """The classes of a file that keep a state so; those that train themselves are left out."""
    if not any(word in file.text for word in RECURRENT):
        return ()
    classes = [item for item in file.classes if "forward" in item.methods and "training_step" not in item.methods]
    return tuple(found for item in classes if (found := _read(file, item)))


def _read(file: PythonFile, item: ClassNode) -> StatefulClass | None:
    reached, todo = set[str](), ["forward"]
    while todo:
        name = todo.pop()
        if name in item.methods and name not in reached:
            reached.add(name)
            todo += calls_on_self(item.methods[name])
    kept: dict[str, Shape] = {}
    resets: set[str] = set()
    for found in find_kept(file, item, frozenset(reached)):
        for name, shape in zip(found.names, found.shapes, strict=True):
            setting = {method.name for method, _ in stores(item, name, found)} - SETS_UP
            if setting & reached:
                return None
            kept[name] = shape
            resets |= setting
    return StatefulClass(item.qualname, tuple(kept.items()), frozenset(resets)) if kept else None


def find_parts(
    file: PythonFile,
    facts: Facts,
    item: ClassNode,
    reached: frozenset[str],
    known: Mapping[tuple[str, str], StatefulClass],
) -> Iterator[StatefulSubmodule]:
    """The parts of a class that keep a state and that its methods `reached` call with gradients, as far as is seen."""
    for attribute in sorted(reached - item.methods.keys()) if known else ():
        dotted = built(item, attribute)
        fact = facts.find_class(dotted, file.path) if dotted else None
        held = known.get((fact.path, fact.name)) if fact else None
        call = next(_calls(item, reached, attribute), None) if held else None
        texts = [code_of(file, method) for name, method in item.methods.items() if name in reached]
        if held and call and not any(f".{attribute}(" in text and CUT.search(text) for text in texts):
            yield StatefulSubmodule(attribute, held, call, tuple(_tended(file, item, held)), _unclear(file, held))


def _calls(item: ClassNode, reached: frozenset[str], attribute: str) -> Iterator[ast.Call]:
    for name, method in item.methods.items():
        for node in walk(method) if name in reached else ():
            if isinstance(node, ast.Call) and is_self_attribute(node.func, attribute, self_name(method)):
                yield node


def _tended(file: PythonFile, item: ClassNode, held: StatefulClass) -> Iterator[ast.Attribute]:
    seldom = {id(node) for name in SETS_UP & item.methods.keys() for node in walk(item.methods[name])}
    yield from (node for name in held.resets for node in file.attributes(name) if id(node) not in seldom)
    for node in (node for name, _ in held.kept for node in file.attributes(name)):
        if isinstance(node.value, ast.Attribute) or (isinstance(node.ctx, ast.Store) and not _is_own(node)):
            yield node


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _unclear(file: PythonFile, held: StatefulClass) -> str | None:
    calls = [node for name in held.resets for node in file.attributes(name)]
    if not held.resets or calls:
        return None
    return f"{held.name}.{min(held.resets)} sets it again, and fixer cannot tell whether that is called for each batch"
