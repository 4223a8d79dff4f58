"""A Trainer that a script builds of a Namespace of a dictionary, which its configuration and command line fill."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_name
from codemods.lightning.arguments import current, once
from codemods.lightning.guards import asks_version
from codemods.lightning.kinds import stated_once
from codemods.lightning.namespace_uses import CHECKPOINT, NAMES
from codemods.lightning.strategies import STRATEGIES
from codemods.rule import TextEdit

BACKENDS = ("accelerator", "distributed_backend")
"""The keys that named a strategy."""
STAYING = ("gpus", "resume_from_checkpoint")
"""The keys of 1.x whose values the call that builds the Trainer, and `fit`, read."""


@dataclass(frozen=True)
class DictionaryEdits:
    """What a script says of its dictionaries: the edits by which they hold what 2.x takes, or `why` they may not.

    `keys` are those of `STAYING` that it speaks of, `accounted` the offsets of the other names of 1.x that are seen
    to be all right.
    """

    edits: tuple[TextEdit, ...] = ()
    why: str = ""
    keys: frozenset[str] = frozenset()
    accounted: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Key:
    """A key of a dictionary and the place that spells it; `value` is what a statement sets it to."""

    name: str
    node: ast.Constant
    value: ast.expr | None = None
    statement: ast.Assign | None = None


def configured(file: PythonFile, call: CallNode) -> DictionaryEdits | None:
    """What becomes of `Trainer.from_argparse_args(options, **more)`; None where the options are no such Namespace."""
    name = _dictionary(file, call)
    if name is None:
        return None
    known = f"configured.{name}.{call.node.lineno}"
    if known not in file.memo:
        file.memo[known] = _read(file, call, name)
    found: DictionaryEdits = file.memo[known]
    return found


def is_section(file: PythonFile, call: CallNode, section: str) -> bool:
    """Whether the dictionary that the options of a call are made of is read of a section of a configuration alone, as
    by `config.get(section)`."""
    values = [item.node.value for item in file.assignments_to(_dictionary(file, call) or "")]
    return bool(values) and all(value is not None and _names_section(value, section) for value in values)


def _names_section(value: ast.expr, section: str) -> bool:
    below = list(walk(value))
    named = any(isinstance(node, ast.Attribute) and node.attr == section for node in below)
    return named or any(isinstance(node, ast.Constant) and node.value == section for node in below)


def _dictionary(file: PythonFile, call: CallNode) -> str | None:
    """The name of the dictionary that the options of a call are made of."""
    given = call.node.args[0] if call.node.args else None
    made = stated_once(file, call, given.id) if isinstance(given, ast.Name) else None
    if not isinstance(made, ast.Call) or ast.unparse(made.func).rpartition(".")[2] != "Namespace":
        return None
    spread = made.keywords[0].value if len(made.keywords) == 1 and made.keywords[0].arg is None else None
    plain = isinstance(spread, ast.Name) and not made.args and file.assignments_to(spread.id)
    return spread.id if plain and isinstance(spread, ast.Name) else None


def _read(file: PythonFile, call: CallNode, name: str) -> DictionaryEdits:
    keys = list(_keys(file, name))
    gone = once() - current() - {*BACKENDS, *STAYING}
    if lost := sorted(key.name for key in keys if key.name in gone):
        return DictionaryEdits(why=f"its options come from {name}, which the script asks for {lost[0]}")
    if other := sorted(_spoken(file, call, keys) - once() - current()):
        why = f"its options come from {name}, which the script asks for {other[0]}"
        return DictionaryEdits(why=f"{why}: 1.x left out what Trainer did not take")
    named = _backends(file, name, keys)
    spread = [item.value for item in call.node.keywords if item.arg is None]
    more = _more(file, spread[0].id) if len(spread) == 1 and isinstance(spread[0], ast.Name) else None
    if spread and more is None:
        more = DictionaryEdits(why="more arguments come by `**`, which may hold those of 1.x")
    for part in filter(None, (named, more)):
        if part.why:
            return part
    parts = [named, *([more] if more else [])]
    return DictionaryEdits(
        tuple(edit for part in parts for edit in part.edits),
        keys=frozenset(key.name for key in keys if key.name in STAYING),
        accounted=frozenset().union(*(part.accounted for part in parts)),
    )


def _spoken(file: PythonFile, call: CallNode, keys: list[Key]) -> set[str]:
    """The keys of a dictionary that a file spells, those that it asks the Namespace for too."""
    given = call.node.args[0].id if isinstance(call.node.args[0], ast.Name) else ""
    near = [node for node, _ in file.nodes_near([given]) if isinstance(node, ast.Attribute)]
    return {key.name for key in keys} | {node.attr for node in near if is_name(node.value, given)}


def _keys(file: PythonFile, name: str) -> Iterator[Key]:
    """The keys that a file spells of a dictionary."""
    stores = {
        id(target): node
        for node, _ in file.nodes_near([name])
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    for node, _ in file.nodes_near([name]):
        if isinstance(node, ast.Subscript) and is_name(node.value, name) and isinstance(node.slice, ast.Constant):
            made = stores.get(id(node))
            yield Key(str(node.slice.value), node.slice, made.value if made else None, made)
        elif (
            isinstance(node, ast.Compare) and is_name(node.comparators[0], name) and isinstance(node.left, ast.Constant)
        ):
            yield Key(str(node.left.value), node.left)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_name(node.func.value, name):
            yield from (Key(str(item.value), item) for item in node.args[:1] if isinstance(item, ast.Constant))


def _backends(file: PythonFile, name: str, keys: list[Key]) -> DictionaryEdits:
    """The strategy that a script sets by another key: it, and what asks for that key, is `strategy` now."""
    asked = [key for key in keys if key.name in BACKENDS]
    values = [literal(key.value)[1] for key in asked if key.value is not None]
    if not any(value in STRATEGIES for value in values if isinstance(value, str)):
        plain = all(isinstance(value, str) and value not in NAMES for value in values)
        plain = plain and not any(key.name == BACKENDS[1] for key in asked)
        why = f"fixer cannot tell what {name} names by {asked[0].name}" if asked and not plain else ""
        return DictionaryEdits(why=why)
    seen = {id(key.node) for key in asked}
    spoken = [node for node in walk(file.tree) if isinstance(node, ast.Constant) and node.value in BACKENDS]
    read = [node for word in BACKENDS for node in file.attributes(word)]
    if {key.name for key in keys} & {"strategy"} or len({key.name for key in asked}) > 1:
        return DictionaryEdits(why=f"{name} gets its strategy by several keys")
    if any(value not in STRATEGIES for value in values) or read or any(id(node) not in seen for node in spoken):
        return DictionaryEdits(why=f"{name} names a strategy by {asked[0].name}, which is mentioned elsewhere too")
    inner = [(file.offsets(key.node)[0] + 1, len(key.name)) for key in asked]
    edits = tuple(TextEdit(start, start + length, "strategy") for start, length in inner)
    return DictionaryEdits(edits, accounted=frozenset(start - 1 for start, _ in inner))


def _more(file: PythonFile, name: str) -> DictionaryEdits | None:
    """A dictionary of further arguments that is filled key by key, all of which Trainer takes; None where it may hold
    others. A checkpoint callback is the first of the callbacks now."""
    keys = list(_keys(file, name))
    made = [item.node.value for item in file.assignments_to(name)]
    empty = [node for node in made if node is not None and ast.unparse(node) in ("dict()", "{}")]
    used = sum(is_name(node, name) for node, _ in file.nodes_near([name]))
    methods = any(
        isinstance(node.ctx, ast.Load) and is_name(node.value, name)
        for node in walk(file.tree)
        if isinstance(node, ast.Attribute)
    )
    if len(empty) != len(made) or not made or methods or used != len(keys) + len(made) + 1:
        return None
    served = [key for key in keys if key.name not in current() and asks_version(file, key.node)]
    old = [key for key in keys if key.name not in current() and key not in served]
    accounted = frozenset(file.offsets(key.node)[0] for key in (*served, *old))
    if not old:
        return DictionaryEdits(accounted=accounted)
    lists = [key for key in keys if key.name == "callbacks"]
    if len(old) > 1 or old[0].name != CHECKPOINT or len(lists) > 1:
        return None
    edits = _listed(file, old[0], *lists)
    return DictionaryEdits(tuple(edits), accounted=accounted) if edits else None


def _listed(file: PythonFile, key: Key, after: Key | None = None) -> list[TextEdit]:
    """The edits that put a checkpoint callback into the callbacks, before the list that a later line of the same block
    sets; none where that is not seen."""
    first, value = key.statement, key.value
    if first is None or not isinstance(value, ast.Call) or len(first.targets) > 1:
        return []
    start = file.offsets(key.node)[0] + 1
    begin, end = file.offsets(value)
    edits = [
        TextEdit(start, start + len(CHECKPOINT), "callbacks"),
        TextEdit(begin, begin, "["),
        TextEdit(end, end, "]"),
    ]
    if after is None:
        return edits
    second = after.statement
    blocks = [getattr(node, part, None) for node in walk(file.tree) for part in ("body", "orelse")]
    together = any(isinstance(block, list) and first in block and second in block for block in blocks)
    if (
        second is None
        or not isinstance(second.value, ast.List | ast.ListComp)
        or len(second.targets) > 1
        or second.lineno < first.lineno
        or not together
    ):
        return []
    behind = file.offsets(second.targets[0])[1]
    equal = file.text.index("=", behind)
    return [*edits, TextEdit(equal, equal, "+")]
