"""What the project's configurations and commands give a Trainer that a script builds of a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codemods.code.source import Source, TextFile, Unreadable
from codemods.lightning.configurations.mappings import Malformed, read_mappings
from codemods.lightning.facts import Facts

SECTION = "trainer"
UNREAD = "?"
"""Stands for the keys of a file that cannot be read."""
_GIVEN = re.compile(rf"\b{SECTION}\.(\w+)=")


def trainer_keys(facts: Facts) -> frozenset[str]:
    """The keys of every section `trainer` of a configuration, and those that a command gives by `trainer.key=...`."""
    known: dict[str, frozenset[str]] = facts.of_sources.setdefault("configured trainers", {})
    if SECTION not in known:
        spoken = [source for source in facts.sources.values() if SECTION.encode() in source.data]
        known[SECTION] = frozenset(key for source in spoken for key in _keys(source))
    return known[SECTION]


def _keys(source: Source) -> Iterator[str]:
    if source.kind in ("shell", "docs", "dockerfile"):
        yield from _GIVEN.findall(source.data.decode(errors="replace"))
    if source.kind not in ("yaml", "json", "toml"):
        return
    try:
        mappings = read_mappings(TextFile.decode(source).text, source.kind)
    except (Unreadable, Malformed):
        yield UNREAD
        return
    for mapping in mappings:
        if mapping.path[-1:] == (SECTION,):
            yield from (entry.key for entry in mapping.entries)
