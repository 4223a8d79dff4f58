"""Fields of structured configurations of Hydra, of which a Trainer is built, that became others or can go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.literals import literal
from codemods.code.scopes import canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.arguments import current, once, removal
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.keyword_flow import HandedKeyword, fields_of
from codemods.rule import Match, NodeEdit

if TYPE_CHECKING:
    import libcst as cst

HARDWARE = "gpus"
"""The field whose absence means something else in 2.x."""
_CONF = "hydra_configs.pytorch_lightning.trainer.TrainerConf"
"""The package of structured configurations that was made of the signatures of 1.x."""
_SETTING = ("yaml", "json", "toml", "shell", "docs", "python", "notebook")


def field_matches(file: PythonFile, facts: Facts) -> dict[str, Match]:
    """The fields that are rewritten, by name: each has a value that says what takes its place, and nothing else in the
    project speaks of it."""
    if "_target_" not in file.text:
        return {}
    return {name: match for item in file.classes for name, match in _of_class(file, facts, item)}


def _of_class(file: PythonFile, facts: Facts, item: ClassNode) -> Iterator[tuple[str, Match]]:
    from codemods.lightning.configurations.mappings import MappingEntry
    from codemods.rewrite.keys import verdicts

    fields = {
        node.target.id: node
        for node in item.node.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    target = fields.get("_target_")
    named = literal(target.value)[1] if target is not None and target.value is not None else None
    if not isinstance(named, str) or canonical(named) != TRAINER:
        return
    known = {name: literal(node.value) for name, node in fields.items() if node.value is not None and name in once()}
    entries = tuple(MappingEntry(name, (0, 0), (0, 0), value) for name, (plain, value) in known.items() if plain)
    for verdict in verdicts(entries, facts):
        gone = verdict.key in once() - current() and verdict.key != HARDWARE
        if (
            not gone
            or verdict.new is None
            or verdict.values
            or len(verdict.new) > 1
            or is_spoken(file, facts, verdict.key)
        ):
            continue
        (new, text), *_ = (*verdict.new, ("", None))
        if new and (text is not None or new in fields):
            continue
        node = fields[verdict.key]
        edit, alone = _edit(file, node, new)
        level: Fix = verdict.level if alone else "unsafe"
        reason = verdict.reason if alone else f"{verdict.reason} The comment next to it is removed as well."
        message = removal(verdict.key, verdict.key)
        if edit is not None:
            yield verdict.key, Match(file.span(node), message, level, reason, verdict.row, (edit,))


def _edit(file: PythonFile, node: ast.AnnAssign, new: str) -> tuple[NodeEdit | None, bool]:
    """The edit that gives a field another name, or takes its line out, and whether no comment goes with it."""
    if not has_a_line(file, node):
        return None, False
    if new:
        text = f"{new}: {file.source_of(node.annotation)} = {file.source_of(node.value)}" if node.value else ""
        return NodeEdit(node, partial(with_fields, fields=(text,)), line=True), True
    around = file.lines[node.lineno - 2 : node.lineno - 1] + file.lines[(node.end_lineno or node.lineno) - 1 :][:1]
    commented = around[0].lstrip().startswith("#") or "#" in around[-1]
    return NodeEdit(node, partial(with_fields, fields=()), line=True), not commented


def has_a_line(file: PythonFile, node: ast.AnnAssign) -> bool:
    """Whether a field has its line for itself, but for a comment."""
    start, end = file.offsets(node)
    rest = file.text[end:].split("\n", 1)[0].strip()
    return not file.text[file.text.rfind("\n", 0, start) + 1 : start].strip() and (not rest or rest[0] == "#")


def with_fields(
    line: cst.SimpleStatementLine, *, fields: tuple[str, ...]
) -> cst.FlattenSentinel[cst.SimpleStatementLine] | cst.RemovalSentinel:
    """Fields in the place of one, with the comments that it has."""
    import libcst as cst

    if not fields:
        return cst.RemoveFromParent()
    made = [
        cst.SimpleStatementLine(cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine).body)
        for text in fields
    ]
    made[0] = made[0].with_changes(leading_lines=line.leading_lines)
    made[-1] = made[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    return cst.FlattenSentinel(made)


def is_spoken(file: PythonFile, facts: Facts, name: str) -> bool:
    """Whether another place of the project speaks of a field."""
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    return any(
        len(word.findall(source.unescaped)) > (path == file.path)
        for path, source in facts.sources.items()
        if source.kind in _SETTING and name.encode() in source.unescaped
    )


def structured(file: PythonFile, facts: Facts) -> Iterator[HandedKeyword]:
    """The fields of classes that tell Hydra to build a Trainer of them: they say so themselves, or by their base."""
    if "_target_" not in file.text and "TrainerConf" not in file.text:
        return
    for item in file.classes:
        if any(item.scope.resolve(base) == _CONF for base in item.node.bases):
            yield from (field for field in fields_of(file, facts, item) if field.file is file)
        fields = list(fields_of(file, facts, item))
        targets = [literal(field.value)[1] for field in fields if field.name == "_target_" and field.value]
        if any(isinstance(target, str) and canonical(target) == TRAINER for target in targets):
            yield from (field for field in fields if field.file is file)
