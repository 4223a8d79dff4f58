"""Which words the code spells that a class or function can run: its own, and that of the project which it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codemods.code.scopes import absolute
from codemods.code.source import PythonFile
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rules.autocast.project import OUTSIDE, ProjectFiles

_CHAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
Node = tuple[PythonFile, ast.stmt | ast.Module]


class _CodeWords(NamedTuple):
    """What a piece of code says: whether one of the words, and the dotted names that it uses."""

    word: bool
    names: frozenset[str]


def reaches(project: ProjectFiles, starts: Iterable[Node], words: tuple[str, ...]) -> bool:
    """Whether one of some definitions, or what of the project it names, directly or not, spells one of some words.

    What Lightning is made of is not followed, as what it does is known.
    """
    shared = project.facts.open(project.current.path) is project.current
    known: dict[tuple[str, int, tuple[str, ...]], bool] = (
        project.facts.memo.setdefault("autocast.reach", {}) if shared else {}
    )
    stack, seen = list(starts), set()
    while stack:
        file, node = stack.pop()
        place = file.path, getattr(node, "lineno", 0), words
        if place in seen or known.get(place) is False:
            continue
        seen.add(place)
        said = _said(file, node, words)
        if known.get(place) or said.word:
            known[place] = True
            return True
        stack.extend(_definitions(project, file, said.names))
    known.update(dict.fromkeys(seen, False))
    return False


def files_of(facts: Facts, fact: ClassFact, own: bool = True) -> frozenset[str]:
    """The files of the project whose code a class may run: its own and those of its bases, and what these import."""
    known: dict[tuple[ClassFact, bool], frozenset[str]] = facts.memo.setdefault("autocast.files", {})
    if (fact, own) not in known:
        home = facts.find_class(MODULE, "")
        lightning = facts.ancestry(home) if home else ()
        paths = {item.path for item in facts.ancestry(fact) if item not in lightning}
        imported = (_closure(facts, found) for path in paths for found in _imported(facts, path))
        known[fact, own] = frozenset(paths if own else ()).union(*imported)
    return known[fact, own]


def _closure(facts: Facts, path: str) -> frozenset[str]:
    known: dict[str, frozenset[str]] = facts.memo.setdefault("autocast.closures", {})
    if path not in known:
        seen, stack = {path}, [path]
        while stack:
            for found in _imported(facts, stack.pop()):
                if found not in seen:
                    seen.add(found)
                    stack.append(found)
        known[path] = frozenset(seen)
    return known[path]


def _imported(facts: Facts, path: str) -> frozenset[str]:
    """The files of the project that a file imports, or names of which it imports, those of Lightning left out."""
    known: dict[str, frozenset[str]] = facts.memo.setdefault("autocast.imports", {})
    if path not in known:
        if path in facts.files:
            targets: Iterable[str] = facts.files[path].exports.values()
        else:
            file = facts.open(path)
            targets = [name for names in file.scope.bindings.values() for name in names] if file else ()
        own = {target for target in targets if target.partition(".")[0] not in OUTSIDE}
        names = own | {target.rpartition(".")[0] for target in own}
        known[path] = frozenset(found for name in names if name and (found := facts.path_of(name, path)))
    return known[path]


def _said(file: PythonFile, node: ast.stmt | ast.Module, words: tuple[str, ...]) -> _CodeWords:
    known: dict[tuple[ast.AST, tuple[str, ...]], _CodeWords] = file.memo.setdefault("autocast.said", {})
    if (node, words) not in known:
        first, last = _lines(node)
        apart = file.plain and not isinstance(node, ast.Module)
        text = file.source_of(node) if apart else "".join(file.lines[first - 1 : last])
        names = frozenset(_dotted(file, text, first, last))
        spelled = any(word in text for word in words) or any(name.endswith(words) for name in names)
        known[node, words] = _CodeWords(spelled, names)
    return known[node, words]


def _lines(node: ast.stmt | ast.Module) -> tuple[int, int | None]:
    if isinstance(node, ast.Module):
        return 1, None
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]), node.end_lineno


def _dotted(file: PythonFile, text: str, first: int, last: int | None) -> Iterator[str]:
    """The dotted names that the names of some lines may stand for."""
    bindings = file.scope.bindings
    for chain in set(_CHAIN.findall(text)):
        name, *rest = chain.split(".")
        for target in bindings.get(name, ()):
            if target.partition(".")[0] not in OUTSIDE:
                yield from (".".join([target, *rest[:length]]) for length in range(min(len(rest), 3) + 1))
    for item in file.imports:
        if isinstance(item, ast.ImportFrom) and first <= item.lineno <= (last or item.lineno):
            yield from (f"{absolute(item, file.path)}.{alias.name}" for alias in item.names)


def _definitions(project: ProjectFiles, file: PythonFile, names: Iterable[str]) -> Iterator[Node]:
    for name in names:
        if found := project.definition(name, file):
            yield found
