"""What one file adds to the facts of the project: its names, classes and Trainers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codemods.code.scopes import ROOT

MODULE = f"{ROOT}.LightningModule"
TRAINER = f"{ROOT}.Trainer"
CALLBACK = f"{ROOT}.Callback"
CALLBACKS = f"{ROOT}.callbacks."
KINDS = frozenset({MODULE, TRAINER, CALLBACK, f"{ROOT}.LightningDataModule"})


@dataclass(frozen=True)
class ClassFact:
    """A class of the project. `bases` are dotted names (None where one could not be resolved), `methods`
    the names of its own methods, `quiet` the hooks around a step among them that neither read the outputs of a
    training batch nor log."""

    name: str
    path: str
    bases: tuple[str | None, ...]
    methods: frozenset[str]
    quiet: frozenset[str] = frozenset()

    def __hash__(self) -> int:  # it is a key everywhere: its place says nearly all
        return hash((self.path, self.name))


@dataclass(frozen=True)
class KeywordFact:
    """A keyword of a call: `value` is the literal where `literal` holds, `text` the source in any case."""

    name: str
    text: str
    literal: bool
    value: Any


@dataclass(frozen=True)
class TrainerFact:
    """A `Trainer(...)` call: where it stands, its keywords, and whether more arrive by `*` or `**`.

    `name` is the variable or attribute it is kept in. `fits` are the source texts of what the file's
    `name.fit(...)` calls are given first, resolved to the class that built it where that can be seen.
    `evaluates` holds where the Trainer is seen to do nothing but test, validate and predict. `fits_at_once` are the
    same of `Trainer(...).fit(...)`, `maker` is the function that gives the Trainer back.
    """

    path: str
    line: int
    arguments: tuple[KeywordFact, ...]
    open_ended: bool
    name: str | None
    fits: tuple[str | None, ...]
    evaluates: bool = False
    fits_at_once: tuple[str | None, ...] = ()
    maker: str | None = None

    def argument(self, name: str) -> KeywordFact | None:
        return next((argument for argument in self.arguments if argument.name == name), None)


@dataclass(frozen=True)
class FileFacts:
    """What one file adds to the facts. `exports` are the module's names that stand for something imported, `bound` all
    that it binds, those in `unsure` to several things; `stars` the modules that it imports all names of, `public` what
    it names in `__all__` (None where it has none); `collected` what each rule's own `collect` returned, `fits_of_made`
    what is fitted by what other functions give: their dotted names, each with that of a class, None where it cannot be
    seen, `takes` the dotted names of what it imports and its classes may take for methods, or hand themselves to."""

    path: str
    module: str
    exports: Mapping[str, str]
    bound: frozenset[str]
    unsure: frozenset[str]
    stars: tuple[str, ...]
    public: frozenset[str] | None
    classes: tuple[ClassFact, ...]
    trainers: tuple[TrainerFact, ...]
    indirect_trainers: bool
    collected: Mapping[str, Any]
    fits_of_made: tuple[tuple[str, str | None], ...] = ()
    takes: frozenset[str] = frozenset()

    def find(self, name: str) -> ClassFact | None:
        """The file's class of that qualified name."""
        return next((item for item in self.classes if item.name == name), None)
