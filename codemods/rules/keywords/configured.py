"""Keyword arguments of 1.x that a configuration hands on to the class which it names, by Hydra or LightningCLI."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.code.source import TextFile
from codemods.lightning.configurations.mappings import Mapping
from codemods.lightning.configurations.named import handing
from codemods.lightning.object_arguments import MONITORS, keywords, owner_of, wish
from codemods.rule import Match


def configured(file: TextFile) -> Iterator[Match]:
    """The entries of mappings that name a class of Lightning which takes them no more. They are left to a person: what
    overrides them need not name the class."""
    for item, names in handing(file):
        if owner := next(filter(None, map(owner_of, names)), None):
            yield from _entries(file, item, owner)


def _entries(file: TextFile, item: Mapping, owner: str) -> Iterator[Match]:
    for entry in item.entries:
        row = keywords().get((owner, entry.key))
        span = file.span(*entry.key_at)
        if row:
            reason = f"Not rewritten: {wish(row)}, here and everywhere else where it is set."
            yield Match(span, f"`{entry.key}` was removed in Lightning {row.since}", "manual", reason, row.row)
        elif entry.key == "mode" and entry.value == "auto" and owner.rpartition(".")[2] in MONITORS:
            reason = "Not rewritten: write max if a higher value is better, min otherwise."
            yield Match(span, "`mode: auto` was removed in Lightning 1.3", "manual", reason)
