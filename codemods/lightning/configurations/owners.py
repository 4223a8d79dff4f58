"""Which mappings of a project's configuration are the arguments of a Trainer, and how that is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from codemods.code.source import TextFile
from codemods.lightning.arguments import once, removed_in
from codemods.lightning.configurations.evidence import CHANGED, REMOVED, FileEvidence, KeyUse, is_trainer, read_evidence
from codemods.lightning.configurations.mappings import Malformed, MappingEntry, read_mappings
from codemods.lightning.configurations.mappings import Mapping as Section
from codemods.lightning.configurations.taken import TakenSection, taken_section
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.versions import LIGHTNING as LIGHTNING_NAMES
from codemods.lightning.versions import demands

COMMON = frozenset({
    "accelerator", "amp_backend", "amp_level", "benchmark", "callbacks", "deterministic", "devices", "fast_dev_run",
    "gpus", "logger", "max_steps", "min_steps", "num_nodes", "num_processes", "plugins", "precision", "profiler",
    "strategy", "sync_batchnorm", "tpu_cores",
})  # fmt: skip
"""Arguments of Trainer whose names other programs use as well."""
OWN = ("defaults",)
READ = tuple(form.format(key).encode() for key in CHANGED for form in ('"{}"', "'{}'", ".{}"))
"""How the code may read an argument that Trainer still takes."""
LIGHTNING = (b"pytorch_lightning", b"lightning.pytorch", b"import lightning")
"""What a file that uses Lightning holds."""
_GLOBAL = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)


@dataclass(frozen=True)
class SectionSummary:
    """A mapping that may be a Trainer's, as other files are told of it: its name as a section, the class that it
    names, and its keys that Trainer takes or took, with what they are in the file; `others` is how many more it has,
    `shared` whether it is in several places at once."""

    name: str
    target: str | None
    keys: Mapping[str, Any]
    others: int
    shared: bool


@dataclass(frozen=True)
class OwnedMapping:
    """A mapping of a file, with its name as a section, the class that it names, and the mapping that its
    arguments stand in (itself, or `init_args`)."""

    section: Section
    name: str
    target: str | None

    @property
    def arguments(self) -> tuple[MappingEntry, ...]:
        """The entries that are arguments."""
        entries = (item for item in self.section.entries if not item.key.startswith("_") and item.key not in OWN)
        return tuple(item for item in entries if not is_trainer(item.value))


RECORDS = ("hparams.yaml",)
"""What Lightning writes beside a checkpoint: a record, and no configuration."""


def owned(file: TextFile) -> Iterator[OwnedMapping]:
    """Every mapping of a file that holds an argument of Trainer, or names one. Raises Malformed."""
    if file.path.rpartition("/")[2] in RECORDS:
        return
    found = read_mappings(file.text, file.kind)
    by_path = {item.path: item for item in found}
    takes = once()
    for item in found:
        above = by_path.get(item.path[:-1]) if item.path[-1:] == ("init_args",) else None
        target = item.get("_target_") if above is None else above.get("class_path")
        target = target if isinstance(target, str) else _named(item) if above is None else None
        if is_trainer(target) or any(entry.key in takes for entry in item.entries):
            path = item.path[:-1] if above else item.path
            yield OwnedMapping(item, section_name(file, path), target)


def _named(item: Section) -> str | None:
    """Trainer, where one of a mapping's values names it, under whatever key, and all others are its arguments."""
    names = [entry for entry in item.entries if is_trainer(entry.value)]
    keys = {entry.key for entry in item.entries if entry not in names}
    return str(names[0].value) if len(names) == 1 and keys <= once() else None


def section_name(file: TextFile, path: tuple[str, ...]) -> str:
    """The last key on the way to a mapping; for a file of a Hydra group the name of its folder."""
    keys = [key for key in path if key != "[]"]
    if keys or _GLOBAL.search(file.text):
        return keys[-1] if keys else ""
    parts = file.path.split("/")
    return parts[-2] if len(parts) > 1 else ""


@dataclass(frozen=True)
class ConfigurationSummary:
    """What a file tells the others: its mappings, and the removed keys that its interpolations read, each with the
    section that it stands in there, or none."""

    items: tuple[SectionSummary, ...]
    read: frozenset[tuple[str, str]]


_INTERPOLATED = re.compile(r"\$\{[^{}]*\}")
_READ_KEY = re.compile(r"(?:\b(\w+)\.)?\b(\w+)\b(?!\.\w)")


