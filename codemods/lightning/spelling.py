"""How a name of Lightning is written in a file, and what has to be imported for it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.code.nodes import every_node, walk
from codemods.code.scopes import NAMESPACES, ROOT, Scope, brings_lightnings, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name

Imports = Sequence[tuple[str, str | None]]
"""What is imported: a module, and a name of it, or None for the module itself."""


@dataclass(frozen=True)
class Spelled:
    """How a name of Lightning is written in a file, and what must be imported for it."""

    text: str
    imports: tuple[tuple[str, str | None], ...] = ()


def spelled_in(file: PythonFile, name: str, within: tuple[ast.AST, ...] = (), line: int = 0) -> Spelled | str:
    """How `callbacks.ModelSummary` and its like are written in a file, within some nodes and in a line of them, or why
    they cannot be."""
    scope = file.scope_within(within)
    whole = [word for word, targets in file.scope.bindings.items() if {canonical(item) for item in targets} == {ROOT}]
    whole = [word for word in whole if canonical(scope.lookup(word) or "") == ROOT and _is_run(file, word)]
    if whole and "Trainer" not in file.scope.bindings:
        return Spelled(f"{min(whole)}.{name}")
    if _is_optional(file):
        return "the file imports Lightning under a condition, and more of it would be needed"
    module, _, last = name.rpartition(".")
    imports = ((f"{namespace_of(file)}.{module}", last),)
    taken = hidden(file, imports, within, line)
    return f"this file uses the name `{taken}` for something else" if taken else Spelled(last, imports)


def hidden(file: PythonFile, imports: Imports, within: tuple[ast.AST, ...], line: int = 0) -> str | None:
    """The first name that imports at the top of a file would bind and that is, or may be, something else in a line
    within some functions and classes; in line 0 all that these bind is."""
    taken = taken_name(file.scope.bindings, imports)
    names = [item or module.partition(".")[0] for module, item in imports]
    scope, below = file.scope_within(within), line
    while scope.parent is not None and taken is None:
        own = [name for name in names if name in scope.bindings and not _is_imported(scope, name, imports, below)]
        taken = min(own, default=None)
        below, scope = getattr(scope.node, "lineno", 0), scope.parent
    return taken or next((name for name in names if _is_rebound(file, name, line)), None)


def _is_imported(scope: Scope, name: str, imports: Imports, line: int) -> bool:
    """Whether the body of a function imports the same by a name before a line of it."""
    before = [item for item in getattr(scope.node, "body", ()) if item.lineno < line]
    bound = {
        (alias.asname or alias.name).partition(".")[0]
        for item in before
        if isinstance(item, ast.Import | ast.ImportFrom)
        for alias in item.names
    }
    return name in bound and taken_name(scope.bindings, imports) is None


def _is_rebound(file: PythonFile, name: str, line: int) -> bool:
    """Whether a function binds a name of the module, or a `*` may bring it: but for one above the line, behind which
    an import is put, where nothing reads the name so far."""
    if "global" in file.text and any(isinstance(node, ast.Global) and name in node.names for node in walk(file.tree)):
        return True
    stars = [node for node in file.scope.statements if brings_lightnings(node, file.path)]
    if any(node not in file.tree.body or node.lineno > line > 0 for node in stars):
        return True
    read = (isinstance(node, ast.Name) and node.id == name for node in walk(file.tree))
    return bool(stars) and name not in file.scope.bindings and any(read)


def _is_run(file: PythonFile, word: str) -> bool:
    """Whether an import of a name is executed, not only read by those who check types."""
    for statement in file.tree.body:
        typed = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)
        part = statement.orelse if typed and isinstance(statement, ast.If) else [statement]
        nodes = (node for each in part for node in every_node(each) if isinstance(node, ast.Import | ast.ImportFrom))
        if any((alias.asname or alias.name.split(".")[0]) == word for node in nodes for alias in node.names):
            return True
    return False


def namespace_of(file: PythonFile) -> str:
    """The package that a file takes Lightning's Trainer and the like from."""
    targets = [target for found in file.scope.bindings.values() for target in found]
    used = [name for name in NAMESPACES if any(target == name or target.startswith(f"{name}.") for target in targets)]
    return "pytorch_lightning" if used[:1] == ["pytorch_lightning"] or not used else "lightning.pytorch"


def _is_optional(file: PythonFile) -> bool:
    """Whether a file does without Lightning: all that it imports of it stands in a `try` or under a condition."""
    plain = [item for item in file.tree.body if isinstance(item, ast.Import | ast.ImportFrom)]
    guarded = [item for item in file.tree.body if isinstance(item, ast.Try | ast.If)]
    inner = [item for outer in guarded for item in every_node(outer) if isinstance(item, ast.Import | ast.ImportFrom)]
    return any(map(_is_of_lightning, inner)) and not any(map(_is_of_lightning, plain))


def _is_of_lightning(statement: ast.Import | ast.ImportFrom) -> bool:
    names = [statement.module] if isinstance(statement, ast.ImportFrom) else [item.name for item in statement.names]
    return any(name and canonical(name).split(".")[0] in _PACKAGES for name in names)


_PACKAGES = {name.split(".")[0] for name in (*NAMESPACES, ROOT)}
