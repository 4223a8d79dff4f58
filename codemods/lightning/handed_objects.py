"""What functions of the project do with an object that they are handed."""

from __future__ import annotations

import ast

from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.tree_copies import DEFINING
from codemods.lightning.attribute_stores import is_rebound
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import ReadingPlace, definition_of

QUIET = ("rank_zero_only",)
"""Decorators that give the function what it is called with."""

UNSEEN = ("locals", "vars", "eval", "exec")
"""What may read a variable without its name."""


def is_only_read(facts: Facts, file: PythonFile, node: ast.Name, method: str) -> bool:
    """Whether a reading of a name is an argument of a function of the project, which does nothing with it but read
    attributes other than a method."""
    for call in file.calls_near([node.id]):
        place = _place(call.node, node)
        if place is not None:
            return _reads(facts, file, call, place, method)
    return False


def _place(call: ast.Call, node: ast.Name) -> int | str | None:
    """The position or the keyword by which a call is given an expression."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    by_place = next((index for index, each in enumerate(call.args) if each is node), None)
    return by_place if by_place is not None else next((each.arg for each in call.keywords if each.value is node), None)


def _reads(facts: Facts, file: PythonFile, call: CallNode, place: int | str, method: str) -> bool:
    found = definition_of(ReadingPlace.of(file, call), facts, call.node.func)
    function = found[1] if found else None
    if found is None or not isinstance(function, ast.FunctionDef) or not _is_only(facts, found[0], function.name):
        return False
    if not all(map(_is_quiet, function.decorator_list)):
        return False
    by_place = [*function.args.posonlyargs, *function.args.args]
    if isinstance(place, int):
        name = by_place[place].arg if place < len(by_place) else None
    else:
        name = place if any(each.arg == place for each in (*by_place, *function.args.kwonlyargs)) else None
    nodes = list(every_node(function))
    read = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr != method}
    return name is not None and all(
        id(node) in read for node in nodes if isinstance(node, ast.Name) and node.id in (name, *UNSEEN)
    )


def _is_only(facts: Facts, file: PythonFile, name: str) -> bool:
    """Whether a name of a module stands for one function, whatever was run before."""
    defining = [node for node in file.scope.statements if isinstance(node, DEFINING) and node.name == name]
    spoken = every_node(file.tree) if "global " in file.text else ()
    return (
        len(defining) == len(file.scope.bindings[name]) == 1
        and not any(isinstance(node, ast.Global) and name in node.names for node in spoken)
        and not is_rebound(facts, file.path, name)
    )


def _is_quiet(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] in QUIET