def interpolations(text: str) -> Iterator[tuple[str, str, int]]:
    """The removed keys that the interpolations of a text read, with the section that each is taken from, and where."""
    for whole in _INTERPOLATED.finditer(text):
        for found in _READ_KEY.finditer(text, *whole.span()):
            if found[2] in REMOVED:
                yield found[1] or "", found[2], found.start(2)


def seen(file: TextFile) -> ConfigurationSummary | None:
    """What a file tells the others, None where it is nothing."""
    if file.kind not in ("yaml", "json", "toml"):
        return None
    read = frozenset((section, key) for section, key, _ in interpolations(file.text))
    try:
        found = tuple(
            SectionSummary(item.name, item.target, keys, len(item.arguments) - len(keys), item.section.shared)
            for item in owned(file)
            for keys in [{entry.key: entry.value for entry in item.arguments if entry.key in once()}]
        )
    except Malformed:
        found = ()
    return ConfigurationSummary(found, read) if found or read else None


@dataclass(frozen=True)
class Owner:
    """How a mapping is known to be a Trainer's: `proven`, `own` (a class of the project below Trainer),
    `perhaps` (its keys alone speak for it) or `no`. `loose` holds where it has keys that Trainer never took."""

    how: str
    why: str = ""
    loose: bool = False


def project_of(facts: Facts, code: str) -> ProjectConfiguration:
    """What is known of the configuration of the whole project by what a rule collected, the same for every file."""
    key = f"{code}.project"
    if key not in facts.memo:
        facts.memo[key] = ProjectConfiguration(facts, code)
    known: ProjectConfiguration = facts.memo[key]
    return known


