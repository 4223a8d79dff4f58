"""`trainer.weights_save_path`, which was `default_root_dir` where nothing gave a Trainer another (read in 1.4.9)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import NodeEdit
from codemods.rules.trainer.owners import Within

if TYPE_CHECKING:
    import libcst as cst

NAME = "weights_save_path"
FOLDER = "default_root_dir"
GIVEN = "the project names it elsewhere, and a Trainer may have been given one; read the dirpath of the ModelCheckpoint"
SAME = f"it was {FOLDER} where a Trainer is given no other, and nothing in the project gives one"
_WORD = re.compile(rf"\b{NAME}\b".encode())
_READ = re.compile(
    rf"(?<=\.){NAME}\b(?!\s*(?::[ \t]*\w|[^\s=!<>]?=(?!=)))|\b{NAME}\s*[:=]\s*(?:null|None|~)(?=\s|,|\)|$)".encode()
)
"""Where it is read, or said to be none."""
_OPTION = re.compile(rf"--[\w.]*\b{NAME}\b".encode())
"""Where a command line gives it."""


def is_given(facts: Facts) -> bool:
    """Whether anything in the project may give a Trainer such a path."""
    known: bool | None = facts.of_sources.get("weights_save_path given")
    if known is None:
        spoken = (source.unescaped for source in facts.sources.values() if NAME.encode() in source.unescaped)
        known = any(len(_WORD.findall(text)) != len(_READ.findall(text)) or _OPTION.search(text) for text in spoken)
        facts.of_sources["weights_save_path given"] = known
    return known


def without_other(file: PythonFile, node: ast.Attribute, within: Within) -> NodeEdit | None:
    """The edit that leaves what is done where the path is no other than `default_root_dir`, of an `if` that asks so."""
    if len(within) < 3 or not isinstance(within[-1], ast.Compare) or not isinstance(within[-2], ast.If):
        return None
    test, statement, block = within[-1], within[-2], within[-3]
    if statement.test is not test or not statement.orelse or statement in getattr(block, "orelse", ()):
        return None
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotEq):
        return None
    other = test.comparators[0] if test.left is node else test.left
    if ast.unparse(other) != f"{ast.unparse(node.value)}.{FOLDER}" or not isinstance(
        node.value, ast.Name | ast.Attribute
    ):
        return None
    if file.has_comment(statement.lineno, _branches(file, statement)):
        return None
    return NodeEdit(statement, _otherwise)


def _branches(file: PythonFile, statement: ast.If) -> int:
    """The line with the `else` or `elif` of an `if`."""
    start = statement.body[-1].end_lineno or statement.lineno
    found = (number for number in range(start, len(file.lines)) if file.lines[number].lstrip().startswith("el"))
    return next(found, start) + 1


def _otherwise(node: cst.If) -> cst.FlattenSentinel[Any] | cst.If:
    import libcst as cst

    from codemods.rewrite.edits import body_of

    other = node.orelse
    if isinstance(other, cst.If):
        return other.with_changes(leading_lines=node.leading_lines)
    first, *rest = body_of(cst.ensure_type(other, cst.Else))
    leading = [*node.leading_lines, *getattr(first, "leading_lines", ())]
    return cst.FlattenSentinel([first.with_changes(leading_lines=leading), *rest])
