"""Clipping and accumulation that a configuration file gives to the Trainer of a LightningCLI, which fits at once, so
that nothing can be handed over: the value goes from the file into the class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codemods.code.source import TextFile
from codemods.finding import Fix
from codemods.lightning.configurations.mappings import Malformed, MappingEntry
from codemods.lightning.configurations.mappings import Mapping as Section
from codemods.lightning.configurations.owners import owned
from codemods.lightning.facts import Facts
from codemods.rewrite.splice import dropped, has_comment
from codemods.rule import Match

SECTION = "trainer"
CLI = b"LightningCLI"


@dataclass(frozen=True)
class TrainerSetting:
    """An argument in a `trainer` section: its value as Python text, empty where it cannot go into a class."""

    name: str
    text: str


def read_settings(file: TextFile, names: Iterable[str]) -> tuple[TrainerSetting, ...] | None:
    """What the `trainer` sections of a file give to some arguments, None for nothing."""
    return tuple(TrainerSetting(entry.key, text) for _, entry, text in _entries(file, frozenset(names))) or None


def _entries(file: TextFile, names: frozenset[str]) -> Iterator[tuple[Section, MappingEntry, str]]:
    try:
        found = [item for item in owned(file) if item.name == SECTION]
    except Malformed:
        return
    for item in found:
        for entry in item.arguments:
            if entry.key in names:
                stays = len(item.arguments) > len([other for other in item.arguments if other.key in names])
                lone = dropped(file, item.section, entry, names) is None or has_comment(file, entry)
                plain = isinstance(entry.value, int | float | str) and not isinstance(entry.value, bool)
                usable = stays and plain and not lone and not item.section.shared
                yield item.section, entry, repr(entry.value) if usable else ""


def only_setting(
    facts: Facts, settings: Mapping[str, tuple[TrainerSetting, ...]], name: str, spoken: Iterable[str]
) -> tuple[str, str] | None:
    """The file, and the text of the value, where one file alone gives an argument, once, to a LightningCLI; `spoken`
    are Python files that speak of it."""
    runs = facts.mentions.get(CLI, frozenset()) & facts.files.keys()
    mentioned = facts.mentions.get(name.encode(), frozenset())
    paths = {path for path in mentioned if path not in facts.files and facts.kinds.get(path) != "docs"}
    if facts.trainers or not runs or set(spoken) or len(paths) != 1:
        return None
    (path,) = paths
    found = [each.text for each in settings.get(path, ()) if each.name == name]
    return (path, found[0]) if len(found) == 1 and found[0] else None


def setting_matches(file: TextFile, names: frozenset[str], owner: str, level: Fix, unit: str) -> Iterator[Match]:
    """The entries of a file that went into the class `owner`."""
    for section, entry, text in _entries(file, names):
        edits = dropped(file, section, entry, names)
        if text and edits:
            reason = f"{owner} keeps the value, and does itself what automatic optimization did."
            message = f"under manual optimization Lightning 2 refuses a Trainer with {entry.key}"
            yield Match(file.span(*entry.key_at), message, level, reason, "M214", edits, unit=unit)
