"""Counts of steps that a script takes out of a checkpoint and only shows: in its messages, or in the names of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from codemods.code.nodes import children, walked
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import Facts

SAYS = frozenset({"print", "info", "debug", "warning"})
"""The last parts of the names of functions that write their arguments out."""


def shown_alone(facts: Facts, file: PythonFile, word: str) -> frozenset[int]:
    """The ids of the constants that are the key by which a file asks for a count, or whether there is one, where the
    count comes into nothing but text; none of them where one name may carry it elsewhere."""
    parents = _parents(file)
    keys = [node for node in walked(file.tree) if isinstance(node, ast.Constant) and node.value == word]
    asked = [key for key in keys if _is_asked_for(key, parents)]
    taken = [key for key in keys if (read := _read(key, parents)) and _is_shown(facts, file, read, parents)]
    return frozenset(map(id, [*asked, *taken]))


def _parents(file: PythonFile) -> Mapping[int, ast.AST]:
    return {id(child): node for node in (file.tree, *walked(file.tree)) for child in children(node)}


def _is_asked_for(key: ast.Constant, parents: Mapping[int, ast.AST]) -> bool:
    """`"global_step" in checkpoint`."""
    test = parents.get(id(key))
    return isinstance(test, ast.Compare) and test.left is key and isinstance(test.ops[0], ast.In | ast.NotIn)


def _read(key: ast.Constant, parents: Mapping[int, ast.AST]) -> ast.Subscript | None:
    """`checkpoint["global_step"]`, read."""
    node = parents.get(id(key))
    return node if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and node.slice is key else None


def _is_shown(facts: Facts, file: PythonFile, value: ast.expr, parents: Mapping[int, ast.AST]) -> bool:
    """Whether a value is only written out, by itself or by the names that it is handed on by."""
    names: set[str] = set()
    return _goes_into_text(facts, file, value, parents, names) and _are_shown(facts, file, names, parents)


def _are_shown(facts: Facts, file: PythonFile, names: set[str], parents: Mapping[int, ast.AST]) -> bool:
    """Whether whatever bears one of some names in a file, whatever it stands for there, is only written out."""
    seen: set[str] = set()
    while left := names - seen:
        seen |= left
        for node in walked(file.tree):
            if isinstance(node, ast.Name) and node.id in left and isinstance(node.ctx, ast.Load):
                if not _goes_into_text(facts, file, node, parents, names):
                    return False
            elif isinstance(node, ast.arg | ast.keyword) and node.arg in left:
                return False
    return True


def _goes_into_text(
    facts: Facts, file: PythonFile, value: ast.expr, parents: Mapping[int, ast.AST], names: set[str]
) -> bool:
    """Whether a value goes into a message, or to names, which are added; what a function returns goes to the names
    that take its result."""
    element, above = value, parents.get(id(value))
    if isinstance(above, ast.IfExp) and above.test is not element:
        element, above = above, parents.get(id(above))
    place = above.elts.index(element) if isinstance(above, ast.Tuple) else None
    above = parents.get(id(above)) if isinstance(above, ast.Tuple) else above
    if isinstance(above, ast.Assign):
        return _is_taken(above, names)
    if isinstance(above, ast.Call) and place is None:
        return element is not above.func and _writes(above.func)
    if isinstance(above, ast.Return):
        return _is_returned(facts, file, above, place, parents, names)
    return isinstance(above, ast.FormattedValue)


def _writes(function: ast.expr) -> bool:
    """`print`, `logger.info`, `"{:06}".format`."""
    template = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)
    return ast.unparse(function).rpartition(".")[2] in (("format",) if template else SAYS)


def _is_taken(node: ast.Assign, names: set[str]) -> bool:
    targets = [part for target in node.targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not all(isinstance(target, ast.Name) for target in targets):
        return False
    whole = not isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)
    names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return not whole


def _is_returned(
    facts: Facts, file: PythonFile, node: ast.Return, place: int | None, parents: Mapping[int, ast.AST], names: set[str]
) -> bool:
    """Whether what a function returns is taken by names that are only written out, in every file that calls it."""
    above: ast.AST | None = node
    while above is not None and not isinstance(above, Function):
        above = parents.get(id(above))
    if above is None or not isinstance(parents.get(id(above)), ast.Module):
        return False
    if (here := _takers(file, above.name, place, parents)) is None:
        return False
    names |= here
    stem = file.path.rpartition("/")[2].removesuffix(".py")
    named = re.compile(rb"\b%b\b" % stem.encode())
    for path, source in facts.holding(above.name):
        if path == file.path or not named.search(source.data) or not path.endswith((".py", ".ipynb")):
            continue
        other = facts.open(path)
        around = _parents(other) if other else {}
        there = _takers(other, above.name, place, around) if other else None
        if other is None or there is None or _imports(other, stem, above.name):
            return False
        if not _are_shown(facts, other, there, around):
            return False
    return True


def _imports(file: PythonFile, module: str, function: str) -> bool:
    """Whether a file may reach a function by the module's own name or by another of its own, or hand it on to others
    that do."""
    if file.path.endswith("__init__.py"):
        return True
    taken = [node for node in file.imports if isinstance(node, ast.Import) or not (node.module or "").endswith(module)]
    renamed = (alias for node in file.imports for alias in node.names if alias.name == function and alias.asname)
    return any(renamed) or any(alias.name.rpartition(".")[2] == module for node in taken for alias in node.names)


def _takers(file: PythonFile, function: str, place: int | None, parents: Mapping[int, ast.AST]) -> set[str] | None:
    """The names that take the result of a function in a file, or the element of it that has a place; None where
    something else does."""
    named = [node for node in walked(file.tree) if isinstance(node, ast.Name) and node.id == function]
    called = [use for use in named if not _is_bound_again(use, parents)]
    targets = [_target_of(use, parents, place) for use in called]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if all(isinstance(target, ast.Name) for target in targets) else None


def _is_bound_again(use: ast.Name, parents: Mapping[int, ast.AST]) -> bool:
    """`load = cached(load)`: the name stands for what gives the same."""
    if isinstance(use.ctx, ast.Store):
        return True
    call = parents.get(id(use))
    taken = parents.get(id(call))
    wrapped = isinstance(call, ast.Call) and call.args[:1] == [use] and isinstance(taken, ast.Assign)
    return wrapped and [ast.unparse(target) for target in taken.targets] == [use.id]  # type: ignore[union-attr]


def _target_of(use: ast.Name, parents: Mapping[int, ast.AST], place: int | None) -> ast.expr | None:
    """What takes the result of a call of a function, or the element of it that has a place."""
    call = parents.get(id(use))
    taken = parents.get(id(call))
    if not isinstance(call, ast.Call) or call.func is not use or not isinstance(taken, ast.Assign):
        return None
    target = taken.targets[0]
    if place is None or len(taken.targets) > 1 or not isinstance(target, ast.Tuple):
        return target if place is None and len(taken.targets) == 1 else None
    return target.elts[place] if place < len(target.elts) else None
