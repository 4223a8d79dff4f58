"""Keywords whose value is said otherwise now: how deep a summary goes, and the file that a profiler writes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from codemods.code.literals import literal
from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.object_arguments import Keyword
from codemods.rules.keywords.filepath import folder_and_name

DEPTHS = {"top": "1", "full": "-1"}
"""What the modes of a summary are as `max_depth=`."""
SAME_DEPTH = {"top": "It shows the outermost layers.", "full": "It shows all layers."}
_MODES = {f"ModelSummary.MODE_{name}": mode for name, mode in (("TOP", "top"), ("DEFAULT", "top"), ("FULL", "full"))}
"""Attributes that ModelSummary had up to 1.5."""
EXTENSION = ".txt"
STAGES = "Each stage writes a file of its own there, such as fit-{name}.txt, where one file was written."


@dataclass(frozen=True)
class OtherKeywords:
    """The keywords that take the place of one, how sure that is, and why."""

    new: tuple[tuple[str, str], ...]
    level: Fix
    reason: str


def mode_of(value: ast.expr) -> str | None:
    """The mode of a summary that a value states."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name | ast.Attribute):
        return _MODES.get(".".join(ast.unparse(value).split(".")[-2:]))
    mode = literal(value)[1]
    return mode if isinstance(mode, str) else None


def said_otherwise(
    file: PythonFile, row: Keyword, value: ast.expr, given: Mapping[str, ast.keyword]
) -> OtherKeywords | None:
    """What a keyword becomes whose value is another now; None for other keywords, and where it cannot be told."""
    if row.level == "depth" and "max_depth" not in given:
        mode = mode_of(value)
        return OtherKeywords((("max_depth", DEPTHS[mode]),), "safe", SAME_DEPTH[mode]) if mode in SAME_DEPTH else None
    if row.level == "report" and given.keys().isdisjoint({"dirpath", "filename"}):
        return _report(file, value)
    return None


def _report(file: PythonFile, value: ast.expr) -> OtherKeywords | None:
    """The folder and the stem of the file that a profiler writes, which is named by its stage too since 1.5."""
    if literal(value) == (True, None):
        return OtherKeywords((), "safe", "It was the default.")
    parts = folder_and_name(file, value)
    if parts is None:
        return None
    folder, name = parts
    stem = f"{name[:-1].removesuffix(EXTENSION)}{name[-1]}"
    told = STAGES.format(name=stem.strip("'\"fF"))
    return OtherKeywords((("dirpath", folder), ("filename", stem)), "unsafe", told)
