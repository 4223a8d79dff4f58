"""The parts of a file that edits touch, each as a module of its own, so that LibCST reads no more than these.

A part is one or more statements of the module or of a class, with what stands above them. Other statements beside and
around them are stood in for by `pass` and `if 0:` at their places, so that comments and empty lines belong to what they
belong to in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from codemods.code.source import PythonFile

Chain = tuple[ast.ClassDef, ...]
COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With,
    ast.AsyncWith, ast.Try, getattr(ast, "TryStar", ast.Try), ast.Match,
)  # fmt: skip
ODD = ("\r", "\f")
"""Characters of which a file that holds one is read whole."""


@dataclass(frozen=True)
class Part:
    """The lines `start:end` of a file, 0-based, what stands for the lines before and behind them, and the nodes in them
    that are edited."""

    start: int
    end: int
    before: str
    behind: str
    nodes: Collection[ast.AST]

    @property
    def above(self) -> int:
        """By how many lines a node stands lower in the file than in the part."""
        return self.start - self.before.count("\n")


@dataclass(frozen=True)
class _StatementRun:
    """The statements `first:last + 1` of the module or, inside one or more classes, of the innermost."""

    chain: Chain
    first: int
    last: int


def parts_of(file: PythonFile, nodes: Iterable[ast.AST], head: bool) -> list[Part] | None:
    """The parts of a file that hold some nodes and, with `head`, its first block of imports; None where it has to be
    read whole."""
    if any(mark in file.text for mark in ODD):
        return None
    return _Parting(file).parts(list(nodes), head)


class _Parting:
    def __init__(self, file: PythonFile) -> None:
        self.file, self.lines, self.tree = file, file.lines, file.tree

    def parts(self, nodes: Sequence[Any], head: bool) -> list[Part] | None:
        units = {node: self.unit(node) for node in nodes}
        block = self.imports() if head else None
        if (head and block is None) or not all(units.values()):
            return None
        runs = self.joined([run for run in (*units.values(), block) if run])
        if block and block not in runs:
            return None
        parts: list[Part] = []
        for run in runs:
            part = self.part(run, [node for node, unit in units.items() if unit and self.holds(run, unit)])
            if part is None:
                return None
            parts.append(part)
        parts.sort(key=lambda part: part.start)
        return None if any(one.end > other.start for one, other in pairwise(parts)) else parts

    def body(self, chain: Chain) -> list[ast.stmt]:
        return chain[-1].body if chain else self.tree.body

    def unit(self, node: Any) -> _StatementRun | None:
        """The statement that a node stands in: of the innermost class whose body holds it whole, or of the module."""
        chain: Chain = ()
        while True:
            body = self.body(chain)
            found = [index for index, line in enumerate(body) if _first(line) <= node.lineno <= (line.end_lineno or 0)]
            if not found:
                return None
            index = found[0]
            inner = body[index]
            own = not isinstance(inner, ast.ClassDef) or inner is node or node.lineno < _first(inner.body[0])
            if len(found) > 1 or own or not self.is_block(inner):
                return _StatementRun(chain, index, found[-1])
            assert isinstance(inner, ast.ClassDef)
            chain = (*chain, inner)

    def is_block(self, node: Any) -> bool:
        """Whether the body of a class stands on lines of its own."""
        return not self.lines[_first(node.body[0]) - 1][: node.body[0].col_offset].strip()

    def imports(self) -> _StatementRun | None:
        """The first block of imports, with what may stand before it; None where there is none."""
        body = self.tree.body
        start = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
        end = next(
            (n for n, line in enumerate(body) if n >= start and not isinstance(line, ast.Import | ast.ImportFrom)),
            len(body),
        )
        return _StatementRun((), 0, end - 1) if end else None

    def joined(self, runs: Sequence[_StatementRun]) -> list[_StatementRun]:
        """The runs, those that lie side by side as one, without those that others hold."""
        found: dict[Chain, set[int]] = {}
        for run in runs:
            found.setdefault(run.chain, set()).update(range(run.first, run.last + 1))
        joined: list[_StatementRun] = []
        for chain, wanted in found.items():
            body = self.body(chain)
            for index in range(len(body)):
                if index not in wanted:
                    continue
                if joined and joined[-1].chain == chain and joined[-1].last == index - 1:
                    joined[-1] = _StatementRun(chain, joined[-1].first, index)
                else:
                    joined.append(_StatementRun(chain, index, index))
        return [run for run in joined if not any(self.holds(other, run) for other in joined if other is not run)]

    def holds(self, run: _StatementRun, other: _StatementRun) -> bool:
        depth = len(run.chain)
        if run.chain == other.chain:
            return run.first <= other.first and other.last <= run.last
        inside = other.chain[:depth] == run.chain and len(other.chain) > depth
        return inside and other.chain[depth] in self.body(run.chain)[run.first : run.last + 1]

    def part(self, run: _StatementRun, nodes: Collection[ast.AST]) -> Part | None:
        """The lines of some statements with what stands in for the others; None where what stands above them may
        belong to another."""
        body = self.body(run.chain)
        first = _first(body[run.first]) - 1
        indent = self.indent(body[run.first])
        start = (body[run.first - 1].end_lineno or 0) if run.first else self.top(first) if run.chain else 0
        follower = next(self.followers(run), None)
        end = _first(follower) - 1 if follower else len(self.lines)
        gap = [line for line in self.lines[start:first] if line.strip()]
        if start > first or (body[run.last].end_lineno or 0) > end or indent is None:
            return None
        if start and not all(line.startswith(f"{indent}#") for line in gap):
            return None
        behind = self.indent(follower) if follower else ""
        if behind is None:
            return None
        before = self.before(run, indent)
        if follower and not before:
            return Part(start, end, before, self.block or "pass\n", nodes)
        return Part(start, end, before, f"{behind}pass\n" if follower else "", nodes)

    def top(self, first: int) -> int:
        """The line behind the head of a class, going up from its first statement."""
        while first and self.lines[first - 1].strip()[:1] in ("", "#"):
            first -= 1
        return first

    def followers(self, run: _StatementRun) -> Iterator[ast.stmt]:
        """The statements behind some others, those of the module last."""
        yield from self.body(run.chain)[run.last + 1 :]
        for depth in range(len(run.chain) - 1, -1, -1):
            body = self.body(run.chain[:depth])
            yield from body[body.index(run.chain[depth]) + 1 :]

    def indent(self, node: ast.stmt) -> str | None:
        """The white space before a statement; None where something else stands before it."""
        indent = self.lines[node.lineno - 1][: node.col_offset]
        return None if indent.strip() else indent

    def before(self, run: _StatementRun, indent: str) -> str:
        """What stands for all that comes before some statements: first a block that is indented as the first one of
        the file is, which tells LibCST how new ones are, then the classes around, and a statement of the kind of the
        one before."""
        if not run.chain and not run.first:
            return ""
        text = self.block
        for depth, _ in enumerate(run.chain):
            text += f"{self.indent(run.chain[depth]) or ''}if 0:\n"
        if run.first:
            previous = self.body(run.chain)[run.first - 1]
            last = self.lines[(previous.end_lineno or 1) - 1]
            block = isinstance(previous, COMPOUND) and last.startswith((f"{indent} ", f"{indent}\t"))
            text += f"{indent}if 0:\n{indent} pass\n" if block else f"{indent}pass\n"
        return text

    @cached_property
    def block(self) -> str:
        """A block that is indented as the first one of the file is."""
        every = sorted(self.file.statements, key=lambda node: node.lineno)
        indent = next((indent for node in every if node.col_offset and (indent := self.indent(node))), "")
        return f"if 0:\n{indent}pass\n" if indent else ""


def _first(node: Any) -> int:
    """The first line of a statement."""
    heads: list[ast.expr] = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(item.lineno for item in heads)]))
