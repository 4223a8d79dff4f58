"""How a name of Lightning is written in a file, and what has to be imported for it."""

from __future__ import annotations

from dataclasses import dataclass

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
    module, _, last = name.rpartition(".")
    imports = ((f"{namespace_of(file)}.{module}", last),)
    taken = taken_name(file.scope.bindings, imports)
    return f"the file uses the name {taken} for something else" if taken else Spelled(last, imports)


def namespace_of(file: PythonFile) -> str:
    """The package that a file takes Lightning's Trainer and the like from."""
    targets = [target for found in file.scope.bindings.values() for target in found]
    used = [name for name in NAMESPACES if any(target == name or target.startswith(f"{name}.") for target in targets)]
    return "pytorch_lightning" if used[:1] == ["pytorch_lightning"] or not used else "lightning.pytorch"
