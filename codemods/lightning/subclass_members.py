"""What the classes below one of the project have instead of it, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from codemods.code.reaching import definitions
from codemods.code.source import ClassNode, PythonFile
from codemods.lightning.facts import Facts

Known = tuple[str, str]
"""A class by its path and its own name."""
_STATED = re.compile(rb"^[ \t]*class\s+(\w+)\s*\(([^)]*)", re.MULTILINE)
_DEEP = 8


def bound_below(facts: Facts, item: Known, names: Collection[str]) -> str | None:
    """A class that an instance of a class may be of, or one of its other bases, which has one of some names itself."""
    above = set(_above(facts, item))
    for each in _below(facts, item):
        for other in (each, *_above(facts, each)):
            if other != item and other not in above and any(binds(facts, other, name) for name in names):
                return other[1]
    return None


def _below(facts: Facts, item: Known) -> list[Known]:
    """The classes of the project below a class, and those of which that cannot be ruled out."""
    asked = f"below.{item[0]}.{item[1]}"
    if asked not in facts.memo:
        found = {item: None}
        names: set[str] = set()
        while names != (names := names | _names(facts, {name for _, name in found} - names)):
            for each, bases in _stated(facts).items():
                if each not in found and any(base in names and _is_of(facts, each, base, found) for base in bases):
                    found[each] = None
        facts.memo[asked] = [each for each in found if each != item]
    known: list[Known] = facts.memo[asked]
    return known


def _names(facts: Facts, names: Collection[str]) -> set[str]:
    """Some names of classes, and what they are imported as, or called by, otherwise."""
    known: dict[str, frozenset[str]] = facts.of_sources.setdefault("below.called", {})
    for name in names:
        if name not in known:
            known[name] = frozenset(_called(facts, name))
    return set(names).union(*(known[name] for name in names))


def _called(facts: Facts, name: str) -> Iterator[str]:
    other = re.compile(rf"\b{name}\s+as\s+(\w+)|^\s*(\w+)\s*=\s*(?:\w+\.)*{name}\s*$".encode(), re.MULTILINE)
    for source in facts.sources.values():
        if source.kind in ("python", "notebook") and name.encode() in source.unescaped:
            yield from (word.decode() for pair in other.findall(source.unescaped) for word in pair if word)


def _stated(facts: Facts) -> dict[Known, tuple[str, ...]]:
    """The classes of all texts with the last names of their bases."""
    if "below.stated" not in facts.of_sources:
        found: dict[Known, tuple[str, ...]] = {}
        for path, source in sorted(facts.sources.items()):
            if source.kind in ("python", "notebook") and b"class" in source.unescaped:
                for name, bases in _STATED.findall(source.unescaped):
                    words = (base.strip().rpartition(".")[2] for base in bases.decode(errors="replace").split(","))
                    found[path, name.decode()] = (*found.get((path, name.decode()), ()), *words)
        facts.of_sources["below.stated"] = found
    known: dict[Known, tuple[str, ...]] = facts.of_sources["below.stated"]
    return known


def _is_of(facts: Facts, each: Known, base: str, found: Collection[Known]) -> bool:
    """Whether the base of a class may be one of some classes."""
    meant = _meant(facts, each[0], base)
    return meant is None or meant in found


def _meant(facts: Facts, path: str, name: str) -> Known | None:
    """The class of the project that a name of a file stands for, where that is seen."""
    file = facts.open(path)
    dotted = file.scope.lookup(name) if file else None
    found = facts.find_definition(dotted, path) if dotted else None
    return (found[0].path, found[1].name) if found else None


def _above(facts: Facts, item: Known, depth: int = 0) -> Iterator[Known]:
    for base in _stated(facts).get(item, ()) if depth < _DEEP else ():
        if (meant := _meant(facts, item[0], base)) and meant != item:
            yield meant
            yield from _above(facts, meant, depth + 1)


def binds(facts: Facts, item: Known, name: str) -> bool:
    """Whether a class binds a name in its body, as far as it can be read."""
    file = facts.open(item[0])
    nodes = list(_nodes(file, item[1])) if file else []
    return not nodes or any(name in node.methods or definitions(node.node, name) for node in nodes)


def _nodes(file: PythonFile, name: str) -> Iterator[ClassNode]:
    return (item for item in file.classes if item.qualname.rpartition(".")[2] == name)
