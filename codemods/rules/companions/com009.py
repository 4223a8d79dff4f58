"""COM009: abstract classes that left collections for collections.abc."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule, TextEdit

if TYPE_CHECKING:
    import libcst as cst

ABSTRACT = frozenset({
    "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "ByteString", "Callable", "Collection",
    "Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator", "KeysView", "Mapping",
    "MappingView", "MutableMapping", "MutableSequence", "MutableSet", "Reversible", "Sequence", "Set", "Sized",
    "ValuesView",
})  # fmt: skip
HOME = "collections"
THERE = "It is in `collections.abc` since Python 3.3."
MESSAGE = "`collections.{}` was removed in Python 3.10"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for node in file.imports:
        if isinstance(node, ast.ImportFrom) and node.module == HOME and not node.level and id(node) not in _tried(file):
            yield from _imported(file, node)
    for attribute, within in file.nodes_near(ABSTRACT):
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in ABSTRACT:
            continue
        here = file.scope_within(within).resolve(attribute.value) == HOME and isinstance(attribute.ctx, ast.Load)
        if here and id(attribute) not in _tried(file):
            edit = NodeEdit(attribute, _below_abc)
            message = MESSAGE.format(attribute.attr)
            yield Match(
                file.span(attribute), message, "safe", THERE, edits=(edit,), imports=(("collections.abc", None),)
            )


def _below_abc(node: cst.Attribute) -> cst.Attribute:
    import libcst as cst

    return node.with_changes(value=cst.Attribute(node.value, cst.Name("abc")))


def _imported(file: PythonFile, node: ast.ImportFrom) -> Iterator[Match]:
    names = [alias.name for alias in node.names]
    gone = [name for name in names if name in ABSTRACT]
    if not gone:
        return
    message = MESSAGE.format(gone[0])
    if len(gone) < len(names):
        reason = f"Not rewritten: other names come with it; write `from collections.abc import {', '.join(gone)}`."
        yield Match(file.span(node), message, "manual", reason)
    else:
        end = file.text.find(HOME, file.offsets(node)[0]) + len(HOME)
        yield Match(file.span(node), message, "safe", THERE, edits=(TextEdit(end, end, ".abc"),))


def _tried(file: PythonFile) -> frozenset[int]:
    """What is tried where its absence is caught, or stands under a question for the Python."""
    blocks = [node for node in every_node(file.tree) if isinstance(node, ast.Try | ast.If) and _is_asked(node)]
    return frozenset(id(inner) for block in blocks for inner in every_node(block))


def _is_asked(block: ast.Try | ast.If) -> bool:
    if isinstance(block, ast.Try):
        return bool(block.handlers)
    asked = ast.unparse(block.test)
    return any(word in asked for word in ("version", "hasattr", "PY3", "PY2"))


BEFORE = """\
import collections

import torch


def moved(batch, device):
    if isinstance(batch, collections.Mapping):
        return {name: moved(value, device) for name, value in batch.items()}
    if isinstance(batch, collections.Sequence):
        return [moved(value, device) for value in batch]
    return batch.to(device)
"""
AFTER = BEFORE.replace("import collections\n", "import collections\nimport collections.abc\n")
AFTER = AFTER.replace("collections.Mapping", "collections.abc.Mapping")
AFTER = AFTER.replace("collections.Sequence", "collections.abc.Sequence")
IMPORTED = "from collections import Iterable\n\nprint(isinstance([], Iterable))\n"
TRIED = """\
try:
    from collections.abc import Iterable
except ImportError:
    from collections import Iterable
"""

RULE = Rule(
    code="COM009",
    name="collections-abc",
    summary="Abstract classes of collections come from collections.abc",
    why=(
        "Python 3.10, the oldest that a current Lightning runs on, took `Mapping`, `Sequence`, `Iterable` and their "
        "like out of `collections`: what moves a batch to a device, or puts one together, ends with an AttributeError. "
        "They are in `collections.abc` since Python 3.3."
    ),
    fix="safe",
    versions="Python 3.10 and later",
    triggers=(b"collections",),
    words=tuple(name.encode() for name in sorted(ABSTRACT)),
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(AFTER, AFTER),
        Example(IMPORTED, IMPORTED.replace("collections", "collections.abc")),
        Example(TRIED, TRIED),
    ),
    stops=True,
    references=("https://docs.python.org/3/whatsnew/3.10.html#removed",),
)
