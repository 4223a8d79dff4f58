"""Classes without a base that are parts of Lightning's: their hooks and steps run where they are mixed in."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from codemods.lightning.file_facts import CALLBACKS, KINDS, ClassFact

if TYPE_CHECKING:
    from codemods.lightning.facts import Facts


def kind_of_mixin(facts: Facts, item: ClassFact) -> str | None:
    """What a class without a base from outside is mixed into, where all its subclasses are of that kind and it is used
    for nothing else. One whose constructor a subclass in another file may pass by is told of no kind."""
    if any((base or "").startswith("torch.") for member in facts.ancestry(item) for base in member.bases):
        return None  # such a class is a part of others as well
    below = list(facts.subclasses(item))
    kinds: set[str | None] = set()
    for each in below:
        kinds.add(facts.kind(each) if _is_first(facts, item, each) else None)
        if len(kinds) > 1 or not kinds <= KINDS:
            return None
    if not kinds or not _is_mixed_in_alone(facts, item, frozenset(below)):
        return None
    if "__init__" in item.methods and any("__init__" in each.methods and each.path != item.path for each in below):
        return None
    return kinds.pop()


def _is_first(facts: Facts, item: ClassFact, below: ClassFact) -> bool:
    """Whether Python looks at a class before the bases of Lightning, whose methods stand for its own else."""
    every = facts.lineage(below)
    ahead = [each for each in every[: every.index(item)] if isinstance(each, str)]
    return not any(each in KINDS or each.startswith(CALLBACKS) for each in ahead)


def _speaking_of(facts: Facts, name: str) -> list[str]:
    """The Python files and notebooks that hold a name."""
    every: dict[str, list[str]] = facts.of_sources.setdefault("files by name", {})
    if name not in every:
        spoken = re.compile(rb"\b%b\b" % re.escape(name.encode()))
        code = (item for item in facts.sources.items() if item[1].kind in ("python", "notebook"))
        every[name] = [path for path, source in code if spoken.search(source.unescaped)]
    return every[name]


def _is_mixed_in_alone(facts: Facts, item: ClassFact, below: frozenset[ClassFact]) -> bool:
    """Whether the project speaks of a class as of a base of some others, and otherwise not at all."""
    name = item.name.rpartition(".")[2]
    for path in _speaking_of(facts, name):
        file, known = facts.open(path), facts.files.get(path)
        if file is None or known is None:
            return False
        aliases = (alias for node in file.imports for alias in node.names)
        if any(alias.name == name and alias.asname not in (None, name) for alias in aliases):
            return False
        bases = [base for each in file.classes if known.find(each.qualname) in below for base in each.node.bases]
        named = (node for node, _ in file.nodes_near([name]) if isinstance(node, ast.Name) and node.id == name)
        if any(node not in bases for node in (*file.attributes(name), *named)):
            return False
    return True
