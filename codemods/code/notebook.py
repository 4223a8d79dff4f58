"""Notebooks: the code cells as one Python file, and back into the JSON with everything else as it was."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from codemods.code.source import BOM, PythonFile, Source, TextFile, Unreadable
from codemods.finding import Span

_CELL = "# [fixer cell {}]"
_CELL_LINE = re.compile(r"^# \[fixer cell (\d+)\]\n", re.MULTILINE)
_KEPT = "# [fixer kept {}]"
_KEPT_LINE = re.compile(r"# \[fixer kept (\d+)\]$")
_MAGIC = re.compile(r"^(?P<indent>\s*)(?:[%!?]|[\w.]+\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"^(?P<indent>\s*)(?P<target>[\w.,\s]+?)\s*=\s*[%!]")
_TRANSPARENT = frozenset({"%%time", "%%timeit", "%%capture", "%%prun"})
"""Cell magics whose cell is Python all the same."""
_IMPORT = re.compile(r"^(?:import|from) (?!__future__)\w", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells, its source, and where the strings of the source stand in the JSON.
    `listed` holds for a list of lines, whose brackets are at `at`. `kept` are the lines that are not Python."""

    index: int
    source: str
    at: tuple[int, int]
    strings: tuple[tuple[int, int], ...]
    listed: bool
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notebook(PythonFile):
    """A notebook as rules for Python see it: its code cells, one after the other, each under a comment with its
    number; magics and commands for the shell stand as `pass`. `raw` is the JSON. Cells that are no Python are left out,
    since nothing of them can run; `unread` says of the first what is wrong with it."""

    raw: str = ""
    cells: tuple[Cell, ...] = ()
    unread: str | None = None

    @classmethod
    def parse(cls, source: Source) -> Notebook:
        """Raises Unreadable where the bytes are no notebook, or no code cell is Python of this interpreter."""
        try:
            raw = source.data.decode("utf-8-sig")
            cells = tuple(_code_cells(raw))
        except (UnicodeDecodeError, ValueError, IndexError, RecursionError, AttributeError, TypeError) as error:
            raise Unreadable(f"cannot be read as a notebook: {error}") from None
        masked = [_masked(cell) for cell in cells]
        unread = None
        try:
            tree = ast.parse(_text_of(masked))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            unread = _blamed(masked, error)
            masked = [(cell, body) if _parses(body) else _left_out(cell) for cell, body in masked]
            if not any(_runs(body) for _, body in masked) or not _parses(_text_of(masked)):
                raise Unreadable(unread) from None
            tree = ast.parse(_text_of(masked))
        known, bom = tuple(cell for cell, _ in masked), source.data.startswith(BOM)
        return cls(source.path, _text_of(masked), tree, "utf-8", bom, raw, known, unread)

    def encode(self, text: str) -> bytes:
        """The notebook with the cells of a new text. Raises ValueError where that is not laid out in its cells."""
        texts = self._by_cell(text)
        raw = self.raw
        bodies = _with_imports_beside_others(_CELL_LINE.split(self.text)[2::2], texts)
        for cell, body in reversed(list(zip(self.cells, bodies, strict=True))):
            source = _unmasked(body.removesuffix("\n"), cell)
            if source != cell.source:
                raw = _spliced(raw, cell, source)
        return (BOM if self.bom else b"") + raw.encode()

    def _by_cell(self, text: str) -> list[str]:
        """The cells of a new text. The comment above a cell goes with its first statement: what then stands behind a
        cell that is as it was belongs to the next."""
        parts, was = _CELL_LINE.split(text), _CELL_LINE.split(self.text)[2::2]
        there = list(map(int, parts[1::2]))
        if parts[0] or there != [cell.index for cell in self.cells if cell.index in there]:
            raise ValueError("the rewrite goes beyond a cell")
        bodies = iter(parts[2::2])
        made: list[str] = []
        for cell in self.cells:
            if cell.index in there:
                made.append(next(bodies))
            elif made and made[-1].startswith((before := was[len(made) - 1].rstrip("\n")) + "\n"):
                made[-1:] = [was[len(made) - 1], made[-1].removeprefix(before).lstrip("\n")]
            elif made and not made[-1].strip():
                made.append("")
            else:
                raise ValueError("the rewrite goes beyond a cell")
        return made

    def place(self, span: Span) -> tuple[int | None, Span]:
        """The number of the cell that a place of the text is in, and the place counted from there."""
        index = bisect_right(self._heads, span.line) - 1
        if index < 0:
            return None, span
        head = self._heads[index]
        moved = replace(span, line=max(span.line - head, 1), end_line=max(span.end_line - head, 1))
        return self.cells[index].index, moved

    @cached_property
    def _heads(self) -> list[int]:
        return [number for number, line in enumerate(self.lines, 1) if _CELL_LINE.match(line)]


