"""What a project's Python says of its configuration: which sections a Trainer gets, and which keys are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from codemods.code.calls import innermost, last_name
from codemods.code.nodes import walk
from codemods.code.scopes import canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, self_name, taken
from codemods.finding import Span
from codemods.lightning.argparse_options import own_options
from codemods.lightning.argparse_refusals import kept_options
from codemods.lightning.arguments import current, once
from codemods.lightning.facts import TRAINER
from codemods.lightning.lightning_cli import CLI
from codemods.rule import TextEdit

REMOVED = frozenset(once() - current())
"""Every argument that Trainer once took and takes no more."""
CHANGED = ("accelerator", "devices", "overfit_batches", "plugins", "precision", "profiler", "strategy")
"""Arguments that Trainer still takes, though not every value that they once had."""
_SPOKEN = re.compile(rf"(?:\.\s*|['\"])({'|'.join(sorted((*REMOVED, *CHANGED)))})\b")
"""An attribute, or a string that begins with a key: how keys are read."""
_ADD_ARGS, _FROM_ARGS = f"{TRAINER}.add_argparse_args", f"{TRAINER}.from_argparse_args"
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")
_HANDED = re.compile(r"[.\[][\s\"']*(\w*trainer\w*|pl|lightning)\b(?!\s*[.(])", re.IGNORECASE)
"""What a section for a Trainer may be spelled as where it is given to something."""


@dataclass(frozen=True)
class KeyUse:
    """A place where a key of a configuration that may change is read or set: `base` is the name that it is taken from.
    `harmless` holds where a missing key reads like an empty one; `at` are the offsets of the key, where another can
    be read in its place. `off` are the edits after which `if x.get("gpus"): x.gpus = 0` asks for the CPU by the new
    keys, of both places alike; `stores` holds where the key is set."""

    key: str
    base: str
    span: Span
    harmless: bool
    at: tuple[int, int] | None
    off: tuple[TextEdit, ...] = ()
    stores: bool = False


@dataclass(frozen=True)
class Handing:
    """A call that gives a section to a function, method or class of the project: the dotted name of that, and by which
    argument, counted without `self`."""

    called: str
    place: int | str
    section: str


_CLASS = "trainer_class"
"""The argument of LightningCLI that names the class of its Trainer."""


@dataclass(frozen=True)
class FileEvidence:
    """What one file says: the sections that it hands to Trainer, with what the call gives `beside` each, those that it
    hands to something else, the functions that hand a parameter to Trainer by `**`, the sections that Hydra builds
    something of, whether it runs LightningCLI or has Trainer declare its options, the keys it reads, which of Trainer's
    old arguments, or `accelerator`, it declares as options itself, or will, and the classes that it names for
    LightningCLI to build in the place of Trainer."""

    given: frozenset[str]
    beside: frozenset[tuple[str, str]]
    handed: frozenset[Handing]
    takers: frozenset[str]
    built: frozenset[str]
    cli: bool
    options: bool
    reads: tuple[KeyUse, ...]
    takes: frozenset[str]
    trainers: frozenset[str]


def read_evidence(file: PythonFile) -> FileEvidence | None:
    """What a file says, None where it says nothing; worked out once for the rules of the family."""
    if "configs" not in file.memo:
        file.memo["configs"] = _evidence(file)
    known: FileEvidence | None = file.memo["configs"]
    return known


def _evidence(file: PythonFile) -> FileEvidence | None:
    options = False
    given: set[str] = set()
    beside: set[tuple[str, str]] = set()
    built: set[str] = set()
    takers: set[str] = set()
    hydra = ("instantiate", "call") if "hydra" in file.text else ()
    for call in file.calls_near(("Trainer", "add_argparse_args", "from_argparse_args", *hydra)):
        dotted = call.scope.resolve(call.node.func)
        options = options or dotted in (_ADD_ARGS, _FROM_ARGS)
        if dotted in (TRAINER, _FROM_ARGS):
            handed = [item.value for item in call.node.keywords if item.arg is None]
            takers.update(_taker(call, handed))
            handed += call.node.args[:1] if dotted == _FROM_ARGS else []
            names = {name for node in handed for name in sections(file, node)}
            given |= names
            beside |= {(name, item.arg) for name in names for item in call.node.keywords if item.arg}
        elif call.node.args and (dotted in _INSTANTIATE or last_name(call.node.func) == "instantiate"):
            built.update(sections(file, call.node.args[0]))
    takes = (kept_options(file) | own_options(file)) & {*REMOVED, "accelerator"} if options else frozenset()
    given_on = frozenset(_handed(file))
    sets = frozenset(given), frozenset(beside), given_on, frozenset(takers), frozenset(built)
    trainers = frozenset(_trainers(file))
    known = FileEvidence(*sets, _runs_cli(file), options, tuple(_reads(file)), frozenset(takes), trainers)
    return known if any((given, given_on, takers, built, known.cli, options, known.reads, trainers)) else None


def _taker(call: CallNode, spread: Sequence[ast.expr]) -> Iterator[str]:
    """The function around a call that gives it a parameter by `**`, or the class whose constructor that is."""
    read = {node.id for value in spread for node in walk(value) if isinstance(node, ast.Name)}
    for place, item in enumerate(call.within):
        if isinstance(item, Function) and read & {each.arg for each in taken(item)}:
            owner = call.within[place - 1] if place else None
            yield owner.name if isinstance(owner, ast.ClassDef) and item.name == "__init__" else item.name


def _handed(file: PythonFile) -> Iterator[Handing]:
    """The sections that a file gives to what may be the project's own."""
    words = frozenset(_HANDED.findall(file.text))
    for call in file.calls_near(words) if words else ():
        given: list[tuple[int | str | None, ast.expr]] = [*enumerate(call.node.args)]
        given += [(item.arg, item.value) for item in call.node.keywords]
        for place, value in given:
            named = _name(value) if isinstance(value, ast.Attribute | ast.Subscript) else None
            found = [*sections(file, value)] if named in words else []
            called = called_by(file, call) if found else None
            if called and place is not None and called not in (TRAINER, _FROM_ARGS, *_INSTANTIATE):
                yield from (Handing(called, place, name) for name in found)


