"""Metrics that a file does not call itself but keeps or hands on: in a table, to a partial, as an argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from codemods.code.source import PythonFile
from codemods.rules.metrics.table import metric_of

TOLD = re.compile(r"""\btask\s*=|["']task["']""")
"""Where a file says a task anywhere, whoever wrote it knows of it."""
CHECKS = ("isinstance", "issubclass")


def handed_on(file: PythonFile, words: Collection[str]) -> Iterator[tuple[ast.expr, str]]:
    """The places where a classification metric is kept or handed on, with its name."""
    for node, dotted in kept(file, words) if not TOLD.search(file.text) else ():
        if metric := metric_of(dotted):
            yield node, metric[0]


def kept(file: PythonFile, words: Collection[str]) -> Iterator[tuple[ast.expr, str]]:
    """The places where what an import brings is read by one of some words and not called, with its dotted name."""
    for node, within in file.nodes_near(words):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load) or not within:
            continue
        dotted = file.scope_within(within).resolve(node)
        if dotted and not _is_called(node, within[-1]) and not _is_mentioned(node, within):
            yield node, dotted


def _is_called(node: ast.expr, parent: ast.AST) -> bool:
    return isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node)


def _is_mentioned(node: ast.expr, within: Sequence[ast.AST]) -> bool:
    """Whether a class is named as a base, in an annotation, or to compare with."""
    for parent, child in zip(reversed(within), [node, *reversed(within)], strict=False):
        if isinstance(parent, ast.ClassDef | ast.Compare | ast.arg | ast.ExceptHandler):
            return not isinstance(child, ast.stmt)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in CHECKS:
            return True
        if child in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return True
        if isinstance(parent, ast.stmt):
            return False
    return False
