"""What of the changed functions a run did not call: of those it says nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from verify.judging.record import RunRecord
from verify.reading.modules import code_of
from verify.reading.outlines import is_main
from verify.reading.sources import Sources

_BY_NAME = "jit"
"""What is in the name of a decorator whose functions are compiled: no call of them is seen."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Executed:
    """What runs say something about: `held` are the files that they executed or read, but for those of which nothing
    that was changed was executed; `idle` are changed functions of the others that were not called."""

    held: frozenset[str]
    idle: tuple[str, ...]


def watched(before: Sources, after: Sources, changed: Iterable[str]) -> list[str]:
    """The changed functions of the tree after, each as `path:line`: those of which it is to be known whether a run
    calls them."""
    trees = ((path, before.tree(path), after.tree(path)) for path in sorted(set(changed)))
    return [f"{path}:{line}" for path, old, new in trees if old and new for _, line in changed_functions(old, new)]


def executed(before: Sources, after: Sources, changed: Iterable[str], runs: Sequence[RunRecord]) -> Executed:
    """What runs of the tree after executed of what was changed."""
    held = {path for raw in runs for path in raw.held}
    if any(raw.calls is None for raw in runs):
        return Executed(frozenset(held), ())
    calls = {call for raw in runs for call in raw.calls or ()}
    idle: list[str] = []
    for path in sorted(held.intersection(changed)):
        old, new = before.tree(path), after.tree(path)
        if old is None or new is None:
            continue
        functions = changed_functions(old, new)
        left = [name for name, line in functions if f"{path}:{line}" not in calls]
        if functions and len(left) == len(functions) and _own(old) == _own(new):
            held.discard(path)
        else:
            idle += [f"{name} ({path})" for name in left]
    return Executed(frozenset(held), tuple(idle))


def changed_functions(old: ast.Module, new: ast.Module) -> list[tuple[str, int]]:
    """The functions of a file whose code is not as it was, with the line that their code begins at."""
    known = [(name, code) for name, _, code in _functions(old, "")]
    return [(name, line) for name, line, code in _functions(new, "") if (name, code) not in known]


def _functions(node: ast.AST, within: str) -> Iterator[tuple[str, int, str]]:
    """The functions in a piece of code, by their qualified names, but for those that are compiled."""
    for inner in _inner(node):
        name = f"{within}{inner.name}"
        if isinstance(inner, ast.ClassDef):
            yield from _functions(inner, f"{name}.")
        elif not any(_BY_NAME in ast.unparse(decorator) for decorator in inner.decorator_list):
            yield name, min([inner.lineno, *(one.lineno for one in inner.decorator_list)]), _own(inner)
            yield from _functions(inner, f"{name}.")


def _inner(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The functions and classes that are defined in a piece of code, not those within them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
        else:
            yield from _inner(child)


def _own(node: ast.AST) -> str:
    """The code of a file, or of a function, without the functions in it and without texts that do nothing."""
    return code_of(node, lambda inner: isinstance(inner, _FUNCTIONS) or _is_text(inner))


def same_code(old: ast.Module, new: ast.Module) -> bool:
    """Whether two files differ in comments, places and texts that do nothing alone."""
    return code_of(old, _is_text) == code_of(new, _is_text)


def code_outside(tree: ast.Module, *, main: bool = True) -> str:
    """The code of a file without its functions and without what it imports: an import that works says nothing of the
    functions that use it. With `main` false, without what runs only where the file is the script."""
    left = (*_FUNCTIONS, *_IMPORTS)
    return code_of(tree, lambda inner: isinstance(inner, left) or _is_text(inner) or (not main and is_main(inner)))


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
