"""Code that already serves both Lightning 1.x and 2.x: version checks and attempts with a fallback."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Literal

from codemods.code.nodes import every_node, walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.version_checks import answer

_OTHER_ERRORS = frozenset({
    "ArithmeticError", "AssertionError", "ConnectionError", "FileNotFoundError", "IOError", "IndexError", "KeyError",
    "KeyboardInterrupt", "LookupError", "MemoryError", "OSError", "OverflowError", "PermissionError", "RuntimeError",
    "StopIteration", "TimeoutError", "UnicodeError", "ValueError", "ZeroDivisionError", "OutOfMemoryError",
})  # fmt: skip
"""What an argument that is gone never raises."""
ASKED_FOR = "it is read where `hasattr` finds it, which it no longer does: check what the code does without it"
_TURNING = (
    "version", "parse", "int", "float", "str", "tuple", "list", "map", "len", "bool", "any", "all", "match", "search",
    "split", "startswith", "compare",
)  # fmt: skip
"""Words in what is called where a release is turned into what can be compared, or compared."""
Guard = Literal["none", "both", "unclear"]


def guard_of(file: PythonFile, facts: Facts, call: CallNode, keyword: str, called: str = TRAINER) -> Guard:
    """How a call of `called` that still passes `keyword` is kept from running on 2.x.

    `both`: it stands in one arm of a version check, or of `try`, whose other arm calls the same without the keyword.
    `unclear`: a version is asked about, but the other arm holds no such call. `none`: neither, or the arm is the one
    that runs on 2.x.
    """
    if not any(word in file.text for word in ("except", "ersion", "ERSION", "_GREATER", "signature")):
        return "none"
    around = [*_arms_around(file, facts, call.node)]
    modern = [
        other.node
        for other in (file.calls if around else ())
        if other.scope.resolve(other.node.func) == called
        and all(argument.arg != keyword for argument in other.node.keywords)
    ]
    found: Guard = "none"
    for arms, asks in around:
        if any(_holds(arm, other) for arm in arms for other in modern):
            return "both"
        found = "unclear" if asks else found
    return found


def asks_version(file: PythonFile, node: ast.AST, facts: Facts | None = None) -> bool:
    """Whether a node stands in an arm of a version check; with facts, of one whose answer they do not tell."""
    if not any(word in file.text for word in ("ersion", "ERSION", "_GREATER", "signature")):
        return False
    return any(asks for _, asks in _arms_around(file, facts, node))


def _arms_around(file: PythonFile, facts: Facts | None, node: ast.AST) -> Iterator[tuple[list[ast.AST], bool]]:
    """For each check around `node`: the arms that it does not stand in, and whether a version is asked about. One whose
    answer the facts tell is none: nobody looks at what it leaves out, and the rest runs."""
    arms: list[list[ast.AST]]
    around = list(_around(file.tree, node))
    for index, outer in enumerate(around):
        if isinstance(outer, ast.If | ast.IfExp) and _asks_version(outer.test, node):
            if facts and answer(file, facts, outer.test, around[1:index]) is not None:
                continue
            arms = [_listed(outer.body), _listed(outer.orelse)]
            asks = True
        elif isinstance(outer, ast.Try) and outer.handlers:
            arms = [_listed(outer.body), *(_listed(handler) for handler in outer.handlers if _catches(handler))]
            asks = False
        else:
            continue
        inside = [any(_holds(part, node) for part in arm) for arm in arms]
        if any(inside):
            yield [part for arm, here in zip(arms, inside, strict=True) if not here for part in arm], asks


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes what a call with an argument too many raises."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return not all(kind and ast.unparse(kind).rpartition(".")[2] in _OTHER_ERRORS for kind in caught)


def _around(tree: ast.Module, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes on whose lines another begins, and those without lines of their own below them, outer ones first."""
    line = getattr(node, "lineno", 0)
    stack: list[ast.AST] = [tree]
    while stack:
        outer = stack.pop()
        yield outer
        for inner in ast.iter_child_nodes(outer):
            decorators = getattr(inner, "decorator_list", None)
            start = decorators[0].lineno if decorators else getattr(inner, "lineno", line)
            if start <= line <= (getattr(inner, "end_lineno", None) or line):
                stack.append(inner)


def _asks_version(test: ast.expr, node: ast.AST) -> bool:
    return not _holds(test, node) and any(_speaks_of_version(part) for part in _compared(test))


def _speaks_of_version(part: ast.AST) -> bool:
    name = getattr(part, "id", None) or getattr(part, "attr", None) or ""
    return "version" in name.lower() or "_GREATER" in name or name == "signature"


def _compared(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a condition that may be a release: not what is only told from None, or asked whether it is anything,
    and of what a call is given only what that turns into one (`Path(logger(version=version)).exists()` does not)."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _compared(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _compared(node.operand)
    elif not (_is_any(node) or _is_told_from_none(node)):
        yield from _parts(node)


def _is_any(node: ast.AST) -> bool:
    """Whether a condition is a name for what has a version, as a logger has."""
    return (getattr(node, "id", None) or getattr(node, "attr", None)) == "version"


def _is_told_from_none(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
        and any(is_none(each) for each in node.comparators)
    )


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and not _turns_into_version(node):
        inner = [node.func, *(each for each in inner if "__version__" in ast.unparse(each))]
    for each in inner:
        yield from _parts(each)


def _turns_into_version(call: ast.Call) -> bool:
    """Whether a call makes a release, or part of one, of what it is given, or asks about it."""
    text = ast.unparse(call.func).lower()
    return any(word in text for word in _TURNING)


def _listed(arm: object) -> list[ast.AST]:
    return list(arm) if isinstance(arm, list) else [arm] if isinstance(arm, ast.AST) else []


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    return any(part is inner for part in walk(outer))


def fallback_of(file: PythonFile, node: ast.Attribute) -> Literal["none", "other", "asked"]:
    """What a file does where an attribute is not there: `other` does something else, in a handler or another arm;
    `asked` leaves out what stands there, since `hasattr` says so."""
    for outer in _around(file.tree, node):
        if isinstance(outer, ast.Try) and any(_holds(part, node) for part in outer.body):
            if any(_stands_in(handler, len(outer.body) == 1) for handler in outer.handlers):
                return "other"
        elif isinstance(outer, ast.If | ast.IfExp) and any(_holds(part, node) for part in _listed(outer.body)):
            if _asks_for(outer.test, node):
                return "other" if outer.orelse else "asked"
        elif isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
            before = itertools.takewhile(lambda value: not _holds(value, node), outer.values)
            if any(_asks_for(value, node) for value in before):
                return "asked"
    return "none"


def _stands_in(handler: ast.ExceptHandler, alone: bool) -> bool:
    """Whether a handler does something else where an attribute is missing; one that only passes loses what is tried."""
    return _catches_missing(handler, alone) and not all(isinstance(item, ast.Pass) for item in handler.body)


def _catches_missing(handler: ast.ExceptHandler, alone: bool) -> bool:
    """Whether a handler takes what an attribute that is not there raises: by that name, or with all else where nothing
    else stands in the `try`."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {ast.unparse(kind) if kind else "Exception" for kind in caught}
    return "AttributeError" in names or (alone and not names.isdisjoint(("Exception", "BaseException")))


def _asks_for(test: ast.AST, node: ast.Attribute) -> bool:
    asked = (item for item in every_node(test) if isinstance(item, ast.Call))
    return any(ast.unparse(item) == f"hasattr({ast.unparse(node.value)}, {node.attr!r})" for item in asked)
