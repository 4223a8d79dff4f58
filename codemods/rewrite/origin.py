"""From the normal form of a file back to its text: which edits of the one are edits of the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property, partial
from typing import Any

from codemods.code.conditions import guarded
from codemods.code.effects import BUILTINS
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile, Source
from codemods.code.tree_copies import comes_from_above, made_of, stands_for, written_as
from codemods.rewrite.helper_callers import InlinedHelpers
from codemods.rewrite.respelling import respelled
from codemods.rule import Match, NodeEdit, TextEdit, part_of

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
QUIET = BUILTINS | {"range", "getattr", "object"}
COMING = frozenset({
    "stage", "batch", "batch_idx", "dataloader_idx", "outputs", "optimizer", "optimizer_idx", "optimizer_closure",
    "trainer", "pl_module", "checkpoint", "scheduler", "metric", "unused", "exception",
})  # fmt: skip
"""The parameters that a hook may come to take: where a line that is gone binds one, that is another thing."""
NAME = re.compile(r"(?<![\w.])\w+\b(?!\s*=[^=])")
"""What may be a name in a text: no attribute, and no keyword of a call."""
BOUND = re.compile(r"^\s*(\w+) = ", re.MULTILINE)
BINDING = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


class Origin:
    """From the normal form of a file to the file: `hidden` are the names that the file speaks of somewhere and the
    normal form does not, or not there, `unbound` those among them that it binds there."""

    def __init__(self, file: PythonFile, normal: PythonFile, sources: Mapping[str, Source]) -> None:
        self.file, self.normal = file, normal
        self.written = {id(node): node for node in every_node(file.tree)}
        every = list(every_node(normal.tree))
        self.kept = {id(each) for node in every for each in written_as(node, self.written)}
        self.made = {id(made_of(node, self.written)) for node in every if isinstance(node, ast.stmt)}
        self.gone = [node for key, node in self.written.items() if key not in self.kept]
        names = [node for node in self.gone if isinstance(node, ast.Name)]
        self.hidden = {node.id for node in names}
        self.unbound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        moved = _defined(file.tree) - _defined(normal.tree)
        self.lent = InlinedHelpers(file, {id(node) for node in self.gone} - self.made, self.hidden, sources, moved)

    def match(self, match: Match) -> Match | None:
        """A match with edits of the file that do there what its own do in the normal form; None where that is not
        plain."""
        edits: list[NodeEdit | TextEdit] = []
        for edit in match.edits:
            own = self.edits(edit) if isinstance(edit, NodeEdit) else [edit] if self._is_free(edit) else []
            if not own:
                return None
            edits += own
        if any(self._is_assumed(edit) for edit in edits):
            return None
        return replace(match, edits=tuple(edits), seen=match.edits)

    @cached_property
    def _assumed(self) -> list[ast.stmt]:
        """The statements of the module of which the normal form assumes something: that an object has a method, or
        calls an instance otherwise than the text."""
        gone = {id(node) for node in self.gone if guarded(node) and id(node) not in self.made}
        args = [node for node in every_node(self.normal.tree) if isinstance(node, ast.arg) and node.arg == "self"]
        named = [made_of(node, self.written) for node in args]
        gone |= {id(own) for own in named if getattr(own, "arg", "self") != "self"}
        return [node for node in self.file.tree.body if gone and any(id(item) in gone for item in every_node(node))]

    def _is_assumed(self, edit: NodeEdit | TextEdit) -> bool:
        """Whether an edit changes a part of what more is assumed of than the text says."""
        if isinstance(edit, NodeEdit):
            return any(item is edit.node for node in self._assumed for item in every_node(node))
        spans = map(self.file.offsets, self._assumed)
        return any(start <= edit.start <= end for start, end in spans)

    def edits(self, edit: NodeEdit) -> list[NodeEdit]:
        """What an edit of the normal form is in the file; nothing where that is not plain."""
        part = part_of(edit.change)
        same = written_as(edit.node, self.written)
        own = made_of(edit.node, self.written)
        if not self._is_at_home(set(_words(edit.change)), same or ([own] if own else [])):
            return []
        if not self.hidden.isdisjoint(_newly_bound(edit.change)):
            return []  # what the text has by that name is another thing
        if same:
            free = not any(_binds(node, self.hidden) for node in same)
            kept = part == "arguments" or not any(id(node) in self._asserted for node in same)
            return [replace(edit, node=node) for node in same] if free and kept else []
        if own is None or getattr(edit.node, "scattered", False):
            return []  # what else is in the class stands elsewhere
        if type(own) is not type(edit.node) and part != "whole":
            return self.respelled(edit, own)
        if part == "arguments" and isinstance(own, ast.Call | ast.keyword):
            alike = _named(own) == _named(edit.node) and _gives_itself(own) == _gives_itself(edit.node)
            return [replace(edit, node=own)] if alike else self.respelled(edit, own)
        apart = isinstance(edit.node, ast.stmt) and comes_from_above(edit.node)
        if part == "beside":
            return [] if apart else [replace(edit, node=own)]
        if apart and part == "whole":
            return []
        if part in ("whole", "body"):
            lost = (part == "whole" and _binds(own, self.hidden)) or self._speaks(own) or self._is_commented(own)
            parted = any(id(item) in self._in_front and item is not own for item in every_node(own))
            return [] if lost or parted else [replace(edit, node=own)]
        if isinstance(own, DEFINITIONS):
            if any(map(self._names_a_base, every_node(edit.node))):
                return []
            if _is_but_decorated(own, edit.node) or (part == "head" and self._keeps_head(own, edit.node)):
                return [replace(edit, node=own)]
            carry = getattr(edit.change, "for_written", None)
            change = carry(edit.node, own, self.hidden, self.unbound) if carry else None
            return [replace(edit, node=own, change=change)] if change else []
        return self.respelled(edit, own)

    def _names_a_base(self, seen: ast.AST) -> bool:
        """Whether a call asks by its name for the base that the normal form asks by `super()`."""
        own = made_of(seen, self.written) if isinstance(seen, ast.Call) else None
        return _gives_itself(own) and not _gives_itself(seen)

    def _is_at_home(self, words: set[str], nodes: Sequence[ast.AST]) -> bool:
        """Whether nodes may be edited with some words, as far as they stand in helpers or call them."""
        if any(id(node) in self.lent.shared for node in nodes):
            return False
        return self.lent.is_at_home(words, nodes)

    def respelled(self, edit: NodeEdit, own: ast.AST) -> list[NodeEdit]:
        """An edit of an expression or simple statement which the text spells otherwise."""
        if _binds(own, self.hidden) or self._speaks(own) or self._is_lent(own, edit.node):
            return []
        if any(id(node) in self._asserted for node in every_node(own)):
            return []
        whole = stands_for(edit.node, self.written)
        made = respelled(edit, whole, self.file, self.written) if whole is not None else None
        return [made] if made else []

    def _is_lent(self, own: ast.AST, seen: ast.AST) -> bool:
        """Whether a node of a helper says otherwise where it is called than where it stands."""
        copied = any(getattr(node, "copies", ()) for node in every_node(seen))
        return (copied or id(own) in self.lent.inside) and ast.dump(own) != ast.dump(seen)

    def _is_free(self, edit: TextEdit) -> bool:
        """Whether the characters that an edit replaces say in the normal form what they say in the text, and bind
        nothing that is read elsewhere; a name is in it what it stands for."""
        if edit.start == edit.end and self._is_late(edit.start):
            return False
        lines = {self.file.text.count("\n", 0, place) + 1 for place in (edit.start, edit.end)}
        around: list[ast.AST] = []
        innermost, length = None, len(self.file.text) + 1
        for node in self._on_lines(min(lines), max(lines)):
            start, end = self.file.offsets(node)
            if start < edit.start < end < edit.end or edit.start < start < edit.end < end:
                return False  # it was meant for what the normal form has here
            if any(node.lineno <= line <= (node.end_lineno or 0) for line in lines):
                around.append(node)
            inside = edit.start <= start and end <= edit.end
            if inside and (_binds(node, self.hidden) or (isinstance(node, ast.stmt) and id(node) in self._gone)):
                return False
            if inside and id(node) in self._in_front:
                return False
            if start <= edit.start and edit.end <= end:
                if id(node) in self._doubled:
                    return False
                if end - start <= length and (edit.start < edit.end or start < edit.start < end):
                    innermost, length = node, end - start
        whole = length == edit.end - edit.start
        between = innermost is None or (isinstance(innermost, ast.stmt) and hasattr(innermost, "body"))
        if not (whole or between or id(innermost) in self._alike):
            return False  # what the normal form has as an attribute or keyword, say, the text has as a string
        return self._is_at_home(set(NAME.findall(edit.replacement)), around)

    def _on_lines(self, first: int, last: int) -> Iterator[ast.expr | ast.stmt]:
        """The expressions and statements of the file that have a part on some lines; all of them where lines may end
        in a way that is not counted."""
        every = "\r" in self.file.text
        for node in self.written.values():
            if isinstance(node, ast.expr | ast.stmt) and (
                every or (node.lineno <= last and (node.end_lineno or last) >= first)
            ):
                yield node

    def _is_late(self, place: int) -> bool:
        """Whether what is put at a place of the text comes in front of a statement of which a part is worked out
        further above."""
        line = self.file.text.count("\n", 0, place) + 1
        return any(node.lineno == line and place <= self.file.offsets(node)[0] for node in self._parted)

    @cached_property
    def _parted(self) -> list[ast.stmt]:
        every = (node for node in every_node(self.normal.tree) if isinstance(node, ast.stmt))
        return [node for node in every if id(node) not in self.kept and comes_from_above(node)]

    @cached_property
    def _alike(self) -> frozenset[int]:
        """The nodes that the normal form has, too, as they are or as others of the same class."""
        made = ((made_of(node, self.written), node) for node in every_node(self.normal.tree))
        return frozenset({*self.kept, *(id(own) for own, node in made if type(own) is type(node))})

    @cached_property
    def _in_front(self) -> frozenset[int]:
        """The classes of functions that the normal form has in front of these."""
        named = {node.name for node in self.normal.tree.body if isinstance(node, ast.ClassDef)}
        named -= {node.name for node in self.file.tree.body if isinstance(node, ast.ClassDef)}
        classes = (node for node in self.written.values() if named and isinstance(node, ast.ClassDef))
        return frozenset(id(node) for node in classes if node.name in named)

    @cached_property
    def _gone(self) -> frozenset[int]:
        return frozenset(map(id, self.gone))

    @cached_property
    def _doubled(self) -> frozenset[int]:
        """The nodes of which the normal form has one for several."""
        every = (written_as(node, self.written) for node in every_node(self.normal.tree))
        return frozenset(id(node) for each in every if len(each) > 1 for node in each)

    def _speaks(self, own: ast.AST) -> bool:
        """Whether a node holds a line that the normal form leaves out and its reader would miss."""
        return any(id(node) in self._lines for node in every_node(own))

    @cached_property
    def _lines(self) -> frozenset[int]:
        lines = (node for node in self._left if not _goes_with_another(node))
        return frozenset(id(node) for node in lines if not any(id(item) in self.kept for item in every_node(node)))

    @cached_property
    def _left(self) -> list[ast.stmt]:
        """The statements of which the normal form has made none; it may have what stood in them."""
        return [node for node in self.gone if isinstance(node, ast.stmt) and id(node) not in self.made]

    def _is_commented(self, own: ast.AST) -> bool:
        """Whether a comment stands in a node at what the normal form leaves out, or above that."""
        inside = {id(item) for item in every_node(own)}
        for node in self._left:
            if id(node) not in inside:
                continue
            kept = [item for item in every_node(node) if isinstance(item, ast.stmt) and id(item) not in self._leaving]
            own_lines = {line for item in kept for line in range(item.lineno, (item.end_lineno or 0) + 1)}
            lines = set(range(node.lineno, (node.end_lineno or 0) + 1)) - own_lines
            above = node.lineno - 1
            while above > 0 and self.file.lines[above - 1].lstrip().startswith("#"):
                lines.add(above)
                above -= 1
            if any(self.file.has_comment(line, line) for line in lines):
                return True
        return False

    @cached_property
    def _leaving(self) -> frozenset[int]:
        return frozenset(map(id, self._left))

    def _keeps_head(self, own: Any, seen: Any) -> bool:
        """Whether a function has the head that its normal form has, and what is gone from it reads nothing but its own
        locals: a parameter may go with the head, and one that comes may hide another name."""
        every = list(every_node(own))
        inside = {id(node) for node in every}
        reading = {node.id for node in self._names_gone(inside)}
        bound = {node.id for node in every if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        imported = {item.asname or item.name for node in self.file.imports for item in node.names}
        if any(node.id in COMING and not isinstance(node.ctx, ast.Load) for node in self._names_gone(inside)):
            return False
        return (
            own.name == seen.name and _has_same(own.args, seen.args) and reading <= bound | imported | QUIET | {"self"}
        )

    def _names_gone(self, inside: Container[int]) -> list[ast.Name]:
        return [node for node in self.gone if isinstance(node, ast.Name) and id(node) in inside]

    @cached_property
    def _asserted(self) -> frozenset[int]:
        """The nodes in the values of names of which the text asserts more than the normal form says."""
        asked = {
            name.id
            for node in self.gone
            if isinstance(node, ast.Assert) and not _is_harmless(node.test)
            for name in every_node(node)
            if isinstance(name, ast.Name)
        }
        bound = (node for node in self.written.values() if asked and isinstance(node, BINDING))
        return frozenset(
            id(inner) for node in bound if node.value and _binds(node, asked) for inner in every_node(node.value)
        )


def _defined(tree: ast.Module) -> set[str]:
    """The functions and classes that a module defines."""
    return {node.name for node in tree.body if isinstance(node, DEFINITIONS)}


def _goes_with_another(node: ast.stmt) -> bool:
    """Whether a statement says nothing where a loop or `try` is gone that it belongs to."""
    return isinstance(node, ast.Pass | ast.Break) or (isinstance(node, ast.Raise) and node.exc is None)


def _has_same(own: ast.arguments, seen: ast.arguments) -> bool:
    """Whether parameters are the same, but for annotations."""
    pairs = zip(ast.iter_fields(own), ast.iter_fields(seen), strict=True)
    return all(_is_same(one, other) for (_, one), (_, other) in pairs)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    named = isinstance(one, ast.arg) and isinstance(other, ast.arg) and one.arg == other.arg
    return one is other or named


def _words(change: object) -> Iterator[str]:
    """The words in the texts that a change was made with."""
    for part in _parts(change):
        if isinstance(part, str):
            yield from NAME.findall(part)
        else:
            yield from (node.id for node in every_node(part) if isinstance(node, ast.Name))


def _newly_bound(change: object) -> Iterator[str]:
    """The names that lines of a change bind."""
    for part in _parts(change):
        yield from BOUND.findall(part) if isinstance(part, str) else ()


def _parts(change: object) -> Iterator[str | ast.AST]:
    """The texts and nodes that a change was made with."""
    if isinstance(change, str | ast.AST):
        yield change
    elif isinstance(change, partial):
        for item in (*change.args, *change.keywords.values()):
            yield from _parts(item)
    elif isinstance(change, tuple | list | frozenset | set):
        for item in change:
            yield from _parts(item)
    elif isinstance(change, Mapping):
        for item in change.values():
            yield from _parts(item)
    elif is_dataclass(change):
        for field in fields(change):
            yield from _parts(getattr(change, field.name))
    elif getattr(change, "__closure__", None):
        for cell in change.__closure__:  # type: ignore[attr-defined]
            yield from _parts(cell.cell_contents)


def _gives_itself(node: Any) -> bool:
    """Whether a call gives the instance first, as one of a base by its name does."""
    return isinstance(node, ast.Call) and bool(node.args) and getattr(node.args[0], "id", "") == "self"


def _named(node: Any) -> list[str | None]:
    return [item.arg for item in getattr(node, "keywords", [node])]


def _is_harmless(test: ast.expr) -> bool:
    """Whether an assertion holds of any value but None."""
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.IsNot)
    second = test.args[1] if isinstance(test, ast.Call) and len(test.args) == 2 else None
    return isinstance(second, ast.Name) and second.id == "object"


def _binds(node: ast.AST, names: Container[str]) -> bool:
    """Whether a statement binds one of some names, so that what reads it elsewhere needs the statement."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any((item.asname or item.name.partition(".")[0]) in names for item in node.names)
    if isinstance(node, DEFINITIONS) or not isinstance(node, ast.stmt | ast.NamedExpr):
        return False
    return any(
        isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load) and item.id in names
        for item in every_node(node)
    )


def _is_but_decorated(written: Any, seen: Any) -> bool:
    """Whether a function or class differs from its normal form by decorators alone, which give back what they get; its
    methods may, too."""
    fields = ((name, value) for name, value in ast.iter_fields(seen) if name != "decorator_list")
    return all(_is_but_decorated_in(getattr(written, name), value) for name, value in fields)


def _is_but_decorated_in(written: Any, seen: Any) -> bool:
    if written is seen or written == seen:
        return True
    if not isinstance(written, list) or not isinstance(seen, list) or len(written) != len(seen):
        return False
    return all(
        one is other
        or (type(one) is type(other) and isinstance(one, ast.FunctionDef) and _is_but_decorated(one, other))
        for one, other in zip(written, seen, strict=True)
    )


def definitions_of(file: PythonFile) -> list[Any]:
    """The functions and classes of a file."""
    if "definitions" not in file.memo:
        file.memo["definitions"] = [node for node in every_node(file.tree) if isinstance(node, DEFINITIONS)]
    found: list[Any] = file.memo["definitions"]
    return found


def around(file: PythonFile, line: int) -> Iterator[Any]:
    """The functions and classes around a line."""
    return (node for node in definitions_of(file) if node.lineno <= line <= (node.end_lineno or 0))
