"""Whether a region is the outermost one for certain: code of a script that nothing else calls."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, statements_below
from codemods.lightning.facts import Facts
from codemods.rules.autocast.names import STACKS, region_of


def functions_with_regions(file: PythonFile) -> Iterator[str]:
    """The functions of a module that open a region with a `with` right in it, and those that call them."""
    if "autocast" not in file.text:
        return
    functions = {node.name: node for node in file.tree.body if isinstance(node, ast.FunctionDef)}
    wanted = [node for node in functions.values() if any(map(_has_inner_with, statements_below(node)))]
    seen: set[str] = set()
    while wanted:
        node = wanted.pop()
        if node.name not in seen:
            seen.add(node.name)
            yield node.name
            names = {call.within[0] for call in file.calls if _calls(call, node.name) and call.within}
            wanted.extend(item for item in functions.values() if item in names)


def _calls(call: CallNode, name: str) -> bool:
    return isinstance(call.node.func, ast.Name) and call.node.func.id == name


def _has_inner_with(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(isinstance(item, ast.With) for item in node.body[:-1])


def is_outermost(file: PythonFile, facts: Facts, root: Function | None) -> bool:
    """Whether a function is called by its own file's statements alone, outside regions, and no other file names
    it; the module's own statements are."""
    return root is None or _called_outside(file, facts, root, frozenset())


def _called_outside(file: PythonFile, facts: Facts, function: ast.AST, seen: frozenset[str]) -> bool:
    if not isinstance(function, ast.FunctionDef) or function not in file.tree.body or function.decorator_list:
        return False
    name = function.name
    if facts.mentions.get(name.encode(), frozenset()) - {file.path} or name.encode() not in facts.mentions:
        return False
    calls = [call for call in file.calls if _calls(call, name)]
    uses = [node for node in walk(file.tree) if isinstance(node, ast.Name) and node.id == name]
    if len(uses) != len(calls) or _inside_regions(file, facts, {id(call.node) for call in calls}):
        return False
    callers = {item for call in calls for item in call.within}
    if not all(isinstance(item, ast.FunctionDef) for item in callers):
        return False
    return all(
        item.name in seen or item.name == name or _called_outside(file, facts, item, seen | {name})
        for item in callers
        if isinstance(item, ast.FunctionDef)
    )


def _inside_regions(file: PythonFile, facts: Facts, calls: set[int]) -> bool:
    return any(
        id(inner) in calls
        for node in walk(file.tree)
        if isinstance(node, ast.With) and any(_may_open(item.context_expr, file, facts) for item in node.items)
        for inner in walk(node)
    )


def _may_open(node: ast.expr, file: PythonFile, facts: Facts) -> bool:
    """Whether a context may be a region: it is one, or is kept in a name, a stack, or a function of the project."""
    if not isinstance(node, ast.Call) or region_of(node, file.scope) is not None or "autocast" in ast.unparse(node):
        return True
    dotted = file.scope.resolve(node.func)
    if dotted is None:
        return not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))
    return dotted in STACKS or facts.find_definition(dotted, file.path) is not None