def place_in_cell(file: TextFile, span: Span) -> tuple[int | None, Span]:
    """The number of the cell that a place of a notebook's JSON is in, and the place counted from there; the place as
    it is where it is in no code cell, or where nothing can be told."""
    starts = list(accumulate((len(line) + 1 for line in file.text.split("\n")), initial=0))
    first, last = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
    try:
        cell = next(item for item in _code_cells(file.text) if item.at[0] <= first and last <= item.at[1])
        begin, end = _told(file.text, cell, first), _told(file.text, cell, last)
    except (StopIteration, ValueError, IndexError, RecursionError, AttributeError, TypeError):
        return None, span
    return cell.index, Span(*_line_and_column(begin), *_line_and_column(end))


def _told(raw: str, cell: Cell, offset: int) -> str:
    """The source of a cell up to an offset into the JSON."""
    parts = [(start, min(end, offset)) for start, end in cell.strings if start < offset]
    return "".join(scanstring(f'{raw[start:end].removesuffix(chr(34))}"' if end == offset else raw[start:end], 1)[0]
                   for start, end in parts)  # fmt: skip


def _line_and_column(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1


def _with_imports_beside_others(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The cells with imports that were put in at the top, ahead of what installs their package perhaps, moved to the
    first import that was there."""
    cells = [body.split("\n") for body in after]
    home = next((index for index, body in enumerate(before) if _IMPORT.search(body)), None)
    for index, lines in enumerate(cells if home is not None else []):
        own = before[index].split("\n")
        if lines == own or home is None or index > home:
            continue
        added = 0
        while added < len(lines) and lines[added] not in own and _IMPORT.match(lines[added]):
            added += 1
        moved, rest = lines[:added], lines[added:]
        if moved and rest[:1] == [""] and own[:1] != [""]:
            rest = rest[1:]
        cells[index] = rest
        place = next((number for number, line in enumerate(cells[home]) if _IMPORT.match(line)), 0)
        cells[home][place:place] = moved
    return ["\n".join(lines) for lines in cells]


def _blamed(masked: Sequence[tuple[Cell, str]], error: BaseException) -> str:
    """Which cell does not parse."""
    for cell, body in masked:
        try:
            ast.parse(body)
        except SyntaxError as own:
            return f"cell {cell.index + 1}, line {own.lineno}: does not parse as Python 3: {own.msg}"
        except ValueError as own:
            return f"cell {cell.index + 1}: {own}"
    return f"does not parse as Python 3: {error}"


def _text_of(masked: Sequence[tuple[Cell, str]]) -> str:
    """The cells one after the other, each under its number."""
    return "".join(f"{_CELL.format(cell.index)}\n{body}\n" for cell, body in masked)


def _runs(body: str) -> bool:
    """Whether a cell has anything but comments."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in body.split("\n"))


def _left_out(cell: Cell) -> tuple[Cell, str]:
    """A cell of which every line is hidden."""
    kept = cell.source.split("\n")
    return replace(cell, kept=tuple(kept)), "\n".join(_KEPT.format(number) for number in range(len(kept)))


def _masked(cell: Cell) -> tuple[Cell, str]:
    """A cell with Python in the place of what is not, line by line."""
    if not _CELL_LINE.search(cell.source) and _parses(cell.source):
        return cell, cell.source
    kept: list[str] = []
    lines = []
    first = next((line for line in cell.source.split("\n") if line.strip()), "")
    whole = first.startswith("%%") and first.split()[0] not in _TRANSPARENT
    inside = False
    for line in cell.source.split("\n"):
        found, assigned = _MAGIC.match(line), _ASSIGNED.match(line)
        if whole or inside:
            lines.append(_KEPT.format(len(kept)))
        elif found:
            lines.append(f"{found['indent']}pass  {_KEPT.format(len(kept))}")
        elif assigned:
            mark = _KEPT.format(len(kept))
            lines.append(f"{assigned['indent']}{assigned['target'].strip()} = get_ipython()  {mark}")
        else:
            lines.append(line)
            continue
        kept.append(line)
        inside = not whole and line.endswith("\\")
    return replace(cell, kept=tuple(kept)), "\n".join(lines)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _unmasked(body: str, cell: Cell) -> str:
    """The cell with its own lines where they were hidden. Raises ValueError where one was lost."""
    lines = []
    seen = []
    for line in body.split("\n"):
        hidden = _KEPT_LINE.search(line) if cell.kept else None
        lines.append(cell.kept[int(hidden[1])] if hidden else line)
        seen += [int(hidden[1])] if hidden else []
    if seen != list(range(len(cell.kept))):
        raise ValueError("the rewrite loses a line that is not Python")
    return "\n".join(lines)


def _spliced(raw: str, cell: Cell, source: str) -> str:
    """The JSON with another source for a cell: the lines that are the same stay as they are written."""
    plain = raw.isascii() and "\\u" in raw

    def written(text: str) -> str:
        return json.dumps(text, ensure_ascii=plain)

    if not cell.listed:
        return raw[: cell.at[0]] + written(source) + raw[cell.at[1] :]
    old = [raw[start:end] for start, end in cell.strings]
    new = [written(line) for line in source.splitlines(keepends=True)]
    before = [json.loads(text) for text in old]
    after = [json.loads(text) for text in new]
    for kind, i, j, m, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            new[m : m + j - i] = old[i:j]
    start, end = cell.at
    lead = raw[start + 1 : cell.strings[0][0]]
    gap = raw[cell.strings[0][1] : cell.strings[1][0]] if len(old) > 1 else f",{lead}" if lead else ", "
    return raw[: cell.strings[0][0]] + gap.join(new) + raw[cell.strings[-1][1] : end] + raw[end:]


def _code_cells(raw: str) -> Iterator[Cell]:
    """The code cells of a notebook in Python. Raises ValueError where it is none."""
    root, _ = _scan(raw, _SPACE.match(raw).end())  # type: ignore[union-attr]
    language = _text(raw, _down(root, "metadata", "kernelspec", "language"))
    language = language or _text(raw, _down(root, "metadata", "language_info", "name")) or "python"
    cells = _down(root, "cells")
    if cells is None or not isinstance(cells.value, list):
        raise ValueError("it has no cells")
    if language.lower() not in ("python", "ipython", "python3"):
        raise ValueError(f"its cells are in {language}")
    for index, node in enumerate(cells.value):
        source = _down(node, "source")
        if _text(raw, _down(node, "cell_type")) != "code" or source is None:
            continue
        parts = source.value if isinstance(source.value, list) else [source]
        text = "".join(_text(raw, part) or "" for part in parts)
        if text:
            spans = tuple((part.start, part.end) for part in parts)
            yield Cell(index, text, (source.start, source.end), spans, isinstance(source.value, list))


@dataclass(frozen=True)
class _Node:
    """A value of the JSON and where it stands: a list, a dictionary, or None for anything else."""

    start: int
    end: int
    value: Any


def _down(node: _Node | None, *keys: str) -> _Node | None:
    for key in keys:
        node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
    return node


def _text(raw: str, node: _Node | None) -> str | None:
    """What a string says."""
    if node is None or raw[node.start] != '"':
        return None
    return str(scanstring(raw, node.start + 1)[0])


def _scan(raw: str, at: int) -> tuple[_Node, int]:
    """The value that begins at a place, and where what follows it begins. Raises ValueError or IndexError."""
    letter = raw[at]
    if letter == '"':
        end = scanstring(raw, at + 1)[1]
        return _Node(at, end, None), _skip(raw, end)
    if letter not in "[{":
        found = _SCALAR.match(raw, at)
        if found is None:
            raise ValueError(f"character {at} begins no value")
        return _Node(at, found.end(), None), _skip(raw, found.end())
    items: dict[str, _Node] = {}
    listed: list[_Node] = []
    place = _skip(raw, at + 1)
    while raw[place] not in "]}":
        if letter == "{":
            key, place = scanstring(raw, place + 1)
            place = _skip(raw, _skip(raw, place) + 1)
        node, place = _scan(raw, place)
        if letter == "{":
            items[key] = node
        else:
            listed.append(node)
        if raw[place] == ",":
            place = _skip(raw, place + 1)
    return _Node(at, place + 1, items if letter == "{" else listed), _skip(raw, place + 1)


def _skip(raw: str, at: int) -> int:
    found = _SPACE.match(raw, at)
    return found.end() if found else at
