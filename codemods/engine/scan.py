"""Looking at a tree: which files are read, what is known of them, and what the rules find there."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from codemods.code.search import Search
from codemods.code.source import Source
from codemods.engine.passes import Checked, check, read
from codemods.engine.reconcile import Unit
from codemods.engine.refused import Refusals
from codemods.engine.scan_cache import Memory
from codemods.engine.triggers import rules_by_file, triggered
from codemods.engine.workers import Item, Workers
from codemods.engine.workspace import Options as Options
from codemods.engine.workspace import Workspace
from codemods.finding import Finding
from codemods.lightning.facts import SEARCH, Facts, FileFacts
from codemods.lightning.linking import takers
from codemods.lightning.version_checks import SPEAKING
from codemods.rule import Rule

Progress = Callable[[int, int], None]
NEW_OBJECTS = 100_000
"""So many new objects the garbage collector waits for while something is rewritten."""
_CLASS = re.compile(rb"^[ \t]*class\s+\w+\s*\(([^()]*)\)", re.MULTILINE)
_WORD = re.compile(rb"\w+")


@dataclass(frozen=True)
class Scan:
    """What a look at a tree gave. `present` says which rules may match in which file, `spent` how many seconds each
    rule took."""

    facts: Facts
    findings: tuple[Finding, ...]
    present: Mapping[str, tuple[str, ...]]
    skipped: tuple[tuple[str, str], ...]
    spent: Mapping[str, float] = field(default_factory=dict, compare=False)

    @cached_property
    def by_unit(self) -> Mapping[Unit, list[Finding]]:
        """What each rule found in each file."""
        found: dict[Unit, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault((finding.code, finding.path), []).append(finding)
        return found


def scan(
    sources: Sequence[Source],
    options: Options,
    progress: Progress | None = None,
    memory: Memory | None = None,
    refusals: Refusals | None = None,
) -> Scan:
    """Reads the files that hold a trigger, and those that they lead to, and asks every rule what it finds.

    Two looks: the first collects facts from each file alone, the second checks with the facts of all. A file
    without a trigger costs no more than the search for the triggers, and one that is remembered no more than that.
    `progress` gets files done and total, and all of them again after each file of the second look; what it raises ends
    the look. What `refusals` name is found and not applied.
    """
    memory = memory or Memory()
    workspace = Workspace({source.path: source for source in sources}, options, parsed=memory.parsed)
    with without_collector(), Workers(workspace) as workers:
        try:
            return TreeLook(workers, memory, progress, refusals or Refusals()).scan()
        finally:  # what was found before a look ended is remembered, and with it what that goes by
            memory.keep_opened(workspace.sources[path] for path in workers.seen)


class TreeLook:
    """A scan in the making: who looks, what is remembered, and what was read."""

    def __init__(self, workers: Workers, memory: Memory, progress: Progress | None, refusals: Refusals) -> None:
        self.workers, self.memory, self.progress, self.refusals = workers, memory, progress, refusals
        self.workspace = workers.workspace
        self.sources, self.options = workers.workspace.sources, workers.workspace.options
        self.files: dict[str, FileFacts] = {}
        self.texts: dict[str, Mapping[str, Any]] = {}
        self.present: dict[str, tuple[str, ...]] = {}
        self.absent: dict[str, frozenset[str]] = {}
        self.skipped: dict[str, str] = {}
        self.before = 0

    def scan(self) -> Scan:
        self._learn(self._collect())
        present = _among(self.workspace, self.present)
        last = {rule.code for rule in self.options.rules if rule.last}
        items = [
            (path, rest)
            for path in self.sources
            if (rest := tuple(code for code in present.get(path, ()) if code not in last))
        ]
        checked = self._check(items)
        present = self._left(present)
        if checked.silenced:
            self._learn(replace(self.workspace.facts, silenced=checked.silenced))
            checked = replace(self._check(items), served=checked.served)
        found = self._look_last(present, checked)
        findings, skipped = tuple(sorted(found, key=_order)), tuple(sorted(self.skipped.items()))
        return Scan(self.workspace.facts, findings, present, skipped, self.workers.spent)

    def _with_takers(self, facts: Facts, first: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """The rules that may match in each file, together with what is taken from it or it takes from others; `first`
        are those that each file calls by itself."""
        every = {rule.code for rule in self.options.rules if not rule.last and rule.kinds == ("python",)}
        called = {path: [code for code in codes if code in every] for path, codes in first.items()}
        present = dict(self.present)
        for path, others in takers(facts).items():
            for other in others if path in self.files else ():
                for one, two in ((path, other), (other, path)):
                    present[one] = tuple(dict.fromkeys([*present.get(one, ()), *called.get(two, ())]))
        return present

    def _learn(self, facts: Facts) -> None:
        self.workers.learn(facts)
        self.memory.learn(facts, self.options, self.sources)

    def _check(self, items: Sequence[Item]) -> Checked:
        """What second looks say of all items, in the order of the paths. The files that were read last are looked at
        first: they are parsed still."""
        done = {path: found for path, codes in items if (found := self.memory.checked(self.sources[path], codes))}
        read_as = {path: number for number, path in enumerate(self.files)}
        left = sorted((item for item in items if item[0] not in done), key=lambda item: -read_as.get(item[0], -1))
        codes = dict(left)
        for path, checked in self.workers.look(check, left):
            self.memory.keep_checked(self.sources[path], codes[path], checked)
            done[path] = checked
            if self.progress:
                self.progress(self.before, self.before)
        self.absent.update((path, done[path].absent) for path, _ in items if done[path].absent)
        every = [done[path] for path, _ in items]
        return Checked(
            self.refusals.left([finding for each in every for finding in each.findings], self.sources),
            frozenset(unit for each in every for unit in each.silenced),
            frozenset(comment for each in every for comment in each.served),
        )

    def _left(self, present: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """The rules that may match in each file, less those that cannot, as was seen there."""
        left = {
            path: tuple(code for code in codes if code not in self.absent.get(path, ()))
            for path, codes in present.items()
        }
        return {path: codes for path, codes in left.items() if codes}

    def _look_last(self, present: Mapping[str, tuple[str, ...]], checked: Checked) -> list[Finding]:
        """All findings, with those of the rules that want to know the others."""
        found, served, rules = list(checked.findings), checked.served, self.options.rules
        named = {finding.path for finding in found}
        self._learn(replace(self.workspace.facts, planned=tuple(found)))
        for rule in (rule for rule in rules if rule.last):
            if rule.judges_ignores:
                self._learn(replace(self.workspace.facts, served=served, asked=frozenset(rule.code for rule in rules)))
            more = self._check(
                [
                    (path, (rule.code,))
                    for path, source in self.sources.items()
                    if rule.code in present.get(path, ()) or (path in named and triggered(source, (rule,)))
                ]
            )
            found.extend(more.findings)
            served |= more.served
        return found

    def _collect(self) -> Facts:
        """Reads what has to be read, and returns the facts."""
        sources, rules = self.sources, self.options.rules
        search = self.workspace.of_sources[SEARCH] = Search(sources)
        first = rules_by_file(search, sources, rules)
        self._read(sorted(first.items(), key=lambda item: (-len(sources[item[0]].data), item[0])))
        mentions: dict[bytes, frozenset[str]] = {}
        while True:
            facts = self._facts(mentions)
            mentions = search.holders(_asked(rules, facts))
            asked = {path for paths in mentions.values() for path in paths}
            wanted = asked | _base_paths(facts, sources) | _packages(facts, sources) | _below(facts, search, sources)
            more = [
                (path, ())
                for path in sorted(wanted)
                if sources[path].kind == "python" and path not in self.files and path not in self.skipped
            ]
            if not more:
                self.present = self._with_takers(facts, first)
                named = {text for rule in rules if _is_present(rule, self.present) for text in rule.mentions}
                named.update(SPEAKING)
                return replace(facts, mentions=mentions | search.holders(named))
            self._read(more)

    def _read(self, items: Sequence[Item]) -> None:
        done = {path: found for path, codes in items if (found := self.memory.read(self.sources[path], codes))}
        left = [item for item in items if item[0] not in done]
        codes = dict(left)
        for path, result in self.workers.look(read, left):
            self.memory.keep_read(self.sources[path], codes[path], result)
            done[path] = result
            if self.progress:
                self.progress(self.before + len(done), self.before + len(items))
        self.before += len(items)
        for path, _ in items:
            result = done[path]
            if result.error:
                self.skipped[path] = result.error
            if result.facts:
                self.files[path] = result.facts
            if result.collected:
                self.texts[path] = result.collected
            if result.present:
                self.present[path] = result.present

    def _facts(self, mentions: Mapping[bytes, frozenset[str]]) -> Facts:
        options = self.options
        return Facts(
            self.files,
            mentions,
            kinds={path: source.kind for path, source in self.sources.items()},
            pins=options.pins,
            forked=options.forked,
            target=options.target,
            namespace=options.namespace,
            texts=self.texts,
            sources=self.workspace.watched,
            trees=self.workspace.trees,
        )


def _among(workspace: Workspace, present: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The rules that may match in each file, less those that the facts rule out."""
    asked = {rule.code: rule.among(workspace.facts) for rule in workspace.options.rules if rule.among}
    return {
        path: kept
        for path, codes in present.items()
        if (
            kept := tuple(
                code
                for code in codes
                if code not in asked
                or path in asked[code]
                or workspace.sources[path].kind not in ("python", "notebook")
            )
        )
    }


