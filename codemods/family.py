"""The classes whose methods may meet those of one class in the same instance."""

from __future__ import annotations

from collections.abc import Iterable

from codemods.facts import ClassFact, Facts


def family(facts: Facts, item: ClassFact) -> tuple[ClassFact, ...]:
    """Its bases, its subclasses with all their other bases, and classes of which it may be a base, since one of
    theirs cannot be told. The class itself is left out."""
    if item not in facts.families:
        facts.families[item] = _family(facts, item)
    return facts.families[item]


def _family(facts: Facts, item: ClassFact) -> tuple[ClassFact, ...]:
    below = [*facts.subclasses(item), *_perhaps_below(facts, item)]
    every = [other for start in (item, *below) for other in facts.ancestry(start) or (start,)]
    return tuple(other for other in dict.fromkeys(every) if other != item)


def short_name(item: ClassFact) -> str:
    """The name as a class statement gives it, without those of the classes around it."""
    return item.name.rpartition(".")[2]


def _perhaps_below(facts: Facts, item: ClassFact) -> list[ClassFact]:
    naming = facts.mentions.get(short_name(item).encode(), frozenset())
    renamed = _is_renamed(facts, item)
    return [
        other
        for other in facts.classes()
        if other != item
        and any(
            (base is None and (renamed or other.path in naming)) or (base and _may_lead_to(facts, base, other, item))
            for base in other.bases
        )
    ]


def _is_renamed(facts: Facts, item: ClassFact) -> bool:
    """Whether a module imports the class under another name, by which a third may know it."""
    name = short_name(item)
    return any(
        known != name and target.rpartition(".")[2] == name and facts.find_class(target, path) == item
        for path, file in facts.files.items()
        for known, target in file.exports.items()
    )


def _may_lead_to(facts: Facts, base: str, other: ClassFact, item: ClassFact) -> bool:
    """Whether a base that was not found as a class has the name of one, or comes from a file that names it."""
    if facts.find_class(base, other.path):
        return False
    name = short_name(item)
    module, _, last = base.rpartition(".")
    return last == name or facts.module_path(module, other.path) in facts.mentions.get(name.encode(), frozenset())


def clash(facts: Facts, item: ClassFact, watched: set[str]) -> str | None:
    """Which relative of a class defines one of some methods, as the middle of a sentence."""
    for other in family(facts, item):
        found = sorted(other.methods & watched)
        if found:
            return f"{other.name} ({other.path}), a relative of the class, defines {found[0]}"
    return None


def definitions(methods: Iterable[str]) -> tuple[bytes, ...]:
    """What a file must hold to define one of some methods: with it read, no relative that clashes is unseen."""
    return tuple(f"def {name}".encode() for name in sorted(methods))
