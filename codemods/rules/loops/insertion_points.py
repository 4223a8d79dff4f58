"""What several rules on manual loops ask of a class: who else speaks of a word, and where a line may go."""

from __future__ import annotations

import ast
import re
from typing import Any

from codemods.code.nodes import walk
from codemods.code.said_by_code import code_of
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, own_nodes, targets_of
from codemods.finding import Span
from codemods.lightning.facts import CALLBACK, ClassFact
from codemods.rewrite.manual.configured import ConfiguredOptimizers, read_configured
from codemods.rewrite.manual.optimizer_factories import METHOD as MAKER
from codemods.rewrite.manual.optimizer_factories import unsteady
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rule import Match, NodeEdit
from codemods.rules.loops.classes import OptimizedModule
from codemods.rules.loops.optimizer_events import Event, EventFlow, Path
from codemods.rules.loops.steps import Step, Steps

ORDER = "Order of one step: forward, zero_grad, backward, step."
CLIPS = re.compile(r"clip_grad|clip_gradients")


def left(place: Span, message: str, why: str, advice: str = ORDER) -> Match:
    """A place that is left to a person, with the reason and what to do."""
    return Match(place, message, "manual", f"Not rewritten: {why}. {advice}")


def edit(flow: EventFlow, *steps: Step) -> tuple[NodeEdit, ...]:
    """The edit of a method that makes the steps."""
    return edit_of(flow.function, *steps)


def edit_of(function: Function, *steps: Step) -> tuple[NodeEdit, ...]:
    """The edit of a function that makes the steps."""
    return (NodeEdit(function, Steps(steps)),)


def class_text(file: PythonFile, loop: OptimizedModule) -> str:
    """The source of the class, with its comments: a word there may say what is meant."""
    return file.source_of(loop.item.node)


def class_code(file: PythonFile, loop: OptimizedModule) -> str:
    """What the class does, as text: no comment and no docstring is in it."""
    return code_of(file, loop.item.node)


def said_of(file: PythonFile, loop: OptimizedModule, pattern: str, *words: str) -> bool:
    """Whether the class, one of its relatives, or any callback speaks of something: by `pattern` in its own file,
    by one of `words` in the files of others (which the rule has to have among its `mentions`)."""
    near = {item.name for item in loop.relatives if item.path == file.path} | {loop.fact.name}
    near |= {item.name for item in loop.facts.classes() if item.path == file.path and _watches(loop, item)}
    for item in file.classes:
        if item.qualname in near and re.search(pattern, code_of(file, item.node)):
            return True
    watchers = {item.path for item in loop.facts.classes() if item.path != file.path and _watches(loop, item)}
    relatives = {item.path for item in loop.relatives} - {file.path}
    mentioned = {path for word in words for path in loop.facts.mentions.get(word.encode(), frozenset())}
    return bool(mentioned & (watchers | relatives))


def _watches(loop: OptimizedModule, item: Any) -> bool:
    return loop.facts.kind(item) == CALLBACK


def optimizers(loop: OptimizedModule) -> ConfiguredOptimizers | str:
    """The one optimizer and the schedulers of the class's `configure_optimizers`, its own or that of a base; a reason
    where they are not plain."""
    maker = _maker(loop)
    if maker is None:
        return "the class has no configure_optimizers of its own"
    fact, item = maker
    try:
        found = read_configured(item.methods[MAKER], item.scope)
    except NotPlain as error:
        return str(error)
    if why := unsteady(loop.facts, fact, loop.fact, found):
        return why
    if found.count != 1:
        return "configure_optimizers returns several optimizers"
    return found.doubts[0] if found.doubts else found


def _maker(loop: OptimizedModule) -> tuple[ClassFact, ClassNode] | None:
    """The class by whose `configure_optimizers` another is optimized."""
    if MAKER in loop.item.methods:
        return loop.fact, loop.item
    above = (loop.facts.ancestry(loop.fact) or ())[1:] if loop.known_whole() else ()
    for fact in above:
        if MAKER in fact.methods:
            home = loop.facts.open(fact.path)
            items = [item for item in home.classes if item.qualname == fact.name] if home else []
            return (fact, items[0]) if len(items) == 1 and MAKER in items[0].methods else None
    return None


def bound_before(flow: EventFlow, event: Event, path: Path) -> bool:
    """Whether the optimizer that an event speaks of is known by that name in front of a statement."""
    place = flow.statement(path).lineno
    names = {node.id for node in walk(event.receiver) if isinstance(node, ast.Name)}
    stored = [
        node.lineno
        for node in own_nodes(flow.function)
        if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load)
    ]
    return all(line < place for line in stored)


def before(path: Path, by: int = 1) -> Path:
    """The path of an earlier statement of the same block."""
    return (*path[:-1], (path[-1][0], path[-1][1] - by))


def direct(flow: EventFlow, path: Path) -> Event | None:
    """The event that the statement at `path` itself is."""
    return next((event for event in flow.events if event.path == path), None)


def below(flow: EventFlow, path: Path) -> list[Event]:
    """The events in the statement at `path`, itself included."""
    return [event for event in flow.events if event.path[: len(path)] == path]


def behind_clipping(file: PythonFile, flow: EventFlow, path: Path) -> Path:
    """The last of the statements behind `path` that clip gradients, or `path` itself."""
    block, (field, index) = flow.block(path), path[-1]
    while index + 1 < len(block) and CLIPS.search(file.source_of(block[index + 1])):
        index += 1
    return (*path[:-1], (field, index))


def handed_on(flow: EventFlow) -> bool:
    """Whether an optimizer of the method is given to a function that may zero or step it."""
    receivers = [event.receiver for event in flow.events if event.optimizer]
    keys = {node.id for receiver in receivers for node in walk(receiver) if isinstance(node, ast.Name)} - {"self"}
    for node in own_nodes(flow.function):
        if targets_of(node) and any(map(_is_optimizers, walk(node))):
            keys |= {name.id for target in targets_of(node) for name in walk(target) if isinstance(name, ast.Name)}
    return any(
        (isinstance(item, ast.Name) and item.id in keys) or any(map(_is_optimizers, walk(item)))
        for node in own_nodes(flow.function)
        if isinstance(node, ast.Call) and not _known_to_keep(node)
        for item in [*node.args, *(keyword.value for keyword in node.keywords)]
    )


def _is_optimizers(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "optimizers"


def _known_to_keep(call: ast.Call) -> bool:
    """Whether a function that is given an optimizer neither zeroes nor steps it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return "toggle" in name or CLIPS.search(name) is not None or (name.startswith("on_") and "optimizer" in name)
