"""The classes whose methods may meet those of one class in the same instance, and who else asks for its methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.code.nodes import walk
from codemods.code.reaching import definitions as definitions_of
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, self_name, taken
from codemods.lightning.facts import ClassFact, Facts

PLAIN_BASES = frozenset({"torch.nn.Module", "abc.ABC", "object", "typing.Generic"})
"""Bases from outside that have no hook of Lightning's."""


def family(facts: Facts, item: ClassFact) -> tuple[ClassFact, ...]:
    """Its bases, its subclasses with all their other bases, and classes of which it may be a base, since one of
    theirs cannot be told. The class itself is left out."""
    known: dict[ClassFact, tuple[ClassFact, ...]] = facts.memo.setdefault("family", {})
    if item not in known:
        known[item] = _family(facts, item)
    return known[item]


def _family(facts: Facts, item: ClassFact) -> tuple[ClassFact, ...]:
    below = [*facts.subclasses(item), *_perhaps_below(facts, item)]
    every = [other for start in (item, *below) for other in facts.ancestry(start) or (start,)]
    return tuple(other for other in dict.fromkeys(every) if other != item)


def speaks(facts: Facts, item: ClassFact, of: re.Pattern[str]) -> bool:
    """Whether the text of a class speaks of something, as far as that can be read."""
    file = facts.open(item.path)
    if file is None:
        return True
    known: dict[str, list[str]] = file.memo.setdefault("family.texts", {})
    if item.name not in known:
        known[item.name] = [file.source_of(each.node) for each in file.classes if each.qualname == item.name]
    return not known[item.name] or any(map(of.search, known[item.name]))


def short_name(item: ClassFact) -> str:
    """The name as a class statement gives it, without those of the classes around it."""
    return item.name.rpartition(".")[2]


def naming_files(facts: Facts, item: ClassFact) -> frozenset[str]:
    """The files of any kind, its own among them, in which the name of a class stands as a word."""
    known: dict[str, frozenset[str]] = facts.memo.setdefault("family.naming", {})
    if (name := short_name(item)) not in known:
        word = re.compile(rb"\b%b\b" % re.escape(name.encode()))
        holding = facts.mentions.get(name.encode(), frozenset())
        known[name] = frozenset(path for path in holding if word.search(facts.sources[path].unescaped))
    return known[name]


def asked_of_another(facts: Facts, fact: ClassFact, name: str, known: frozenset[str] = frozenset()) -> str | None:
    """A method that another file, other than those `known`, asks of something which may be any module, as the middle of
    a sentence: of neither `self`, `super()`, a class by its name, nor an object of a class that has nothing to do with
    this one."""
    for path in sorted(facts.mentions.get(f".{name}".encode(), frozenset()) - {fact.path, *known}):
        file = facts.open(path)
        asked = [node for node in file.attributes(name) if not _is_told(file, facts, node.value)] if file else []
        if file and asked and not _are_of_others(file, facts, fact, name, asked):
            return f"{name} is used by name in {path}"
    return None


def asks_others(facts: Facts, fact: ClassFact, path: str, name: str) -> bool:
    """Whether a file asks for a method of objects of classes alone that have nothing to do with one class."""
    file = facts.open(path)
    return file is not None and _are_of_others(file, facts, fact, name, file.attributes(name))


def times_of_others(facts: Facts, fact: ClassFact, name: str) -> int:
    """How often other files speak of a name as a method of their own classes, which have nothing to do with one class:
    where they define it, and where they ask `self` for it."""
    kin = {fact, *family(facts, fact)}
    files = [file for path, _ in facts.holding(name) if path != fact.path and (file := facts.open(path))]
    others = [
        item
        for file in files
        for item in file.classes
        if name in item.methods and _is_apart(facts, file, f"{file.module}.{item.qualname}", kin)
    ]
    asked = [is_self_attribute(node, name, own) for item in others for node, own in _attributes(item)]
    return len(others) + sum(asked)


def _attributes(item: ClassNode) -> Iterator[tuple[ast.Attribute, str]]:
    """The attributes that the methods of a class read, with the name of the instance there."""
    for method in item.methods.values():
        own = self_name(method)
        yield from ((node, own) for node in walk(method) if isinstance(node, ast.Attribute))


