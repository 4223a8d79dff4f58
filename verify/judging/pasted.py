"""Settings that advice asks for, as text to paste into a pyproject.toml, tried as far as that can be."""

from __future__ import annotations

import re
import sys
from typing import Any

from verify.reading.entry import EntrySettings, entries
from verify.reading.sources import Sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

_SETTING = re.compile(r"`([a-z][a-z-]*) = (\"[^`]*\"|\[[^`]*\])`")
_OPEN = ('"..."', "[...]")
_YOURS = '  # in place of "...", what only you know'


def block(text: str, sources: Sources) -> str:
    """The settings that a sentence names between backticks, without those that it leaves open; empty where there are
    none, and where fixer would refuse them of this tree."""
    found = {name: value for name, value in _SETTING.findall(text) if value not in _OPEN}
    lines = [f"{name} = {value}{_YOURS if '...' in value else ''}" for name, value in found.items()]
    told = "\n".join(["[tool.fixer.verify]", *lines])
    return told if lines and _is_taken(told, sources) else ""


def _is_taken(text: str, sources: Sources) -> bool:
    try:
        table: Any = tomllib.loads(text)["tool"]["fixer"]["verify"]
        start = EntrySettings(table.get("script"), table.get("command"), tuple(table.get("args", ())))
        return not (start.script or start.command) or bool(entries(sources, (), start))
    except ValueError:
        return False
