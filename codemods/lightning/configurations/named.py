"""Mappings of configurations with the dotted names that they hand their entries to, by Hydra or LightningCLI."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.code.scopes import canonical
from codemods.code.source import TextFile
from codemods.lightning.configurations.mappings import Malformed, Mapping, read_mappings
from codemods.lightning.configurations.owners import RECORDS


def handing(file: TextFile) -> Iterator[tuple[Mapping, tuple[str, ...]]]:
    """The mappings of a file whose entries may be arguments, with the names that one of their values, or of those of
    the mapping around `init_args`, may be the name of what takes them."""
    if file.path.rpartition("/")[2] in RECORDS:
        return
    try:
        found = read_mappings(file.text, file.kind)
    except Malformed:
        return
    by_path = {item.path: item for item in found}
    for item in found:
        above = by_path.get(item.path[:-1]) if item.path[-1:] == ("init_args",) else None
        values = [entry.value for entry in (above or item).entries if isinstance(entry.value, str)]
        yield item, tuple(map(canonical, values))
