"""What LIT001 says of a name: whether it is gone, and where it is now."""

from __future__ import annotations

import ast

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.rule import Match, TextEdit
from codemods.rules.names.table import OTHERS, Gone, find, spelled, split


def look_up(dotted: str, target: tuple[int, ...]) -> tuple[str, Gone] | None:
    parts = split(dotted)
    entry = find(parts[1]) if parts else None
    return (parts[0], entry) if parts and entry and entry.release < target else None


def own(dotted: str, target: tuple[int, ...]) -> tuple[str, Gone] | None:
    """The entry of a name that no other rule answers for where it is imported or called."""
    parts = split(dotted)
    return None if parts and parts[1] in OTHERS else look_up(dotted, target)


def message(namespace: str, entry: Gone) -> str:
    return f"`{spelled(entry.old, namespace)}` was removed from Lightning after {entry.last}"


def moved_match(
    file: PythonFile,
    place: ast.alias | ast.expr,
    namespace: str,
    entry: Gone,
    level: Fix,
    edits: tuple[TextEdit, ...],
    unit: str,
) -> Match:
    reason = f"It is `{spelled(entry.new, namespace)}` now"
    reason += f"; {entry.caution}." if entry.caution else "."
    return Match(
        file.span(place), message(namespace, entry), level, reason, entry.row, edits, unit=unit, needs=entry.since
    )


def left_match(file: PythonFile, place: ast.alias | ast.expr, namespace: str, entry: Gone, why: str) -> Match:
    if entry.new:
        reason = (
            f"Not rewritten: {why or 'fixer cannot change it at this place'}. "
            f"Write `{spelled(entry.new, namespace)}` instead."
        )
    else:
        reason = (
            f"It has no replacement of the same kind: {entry.advice}." if entry.advice else "It has no replacement."
        )
    return Match(file.span(place), message(namespace, entry), "manual", reason, entry.row)
