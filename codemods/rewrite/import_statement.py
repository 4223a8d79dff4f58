"""A `from ... import ...` with some of its names taken from elsewhere, as edits of its text."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemods.code.source import PythonFile
from codemods.rule import TextEdit

_MODULE = re.compile(r"from\s+([\w.]+)\s+import\b")


@dataclass(frozen=True)
class ImportTarget:
    """Where a name is imported from now: `module`, `name` there, and the name it is bound to here. Without a module
    it is one itself."""

    module: str
    name: str
    bound: str

    @property
    def item(self) -> str:
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


def import_of(file: PythonFile, package: str) -> tuple[TextEdit, ...] | None:
    """The edit that imports a package, or a module of one, at the top of the file, in order among the plain imports
    that stand together there; None where the name is taken or no import stands alone on its line."""
    if package.partition(".")[0] in file.scope.bindings:
        return None
    top = [node for node in file.tree.body if isinstance(node, ast.Import) and why_not(file, node) is None]
    before = [node for node in top if node.names[0].name < package]
    if not top:
        return None
    start, end = file.offsets(before[-1] if before else top[0])
    newline = "\r\n" if "\r\n" in file.text else "\n"
    if not before:
        return (TextEdit(start, start, f"import {package}{newline}"),)
    line_end = end + len(file.text[end:].split("\n", 1)[0].rstrip("\r"))
    return (TextEdit(line_end, line_end, f"{newline}import {package}"),)


def in_order(lines: Sequence[ast.stmt], name: str) -> ast.Import | None:
    """Of the imports of the standard library among some statements the one beside which another one stands in order:
    behind it, or in front of the first. None where they are in no order so far, and for other packages."""
    if name.partition(".")[0] not in sys.stdlib_module_names:
        return None
    plain = [line for line in lines if isinstance(line, ast.Import) and line.col_offset == 0 and _is_standard(line)]
    names = [line.names[0].name for line in plain]
    beside = [line for line in plain if line.names[0].name < name][-1:] or plain[:1]
    return beside[0] if beside and names == sorted(names) else None


def _is_standard(line: ast.Import) -> bool:
    return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in line.names)


def why_not(file: PythonFile, node: ast.ImportFrom | ast.Import) -> str | None:
    """What keeps a statement from being edited as text."""
    start, end = file.offsets(node)
    text = file.text[start:end]
    if not text.startswith(("from", "import")):
        return "it is imported by a call"
    if "#" in text:
        return "there is a comment inside the statement"
    if "\\" in text and not _MODULE.match(text):
        return "the statement goes on after a backslash"
    line = file.text.rfind("\n", 0, start) + 1
    rest = file.text[end:].split("\n", 1)[0].strip()
    if file.text[line:start].strip() or (rest and not rest.startswith("#")):
        return "there are other statements on its line"
    return None


def moved(
    file: PythonFile,
    node: ast.ImportFrom,
    places: Mapping[ast.alias, ImportTarget],
    present: frozenset[tuple[str, str]],
) -> tuple[TextEdit, ...]:
    """The edits after which the names of `places` come from there, and the others from where they came.

    `present` are (module, name) pairs that the file imports elsewhere under that very name: they are not
    imported again.
    """
    modules = {place.module for place in places.values()}
    needed = [
        place for place in places.values() if place.name != place.bound or (place.module, place.name) not in present
    ]
    apart = len({place.item for place in needed}) == len(places)
    if len(places) == len(node.names) and len(modules) == 1 and "" not in modules and apart:
        return _in_place(file, node, places)
    start, end = file.offsets(node)
    match = _MODULE.match(file.text, start, end)
    here = [alias for alias, place in places.items() if match and place.module == match[1] and place in needed]
    away = [place for alias, place in places.items() if alias not in here and place in needed]
    indent = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    lines = [
        f"{f'from {module} ' if module else ''}import "
        + ", ".join(sorted({place.item for place in away if place.module == module}))
        for module in sorted({place.module for place in away})
    ]
    kept = [alias for alias in node.names if alias not in places or alias in here]
    if not kept:
        return _replaced(file, start, end, lines, newline + indent)
    line_end = end + len(file.text[end:].split("\n", 1)[0].rstrip("\r"))
    added = "".join(f"{newline}{indent}{line}" for line in lines)
    renamed = [TextEdit(*file.offsets(alias), places[alias].item) for alias in here]
    return (*renamed, *without(file, node, kept), *([TextEdit(line_end, line_end, added)] if added else []))


def _in_place(file: PythonFile, node: ast.ImportFrom, places: Mapping[ast.alias, ImportTarget]) -> tuple[TextEdit, ...]:
    start, end = file.offsets(node)
    match = _MODULE.match(file.text, start, end)
    assert match
    edits = [TextEdit(match.start(1), match.end(1), next(iter(places.values())).module)]
    edits += [
        TextEdit(*file.offsets(alias), place.item)
        for alias, place in places.items()
        if alias.name != place.name or (alias.asname or alias.name) != place.bound
    ]
    return tuple(edits)


def _replaced(file: PythonFile, start: int, end: int, lines: list[str], between: str) -> tuple[TextEdit, ...]:
    if lines:
        return (TextEdit(start, end, between.join(lines)),)
    first = file.text.rfind("\n", 0, start) + 1
    after = file.text.find("\n", end)
    return (TextEdit(first, len(file.text) if after < 0 else after + 1, ""),)


def without(file: PythonFile, node: ast.ImportFrom | ast.Import, kept: list[ast.alias]) -> list[TextEdit]:
    """The edits that take out the names that are not kept, with their commas."""
    extents = [file.offsets(alias) for alias in node.names]
    edits = []
    last = max(index for index, alias in enumerate(node.names) if alias in kept)
    for index, alias in enumerate(node.names):
        if alias not in kept and index < last:
            edits.append(TextEdit(extents[index][0], extents[index + 1][0], ""))
    if last + 1 < len(node.names):
        edits.append(TextEdit(extents[last][1], extents[-1][1], ""))
    return edits
