"""What was worked out of the classes of a tree, which facts with the same classes share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from codemods.lightning.file_facts import ClassFact


@dataclass
class ClassAnswers:
    """The answers to what `Facts` is asked of classes: which class a name is, seen from a file (and `through` which
    files' facts that is found), what kind each is, what is above it, with names from outside the project (`orders`) and
    without, and what is below it; `modules` are those that are LightningModules, `makers` the names of what may build
    others of Lightning's classes, which no method tells."""

    found: dict[tuple[str, str], ClassFact | None] = field(default_factory=dict)
    through: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    kinds: dict[ClassFact, str | None] = field(default_factory=dict)
    ancestry: dict[ClassFact, tuple[ClassFact, ...]] = field(default_factory=dict)
    orders: dict[ClassFact | str, list[ClassFact | str]] = field(default_factory=dict)
    below: dict[ClassFact, list[ClassFact]] | None = None
    modules: tuple[ClassFact, ...] | None = None
    makers: dict[str, frozenset[str]] = field(default_factory=dict)

    def copied(self) -> ClassAnswers:
        """The same, to be added to apart from these."""
        below = None if self.below is None else dict(self.below)
        return ClassAnswers(
            dict(self.found),
            dict(self.through),
            dict(self.kinds),
            dict(self.ancestry),
            dict(self.orders),
            below,
            self.modules,
            dict(self.makers),
        )

    def exchanged(self, others: Mapping[ClassFact, ClassFact]) -> ClassAnswers:
        """The same where others stand for some classes, of which each differs by its methods alone; what is below them
        is known."""
        by_identity = {id(one): other for one, other in others.items()}
        below = dict(self.below or {})
        touched = {item: others.get(item, item) for one in others for item in (one, *below.get(one, ()))}
        found = {asked: by_identity.get(id(item), item) for asked, item in self.found.items()}
        modules = self.modules and tuple(others.get(item, item) for item in self.modules)
        made = replace(self.copied(), found=found, below=below, modules=modules)
        for one, other in touched.items():
            if one in self.kinds and one is not other:
                made.kinds[other] = made.kinds.pop(one)
            if one in self.ancestry:
                del made.ancestry[one]
                made.ancestry[other] = tuple(others.get(item, item) for item in self.ancestry[one])
            if one in self.orders:
                del made.orders[one]
                made.orders[other] = [
                    others.get(item, item) if isinstance(item, ClassFact) else item for item in self.orders[one]
                ]
        for base in {base for one in others for base in self.ancestry.get(one, ())}:
            if base in below:
                below[others.get(base, base)] = [others.get(item, item) for item in below.pop(base)]
        return made

    def without(self, path: str, above: Iterable[ClassFact]) -> ClassAnswers:
        """The same less which classes names are that are found through one file, and what is above some classes."""
        gone = [asked for asked, paths in self.through.items() if path in paths]
        made = replace(self.copied(), below=None, modules=None, makers={})
        for asked in gone:
            del made.found[asked], made.through[asked]
        for item in above:
            made.ancestry.pop(item, None)
            made.orders.pop(item, None)
        return made

    def below_without(self, gone: Collection[ClassFact]) -> dict[ClassFact, list[ClassFact]]:
        """What is below each class, less some classes; it is known."""
        below = {base: list(items) for base, items in (self.below or {}).items() if base not in gone}
        return {base: kept for base, items in below.items() if (kept := [item for item in items if item not in gone])}


def differs_by_methods(one: ClassFact, other: ClassFact) -> bool:
    """Whether two classes are the same but for methods by which nothing is told of other classes, if at all."""
    constructed = "__init__" in one.methods, "__init__" in other.methods
    return replace(one, methods=other.methods, quiet=other.quiet) == other and constructed[0] == constructed[1]
