"""What was worked out of the classes of a tree, which facts with the same classes share."""

from __future__ import annotations

from dataclasses import dataclass, field

from codemods.lightning.file_facts import ClassFact


@dataclass
class ClassAnswers:
    """The answers to what `Facts` is asked of classes: which class a name is, seen from a file, what kind each is, what
    is above it, with names from outside the project (`orders`) and without, and what is below it."""

    found: dict[tuple[str, str], ClassFact | None] = field(default_factory=dict)
    kinds: dict[ClassFact, str | None] = field(default_factory=dict)
    ancestry: dict[ClassFact, tuple[ClassFact, ...]] = field(default_factory=dict)
    orders: dict[ClassFact | str, list[ClassFact | str]] = field(default_factory=dict)
    below: dict[ClassFact, list[ClassFact]] | None = None
