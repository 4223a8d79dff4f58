"""The classes whose methods may meet those of one class in the same instance."""

from __future__ import annotations

from codemods.facts import ClassFact, Facts


def family(facts: Facts, item: ClassFact) -> tuple[ClassFact, ...]:
    """Its bases, its subclasses with all their other bases, and classes of which it may be a base: their file
    names it, and one of their bases cannot be told. The class itself is left out."""
    below = [*facts.subclasses(item), *_perhaps_below(facts, item)]
    every = [other for start in (item, *below) for other in facts.ancestry(start) or (start,)]
    return tuple(other for other in dict.fromkeys(every) if other != item)


def short_name(item: ClassFact) -> str:
    """The name as a class statement gives it, without those of the classes around it."""
    return item.name.rpartition(".")[2]


def _perhaps_below(facts: Facts, item: ClassFact) -> list[ClassFact]:
    name = short_name(item)
    naming = facts.mentions.get(name.encode(), frozenset())
    return [
        other
        for other in facts.classes()
        if other != item
        and other.path in naming
        and any(
            base is None or (base.rpartition(".")[2] == name and not facts.find_class(base, other.path))
            for base in other.bases
        )
    ]


def clash(facts: Facts, item: ClassFact, watched: set[str]) -> str | None:
    """Which relative of a class defines one of some methods, as the middle of a sentence."""
    for other in family(facts, item):
        found = sorted(other.methods & watched)
        if found:
            return f"{other.name} ({other.path}), a relative of the class, defines {found[0]}"
    return None
