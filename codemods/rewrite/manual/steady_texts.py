"""Whether an expression of `configure_optimizers` has the same value in a training step, where a loop works it out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.reaching import definitions
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.attribute_stores import is_rebound
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts

MAKER = "configure_optimizers"
BEFORE_TRAINING = frozenset({
    "__init__", "setup", "prepare_data", "configure_model", "configure_sharded_model", "configure_callbacks",
})  # fmt: skip
"""Methods whose assignments stand when optimizers are made, or are not made any more."""
COUNTED = frozenset({"current_epoch", "global_step"})
"""What a module counts while it trains."""
OF_TRAINER = frozenset({
    "check_val_every_n_epoch", "estimated_stepping_batches", "log_every_n_steps", "max_epochs", "max_steps",
    "min_epochs", "num_devices", "num_nodes", "world_size",
})  # fmt: skip
"""What a Trainer tells alike from when optimizers are made to the end of the training."""
MUTATORS = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "reverse", "setdefault", "sort", "update",
})  # fmt: skip
MODULES = ("pl_module", "lightning_module")
"""What a module is called where it is given to a callback."""


@dataclass(frozen=True)
class _ExpressionReads:
    """What an expression reads: names of the module, attributes, and keys."""

    names: frozenset[str]
    attributes: frozenset[str]
    keys: frozenset[str]


def changing(facts: Facts, maker: ClassFact, user: ClassFact, text: str) -> str | None:
    """A name in the text of an expression, of `maker`'s `configure_optimizers`, that may stand for something else in a
    method of `user` while it trains; None where there is none."""
    tree = ast.parse(text, mode="eval")
    read = _read(tree)
    if found := sorted(read.attributes & COUNTED) or _asked_of_trainer(tree):
        return found[0]
    file = facts.open(maker.path)
    if file is None or (read.names and maker.path != user.path):
        return min(read.names, default=text)
    if names := [name for name in sorted(read.names) if _is_bound_anew(facts, file, name)]:
        return names[0]
    for fact in dict.fromkeys((maker, user, *family(facts, user))):
        for item in _items(facts, fact):
            if name := _set_by(item, read):
                return name
    return _set_by_callback(facts, read)


def _read(tree: ast.Expression) -> _ExpressionReads:
    called = {node.func for node in every_node(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in every_node(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in every_node(tree) if isinstance(node, ast.Attribute) and node not in called}
    keys = {text for node in every_node(tree) for text in _keys(node)}
    return _ExpressionReads(frozenset(names - {"self", *dir(builtins)}), frozenset(attributes | keys), frozenset(keys))


def _keys(node: ast.AST) -> Iterator[str]:
    """The texts by which a node asks for an item or an attribute."""
    asked: list[ast.expr] = []
    if isinstance(node, ast.Subscript):
        asked = [node.slice]
    elif isinstance(node, ast.Call):
        asked = node.args[:1] if isinstance(node.func, ast.Attribute) and node.func.attr == "get" else node.args[1:2]
    yield from (each.value for each in asked if isinstance(each, ast.Constant) and isinstance(each.value, str))


def _asked_of_trainer(tree: ast.Expression) -> list[str]:
    """What is asked of the Trainer and may change."""
    owners = {node.value: node.attr for node in every_node(tree) if isinstance(node, ast.Attribute)}
    trainers = [node for node in every_node(tree) if isinstance(node, ast.Attribute) and node.attr == "trainer"]
    return [asked for node in trainers if (asked := owners.get(node, "trainer")) not in OF_TRAINER]


def _is_bound_anew(facts: Facts, file: PythonFile, name: str) -> bool:
    """Whether a name of a module may be bound a second time."""
    declared = any(isinstance(node, ast.Global) and name in node.names for node in every_node(file.tree))
    return declared or len(definitions(file.tree, name)) != 1 or is_rebound(facts, file.path, name)


def _items(facts: Facts, fact: ClassFact) -> list[ClassNode]:
    file = facts.open(fact.path)
    return [item for item in file.classes if item.qualname == fact.name] if file else []


def _set_by(item: ClassNode, read: _ExpressionReads) -> str | None:
    """What a method of a class sets, after the optimizers were made from it."""
    for name, method in item.methods.items():
        if name in BEFORE_TRAINING:
            continue
        first = _first_readings(method, read) if name == MAKER else {}
        for changed, line in _changes(method, read):
            if line >= first.get(changed, line):
                return changed
    return None


def _first_readings(method: Function, read: _ExpressionReads) -> dict[str, int]:
    """The lines in which a method reads something first; what it does not read is read behind it."""
    lines: dict[str, int] = dict.fromkeys((*read.names, *read.attributes, *read.keys), method.end_lineno or 0)
    for node in every_node(method):
        for text in _texts(node) if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else ():
            if text in lines:
                lines[text] = min(lines[text], node.lineno)  # type: ignore[attr-defined]
    return lines


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _changes(method: Function, read: _ExpressionReads) -> Iterator[tuple[str, int]]:
    """What a method sets, or changes in place, of what is read, with the line."""
    for node in every_node(method):
        stored = not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if isinstance(node, ast.Attribute) and stored and node.attr in read.attributes:
            yield node.attr, node.lineno
        elif isinstance(node, ast.Subscript) and stored:
            yield from ((text, node.lineno) for text in _changed_in(node, read))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            yield from ((text, node.lineno) for text in _texts(node.func.value) if _holds(read, text))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            name = node.args[1] if len(node.args) > 1 else None
            if not isinstance(name, ast.Constant) or name.value in read.attributes:
                yield from ((text, node.lineno) for text in sorted(read.attributes)[:1])


def _changed_in(node: ast.Subscript, read: _ExpressionReads) -> Iterator[str]:
    yield from (text for text in _texts(node.slice) if isinstance(node.slice, ast.Constant) and text in read.keys)
    yield from (text for text in _texts(node.value) if _holds(read, text))


def _holds(read: _ExpressionReads, text: str) -> bool:
    return text in read.names or text in read.attributes


def _set_by_callback(facts: Facts, read: _ExpressionReads) -> str | None:
    """What is set on a module by a callback."""
    for name in sorted(read.attributes):
        for path, source in facts.sources.items():
            if source.kind in ("python", "notebook") and f".{name}".encode() in source.unescaped:
                file = facts.open(path)
                for node in file.attributes(name) if file else ():
                    stored = not isinstance(node.ctx, ast.Load)
                    if stored and ast.unparse(node.value).endswith(MODULES):
                        return name
    return None
