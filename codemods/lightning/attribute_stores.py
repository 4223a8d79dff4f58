"""Whether anything in a project may store to an attribute of some name, or bind a name of a module."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from codemods.code.external_bindings import bound_by_name, is_bound_elsewhere
from codemods.code.scopes import module_name
from codemods.code.source import ClassNode, PythonFile
from codemods.lightning.facts import Facts

_STORED = r"\.{}\b\s*(?:[,:)\]|&+*/@%-]|=(?!=)|in\b)"
"""What follows an attribute that may be stored to."""
_BY_NAME = re.compile(
    rb"\bsetattr\(|\b__(?:setattr|getattr|getattribute|setstate)__\b|\bnamespace="
    rb"|\b__dict__\b(?!\s*\.(?:items|keys|values|get|copy)\b)"
    rb"|\bvars\([^()]*\)\s*(?:\.(?:update|setdefault)\b|\[[^\]\n]*\]\s*=(?!=))"
)
"""What sets attributes, or makes them up, by names that are worked out."""


def is_stored(
    facts: Facts, open_file: Callable[[str], PythonFile | None], name: str, known: Iterable[tuple[str, int, int]] = ()
) -> bool:
    """Whether anything in the project may store to an attribute of that name, but for some places. `open_file` gives
    the files, of which some may be newer than the facts."""
    pattern = re.compile(_STORED.format(name).encode())
    known = frozenset(known)
    spoken = bound_by_name(name)
    for path, source in facts.holding(name):
        if source.kind not in ("python", "notebook"):
            continue
        if spoken.search(source.unescaped):
            return True
        if not pattern.search(source.unescaped):
            continue
        file = open_file(path)
        if file is None:
            return True
        for node in file.attributes(name):
            if not isinstance(node.ctx, ast.Load) and (path, node.lineno, node.col_offset) not in known:
                return True
    return False


def is_open(facts: Facts, file: PythonFile, item: ClassNode) -> bool:
    """Whether what is not seen may set any attribute of an object of a class: a base of another library, a decorator
    that makes its constructor, or names that are worked out."""
    fact = facts.of_class(file, item)
    strange = item.node.bases and (fact is None or facts.kind(fact) is None)
    return bool(item.node.decorator_list or strange) or stores_by_name(facts, file, item)


def stores_by_name(facts: Facts, file: PythonFile, item: ClassNode) -> bool:
    """Whether the file of a class, or one that speaks of it, may set attributes by names that are worked out."""
    speaking = {file.path, *(path for path, _ in facts.holding(item.qualname.rpartition(".")[2]))}
    return not speaking.isdisjoint(_storing_by_name(facts))


def _storing_by_name(facts: Facts) -> frozenset[str]:
    """The files that may set attributes by names that are worked out."""
    if "stores by name" not in facts.of_sources:
        facts.of_sources["stores by name"] = frozenset(
            path
            for path, source in facts.sources.items()
            if source.kind in ("python", "notebook") and _BY_NAME.search(source.unescaped)
        )
    found: frozenset[str] = facts.of_sources["stores by name"]
    return found


def is_rebound(facts: Facts, path: str, name: str) -> bool:
    """Whether a file, of whatever kind, may bind a name of the module of another."""
    known: dict[tuple[str, str], bool] = facts.of_sources.setdefault("rebound", {})
    if (path, name) not in known:
        speaking = {other for other, _ in facts.holding(module_name(path).rpartition(".")[2])}
        sources = {other: source for other, source in facts.sources.items() if other in speaking or other == path}
        known[path, name] = is_bound_elsewhere(sources, path, name)
    return known[path, name]
