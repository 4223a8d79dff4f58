"""How a name of Lightning is written in a file, and what has to be imported for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.scopes import NAMESPACES, ROOT, Scope, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name


@dataclass(frozen=True)
class Spelled:
    """How a name of Lightning is written in a file, and what must be imported for it."""

    text: str
    imports: tuple[tuple[str, str | None], ...] = ()


def spelled_in(file: PythonFile, name: str, within: tuple[ast.AST, ...] = ()) -> Spelled | str:
    """How `callbacks.ModelSummary` and its like are written in a file, within some nodes, or why they cannot be."""
    scope = file.scope_within(within)
    whole = [word for word, targets in file.scope.bindings.items() if {canonical(item) for item in targets} == {ROOT}]
    whole = [word for word in whole if canonical(scope.lookup(word) or "") == ROOT and _is_run(file, word)]
    if whole and "Trainer" not in file.scope.bindings:
        return Spelled(f"{min(whole)}.{name}")
    if _is_optional(file):
        return "the file imports Lightning under a condition, and more of it would be needed"
    module, _, last = name.rpartition(".")
    imports = ((f"{namespace_of(file)}.{module}", last),)
    taken: str | None = None
    inner: Scope | None = scope
    while inner is not None:
        taken, inner = taken or taken_name(inner.bindings, imports), inner.parent
    return f"this file uses the name `{taken}` for something else" if taken else Spelled(last, imports)


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
