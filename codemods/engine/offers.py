"""A plan as the changes that can be taken or refused one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from codemods.code.source import Source
from codemods.engine.draft import Draft, Step
from codemods.engine.passes import finding_of
from codemods.engine.plan import Plan, planned, walked
from codemods.engine.refused import Key
from codemods.engine.rewriting import edited
from codemods.engine.scan import Options, Progress
from codemods.engine.scan_cache import Memory
from codemods.finding import Finding, Fix
from codemods.rule import Match, Rule


@dataclass(frozen=True)
class Place:
    """One place of a change: what is rewritten at which step, and what names it. `finding` is told as it stood in the
    files as they came, where it stood there."""

    step: Step
    match: Match
    finding: Finding
    key: Key


@dataclass(frozen=True)
class FileTexts:
    """A file before and after a change; `before` is None where the change brings it."""

    path: str
    before: bytes | None
    after: bytes


@dataclass(frozen=True)
class Offer:
    """Changes of one rule of one level in the same files. The places of each of its parts need each other, its parts
    do not."""

    rule: Rule
    fix: Fix
    parts: tuple[tuple[Place, ...], ...]

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for part in self.parts for place in part)

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset(place.key for place in self.places)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it rewrites, in order."""
        return tuple(sorted({place.finding.path for place in self.places}))

    def split(self) -> tuple[Offer, ...]:
        """Each part by itself."""
        return tuple(Offer(self.rule, self.fix, (part,)) for part in self.parts)

    def texts(self) -> tuple[FileTexts, ...]:
        """The files that it rewrites, as the rules before it left them and with this alone; the files that it brings
        behind them."""
        by_path = {place.step.before.path: place.step for place in self.places}
        found: list[FileTexts] = []
        made: dict[str, bytes] = {}
        for path, step in sorted(by_path.items()):
            matches = [place.match for place in self.places if place.step is step]
            file = step.done.file
            assert file is not None
            found.append(FileTexts(path, step.before.data, file.encode(edited(file, matches))))
            wanted = {name for match in matches for name, _ in match.creates}
            made.update((name, data) for name, data in step.made.items() if name in wanted)
        return (*found, *(FileTexts(name, None, data) for name, data in sorted(made.items())))


class OfferedChanges:
    """What can be taken and refused of the changes to some files, again and again with more of them refused."""

    def __init__(
        self,
        sources: Sequence[Source],
        options: Options,
        progress: Progress | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._sources, self._options, self._progress = sources, options, progress
        self._memory = memory or Memory()
        self._draft: Draft | None = None

    def plan(self, refused: Collection[Key] = ()) -> tuple[Plan, tuple[Offer, ...]]:
        """The plan without what is refused, and its changes in the order in which they are made, none of which can be
        split."""
        options = replace(self._options, refused=frozenset(refused))
        made, self._draft = planned(self._sources, options, self._progress, self._memory)
        self._memory = self._memory.again()
        return made, _offers(self._draft, options)

    def walk(self, refused: Collection[Key]) -> Iterator[tuple[Offer, ...]]:
        """The changes of the last plan, rule by rule. What is added to `refused` before the next are asked for is left;
        those of this rule come once more, and the others as they are without it."""
        if self._draft is None:
            self.plan(refused)
        assert self._draft is not None
        for draft, steps in walked(self._draft, self._sources, self._options, refused, self._memory):
            yield tuple(_of_rule(steps, draft, self._options))


def grouped(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Offers of one rule and level in the same files as one, where the first of them stands."""
    groups: dict[tuple[str, Fix, tuple[str, ...]], list[Offer]] = {}
    for offer in offers:
        groups.setdefault((offer.rule.code, offer.fix, offer.paths), []).append(offer)
    return tuple(
        Offer(first.rule, first.fix, tuple(part for one in (first, *more) for part in one.parts))
        for first, *more in groups.values()
    )


def _offers(draft: Draft, options: Options) -> tuple[Offer, ...]:
    steps = groupby(draft.steps, key=lambda step: step.rule)
    return tuple(offer for _, own in steps for offer in _of_rule([*own], draft, options))


def _of_rule(steps: Sequence[Step], draft: Draft, options: Options) -> list[Offer]:
    """The changes of one rule: places that share a unit, or that have one name, are one change."""
    parts: list[tuple[set[object], list[Place]]] = []
    for place in (place for step in steps for place in _places(step, draft, options)):
        ties: set[object] = {place.key, *([place.match.unit] if place.match.unit else [])}
        joined, apart = [place], []
        for names, places in parts:
            if names.isdisjoint(ties):
                apart.append((names, places))
            else:
                ties |= names
                joined = [*places, *joined]
        parts = [*apart, (ties, joined)]
    found = [tuple(sorted(places, key=_order)) for _, places in parts]
    found.sort(key=lambda part: _order(part[0]))
    return [Offer(steps[0].rule, _level(part), (part,)) for part in found]


def _places(step: Step, draft: Draft, options: Options) -> list[Place]:
    assert step.done.file is not None
    found = [finding_of(step.rule, match, step.done.file, options) for match in step.done.found]
    keys = draft.refusals.keys(found, step.before)
    return [
        Place(step, match, draft.refusals.as_it_was(key) or finding, key)
        for match, finding, key in zip(step.done.found, found, keys, strict=True)
        if options.applies(step.rule.code, match)
    ]


def _level(part: Sequence[Place]) -> Fix:
    return "unsafe" if any(place.match.fix == "unsafe" for place in part) else "safe"


def _order(place: Place) -> tuple[object, ...]:
    return place.finding.path, place.finding.cell or 0, place.finding.span, place.finding.message
