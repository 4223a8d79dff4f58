"""Looking at a tree: which files are read, what is known of them, and what the rules find there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from codemods.facts import Facts, FileFacts, collect_file
from codemods.finding import Finding
from codemods.rule import Match, Rule
from codemods.source import PythonFile, Source, TextFile, Unreadable

POOL_BYTES = 1_000_000
Item = TypeVar("Item")
Out = TypeVar("Out")
Runner = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Options:
    """What a run looks for: the rules in order, rows left out (`CODE:ROW`), files that are read for the facts
    but not reported or changed, whether unsafe repairs are applied, the release to move to, the pins found
    (PEP 508), and how many processes may work."""

    rules: tuple[Rule, ...]
    ignored_rows: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    unsafe: bool = False
    target: str = "2.6.6"
    pins: tuple[str, ...] = ()
    jobs: int = 1

    def applies(self, match: Match) -> bool:
        """Whether the edits of a match are to be made."""
        return bool(match.edits) and (match.fix == "safe" or (match.fix == "unsafe" and self.unsafe))


@dataclass(frozen=True)
class Scan:
    """What a look at a tree gave. `present` says which rules may match in which file."""

    facts: Facts
    findings: tuple[Finding, ...]
    present: Mapping[str, tuple[str, ...]]
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Read:
    facts: FileFacts | None
    present: tuple[str, ...]
    error: str | None = None


def scan(sources: Sequence[Source], options: Options, progress: Callable[[int, int], None] | None = None) -> Scan:
    """Reads the files that hold a trigger, and those that they lead to, and asks every rule what it finds.

    Two looks: the first collects facts from each file alone, the second checks with the facts of all. A file
    without a trigger costs no more than the search for the triggers. `progress` gets files done and total.
    """
    with ExitStack() as stack:
        run = _runner(sources, options, stack)
        facts, present, skipped = _collect(sources, options, run, progress)
        checks = [
            (
                source,
                tuple(rule for rule in options.rules if rule.code in present[source.path] and not rule.last),
            )
            for source in sources
            if source.path in present
        ]
        checks = [item for item in checks if item[1]]
        found, silenced = _gather(run(partial(_check, facts=facts, options=options), checks))
        if silenced:
            facts = replace(facts, silenced=silenced)
            found, _ = _gather(run(partial(_check, facts=facts, options=options), checks))
    facts = replace(facts, planned=tuple(found))
    for rule in options.rules:
        if rule.last:
            for source in sources:
                if rule.code in present.get(source.path, ()):
                    found.extend(_check((source, (rule,)), facts=facts, options=options)[0])
    return Scan(facts, tuple(sorted(found, key=_order)), present, tuple(sorted(skipped.items())))


def triggered(source: Source, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that may look at a file, going by its kind and bytes."""
    return tuple(
        rule for rule in rules if source.kind in rule.kinds and any(trigger in source.data for trigger in rule.triggers)
    )


