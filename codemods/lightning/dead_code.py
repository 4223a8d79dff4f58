"""What never runs with the release to move to, as a question for a version has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.code.source import PythonFile
from codemods.finding import Span
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.version_checks import LIGHTNING, TORCHMETRICS, questions

PACKAGES = (LIGHTNING, TORCHMETRICS)
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_dead(file: PythonFile, facts: Facts, span: Span) -> bool:
    """Whether a place of a file never runs with the target, as a question for the version of Lightning or torchmetrics
    has it."""
    if not any(questions(file, facts, package) for package in PACKAGES):
        return False
    made: dict[str, tuple[Span, ...]] = memo_of(file, facts)
    if "dead spans" not in made:
        made["dead spans"] = tuple(_dead(file, facts))
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return any(
        (each.line, each.column) <= start and end <= (each.end_line, each.end_column) for each in made["dead spans"]
    )


def _dead(file: PythonFile, facts: Facts) -> Iterator[Span]:
    for asked in (asked for package in PACKAGES for asked in questions(file, facts, package)):
        arm, other = asked.node.body, asked.node.orelse
        alive, dead = (arm, other) if asked.holds else (other, arm)
        yield from _spans(file, dead if isinstance(dead, list) else [dead])
        if isinstance(alive, list) and alive and isinstance(alive[-1], _ENDING):
            yield from _spans(file, _behind(asked.within[-1] if asked.within else file.tree, asked.node))


def _behind(around: ast.AST, node: ast.AST) -> list[ast.stmt]:
    """The statements behind one in its block."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(around, field, None)
        if isinstance(block, list) and node in block:
            return block[block.index(node) + 1 :]
    return []


def _spans(file: PythonFile, nodes: Sequence[ast.AST]) -> Iterator[Span]:
    for node in nodes:
        if isinstance(node, ast.expr | ast.stmt):
            span = file.span(node)
            first = min((item.lineno for item in getattr(node, "decorator_list", ())), default=span.line)
            yield span if first == span.line else Span(first, 1, span.end_line, span.end_column)
