"""What a project's Python says of its configuration: which sections a Trainer gets, and which keys are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codemods.facts import TRAINER
from codemods.finding import Span
from codemods.scopes import ROOT, canonical
from codemods.source import PythonFile
from codemods.trainer.scripts import kept_options, own_options
from codemods.trainer.table import current, once

REMOVED = frozenset(once() - current())
"""Every argument that Trainer once took and takes no more."""
CHANGED = ("accelerator", "devices", "overfit_batches", "plugins", "precision", "profiler", "strategy")
"""Arguments that Trainer still takes, though not every value that they once had."""
_SPOKEN = re.compile(rf"(?:\.\s*|['\"])({'|'.join(sorted((*REMOVED, *CHANGED)))})\b")
"""An attribute, or a string that begins with a key: how keys are read."""
_ADD_ARGS, _FROM_ARGS = f"{TRAINER}.add_argparse_args", f"{TRAINER}.from_argparse_args"
_CLI = (f"{ROOT}.cli.LightningCLI", f"{ROOT}.utilities.cli.LightningCLI")
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")


@dataclass(frozen=True)
class Read:
    """A place where a key of a configuration that may change is read or set: `base` is the name that it is taken from.
    `harmless` holds where a missing key reads like an empty one; `at` are the offsets of the key, where another can
    be read in its place."""

    key: str
    base: str
    span: Span
    harmless: bool
    at: tuple[int, int] | None


@dataclass(frozen=True)
class Known:
    """What one file says: the sections that it hands to Trainer, those that Hydra builds something of, whether it
    runs LightningCLI or has Trainer declare its options, the keys it reads, and which of Trainer's old arguments it
    declares as options itself, or will."""

    given: frozenset[str]
    built: frozenset[str]
    cli: bool
    options: bool
    reads: tuple[Read, ...]
    takes: frozenset[str]


def read_evidence(file: PythonFile) -> Known | None:
    """What a file says, None where it says nothing; worked out once for the rules of the family."""
    if "configs" not in file.memo:
        file.memo["configs"] = _evidence(file)
    known: Known | None = file.memo["configs"]
    return known


def _evidence(file: PythonFile) -> Known | None:
    options = False
    given: set[str] = set()
    built: set[str] = set()
    hydra = ("instantiate", "call") if "hydra" in file.text else ()
    for call in file.calls_near(("Trainer", "add_argparse_args", "from_argparse_args", *hydra)):
        dotted = call.scope.resolve(call.node.func)
        options = options or dotted in (_ADD_ARGS, _FROM_ARGS)
        if dotted in (TRAINER, _FROM_ARGS):
            handed = [item.value for item in call.node.keywords if item.arg is None]
            handed += call.node.args[:1] if dotted == _FROM_ARGS else []
            given.update(name for node in handed for name in sections(file, node))
        elif dotted in _INSTANTIATE and call.node.args:
            built.update(sections(file, call.node.args[0]))
    takes = (kept_options(file) | own_options(file)) & REMOVED if options else frozenset()
    known = Known(frozenset(given), frozenset(built), _runs_cli(file), options, tuple(_reads(file)), frozenset(takes))
    return known if known.given or known.built or known.cli or known.options or known.reads else None


def _runs_cli(file: PythonFile) -> bool:
    if "LightningCLI" not in file.text:
        return False
    called = any(call.scope.resolve(call.node.func) in _CLI for call in file.calls_near(("CLI",)))
    return called or any(item.scope.resolve(base) in _CLI for item in file.classes for base in item.node.bases)


def sections(file: PythonFile, node: ast.expr, depth: int = 0) -> Iterator[str]:
    """The names of the configuration sections that an expression may stand for."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif (key := _taken(node)) is not None:
        yield key
    elif isinstance(node, ast.Call):
        inner = [*node.args[:1], *(item.value for item in node.keywords if item.arg is None)]
        for item in inner:
            yield from sections(file, item, depth + 1)
    elif isinstance(node, ast.Name) and depth < 4:
        for assigned in file.assignments_to(node.id):
            if assigned.node.value is not None:
                yield from sections(file, assigned.node.value, depth + 1)


def _taken(node: ast.expr) -> str | None:
    """The key of `x["key"]`, `x.get("key")` and `x.pop("key")`."""
    if isinstance(node, ast.Subscript):
        key: ast.expr | None = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
        key = node.args[0] if node.args else None
    else:
        return None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _reads(file: PythonFile) -> Iterator[Read]:
    words = frozenset(_SPOKEN.findall(file.text))
    if not words:
        return
    said = file.near(words)
    every: list[Any] = [*said.attributes, *said.items, *(call.node for call in said.calls)]
    found = [node for node in every if (node.attr if isinstance(node, ast.Attribute) else _taken(node)) in words]
    for node in sorted(found, key=lambda item: (item.lineno, item.col_offset)):
        base: Any = node.func if isinstance(node, ast.Call) else node
        if name := _name(base.value):
            key = node.attr if isinstance(node, ast.Attribute) else str(_taken(node))
            yield Read(key, name, file.span(node), _is_harmless(file, node, key), _place(file, node))


def _place(file: PythonFile, node: ast.Attribute | ast.Subscript | ast.Call) -> tuple[int, int] | None:
    """Where the key of `x.key` and `x["key"]` stands, if it is read there."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        end = file.offsets(node)[1]
        return end - len(node.attr), end
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        start, end = file.offsets(node.slice)
        return start + 1, end - 1
    return None


def _name(node: ast.expr) -> str | None:
    """The last name of what a key is taken from; None where it is a Trainer rather than its configuration."""
    if isinstance(node, ast.Name):
        return None if node.id in ("trainer", "self") else node.id
    if isinstance(node, ast.Attribute):
        whole = isinstance(node.value, ast.Name) and node.value.id in ("self", "pl_module", "model", "module")
        return None if whole and node.attr == "trainer" else node.attr
    return _taken(node)


def _is_harmless(file: PythonFile, node: ast.expr, key: str) -> bool:
    """`x.get("key")` without a default, and what an `if` around it asks for so."""
    if isinstance(node, ast.Call):
        return len(node.args) == 1 and not node.keywords and getattr(node.func, "attr", "") == "get"
    return any(
        any(_taken(part) == key for part in ast.walk(guard.test) if isinstance(part, ast.Call))
        and any(part is node for item in guard.body for part in ast.walk(item))
        for guard in file.statements
        if isinstance(guard, ast.If) and guard.lineno <= node.lineno <= (guard.end_lineno or 0)
    )


def is_trainer(target: object) -> bool:
    """Whether a dotted name is that of Lightning's Trainer."""
    return isinstance(target, str) and canonical(target) == TRAINER
