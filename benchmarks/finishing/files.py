"""The Python of a project: its files and notebooks, without what the installed Lightning does not run."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.finishing.guards import Guards

LEFT_OUT = frozenset(
    {".git", ".hg", ".ipynb_checkpoints", "node_modules", "__pycache__", ".tox", "venv", ".venv", "site-packages"}
)
LARGEST = 2_000_000
MAGIC = re.compile(r"^(\s*)([%!?]|[\w.]+\?$)", re.MULTILINE)


@dataclass(frozen=True)
class Violation:
    """One use that the installed Lightning refuses or ignores. `cell` counts the cells of a notebook from 0, and `line`
    is then one of the cell's."""

    path: str
    line: int
    kind: str
    what: str
    cell: int | None = None
    also: int = 0
    """The line of the class's training_step: a finding there that speaks of the hook names it as well."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.path, self.kind, self.what

    @property
    def subject(self) -> str:
        """The word for it in what a finding says: the argument, or the last part of the name."""
        if "several optimizers" in self.what:
            return "optimizers"
        inside = re.search(r"\((?:without )?(\w+)=", self.what) if self.kind in ("argument", "value") else None
        return inside[1] if inside else re.split(r"[( ]", self.what.removeprefix("super()."))[0].rpartition(".")[2]

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.cell is None else f"{self.path}[{self.cell}]:{self.line}"
        return f"{place} {self.kind}: {self.what}"


@dataclass(frozen=True)
class File:
    path: str
    tree: ast.Module
    places: tuple[tuple[int, int], ...] = ()
    """For each line of a notebook's code the cell and the line in it."""

    def violation(self, line: int, kind: str, what: str) -> Violation:
        if self.places:
            cell, line = self.places[line - 1]
            return Violation(self.path, line, kind, what, cell)
        return Violation(self.path, line, kind, what)


def paths(root: Path, *suffixes: str) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        looked_at = path.suffix in suffixes and not LEFT_OUT & {*path.relative_to(root).parts[:-1]}
        if looked_at and path.is_file() and not path.is_symlink() and path.stat().st_size < LARGEST:
            yield path


def files(root: Path) -> Iterator[File]:
    """Every file that parses."""
    for path in paths(root, ".py", ".ipynb"):
        name = path.relative_to(root).as_posix()
        try:
            text, places = _notebook(path) if path.suffix == ".ipynb" else (path.read_text("utf-8-sig"), ())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        yield File(name, ast.fix_missing_locations(Guards(tree).visit(tree)), places)


def _notebook(path: Path) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The code cells that parse, one after the other, with magics taken out."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        source = MAGIC.sub(r"\1pass  # \2", source)
        try:
            ast.parse(source)
        except SyntaxError:
            continue
        for count, line in enumerate(source.split("\n"), 1):
            lines.append(line)
            places.append((number, count))
    return "\n".join(lines), tuple(places)
