"""What was refused of what could be rewritten, and where it stands in what other rules made of its file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from codemods.code.source import Source
from codemods.engine.line_map import LineMap
from codemods.engine.reconcile import Unit
from codemods.finding import Finding, Span

Key = tuple[str, str, int | None, Span | None, str, str | None]
"""A finding in the files as they came: code, path, cell, place, message and row. Without a place it is all that a rule
finds in a file only once others have changed it."""


def key_of(finding: Finding) -> Key:
    """What names a finding of the files as they came."""
    return finding.code, finding.path, finding.cell, finding.span, finding.message, finding.row


def brought_key(code: str, path: str) -> Key:
    """What names all that a rule finds in a file only once others have changed it."""
    return code, path, None, None, "", None


class Refusals:
    """The refused findings of a run. In a file that others changed, a finding is known again by its message, where
    there are as many of it as there were, else by its line or the lines that took the place of its own; where a refused
    one is not known again, none is rewritten that it could be."""

    def __init__(self, refused: Collection[Key] = (), sources: Sequence[Source] = ()) -> None:
        self._refused: dict[Unit, set[Key]] = defaultdict(set)
        for key in refused:
            self._refused[key[:2]].add(key)
        self._base = {source.path: source for source in sources}
        self._known: Mapping[Unit, Sequence[Finding]] = {}
        self._through: frozenset[Unit] = frozenset()

    def learn(self, known: Mapping[Unit, Sequence[Finding]]) -> None:
        """Takes what each rule found in each file as it came."""
        self._known = known

    def behind(self, through: Collection[Unit]) -> Refusals:
        """The same once some rules have had their turn at some files: no more of what they find there is left than was
        refused."""
        other = copy(self)
        other._through = frozenset(through)
        return other

    def names(self, code: str) -> bool:
        """Whether anything that a rule finds was refused."""
        return any(code == refused for refused, _ in self._refused)

    def left(self, findings: Sequence[Finding], now: Mapping[str, Source]) -> tuple[Finding, ...]:
        """The findings of files as they are by now, those that were refused no longer applied."""
        units: dict[Unit, list[Finding]] = defaultdict(list)
        for finding in findings:
            if self._refused and (finding.code, finding.path) in self._refused:
                units[finding.code, finding.path].append(finding)
        off: set[Finding] = set()
        for (_, path), found in units.items():
            off.update(item for item, gone in zip(found, self.refused(found, now[path]), strict=True) if gone)
        return tuple(replace(item, applied=False) if item in off else item for item in findings)

    def refused(self, found: Sequence[Finding], now: Source) -> list[bool]:
        """Which of the findings of one rule in one file, as it is by now, were refused."""
        mine = self._refused.get((found[0].code, found[0].path)) if found else None
        if not mine:
            return [False] * len(found)
        unit = found[0].code, found[0].path
        if unit in self._through and sum(item.applied for item in found) <= len(mine):
            return [item.applied for item in found]
        keys, brought = self.keys(found, now), brought_key(*unit)
        lost = bool(mine - {brought} - set(keys))
        return [key in mine or (key == brought and lost) for key in keys]

    def as_it_was(self, key: Key) -> Finding | None:
        """The finding of the files as they came that a key names."""
        return next((item for item in self._known.get(key[:2], ()) if key_of(item) == key), None)

    def keys(self, found: Sequence[Finding], now: Source) -> list[Key]:
        """What each finding of one rule in one file, as it is by now, was in the file as it came."""
        base = self._base.get(now.path)
        if base is not None and base.data == now.data:
            return [key_of(item) for item in found]
        keys = [brought_key(item.code, item.path) for item in found]
        known = self._known.get((found[0].code, now.path), ()) if base and found else ()
        if base and known:
            for number, was in _known_again(found, known, _places(base, now)):
                keys[number] = key_of(was)
        return keys


_Where = Callable[[Finding], Hashable]


@dataclass(frozen=True)
class _Places:
    """Where findings stand before and after others changed their file, in words that mean the same in both: a line of
    the same text, lines that changed together, or a cell."""

    before: _Where
    after: _Where
    is_sure: Callable[[Finding], bool]
    """Whether a finding stands, in both, in the one line of its text."""


def _places(base: Source, now: Source) -> _Places:
    if base.kind == "notebook":
        return _Places(lambda finding: finding.cell, lambda finding: finding.cell, lambda _: False)
    moved = LineMap(base.data, now.data)
    old, new = Counter(moved.old), Counter(moved.new)

    def before(finding: Finding) -> Hashable:
        text = _line(moved.old, finding)
        return (text, finding.span.column) if text in new else _block(finding.span.line, [b.old for b in moved.blocks])

    def after(finding: Finding) -> Hashable:
        text = _line(moved.new, finding)
        return (text, finding.span.column) if text in old else _block(finding.span.line, [b.new for b in moved.blocks])

    return _Places(before, after, lambda item: old[text := _line(moved.new, item)] == new[text] == 1)


def _line(lines: Sequence[str], finding: Finding) -> str:
    """The line that a finding begins on; nothing at the end of a file."""
    return lines[finding.span.line - 1] if finding.span.line <= len(lines) else ""


def _block(line: int, blocks: Sequence[range]) -> int | None:
    return next((number for number, lines in enumerate(blocks) if line in lines), None)


def _known_again(found: Sequence[Finding], known: Sequence[Finding], places: _Places) -> list[tuple[int, Finding]]:
    """The numbers of findings with what they were: those of one message where there are as many as there were, in
    order, then those of one place and message, and then those of one place."""
    pairs: list[tuple[int, Finding]] = []
    left, rest = dict(enumerate(found)), list(known)
    by_place = (places.before, places.after)
    for before, after, tell in ((None, None, _said), (*by_place, _said), (*by_place, None)):
        then, now = _grouped(rest, before, tell), _grouped([*left.values()], after, tell)
        numbers = {id(item): number for number, item in left.items()}
        for place, items in now.items():
            again = [*zip(items, then.get(place, ()), strict=False)]
            moved = before is None and any(places.is_sure(i) and places.after(i) != places.before(w) for i, w in again)
            if len(items) == len(then.get(place, ())) and not moved:
                pairs += [(numbers[id(item)], was) for item, was in again]
        done = {number for number, _ in pairs}
        left = {number: item for number, item in left.items() if number not in done}
        rest = [item for item in rest if all(item is not was for _, was in pairs)]
    return pairs


def _said(finding: Finding) -> Hashable:
    return finding.message, finding.row


def _grouped(findings: Sequence[Finding], where: _Where | None, tell: _Where | None) -> dict[Hashable, list[Finding]]:
    found: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda item: (item.cell or 0, item.span)):
        found[where(finding) if where else None, tell(finding) if tell else None].append(finding)
    return found
