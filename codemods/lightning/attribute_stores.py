"""Whether anything in a project may store to an attribute of some name, or bind a name of a module."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from codemods.code.external_bindings import bound_by_name, is_bound_elsewhere
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts

_STORED = r"\.{}\b\s*(?:[,:)\]|&+*/@%-]|=(?!=)|in\b)"
"""What follows an attribute that may be stored to."""


def is_stored(
    facts: Facts, open_file: Callable[[str], PythonFile | None], name: str, known: Iterable[tuple[str, int, int]] = ()
) -> bool:
    """Whether anything in the project may store to an attribute of that name, but for some places. `open_file` gives
    the files, of which some may be newer than the facts."""
    pattern = re.compile(_STORED.format(name).encode())
    spoken = bound_by_name(name)
    for path, source in facts.sources.items():
        if source.kind not in ("python", "notebook") or name.encode() not in source.unescaped:
            continue
        if spoken.search(source.unescaped):
            return True
        if not pattern.search(source.unescaped):
            continue
        file = open_file(path)
        if file is None:
            return True
        for node in file.attributes(name):
            if not isinstance(node.ctx, ast.Load) and (path, node.lineno, node.col_offset) not in known:
                return True
    return False


def is_rebound(facts: Facts, path: str, name: str) -> bool:
    """Whether a file, of whatever kind, may bind a name of the module of another."""
    known: dict[tuple[str, str], bool] = facts.of_sources.setdefault("rebound", {})
    if (path, name) not in known:
        known[path, name] = is_bound_elsewhere(facts.sources, path, name)
    return known[path, name]
