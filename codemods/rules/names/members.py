"""Rows of an organisation's own: methods and attributes of its classes, and keywords of methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from codemods.code.external_bindings import bound_by_name
from codemods.code.nodes import walk
from codemods.code.outline import Within
from codemods.code.reaching import definitions
from codemods.code.scopes import canonical
from codemods.code.source import CallNode, ClassNode, PythonFile, TextFile
from codemods.code.syntax import self_name
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.guards import ASKED_FOR, asks_version, fallback_of
from codemods.lightning.instance_types import stores_in
from codemods.lightning.instances import Instances
from codemods.lightning.keyword_flow import handed
from codemods.lightning.trainers import last_part
from codemods.rewrite.advice import brief, head
from codemods.rule import Match, NodeEdit
from codemods.rules.names.rows import OWN, OwnRows, RenameRow, caution_of, keyword_match, own_package
from codemods.rules.names.stated_releases import Since, is_older

if TYPE_CHECKING:
    import libcst as cst

_ASKS = re.compile(r"version|\bhasattr\(", re.IGNORECASE)
_ASKING = ("getattr", "setattr", "delattr")


@dataclass(frozen=True)
class MemberRows:
    """The rows of members and of keywords of methods, by class (its newest name), beside those of names; and the code
    of the rule that collects what manifests ask for."""

    code: str
    names: OwnRows
    members: Mapping[tuple[str, str], RenameRow]
    keywords: Mapping[tuple[str, str, str], RenameRow]

    @cached_property
    def spelled(self) -> Mapping[str, tuple[str, ...]]:
        """The last names that each class may go by in a file."""
        owners = {of for of, *_ in (*self.members, *self.keywords)}
        older = [(row.new, old) for old, row in self.names.names.items()]
        return {of: (last_part(of), *(last_part(old) for new, old in older if new == of)) for of in owners}

    def check(self, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
        """The members that the rows find in a file."""
        if isinstance(file, TextFile):
            return
        older = self._older(facts)
        rows = {key: row for key, row in self.members.items() if row.old in file.text}
        for node, within in file.nodes_near({row.old for row in rows.values()}) if rows else ():
            for row in rows.values():
                if isinstance(node, ast.Attribute) and node.attr == row.old:
                    yield from self._read(file, facts, node, within, row, older)
                elif isinstance(node, ast.Call) and _asked_name(node) == row.old:
                    yield from self._by_name(file, facts, node, within, row)
        for item in file.classes:
            for row in rows.values():
                if row.old in item.methods and self._instances(file, facts, row.of).is_below(file, item):
                    yield self._overriding(file, item, row)

    def check_keywords(self, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
        """The keywords of methods that the rows find in a file."""
        if isinstance(file, TextFile):
            return
        older = self._older(facts)
        for (of, method, old), row in self.keywords.items():
            called = {
                method,
                *(known for (owner, known), each in self.members.items() if (owner, each.new) == (of, method)),
            }
            for call in file.calls_near(called) if old in file.text or "**" in file.text else ():
                if isinstance(call.node.func, ast.Attribute) and call.node.func.attr in called:
                    yield from self._given(file, facts, call, row, called, older)

    def _older(self, facts: Facts) -> frozenset[Since]:
        every = {row.since for row in (*self.members.values(), *self.keywords.values())}
        return frozenset(since for since in every if is_older(facts, self.code, since))

    def _instances(self, file: PythonFile, facts: Facts, of: str) -> Instances:
        packages = {name.partition(".")[0] for name in (of, *self.names.names)}
        return Instances(file, facts, lambda dotted: self.names.now(canonical(dotted)) == of, packages)

    def _owner(self, file: PythonFile, facts: Facts, node: ast.expr, within: Within, row: RenameRow) -> bool | None:
        """Whether what a member is taken from is of the class, or is the class; None only in files that name it."""
        asked = self._instances(file, facts, row.of)
        found = asked.holds(node, within)
        if found is None and isinstance(node, ast.Name | ast.Attribute) and asked.names(node, within):
            return True
        if found is None and (_is_module(file, node) or not any(map(file.spellings, self.spelled[row.of]))):
            return False
        return found

    def _read(
        self,
        file: PythonFile,
        facts: Facts,
        node: ast.Attribute,
        within: Within,
        row: RenameRow,
        older: frozenset[Since],
    ) -> Iterator[Match]:
        owner = self._owner(file, facts, node.value, within, row)
        fallback = fallback_of(file, node) if owner is not False and not _serves_both(within, row) else "other"
        if fallback == "other":
            return
        span, why = file.span(node), self._refusal(file, facts, node, row) if owner else _unsure(file, node, row)
        if fallback == "asked" or why or row.level == "manual" or not row.new:
            told = ASKED_FOR if fallback == "asked" else why or row.why.rstrip(".") or "change it by hand"
            yield Match(span, row.message, "manual", row.left(told), row.row)
            return
        caution = caution_of(row, older)
        level: Fix = "unsafe" if caution else "safe"
        now = f"It is `{row.new}` now"
        reason = f"{now}; {caution}." if caution else f"{now}. {row.why}".strip()
        edit = NodeEdit(node, partial(_renamed, name=row.new))
        yield Match(span, row.message, level, reason, row.row, (edit,))

    def _refusal(self, file: PythonFile, facts: Facts, node: ast.Attribute, row: RenameRow) -> str:
        """Why a member of an object that is of the class is not rewritten, "" where it is."""
        if own := own_package(facts, row.of.partition(".")[0], file.path):
            return OWN.format(path=own)
        if asks_version(file, node, facts):
            return "it is inside a version check"
        if not isinstance(node.ctx, ast.Load):
            return "it is set here"
        return self._rebound(facts, row, (row.old, row.new))

    def _rebound(self, facts: Facts, row: RenameRow, names: tuple[str, ...]) -> str:
        """What of the project may put something of its own in the place of a member, "" where nothing does."""
        asked = f"members.{self.code}.{row.of}.{'.'.join(names)}"
        if asked not in facts.memo:
            found = (
                self._rebinding(facts, path, name, row) for name in names if name for path in sorted(facts.sources)
            )
            facts.memo[asked] = next(filter(None, found), "")
        why: str = facts.memo[asked]
        return why

    def _rebinding(self, facts: Facts, path: str, name: str, row: RenameRow) -> str:
        source = facts.sources[path]
        if source.kind not in ("python", "notebook") or name.encode() not in source.unescaped:
            return ""
        if bound_by_name(name).search(source.unescaped):
            return f"{path} may set `{name}` by its name"
        file = facts.open(path)
        if file is None:
            return f"{path} holds `{name}`, and cannot be read"
        asked = self._instances(file, facts, row.of)
        for item in file.classes:
            if _has(item, name) and asked.is_below(file, item) is not False:
                return f"`{item.qualname}` ({path}) has `{name}` itself, and is below {row.owner} or may be"
        for node, within in file.nodes_near([name]):
            stored = isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load)
            if (
                stored
                and isinstance(node, ast.Attribute)
                and self._owner(file, facts, node.value, within, row) is not False
            ):
                return f"`{name}` is set in {path}:{node.lineno}"
        return ""

    def _by_name(
        self, file: PythonFile, facts: Facts, call: ast.Call, within: Within, row: RenameRow
    ) -> Iterator[Match]:
        if self._owner(file, facts, call.args[0], within, row):
            why = row.why.rstrip(".") or "it is asked for by its name here: change the text"
            yield Match(file.span(call), row.message, "manual", row.left(why), row.row)

    def _overriding(self, file: PythonFile, item: ClassNode, row: RenameRow) -> Match:
        method = item.methods[row.old]
        why = f"`{item.qualname}` overrides it, which nothing of {last_part(row.of)} calls any more"
        if row.new:
            why += f"; write `{head(method, name=row.new)}`, and change what calls it"
        elif row.why:
            why += f"; {row.why.rstrip('.')}"
        return Match(file.head(method), row.message, "manual", row.left(why), row.row)

    def _given(
        self, file: PythonFile, facts: Facts, call: CallNode, row: RenameRow, called: set[str], older: frozenset[Since]
    ) -> Iterator[Match]:
        """A keyword that a call gives to a method, by itself or by `**`."""
        assert isinstance(call.node.func, ast.Attribute)
        items = [item for item in call.node.keywords if item.arg == row.old]
        entries = [each for each in handed(file, facts, call) if each.name == row.old]
        owner = self._owner(file, facts, call.node.func.value, call.within, row) if items or entries else False
        for item in items if owner is not False else ():
            why = self._rebound(facts, row, tuple(sorted(called))) if owner else _unsure(file, call.node.func, row)
            if why or not row.new:
                told = why or row.why.rstrip(".")
                yield Match(file.span(item), row.message, "manual", row.left(told), row.row)
            else:
                yield from keyword_match(file, facts, call, item, row, older)
        for entry in entries if owner is not False else ():
            spread = next(item.value for item in call.node.keywords if item.arg is None)
            place = file.span(entry.place if entry.file is file else spread)
            yield Match(
                place, row.message, "manual", row.left(f"it reaches {row.owner} by `**`: change it there"), row.row
            )


def _unsure(file: PythonFile, node: ast.Attribute, row: RenameRow) -> str:
    """What is said where it cannot be told whose member is taken."""
    whose = brief(file, node.value)
    change = f"write `{whose}.{row.new}`" if row.kind == "member" and row.new else ""
    change = change or (f"write `{row.new}=...`" if row.new else row.why.rstrip("."))
    return f"fixer cannot tell what `{whose}` is. If it is a {last_part(row.of)}, {change}"


def _serves_both(within: Within, row: RenameRow) -> bool:
    """Whether a member is taken where the new one failed, or in a choice by version or `hasattr` whose other arm has
    the new one."""
    for outer, inner in pairwise(within):
        chosen = isinstance(outer, ast.If | ast.IfExp) and _ASKS.search(ast.unparse(outer.test))
        if not chosen and not (isinstance(outer, ast.Try) and isinstance(inner, ast.ExceptHandler)):
            continue
        if any(isinstance(node, ast.Attribute) and node.attr == row.new for node in walk(outer)):
            return True
    return False


def _has(item: ClassNode, name: str) -> bool:
    """Whether a class has a name itself: by a method, in its body, or on the object."""
    if name in item.methods or definitions(item.node, name):
        return True
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and ast.unparse(node.value) == self_name(method)
        for method in item.methods.values()
        for node in stores_in(method, ast.Attribute)
    )


def _asked_name(call: ast.Call) -> str | None:
    """The name that `getattr(x, "name")` and its like ask for."""
    if not isinstance(call.func, ast.Name) or call.func.id not in _ASKING or len(call.args) < 2:
        return None
    asked = call.args[1]
    return asked.value if isinstance(asked, ast.Constant) and isinstance(asked.value, str) else None


def _is_module(file: PythonFile, node: ast.expr) -> bool:
    """Whether an expression begins with a module that `import` brings."""
    while isinstance(node, ast.Attribute):
        node = node.value
    brought = (each for each in file.imports if isinstance(each, ast.Import))
    names = {alias.asname or alias.name.partition(".")[0] for each in brought for alias in each.names}
    return isinstance(node, ast.Name) and node.id in names


def _renamed(node: cst.Attribute, *, name: str) -> cst.Attribute:
    import libcst as cst

    return node.with_changes(attr=cst.Name(name))
