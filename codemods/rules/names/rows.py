"""Rows of an organisation's own: names that moved, and keywords of calls, as one rule finds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Literal

from codemods.code.expressions import PARTIAL
from codemods.code.scopes import canonical
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.finding import Fix
from codemods.lightning.configurations.named import handing
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.keyword_flow import handed
from codemods.lightning.possible_trainers import may_build
from codemods.lightning.trainer_subclasses import called, constructor_of, hands_on, kind_above, own_arguments
from codemods.lightning.trainers import last_part
from codemods.lightning.wanted import WantedClasses
from codemods.rewrite.keywords import renamed
from codemods.rule import Match, NodeEdit, TextEdit
from codemods.rules.names.in_configurations import names_in
from codemods.rules.names.moving import moved_names
from codemods.rules.names.report import MovedName
from codemods.rules.names.sites import Sites, read_sites, source_module
from codemods.rules.names.stated_releases import Since, is_older

OLDER = "the requirements admit releases of {package} before {release}, which have the old name alone"
TEXT = "the text is taken to name something to import"
OWN = "{path} is the project's own package of that name"
UNLOADED = "`{module}` is taken to be imported by another module"


@dataclass(frozen=True)
class RenameRow:
    """A name that moved from one dotted name to another, or, with `of`, a keyword of that function or class or of a
    method of it, or a method or attribute of that class (`kind`). Without `new` it was removed."""

    old: str
    new: str
    since: Since
    level: Fix = "safe"
    why: str = ""
    row: str | None = None
    of: str = ""
    kind: Literal["name", "keyword", "member"] = "name"
    method: str = ""

    @property
    def message(self) -> str:
        what = {"name": self.old, "keyword": f"{self.old}=", "member": f"{last_part(self.of)}.{self.old}"}[self.kind]
        return f"`{what}` is gone since {self.since}"

    @property
    def owner(self) -> str:
        """What has the keyword or the member, as it is spoken of."""
        return f"{last_part(self.of)}.{self.method}" if self.method else last_part(self.of)

    def left(self, why: str) -> str:
        """The reason of a place that is not rewritten."""
        now = f" It is `{self.new}{'=' if self.kind == 'keyword' else ''}` now." if self.new else ""
        return f"Not rewritten: {why}.{now}"


@dataclass(frozen=True)
class OwnRows:
    """The rows of one file, and the code of the rule that goes by them."""

    code: str
    names: Mapping[str, RenameRow]
    keywords: Mapping[tuple[str, str], RenameRow]

    @cached_property
    def roots(self) -> frozenset[str]:
        """The packages that the old names are in."""
        return frozenset(old.partition(".")[0] for old in self.names)

    @cached_property
    def wanted(self) -> WantedClasses:
        """What has keywords in the table, by its new name."""
        owners = frozenset(of for of, _ in self.keywords)
        spelled = owners | {old for old, row in self.names.items() if row.new in owners}
        return WantedClasses(
            frozenset(map(last_part, spelled)), lambda dotted: self.now(dotted) in owners, lambda *_: False, self.code
        )

    def row_of(self, dotted: str) -> RenameRow | None:
        """The row of a name, or of the nearest module or class around it."""
        parts = dotted.split(".")
        return next((row for end in range(len(parts), 0, -1) if (row := self.names.get(".".join(parts[:end])))), None)

    def now(self, dotted: str) -> str:
        """What a dotted name is by now."""
        row = self.row_of(dotted)
        return canonical(row.new + dotted[len(row.old) :]) if row else dotted

    def check(self, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
        """The names that the rows find in a file."""
        older = self._older(facts)
        if isinstance(file, TextFile):
            yield from self._in_text(file, older)
            return
        sites = read_sites(file)
        here = {root: path for root in self.roots if (path := own_package(facts, root, file.path))}
        yield from moved_names(file, facts, sites, _Asked(self, older, _loaded(sites), here))
        yield from self._starred(file, sites)

    def check_keywords(self, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
        """The keywords that the rows find in a file."""
        if isinstance(file, TextFile):
            yield from self._configured(file) if file.kind in ("yaml", "json", "toml") else ()
        else:
            yield from self._given(file, facts, self._older(facts))

    def _configured(self, file: TextFile) -> Iterator[Match]:
        """Keywords that a configuration hands on. They are left to a person: what overrides them need not name what
        takes them."""
        for item, names in handing(file):
            rows = {old: row for name in names for old, row in self._of(name).items()}
            for entry in item.entries:
                if row := rows.get(entry.key):
                    reason = f"Not rewritten: write `{row.new}` in its place, here and wherever it is set as well."
                    yield Match(file.span(*entry.key_at), row.message, "manual", reason, row.row)

    def _older(self, facts: Facts) -> frozenset[Since]:
        """The releases before which the requirements admit one."""
        every = {row.since for row in (*self.names.values(), *self.keywords.values())}
        return frozenset(since for since in every if is_older(facts, self.code, since))

    def told(self, dotted: str, older: frozenset[Since] = frozenset()) -> MovedName | None:
        """What the table tells of a dotted name."""
        row = self.row_of(dotted)
        if row is None:
            return None
        new, root = row.new + dotted[len(row.old) :], row.new.partition(".")[0]
        near = root == row.old.partition(".")[0]
        return MovedName(
            old=row.old,
            new=new,
            message=row.message,
            row=row.row,
            caution=caution_of(row, older),
            root=root if near else None,
            added=None if near else new.rpartition(".")[0] or new,
            parts=any(old.startswith(f"{row.old}.") for old in self.names),
            refusal=(row.why or "change it by hand").rstrip(".") if row.level == "manual" else "",
            in_text=(row.why or "change it by hand").rstrip(".") if row.level == "manual" else "",
            why=row.why if row.level == "safe" else "",
        )

    def _in_text(self, file: TextFile, older: frozenset[Since]) -> Iterator[Match]:
        for start, end in names_in(file, self.roots):
            if (found := self.told(file.text[start:end], older)) is None:
                continue
            span = file.span(start, end)
            if not _IMPORTED.search(file.text, file.text.rfind("\n", 0, start) + 1, start):
                found = _as_text(found)
            if found.refusal:
                reason = f"Not rewritten: {found.refusal}. It is `{found.new}` now."
                yield Match(span, found.message, "manual", reason, found.row)
            else:
                yield Match(
                    span, found.message, found.level, found.reason, found.row, (TextEdit(start, end, found.new),)
                )

    def _starred(self, file: PythonFile, sites: Sites) -> Iterator[Match]:
        """Names that a star brings from where they are no more."""
        words = set(re.findall(r"\w+", file.text))
        for node, _, _ in sites.imports:
            if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*" or node.level:
                continue
            module = source_module(node, file.path)
            for old, row in self.names.items():
                home, _, name = old.rpartition(".")
                if home == module and name in words and name not in file.scope.bindings:
                    reason = f"Not rewritten: a star may bring it here. It is `{row.new}` now: import it by its name."
                    yield Match(file.span(node), row.message, "manual", reason, row.row)

    def _given(self, file: PythonFile, facts: Facts, older: frozenset[Since]) -> Iterator[Match]:
        """Keywords that calls give by their old names."""
        words = {old for _, old in self.keywords if old in file.text}
        for call in file.calls_near(words) if words else ():
            rows = self._rows_of(file, facts, call)
            for item in call.node.keywords:
                if item.arg and (row := rows.get(item.arg)):
                    yield from keyword_match(file, facts, call, item, row, older)
            for entry in handed(file, facts, call) if rows else ():
                if row := rows.get(entry.name):
                    spread = next(item.value for item in call.node.keywords if item.arg is None)
                    place = file.span(entry.place if entry.file is file else spread)
                    reason = f"Not rewritten: it reaches {last_part(row.of)} by `**`; write `{row.new}` in its place."
                    yield Match(place, row.message, "manual", reason, row.row)
            if not rows and any(old == item.arg for _, old in self.keywords for item in call.node.keywords):
                yield from self._perhaps(file, facts, call)

    def _rows_of(self, file: PythonFile, facts: Facts, call: CallNode) -> Mapping[str, RenameRow]:
        """The rows of what a call calls, by keyword."""
        dotted = call.scope.resolve(call.node.func) or ""
        if dotted == PARTIAL and call.node.args:
            dotted = call.scope.resolve(call.node.args[0]) or ""
        dotted = constructor_of(file, facts, call, self.wanted.is_one) or dotted.removesuffix(".__init__")
        return self._of(dotted)

    def _of(self, dotted: str) -> Mapping[str, RenameRow]:
        owner = self.now(dotted)
        return {old: row for (of, old), row in self.keywords.items() if of == owner}

    def _perhaps(self, file: PythonFile, facts: Facts, call: CallNode) -> Iterator[Match]:
        """What a call gives that may be of such a class, or of one of the project that is below it."""
        dotted = called(file, call)
        fact = facts.find_class(dotted, file.path) if dotted else None
        above, is_one = kind_above(facts, fact, self.wanted.is_one) if fact else None, self.wanted.is_one
        if above and dotted:
            own = own_arguments(file, facts, call)
            known = {old: row for old, row in self._of(above).items() if own is not None and old not in own}
            known = {old: row for old, row in known.items() if not hands_on(facts, dotted, file.path, [old], is_one)}
        elif may_build(file, facts, call, self.wanted):
            known = {row.old: row for row in self.keywords.values()}
        else:
            return
        for item in call.node.keywords:
            if item.arg and (row := known.get(item.arg)):
                reason = f"Not rewritten: `{file.source_of(call.node.func)}` may hand it on to {last_part(row.of)}"
                yield Match(file.span(item), row.message, "manual", f"{reason}, where it is `{row.new}=` now.", row.row)


def keyword_match(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, row: RenameRow, older: frozenset[Since]
) -> Iterator[Match]:
    """The keyword of a call that is one of a row, rewritten where nothing is against it."""
    span, now, dotted = file.span(item), f"It is `{row.new}=` now", call.scope.resolve(call.node.func) or ""
    guard = guard_of(file, facts, call, row.old, dotted)
    if guard == "both":
        return
    refusal = ""
    roots = {name.partition(".")[0] for name in (dotted, row.of)} - {""}
    if own := next((path for root in sorted(roots) if (path := own_package(facts, root, file.path))), None):
        refusal = OWN.format(path=own)
    elif guard != "none":
        refusal = "it is inside a version check"
    elif row.level == "manual":
        refusal = row.why.rstrip(".") or "change it by hand"
    elif dotted == PARTIAL:
        refusal = "what the partial makes may be called with it too"
    elif any(other.arg == row.new for other in call.node.keywords):
        refusal = f"`{row.new}=` is given too: keep the one you mean"
    elif any(other.arg is None for other in call.node.keywords):
        refusal = f"what comes by `**` may hold `{row.new}` too"
    if refusal:
        yield Match(span, row.message, "manual", row.left(refusal), row.row)
        return
    caution = caution_of(row, older)
    reason = f"{now}; {caution}." if caution else f"{now}. {row.why}".strip()
    level: Fix = "unsafe" if caution else "safe"
    edit = NodeEdit(item, partial(renamed, name=row.new))
    yield Match(span, row.message, level, reason, row.row, (edit,))


def caution_of(row: RenameRow, older: frozenset[Since]) -> str:
    """Why a row is only probably right here, "" where it surely is."""
    if row.since in older:
        return OLDER.format(package=row.since.package, release=row.since.release)
    return (row.why or "the table says that it may differ").rstrip(".") if row.level == "unsafe" else ""


@dataclass(frozen=True)
class _Asked:
    """The rows as they are asked in one file: what its requirements leave of them, which modules it imports, and which
    packages are the project's own."""

    rows: OwnRows
    older: frozenset[Since]
    loaded: frozenset[str]
    here: Mapping[str, str]

    def covers(self, dotted: str) -> bool:
        return dotted.partition(".")[0] in self.rows.roots

    def find(self, dotted: str) -> MovedName | None:
        found = self.rows.told(dotted, self.older)
        if found and (path := self.here.get(dotted.partition(".")[0])):
            why = OWN.format(path=path)
            return replace(found, refusal=found.refusal or why, in_text=found.in_text or why)
        return found

    broken = own = find

    def in_string(self, dotted: str) -> MovedName | None:
        found = self.find(dotted) if "." in dotted else None
        return _as_text(found) if found else None

    def sure(self, found: MovedName, dotted: str) -> MovedName:
        """A star brings what moved elsewhere no more."""
        starred = dotted.endswith(".*") and found.parts
        return replace(found, refusal=found.refusal or "a star brings names that are elsewhere") if starred else found

    def reached(self, found: MovedName, dotted: str) -> MovedName:
        """A module that nothing here imports may not be there."""
        module, _, name = found.new.rpartition(".")
        if dotted != found.old and not name[0].isupper():  # what a chain goes on from may be a module itself
            module = found.new
            known = module == found.added or (found.root is not None and found.old in self.loaded)
        else:
            around = found.old.rpartition(".")[0]
            known = module in ("", around) or (found.added is not None and name[0].isupper())
        if found.caution or known or module in self.loaded:
            return found
        return replace(found, caution=UNLOADED.format(module=module))


_IMPORTED = re.compile(r"(?:_target_|class_path)[\"']?[ \t]*[:=][ \t]*[\"']?$")


def _as_text(found: MovedName) -> MovedName:
    """A text that ends with the name of a class is no file, and no key of a dictionary."""
    sure = "." in found.old and found.new.rpartition(".")[2][0].isupper()
    return found if sure or found.caution else replace(found, caution=TEXT)


def own_package(facts: Facts, root: str, near: str) -> str | None:
    """The project's own package of a name, where it can be imported by that: it lies in no other package."""
    path = facts.path_of(root, near)
    above = PurePosixPath((path or "").removesuffix("/__init__.py")).parent
    return path if path and f"{above}/__init__.py" not in facts.kinds else None


def _loaded(sites: Sites) -> frozenset[str]:
    """The modules that a file imports, with the packages around each."""
    modules = [alias.name for node, _, _ in sites.imports if isinstance(node, ast.Import) for alias in node.names]
    modules += [
        node.module or "" for node, _, _ in sites.imports if isinstance(node, ast.ImportFrom) and not node.level
    ]
    return frozenset(
        name[:end] for each in modules for name in [f"{each}."] for end, mark in enumerate(name) if mark == "."
    )
