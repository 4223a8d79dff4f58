"""What a dictionary that is written out has under a key where it is read, for certain."""

from __future__ import annotations

import ast
import re
from typing import Any

from codemods.code.literals import literal
from codemods.code.nodes import parents_of, walk
from codemods.code.reaching import definitions
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, takes

OTHERWISE = re.compile(
    r"\b(?:exec|eval|globals|locals)\(|\bvars\(\s*\)|^\s*(?:global|nonlocal)\b|\bimport\s+\*", re.MULTILINE
)
"""What may reach a name without saying it plainly."""
AGAIN = (
    ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.Lambda,
)  # fmt: skip
"""What runs again, or another time than where it stands."""
CHAIN = 3
"""So many names may stand for one dictionary."""


def kept_item(file: PythonFile, within: tuple[ast.AST, ...], node: ast.Subscript) -> ast.expr | None:
    """The value that `name["key"]` has: of the dictionary that is bound to the name, or to the one that the name is
    bound to, in the same function or module, before it and in no loop, where up to there nothing is done with these
    names but to read items of them. None where any of that is not sure, and where the names are used for nothing else
    later: the normal form has the value itself then."""
    key = literal(node.slice)[1]
    space: Any = within[-1] if within else file.tree
    if not isinstance(key, str) or not isinstance(space, Function | ast.Module) or OTHERWISE.search(file.text):
        return None
    names: list[str] = []
    value: ast.expr | None = node.value
    while isinstance(value, ast.Name) and len(names) < CHAIN:
        bound = definitions(space, value.id)
        if len(bound) != 1 or value.id in names or (isinstance(space, Function) and takes(space, value.id)):
            return None
        names.append(value.id)
        value = bound[0].value
    if not isinstance(value, ast.Dict) or not _is_before(value, node) or not _is_only_read(space, names, node, value):
        return None
    keys = [literal(each) if each is not None else (False, None) for each in value.keys]
    if not all(known for known, _ in keys) or [each for _, each in keys].count(key) != 1:
        return None
    return value.values[[each for _, each in keys].index(key)]


def _is_before(made: ast.expr, use: ast.expr) -> bool:
    return (made.end_lineno or made.lineno) < use.lineno


def _is_only_read(space: ast.AST, names: list[str], use: ast.Subscript, made: ast.Dict) -> bool:
    """Whether all that a space says of some names up to a reading is to bind them, in no loop, and to read items of
    them, and it hands them to somebody later."""
    parents, handed = parents_of(space), False
    for node in walk(space):
        if not isinstance(node, ast.Name) or node.id not in names:
            continue
        if isinstance(node.ctx, ast.Store):
            if _is_run_again(node, parents):
                return False
            continue
        above = parents.get(node)
        item = isinstance(above, ast.Subscript) and above.value is node and isinstance(above.ctx, ast.Load)
        if (node.lineno, node.col_offset) > (use.end_lineno or use.lineno, use.end_col_offset or 0):
            printed = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "print"
            handed = handed or not (item or printed)
        elif not item and not _names_one_of(above, node, names):
            return False
    return handed and not _is_run_again(use, parents) and not _is_run_again(made, parents)


def _names_one_of(above: ast.AST | None, node: ast.Name, names: list[str]) -> bool:
    """Whether a statement gives a dictionary another of some names, and does no more."""
    if not isinstance(above, ast.Assign | ast.AnnAssign) or above.value is not node:
        return False
    targets = above.targets if isinstance(above, ast.Assign) else [above.target]
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id in names


def _is_run_again(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether something that runs again, or another time, stands around a node in its space."""
    above = parents.get(node)
    while above is not None and not isinstance(above, AGAIN):
        above = parents.get(above)
    return above is not None
