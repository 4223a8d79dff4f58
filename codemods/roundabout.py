"""What a rule finds in the normal form of a file, and not in the file as it is written."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from codemods.collecting import trainers_in
from codemods.facts import Facts
from codemods.nodes import every_node
from codemods.rule import Match, NodeEdit, Rule, TextEdit
from codemods.source import PythonFile
from codemods.trainers_seen import seen_at_trainers

WRITTEN = "Not rewritten: it is written in a roundabout way here, and a rewrite would have to change more than this."
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def seen_through(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    """What a rule finds in a file, where it found `found` in the file as it is written: these, and what it finds in
    the normal form alone.

    The normal form does what the file does, so that what a rule finds there is there. An edit is made where it
    means the same in the text as it is; what else would be rewritten is left to a person, and so is what the rule
    leaves to one in the text: its reason may be one that the normal form has lost.
    """
    every = _normally(rule, file, facts, found)
    return seen_at_trainers(rule, file, facts, every)


def _normally(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    normal = file.normal
    if normal is None or not any(item.decode() in file.unlike for item in rule.triggers):
        return list(found)
    check: Any = rule.check
    try:
        matches: list[Match] = list(check(normal, _apart(facts, normal)))
    except Exception:  # a tree that no text gives may be one that a rule cannot take: it said what it had to say
        return list(found)
    lines = {match.span.line for match in found}
    named = {place for match in found for place in _places(file, match)}
    new = [
        own
        for match, own in zip(matches, _carried(matches, file, normal), strict=True)
        if match.span.line not in lines and named.isdisjoint(_places(file, match))
    ]
    return [*found, *dict.fromkeys(new)]


def _apart(facts: Facts, normal: PythonFile) -> Facts:
    """The facts as the normal form of a file has them, with a memory of their own: what rules keep there of a file's
    nodes are not those of its normal form."""
    own = facts.files.get(normal.path)
    trainers = trainers_in(normal) if own else ()
    if own and trainers != own.trainers:
        files = {**facts.files, normal.path: replace(own, trainers=trainers)}
        return replace(facts, files=files)
    if "normal" not in facts.memo:
        facts.memo["normal"] = replace(facts)
    known: Facts = facts.memo["normal"]
    return known


def _places(file: PythonFile, match: Match) -> Iterator[tuple[object, ...]]:
    """What a match says with its line, and with the innermost function or class around it: two matches that share one
    of them are one."""
    line = match.span.line
    yield match.message, line
    inner = [node for node in _definitions(file) if node.lineno <= line <= (node.end_lineno or 0)]
    if inner:
        yield match.message, "in", max(node.lineno for node in inner)


def _definitions(file: PythonFile) -> Iterable[Any]:
    if "definitions" not in file.memo:
        file.memo["definitions"] = [node for node in every_node(file.tree) if isinstance(node, DEFINITIONS)]
    found: Iterable[Any] = file.memo["definitions"]
    return found


def _carried(matches: Sequence[Match], file: PythonFile, normal: PythonFile) -> list[Match]:
    """The matches with edits of the text as it is written; those of a class of which one has none are left to a
    person, and so is what has to be done together with others."""
    if not any(match.edits for match in matches):
        return list(matches)
    origin = _Origin(file, normal)
    edits = [None if match.unit else _moved(match, origin) for match in matches]
    torn = {_class(file, match) for match, own in zip(matches, edits, strict=True) if match.edits and own is None}
    return [
        match
        if not match.edits
        else replace(match, edits=own)
        if own is not None and _class(file, match) not in torn
        else replace(match, fix="manual", reason=f"{WRITTEN} {match.reason}", edits=(), imports=(), creates=())
        for match, own in zip(matches, edits, strict=True)
    ]


def _class(file: PythonFile, match: Match) -> object:
    """The outermost class around a match, or its own place."""
    line = match.span.line
    around = [
        node.lineno
        for node in _definitions(file)
        if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return min(around, default=match.span)


def _moved(match: Match, origin: _Origin) -> tuple[NodeEdit | TextEdit, ...] | None:
    found: list[NodeEdit | TextEdit] = []
    for edit in match.edits:
        own = origin.edit(edit) if isinstance(edit, NodeEdit) else None
        if own is None:
            return None
        found.append(own)
    return tuple(found)


class _Origin:
    """From the normal form of a file to the file: `hidden` are the names that the file speaks of somewhere and the
    normal form does not, or not there, `unbound` those among them that it binds there."""

    def __init__(self, file: PythonFile, normal: PythonFile) -> None:
        self.written = {id(node): node for node in every_node(file.tree)}
        kept = {id(node) for node in every_node(normal.tree)}
        gone = [node for key, node in self.written.items() if key not in kept and isinstance(node, ast.Name)]
        self.hidden = {node.id for node in gone}
        self.unbound = {node.id for node in gone if not isinstance(node.ctx, ast.Load)}
        self.functions = {
            (node.lineno, node.col_offset): node for node in self.written.values() if isinstance(node, DEFINITIONS)
        }

    def edit(self, edit: NodeEdit) -> NodeEdit | None:
        """An edit of the file that does there what one of the normal form does; None where that is not plain."""
        node = edit.node
        if id(node) in self.written:
            return None if _binds(node, self.hidden) else edit
        own = self.functions.get((node.lineno, node.col_offset)) if isinstance(node, DEFINITIONS) else None
        if own and _is_but_decorated(own, node):
            return replace(edit, node=own)
        carry = getattr(edit.change, "for_written", None)
        change = carry(node, own, self.hidden, self.unbound) if carry and own else None
        return replace(edit, node=own, change=change) if own and change else None


def _binds(node: ast.AST, names: Container[str]) -> bool:
    """Whether a statement binds one of some names, so that what reads it elsewhere needs the statement."""
    if isinstance(node, DEFINITIONS) or not isinstance(node, ast.stmt):
        return False
    return any(
        isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load) and item.id in names
        for item in every_node(node)
    )


def _is_but_decorated(written: Any, seen: Any) -> bool:
    """Whether a function or class differs from its normal form by decorators alone, which give back what they get."""
    fields = ((name, value) for name, value in vars(seen).items() if name != "decorator_list")
    return all(getattr(written, name) is value or getattr(written, name) == value for name, value in fields)