def called_by(file: PythonFile, call: CallNode) -> str | None:
    """The dotted name of what is called, a method of the class around among it."""
    function, owner = (
        call.node.func,
        innermost(call.within, ast.ClassDef),
    )
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and owner is not None:
        method = next((item for item in call.within if isinstance(item, Function)), None)
        if method is not None and function.value.id in (self_name(method), owner.name):
            return f"{file.module}.{owner.name}.{function.attr}"
    return call.scope.resolve(function)


def _runs_cli(file: PythonFile) -> bool:
    if "LightningCLI" not in file.text:
        return False
    called = any(call.scope.resolve(call.node.func) in CLI for call in file.calls_near(("CLI",)))
    return called or any(item.scope.resolve(base) in CLI for item in file.classes for base in item.node.bases)


def _trainers(file: PythonFile) -> Iterator[str]:
    """The classes that a file gives as `trainer_class=`, but for Lightning's own."""
    for call in file.calls_near((_CLASS,)) if _CLASS in file.text else ():
        for item in call.node.keywords:
            dotted = call.scope.resolve(item.value) if item.arg == _CLASS else TRAINER
            if dotted != TRAINER:
                yield dotted or last_name(item.value) or _CLASS


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


def _reads(file: PythonFile) -> Iterator[KeyUse]:
    words = frozenset(_SPOKEN.findall(file.text))
    if not words:
        return
    said = file.near(words)
    every: list[Any] = [*said.attributes, *said.items, *(call.node for call in said.calls)]
    found = [node for node in every if (node.attr if isinstance(node, ast.Attribute) else _taken(node)) in words]
    for node in sorted(found, key=lambda item: (item.lineno, item.col_offset)):
        base: Any = node.func if isinstance(node, ast.Call) else node
        for name in _names(file, base.value):
            key = node.attr if isinstance(node, ast.Attribute) else str(_taken(node))
            off = _switched_off(file, node) if key == "gpus" else ()
            stores = isinstance(getattr(node, "ctx", None), ast.Store)
            yield KeyUse(key, name, file.span(node), _is_harmless(file, node, key), _place(file, node), off, stores)


def _switched_off(file: PythonFile, node: ast.expr) -> tuple[TextEdit, ...]:
    """The edits of `x.gpus = 0`, or of `if x.get("gpus"): x.gpus = 0` where that is all there is to it."""
    for guard in file.statements:
        if not (isinstance(guard, ast.If) and guard.lineno <= node.lineno <= (guard.end_lineno or 0)):
            continue
        test, body = guard.test, guard.body
        target = _target_of_none(body[0]) if len(body) == 1 and not guard.orelse else None
        if (
            target is None
            or node not in (test, target)
            or not _spelled(file, test) == _spelled(file, target) is not None
        ):
            continue
        asked, written = _key_of(file, test), _written_off(file, body[0], target)
        return (TextEdit(*asked, "devices"), written) if asked and written else ()
    own = next((each for each in file.statements if _target_of_none(each) is node), None)
    written = _written_off(file, own, node) if own is not None else None
    return (written,) if written else ()


