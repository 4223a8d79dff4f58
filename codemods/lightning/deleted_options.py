"""Options that a script takes out of what it parsed, as it does before it writes that to a file."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from codemods.code.nodes import every_node, walk
from codemods.code.source import PythonFile

_ASKING = (ast.In, ast.NotIn)


def deletions(file: PythonFile, names: Collection[str], parsed: Collection[str]) -> dict[str, list[ast.Delete]]:
    """The statements `del DICTIONARY["NAME"]`, by name, where the dictionary is all that was parsed, or a copy of it,
    and nothing may put the name into it. `parsed` are the texts of what was."""
    found: dict[str, list[ast.Delete]] = {}
    for statement in file.statements if "del " in file.text else ():
        if not isinstance(statement, ast.Delete):
            continue
        for name, holder in _keys(statement):
            if name in names and _is_parsed(file, holder, parsed):
                found.setdefault(name, []).append(statement)
    kept = _said(file, found) if found else set()
    return {name: statements for name, statements in found.items() if name not in kept}


def _said(file: PythonFile, found: Mapping[str, Sequence[ast.Delete]]) -> set[str]:
    """The names that a file says as a text or by a keyword, but where it deletes them or asks whether they are in."""
    every = list(walk(file.tree))
    targets = (target for statements in found.values() for item in statements for target in item.targets)
    known = {id(target.slice) for target in targets if isinstance(target, ast.Subscript)}
    known |= {id(item.left) for item in every if isinstance(item, ast.Compare) and isinstance(item.ops[0], _ASKING)}
    texts = {item.value for item in every if isinstance(item, ast.Constant) and id(item) not in known}
    texts |= {item.arg for item in every if isinstance(item, ast.keyword)}
    return {name for name in found if name in texts}


def _keys(statement: ast.Delete) -> Iterator[tuple[str, ast.expr]]:
    """What a statement deletes, where that is one key."""
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        yield str(target.slice.value), target.value


def _is_parsed(file: PythonFile, holder: ast.expr, parsed: Collection[str]) -> bool:
    if not isinstance(holder, ast.Name):
        return _is_all(holder, parsed)
    made = file.assignments_to(holder.id)
    return (
        bool(made)
        and all(item.node.value is not None and _is_all(item.node.value, parsed) for item in made)
        and _bindings(file, holder.id) == len(made)
    )


def _bindings(file: PythonFile, name: str) -> int:
    """How often a file binds a name, as a parameter too."""
    nodes = every_node(file.tree)
    return sum(
        (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == name)
        for node in nodes
    )


def _is_all(value: ast.expr, parsed: Collection[str]) -> bool:
    """Whether a value is the dictionary of what was parsed, or a copy of it."""
    match value:
        case ast.Attribute(value=owner, attr="__dict__"):
            return ast.unparse(owner) in parsed
        case ast.Call(func=ast.Name(id="vars"), args=[owner], keywords=[]):
            return ast.unparse(owner) in parsed
        case ast.Call(func=ast.Name(id="dict"), args=[inner], keywords=[]):
            return _is_all(inner, parsed)
        case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[], keywords=[]):
            return _is_all(inner, parsed)
    return False