def _runner(sources: Sequence[Source], options: Options, stack: ExitStack) -> Runner:
    size = sum(len(source.data) for source in sources if triggered(source, options.rules))
    jobs = min(options.jobs, os.cpu_count() or 1)
    if jobs < 2 or size < POOL_BYTES:
        return lambda function, items: map(function, items)
    pool = stack.enter_context(ProcessPoolExecutor(jobs))
    return lambda function, items: pool.map(function, items, chunksize=max(1, len(items) // (jobs * 8)))


def _order(finding: Finding) -> tuple[Any, ...]:
    return (finding.path, finding.span, finding.code, finding.row or "", finding.message)


def _collect(
    sources: Sequence[Source], options: Options, run: Runner, progress: Callable[[int, int], None] | None
) -> tuple[Facts, dict[str, tuple[str, ...]], dict[str, str]]:
    files: dict[str, FileFacts] = {}
    present: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}
    by_path = {source.path: source for source in sources}
    kinds = {source.path: source.kind for source in sources}

    def read(batch: Sequence[tuple[Source, tuple[Rule, ...]]]) -> None:
        for done, ((source, _), result) in enumerate(zip(batch, run(_read, batch), strict=True), 1):
            if progress:
                progress(done, len(batch))
            if result.error:
                skipped[source.path] = result.error
            if result.facts:
                files[source.path] = result.facts
            if result.present:
                present[source.path] = result.present

    first = [(source, rules) for source in sources if (rules := triggered(source, options.rules))]
    read(sorted(first, key=lambda item: (-len(item[0].data), item[0].path)))
    mentions: dict[bytes, frozenset[str]] = {}
    while True:
        facts = Facts(files, mentions, kinds=kinds, pins=options.pins, target=options.target)
        mentions = _mentions(sources, options.rules, facts)
        wanted = {path for paths in mentions.values() for path in paths} | _base_paths(facts, by_path)
        more = [
            (by_path[path], ())
            for path in sorted(wanted)
            if by_path[path].kind == "python" and path not in files and path not in skipped
        ]
        if not more:
            named = {text for rule in options.rules if _is_present(rule, present) for text in rule.mentions}
            return replace(facts, mentions={**mentions, **_holders(sources, named)}), present, skipped
        read(more)


def _mentions(sources: Sequence[Source], rules: Sequence[Rule], facts: Facts) -> dict[bytes, frozenset[str]]:
    asked = {
        text
        for rule in rules
        if rule.context and (collected := facts.collected(rule.code))
        for text in rule.context(collected)
    }
    return _holders(sources, asked)


def _is_present(rule: Rule, present: Mapping[str, tuple[str, ...]]) -> bool:
    return any(rule.code in codes for codes in present.values())


def _holders(sources: Sequence[Source], texts: set[bytes]) -> dict[bytes, frozenset[str]]:
    """The files, of any kind, that hold each of the byte strings."""
    return {text: frozenset(source.path for source in sources if text in source.data) for text in sorted(texts)}


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


def _read(item: tuple[Source, tuple[Rule, ...]]) -> _Read:
    source, rules = item
    if source.kind != "python":
        return _Read(None, tuple(rule.code for rule in rules))
    try:
        file = PythonFile.parse(source)
    except Unreadable as error:
        return _Read(None, (), str(error))
    collected = {}
    for rule in rules:
        value = rule.collect(file) if rule.collect else None
        if value is not None:
            collected[rule.code] = value
    present = tuple(rule.code for rule in rules if rule.present is None or rule.present(file))
    return _Read(collect_file(file, collected), present)


def load(source: Source) -> PythonFile | TextFile:
    """The file as rules see it. Raises Unreadable."""
    return PythonFile.parse(source) if source.kind == "python" else TextFile.decode(source)


Checked = tuple[list[Finding], frozenset[tuple[str, str]]]


def _gather(results: Iterable[Checked]) -> Checked:
    found: list[Finding] = []
    silenced: set[tuple[str, str]] = set()
    for findings, units in results:
        found.extend(findings)
        silenced |= units
    return found, frozenset(silenced)


def _check(item: tuple[Source, tuple[Rule, ...]], *, facts: Facts, options: Options) -> Checked:
    """The findings of one file, and the units of which a part was silenced there."""
    source, rules = item
    try:
        file = load(source)
    except Unreadable:
        return [], frozenset()
    every = [(rule, match) for rule in rules for match in _every(rule, file, facts)]
    units = {(rule.code, match.unit) for rule, match in every if match.unit and _silent(rule, match, file, options)}
    return [
        Finding(
            rule.code,
            source.path,
            match.span,
            match.message,
            match.fix,
            match.reason,
            match.row,
            applied=options.applies(match),
        )
        for rule, match in every
        if not _silent(rule, match, file, options)
    ], frozenset(units)


def matches(rule: Rule, file: PythonFile | TextFile, facts: Facts, options: Options) -> list[Match]:
    """What a rule finds in a file, less what a comment or an option leaves out."""
    return [match for match in _every(rule, file, facts) if not _silent(rule, match, file, options)]


def _every(rule: Rule, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """A rule's matches; those that belong to a silenced one elsewhere lose their edits."""
    check: Any = rule.check
    for match in check(file, facts):
        if (rule.code, match.unit) in facts.silenced and match.edits:
            reason = "Not rewritten: a part of the same change is ignored by a comment, or lies outside the given path."
            match = replace(match, fix="manual", reason=reason, edits=())
        yield match


def _silent(rule: Rule, match: Match, file: PythonFile | TextFile, options: Options) -> bool:
    if file.path in options.left_out or f"{rule.code}:{match.row}" in options.ignored_rows:
        return True
    if not isinstance(file, PythonFile):
        return False
    ignored = file.ignores.get(match.span.line, frozenset()) | file.ignores.get(match.span.end_line, frozenset())
    return bool({"*", rule.code, f"{rule.code}:{match.row}"} & ignored)
