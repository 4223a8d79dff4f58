"""Keyword arguments of 1.x that a configuration hands on: to the class which it names, by Hydra or LightningCLI, or to
one that the code gives a section of it by `**`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codemods.code.source import PythonFile, TextFile
from codemods.lightning.configurations.evidence import sections
from codemods.lightning.configurations.mappings import Mapping as Section
from codemods.lightning.configurations.named import handing
from codemods.lightning.configurations.owners import section_name
from codemods.lightning.object_arguments import MONITORS, class_names, keywords, owner_of, wish
from codemods.rule import Match


def spread_sections(file: PythonFile) -> tuple[tuple[str, str], ...] | None:
    """The sections of configurations that the file gives by `**` to classes that had such keywords, each with what it
    is given to."""
    found = {
        (name, owner)
        for call in file.calls_near(class_names())
        for item in call.node.keywords
        if item.arg is None and (owner := owner_of(call.scope.resolve(call.node.func) or ""))
        for name in sections(file, item.value)
    }
    return tuple(sorted(found)) or None


def configured(file: TextFile, spread: Mapping[str, tuple[tuple[str, str], ...]]) -> Iterator[Match]:
    """The entries of mappings that name a class of Lightning which takes them no more, or that the code spreads into a
    call of one (`spread`, by the file that does). They are left to a person: what overrides them need not name the
    class."""
    given = {name: (owner, path) for path, found in sorted(spread.items()) for name, owner in found}
    for item, names in handing(file):
        if owner := next(filter(None, map(owner_of, names)), None):
            yield from _entries(file, item, owner)
        elif to := given.get(section_name(file, item.path)):
            yield from _entries(file, item, to[0], f"{to[1]} gives it to {to[0].rpartition('.')[2]}; ")


def _entries(file: TextFile, item: Section, owner: str, where: str = "") -> Iterator[Match]:
    for entry in item.entries:
        row = keywords().get((owner, entry.key))
        span = file.span(*entry.key_at)
        if row:
            reason = f"Not rewritten: {where}{wish(row)}, here and everywhere else where it is set."
            yield Match(span, f"`{entry.key}` was removed in Lightning {row.since}", "manual", reason, row.row)
        elif entry.key == "mode" and entry.value == "auto" and owner.rpartition(".")[2] in MONITORS:
            reason = f"Not rewritten: {where}write max if a higher value is better, min otherwise."
            yield Match(span, "`mode: auto` was removed in Lightning 1.3", "manual", reason)
