"""What is looked for, and what a process that looks at files works with."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from codemods.code.parsed_files import KEPT_BYTES, Parsed, ParsedFiles, load
from codemods.code.source import PythonFile, Source, TextFile
from codemods.engine.refused import Key
from codemods.lightning.facts import Facts
from codemods.rule import Match, Rule


@dataclass(frozen=True)
class Options:
    """What a run looks for: the rules in order, rows left out (`CODE:ROW`), files that are read for the facts but not
    reported or changed, codes, prefixes or rows left out in single files, whether unsafe repairs are applied, or the
    codes whose are, findings whose repairs are refused, the release to move to, the pins found (PEP 508), whether
    Lightning comes from addresses that name no release, how many processes may work, and the namespace to move to
    (`lightning` or `pytorch_lightning`, "" for none)."""

    rules: tuple[Rule, ...]
    ignored_rows: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    ignored_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsafe: bool | frozenset[str] = False
    refused: frozenset[Key] = frozenset()
    target: str = "2.6.6"
    pins: tuple[str, ...] = ()
    forked: bool = False
    jobs: int = 1
    namespace: str = ""

    def applies(self, code: str, match: Match) -> bool:
        """Whether the edits of what a rule found are to be made."""
        unsafe = self.unsafe if isinstance(self.unsafe, bool) else code in self.unsafe
        return bool(match.edits) and (match.fix == "safe" or (match.fix == "unsafe" and unsafe))


class Watched(Mapping[str, Source]):
    """Sources by path that remember which of them were asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self.seen: set[str] = set()

    def __getitem__(self, path: str) -> Source:
        source = self._sources[path]
        self.seen.add(path)
        return source

    def __contains__(self, path: object) -> bool:
        return path in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def items(self) -> ItemsView[str, Source]:
        return self._all.items()

    def values(self) -> ValuesView[Source]:
        return self._all.values()

    @property
    def _all(self) -> Mapping[str, Source]:
        """The sources of whoever asks for each of them."""
        if len(self.seen) < len(self._sources):
            self.seen.update(self._sources)
        return self._sources


class Timed:
    """Counts the seconds that something takes to a code. It is a plain class because rules are timed so often that a
    generator shows."""

    __slots__ = ("code", "spent", "started")

    def __init__(self, spent: dict[str, float], code: str) -> None:
        self.spent, self.code = spent, code

    def __enter__(self) -> None:
        self.started = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.spent[self.code] = self.spent.get(self.code, 0.0) + perf_counter() - self.started


class Workspace:
    """What a process works with: the sources by path, the options, the files that it has parsed, and the facts once
    they are known. `spent` are the seconds of each rule's own time in it, what rules share counted to the first that
    asks."""

    def __init__(
        self, sources: Mapping[str, Source], options: Options, room: int = KEPT_BYTES, parsed: Parsed | None = None
    ) -> None:
        self.sources, self.options = sources, options
        self.trees = ParsedFiles(sources, room, parsed)
        self.watched = Watched(sources)
        self.of_sources: dict[str, Any] = {}
        self.spent: dict[str, float] = {}
        self.learn(Facts({}))

    def learn(self, facts: Facts) -> None:
        """Takes the facts, and follows them in the files that it has."""
        self.facts = replace(facts, sources=self.watched, trees=self.trees, of_sources=self.of_sources)

    def timed(self, rule: Rule) -> Timed:
        """Counts what is done meanwhile to a rule."""
        return Timed(self.spent, rule.code)

    def open(self, path: str, as_text: bool) -> PythonFile | TextFile:
        """The file as rules see it. Raises Unreadable."""
        source = self.sources[path]
        return load(source, True) if as_text or source.kind not in ("python", "notebook") else self.trees.open(path)