def _are_of_others(file: PythonFile, facts: Facts, fact: ClassFact, name: str, asked: list[ast.Attribute]) -> bool:
    """Whether a file asks for a method of nothing but variables that hold objects of other classes of the project."""
    kin = {fact, *family(facts, fact)}
    around = {id(node): within for node, within in file.nodes_near([name])}
    for node in asked:
        within = around.get(id(node))
        if within is None or not isinstance(node.value, ast.Name):
            return False
        space = next((each for each in reversed(within) if isinstance(each, Function)), file.tree)
        if isinstance(space, Function) and any(each.arg == node.value.id for each in taken(space)):
            return False
        made = [each.value for each in definitions_of(space, node.value.id)]
        scope = file.scope_within(within)
        built = [_built(value) if value else None for value in made]
        called = [scope.resolve(value.func) if isinstance(value, ast.Call) else None for value in built]
        if not called or not all(dotted and _is_apart(facts, file, dotted, kin) for dotted in called):
            return False
    return True


def _built(value: ast.expr) -> ast.expr:
    """What makes an object, without the methods of torch.nn.Module behind it that give back the object itself."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _ITSELF:
        value = value.func.value
    return value


_ITSELF = frozenset({"cpu", "cuda", "double", "eval", "float", "half", "to", "train"})


def _is_apart(facts: Facts, file: PythonFile, dotted: str, kin: set[ClassFact]) -> bool:
    """Whether a name is that of a class of the project which is none of some, and has none of them above it."""
    if known := facts.find_class(dotted, file.path):
        return known not in kin
    found = facts.find_definition(dotted, file.path)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return False
    bases = [found[0].scope.resolve(base) or "" for base in found[1].bases]
    return all(canonical(base).startswith(f"{ROOT}.") or base in PLAIN_BASES for base in bases)


def _is_told(file: PythonFile, facts: Facts, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    dotted = file.scope.resolve(node)
    return (isinstance(node, ast.Name) and node.id == "self") or bool(dotted and facts.find_class(dotted, file.path))


def _perhaps_below(facts: Facts, item: ClassFact) -> list[ClassFact]:
    """The classes one of whose bases was not found and may be the class: it has its name, comes from a file that
    names it, or cannot be told in a file that names it or may know it by another name."""
    name = short_name(item)
    naming = naming_files(facts, item)
    known_otherwise = item in _renamed(facts)
    return [
        other
        for other, base, path in _loose_bases(facts)
        if other != item and (base == name or path in naming or (base is None and known_otherwise))
    ]


def _renamed(facts: Facts) -> set[ClassFact]:
    """The classes that a module imports under another name, by which a third may know them."""
    if "family.renamed" not in facts.memo:
        facts.memo["family.renamed"] = {
            found
            for path, file in facts.files.items()
            for known, target in file.exports.items()
            if known != (name := target.rpartition(".")[2])
            and (found := facts.find_class(target, path))
            and short_name(found) == name
        }
    renamed: set[ClassFact] = facts.memo["family.renamed"]
    return renamed


def _loose_bases(facts: Facts) -> list[tuple[ClassFact, str | None, str | None]]:
    """The bases that are no class which is known: the class, the base's last name (None where it cannot be told) and
    the file that it would come from."""
    if "family.loose" not in facts.memo:
        facts.memo["family.loose"] = [
            (item, name, facts.module_path(module, item.path)) if base else (item, None, item.path)
            for item in facts.classes()
            for base in item.bases
            if not base or not (base.startswith(f"{ROOT}.") or facts.find_class(base, item.path))
            for module, _, name in [(base or "").rpartition(".")]
        ]
    loose: list[tuple[ClassFact, str | None, str | None]] = facts.memo["family.loose"]
    return loose


def clash(facts: Facts, item: ClassFact, watched: set[str]) -> str | None:
    """Which relative of a class defines one of some methods, as the middle of a sentence."""
    for other in family(facts, item):
        found = sorted(other.methods & watched)
        if found:
            return f"{other.name} ({other.path}), a base class or subclass, defines {found[0]}"
    return None


def definitions(methods: Iterable[str]) -> tuple[bytes, ...]:
    """What a file must hold to define one of some methods: with it read, no relative that clashes is unseen."""
    return tuple(f"def {name}".encode() for name in sorted(methods))
