"""How a name of Lightning is written in a file, and what has to be imported for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.scopes import NAMESPACES, ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name


@dataclass(frozen=True)
class Spelled:
    """How a name of Lightning is written in a file, and what must be imported for it."""

    text: str
    imports: tuple[tuple[str, str | None], ...] = ()


def spelled_in(file: PythonFile, name: str) -> Spelled | str:
    """How `callbacks.ModelSummary` and its like are written in a file, or why they cannot be."""
    whole = [word for word, targets in file.scope.bindings.items() if {canonical(item) for item in targets} == {ROOT}]
    if whole and "Trainer" not in file.scope.bindings:
        return Spelled(f"{min(whole)}.{name}")
    if _is_optional(file):
        return "the file imports Lightning under a condition, and more of it would be needed"
    module, _, last = name.rpartition(".")
    imports = ((f"{namespace_of(file)}.{module}", last),)
    taken = taken_name(file.scope.bindings, imports)
    return f"the file uses the name {taken} for something else" if taken else Spelled(last, imports)


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