class ProjectConfiguration:
    """What is known of the configuration of the whole project."""

    def __init__(self, facts: Facts, code: str) -> None:
        self.facts = facts
        self.known: dict[str, FileEvidence] = facts.collected(code)
        told: dict[str, ConfigurationSummary] = facts.collected_texts(code)
        self.texts = {path: item.items for path, item in told.items()}
        self.interpolations = {path: item.read for path, item in sorted(told.items()) if item.read}

    @cached_property
    def given(self) -> frozenset[str]:
        """The sections that the code hands to Trainer."""
        direct = frozenset(name for known in self.known.values() for name in known.given)
        return direct | {taken.section for taken in self._taken if taken.beside is not None}

    @cached_property
    def beside(self) -> frozenset[tuple[str, str]]:
        """What the code gives to Trainer beside a section."""
        direct = frozenset(pair for known in self.known.values() for pair in known.beside)
        return direct | {(taken.section, name) for taken in self._taken for name in taken.beside or ()}

    @cached_property
    def _taken(self) -> tuple[TakenSection, ...]:
        """The sections that the project's own functions take."""
        names = {name.encode() for known in self.known.values() for name in known.takers}
        callers = {path for name in names for path in self.facts.mentions.get(name, ())}
        known = {**self._read(callers - self.known.keys()), **self.known}
        every = ((path, handing) for path, told in sorted(known.items()) for handing in told.handed)
        return tuple(taken for path, handing in every if (taken := taken_section(self.facts, path, handing)))

    def meant(self, path: str, base: str, name: str) -> bool:
        """Whether a name in a file holds the section: it says so, or is a parameter that is given it."""
        alike = (taken.path == path and taken.parameter == base for taken in self._taken if taken.section == name)
        return speaks_of(base, name) or any(alike)

    @cached_property
    def _targets(self) -> frozenset[str]:
        """The sections that name Trainer as their class somewhere."""
        return frozenset(item.name for items in self.texts.values() for item in items if is_trainer(item.target))

    @cached_property
    def sections(self) -> frozenset[str]:
        """The names of the sections that reach a Trainer."""
        built = frozenset(name for known in self.known.values() for name in known.built)
        cli = {"trainer"} if self.cli else set()
        return self.given | (built & self._targets) | cli

    @cached_property
    def cli(self) -> bool:
        """Whether LightningCLI runs somewhere in the project."""
        return any(known.cli for known in self.known.values())

    @cached_property
    def cli_trainer(self) -> str | None:
        """A class with a constructor of its own that LightningCLI may build in the place of Trainer."""
        named = ((path, dotted) for path, known in sorted(self.known.items()) for dotted in sorted(known.trainers))
        for path, dotted in named:
            fact = self.facts.find_class(dotted, path)
            if fact is None or any("__init__" in member.methods for member in self.facts.ancestry(fact)):
                return dotted.rpartition(".")[2]
        return None

    @cached_property
    def uses_lightning(self) -> bool:
        """Whether some Python file speaks of Lightning."""
        holders = {path for text in LIGHTNING for path in self.facts.mentions.get(text, ())}
        return any(self.facts.kinds.get(path) in ("python", "notebook") for path in holders)

    def owner(self, item: OwnedMapping, near: str) -> Owner:
        """How a mapping is known to be a Trainer's."""
        keys = {entry.key for entry in item.arguments}
        loose = bool(keys - once())
        if item.target is not None:
            if is_trainer(item.target):
                return Owner("proven", "it names Trainer as its class")
            fact = self.facts.find_class(item.target, near)
            if fact and self.facts.kind(fact) == TRAINER:
                return Owner("own", f"it is given to `{fact.name}`, a Trainer of this project")
            return Owner("no")
        if item.name == "trainer" and self.cli and self.cli_trainer:
            return Owner(
                "own", f"it is given to `{self.cli_trainer}`, which LightningCLI builds in the place of Trainer"
            )
        if item.name in self.sections and len(keys & once()) >= len(keys - once()):
            return Owner("proven", f"the code gives the section `{item.name}` to Trainer", loose)
        if self._is_own(item):
            return Owner("own", "a Trainer of this project takes it")
        telling = item.name == "trainer" or (len(keys & once()) > 1 and keys & once() - COMMON)
        if self.uses_lightning and telling and any(map(self._may_have_been, keys & REMOVED)):
            return Owner("perhaps", "fixer cannot tell whether it is given to Trainer")
        return Owner("no")

    def _may_have_been(self, key: str) -> bool:
        """Whether an argument that went can be meant by its name alone: one that 1.x had no more for long, by what the
        project requires, is another program's."""
        gone = removed_in(key)
        return gone is None or gone.major > 1 or not demands(self.facts, LIGHTNING_NAMES, str(gone))

    def _is_own(self, item: OwnedMapping) -> bool:
        """Whether another file gives a section of that name to a class of the project below Trainer."""
        for path, items in self.texts.items():
            for other in items:
                if other.name == item.name and other.target and not is_trainer(other.target):
                    fact = self.facts.find_class(other.target, path)
                    if fact and self.facts.kind(fact) == TRAINER:
                        return True
        return False

    def interpolated(self, name: str, key: str) -> str | None:
        """The file that interpolates a key of a section."""
        return next((path for path, read in self.interpolations.items() if (name, key) in read), None)

    def can_change(self, name: str, key: str) -> bool:
        """Whether every mapping that sets a key of a section is a Trainer's alone, in one place, and nothing in its
        file interpolates the key by itself."""
        return all(
            not item.shared
            and ("", key) not in self.interpolations.get(path, ())
            and (is_trainer(item.target) or (item.target is None and len(item.keys) >= item.others))
            for path, items in self.texts.items()
            for item in items
            if item.name == name and key in item.keys
        )

    def elsewhere(self, name: str, key: str, path: str) -> list[Any]:
        """What other files set a key of the section to, so that one may override the other."""
        return [values[key] for other, values in self._values(name) if other != path and key in values]

    def values(self, name: str, key: str) -> list[Any]:
        """What the files set a key of a section to."""
        return [values[key] for _, values in self._values(name) if key in values]

    def _values(self, name: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
        return [(path, item.keys) for path, items in self.texts.items() for item in items if item.name == name]

    @cached_property
    def _every(self) -> dict[str, FileEvidence]:
        """What all files say, with those that hold no trigger and may read an argument which Trainer still takes."""
        holders = {path for text in READ for path in self.facts.mentions.get(text, ())} - self.known.keys()
        takers = {taken.path for taken in self._taken} - self.known.keys()
        return {**self.known, **self._read(holders | takers)}

    def _read(self, paths: Iterable[str]) -> dict[str, FileEvidence]:
        """What files say that hold no trigger."""
        opened = ((path, self.facts.open(path)) for path in sorted(paths))
        return {path: known for path, file in opened if file and (known := read_evidence(file))}

    def reads(self, name: str, key: str) -> list[tuple[str, KeyUse]]:
        """The places of the code that read or set a key of a section."""
        return [
            (path, read)
            for path, known in sorted(self._every.items())
            for read in known.reads
            if read.key == key and self.meant(path, read.base, name)
        ]

    def is_read(self, key: str) -> bool:
        """Whether the code reads a key of that name from anything, and so decides itself what it is for."""
        return any(read.key == key for known in self.known.values() for read in known.reads)


def speaks_of(base: str, name: str) -> bool:
    """Whether a variable's name says that it holds the section."""
    return base == name or base.startswith(f"{name}_") or base.endswith(f"_{name}")
