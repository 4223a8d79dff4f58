"""Where the values of keys that reach a Trainer by `**` can be read: names mean what they do where a key is set."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.code.calls import space_of
from codemods.code.literals import literal
from codemods.code.outline import Within
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import own_nodes
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.keyword_flow import HandedKeyword


def is_read_here(file: PythonFile, call: CallNode, entry: HandedKeyword) -> bool:
    """Whether the names in the value of a key are those that a call can see: it is a literal, or stands in the same
    function."""
    if entry.value is None or literal(entry.value)[0]:
        return entry.value is not None
    return entry.file is file and any(node is entry.value for node in own_nodes(space_of(file, call)))


def as_read(file: PythonFile, call: CallNode, entry: HandedKeyword, every: Iterable[HandedKeyword]) -> CallNode | None:
    """The call where the names in the value of a key mean what they do in it: itself, or as it would stand in another
    function of the file that sets the key. None where another file does, or where what is asked for beside it, of which
    the two may have to speak together, is set elsewhere."""
    if is_read_here(file, call, entry):
        return call
    if entry.file is not file or entry.value is None or isinstance(entry.holder, ast.AnnAssign):
        return None
    within = around(file, entry)
    given: list[ast.expr | None] = [item.value for item in call.node.keywords if item.arg in HARDWARE]
    for other in every:
        if other.name in HARDWARE and not (other.file is file and around(file, other) == within):
            given.append(other.value)
    if any(value is None or not literal(value)[0] for value in given):
        return None
    return CallNode(call.node, file.scope_within(within), within)


def around(file: PythonFile, entry: HandedKeyword) -> Within:
    """The functions and classes around a key."""
    known: dict[int, Within] = file.memo.setdefault("spaces of keys", {})
    if id(entry.place) not in known:
        found = (within for node, within in file.nodes_near({entry.name}) if node is entry.place)
        spaces = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        known[id(entry.place)] = tuple(node for node in next(found, ()) if isinstance(node, spaces))
    return known[id(entry.place)]
