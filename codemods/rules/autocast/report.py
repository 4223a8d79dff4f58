"""How the rules on regions name modules and places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.code.source import PythonFile
from codemods.finding import Span
from codemods.rule import Match
from codemods.rules.autocast.find import TraceFindings


def listed(names: Iterable[str]) -> str:
    """The first three of some names."""
    every = list(dict.fromkeys(f"`{name}`" for name in names))
    return ", ".join(every[:3]) + (", ..." if len(every) > 3 else "")


def line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def place_of(file: PythonFile, node: ast.AST) -> Span:
    """The first line of a statement or expression."""
    assert isinstance(node, ast.stmt | ast.expr)
    span = file.span(node)
    end = len(file.lines[span.line - 1].rstrip()) + 1
    return Span(span.line, span.column, span.line, max(span.column + 1, end))


def unfinished(file: PythonFile, item: TraceFindings, advice: str) -> Iterator[Match]:
    """A finding for a trace that begins in a file and was not followed to its end."""
    if item.cut and item.home == file.path:
        name = f"`{item.root.name}`" if item.root else "this file"
        span = file.head(item.root) if item.root else Span(1, 1, 1, 2)
        what = "calls too deep or too late" if item.trace.deep else "is too long"
        message = (
            f"{name} {what} to be followed through its autocast region: fixer cannot tell what it does to the weights"
        )
        yield Match(span, message, "manual", f"fixer cannot tell whether anything is wrong; if so, {advice}")