def _target_of_none(statement: ast.stmt) -> ast.expr | None:
    """What a statement sets to 0 or None alone."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    value = statement.value
    idle = isinstance(value, ast.Constant) and value.value in (0, None) and value.value is not False
    return statement.targets[0] if idle else None


def _written_off(file: PythonFile, statement: ast.stmt, target: ast.expr) -> TextEdit | None:
    """The edit of `x.gpus = 0` to the two lines that ask for the CPU by the new keys."""
    key = _key_of(file, target)
    start, end = file.offsets(statement)
    before = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    if key is None or before.strip():
        return None
    lines = [
        f"{file.text[start : key[0]]}{name}{file.text[key[1] : file.offsets(target)[1]]} = {text}"
        for name, text in (("accelerator", '"cpu"'), ("devices", "1"))
    ]
    return TextEdit(start, end, (("\r\n" if "\r\n" in file.text else "\n") + before).join(lines))


def _spelled(file: PythonFile, node: ast.expr) -> str | None:
    """The text of what `x.gpus`, `x["gpus"]` and `x.get("gpus")` are taken from."""
    base: Any = node.func if isinstance(node, ast.Call) else node
    key = node.attr if isinstance(node, ast.Attribute) else _taken(node)
    return file.source_of(base.value) if key == "gpus" else None


def _key_of(file: PythonFile, node: ast.expr) -> tuple[int, int] | None:
    """Where the key of such a node stands, without its quotes."""
    if isinstance(node, ast.Attribute):
        end = file.offsets(node)[1]
        return end - len(node.attr), end
    key = node.slice if isinstance(node, ast.Subscript) else node.args[0] if isinstance(node, ast.Call) else None
    text = file.source_of(key) if key is not None else ""
    if key is None or text[:1] not in ("'", '"') or text[1:-1] != "gpus":
        return None
    start, end = file.offsets(key)
    return start + 1, end - 1


def _place(file: PythonFile, node: ast.Attribute | ast.Subscript | ast.Call) -> tuple[int, int] | None:
    """Where the key of `x.key` and `x["key"]` stands, if it is read there."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        end = file.offsets(node)[1]
        return end - len(node.attr), end
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        start, end = file.offsets(node.slice)
        return start + 1, end - 1
    return None


def _names(file: PythonFile, node: ast.expr) -> list[str]:
    """The last names of what a key is taken from: its own, and those of what the file binds a variable to."""
    own = _name(node)
    if own is None:
        return []
    values = [item.node.value for item in file.assignments_to(node.id)] if isinstance(node, ast.Name) else []
    kept = [each.args[0] if isinstance(each, ast.Call) and each.args else each for each in values]
    others = [_name(each) for each in kept if isinstance(each, ast.Attribute | ast.Subscript)]
    return list(dict.fromkeys([own, *(name for name in others if name)]))


def _name(node: ast.expr) -> str | None:
    """The last name of what a key is taken from; None where it is a Trainer rather than its configuration."""
    if isinstance(node, ast.Name):
        return None if node.id in ("trainer", "self") else node.id
    if isinstance(node, ast.Attribute):
        whole = isinstance(node.value, ast.Name) and node.value.id in ("self", "pl_module", "model", "module")
        return None if whole and node.attr == "trainer" else node.attr
    return _taken(node)


def _is_harmless(file: PythonFile, node: ast.expr, key: str) -> bool:
    """`x.get("key")` without a default, and what an `if` around it asks for so, or asks of a name that is that."""
    if isinstance(node, ast.Call):
        return len(node.args) == 1 and not node.keywords and getattr(node.func, "attr", "") == "get"
    return any(
        any(_asks(file, part, key) for part in _required(guard.test))
        and any(part is node for item in guard.body for part in walk(item))
        for guard in file.statements
        if isinstance(guard, ast.If) and guard.lineno <= node.lineno <= (guard.end_lineno or 0)
    )


def _required(test: ast.expr) -> list[ast.expr]:
    """The parts of a condition, all of which have to hold."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _asks(file: PythonFile, test: ast.expr, key: str) -> bool:
    """Whether a condition asks for a key by `get`, or for a name that is bound so alone."""
    if isinstance(test, ast.Name):
        bound = [item.node.value for item in file.assignments_to(test.id)]
        return len(bound) == 1 and isinstance(bound[0], ast.Call) and _taken(bound[0]) == key
    return any(_taken(part) == key for part in walk(test) if isinstance(part, ast.Call))


def is_trainer(target: object) -> bool:
    """Whether a dotted name is that of Lightning's Trainer."""
    return isinstance(target, str) and canonical(target) == TRAINER