@contextmanager
def without_collector() -> Iterator[None]:
    """Switches the garbage collector off. Syntax trees hold no cycles, so they are freed without it, and it
    would go over all their nodes again and again while they are made: a fifth of the time of parsing. What there is
    in the end it takes for old, and so does not go over it at once."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Has the garbage collector look at what is new when there is much of it: LibCST makes so many nodes that it would
    look through all trees again and again for the few that are garbage."""
    before = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _asked(rules: Sequence[Rule], facts: Facts) -> set[bytes]:
    """The byte strings that rules ask for, going by what they collected."""
    return {
        text
        for rule in rules
        if rule.context and (collected := facts.collected(rule.code) | facts.collected_texts(rule.code))
        for text in rule.context(collected)
    }


def _is_present(rule: Rule, present: Mapping[str, tuple[str, ...]]) -> bool:
    return rule.last or any(rule.code in codes for codes in present.values())


def _base_paths(facts: Facts, by_path: Mapping[str, Source]) -> set[str]:
    """Files not read yet that hold a module which a class of a read file takes a base from."""
    suffixes: dict[str, list[str]] = {}
    for path in by_path:
        if path.endswith(".py"):
            suffixes.setdefault(path.rpartition("/")[2], []).append(path)
    wanted: set[str] = set()
    for item in facts.unresolved_bases():
        parts = item.split(".")
        for length in range(len(parts) - 1, 0, -1):
            stem = "/".join(parts[:length])
            for tail in (f"{stem}.py", f"{stem}/__init__.py"):
                name = tail.rpartition("/")[2]
                wanted |= {path for path in suffixes.get(name, ()) if path == tail or path.endswith("/" + tail)}
    return wanted


def _below(facts: Facts, search: Search, sources: Mapping[str, Source]) -> set[str]:
    """Files in which a class has one of a file that was read for a base."""
    names = {item.name.encode() for item in facts.classes()}
    found = search.speaking(names)
    return {path for path in found if sources[path].kind == "python" and not names.isdisjoint(_bases(sources[path]))}


def _bases(source: Source) -> set[bytes]:
    """The words in the bases of the classes of a text."""
    return {word for bases in _CLASS.findall(source.data) for word in _WORD.findall(bases)}


def _packages(facts: Facts, sources: Mapping[str, Source]) -> set[str]:
    """What names the modules around the files that were read, and what a star brings there: through it others know what
    they define."""
    folders = {parent.as_posix() for path in facts.files for parent in PurePosixPath(path).parents}
    places = (f"{folder}/__init__.py".removeprefix("./") for folder in folders)
    found = {place for place in places if place in sources and b"import" in sources[place].data}
    stars = ((star, path) for path, file in facts.files.items() if path in found for star in file.stars)
    return found | {path for star, near in stars if (path := facts.path_of(star, near))}


def _order(finding: Finding) -> tuple[Any, ...]:
    return (finding.path, finding.cell or 0, finding.span, finding.code, finding.row or "", finding.message)
