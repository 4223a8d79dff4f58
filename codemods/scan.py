"""Looking at a tree: which files are read, what is known of them, and what the rules find there."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from packaging.version import Version

from codemods.facts import Facts, FileFacts, collect_file
from codemods.finding import Finding
from codemods.notebook import Notebook, place_in_cell
from codemods.rule import Match, Rule
from codemods.search import Search
from codemods.source import PythonFile, Source, TextFile, Unreadable
from codemods.trees import KEPT_BYTES, Trees
from codemods.triggers import rules_by_file, sees_text, triggered

POOL_BYTES = 1_000_000


@dataclass(frozen=True)
class Options:
    """What a run looks for: the rules in order, rows left out (`CODE:ROW`), files that are read for the facts
    but not reported or changed, codes, prefixes or rows left out in single files, whether unsafe repairs are
    applied, the release to move to, the pins found (PEP 508), whether Lightning comes from an address alone, how
    many processes may work, and the namespace to move to (`lightning` or `pytorch_lightning`, "" for none)."""

    rules: tuple[Rule, ...]
    ignored_rows: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    ignored_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsafe: bool = False
    target: str = "2.6.6"
    pins: tuple[str, ...] = ()
    forked: bool = False
    jobs: int = 1
    namespace: str = ""

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
    collected: Mapping[str, Any] | None = None


def scan(sources: Sequence[Source], options: Options, progress: Callable[[int, int], None] | None = None) -> Scan:
    """Reads the files that hold a trigger, and those that they lead to, and asks every rule what it finds.

    Two looks: the first collects facts from each file alone, the second checks with the facts of all. A file
    without a trigger costs no more than the search for the triggers. `progress` gets files done and total.
    """
    with _no_collector():
        return _scan(Desk({source.path: source for source in sources}, options), progress)


def _scan(desk: Desk, progress: Callable[[int, int], None] | None) -> Scan:
    rules = desk.options.rules
    desk.facts, present, skipped = _collect(desk, progress)
    present = _among(desk, present)
    last = {rule.code for rule in rules if rule.last}
    checks = [
        (path, rest)
        for path in desk.sources
        if (rest := tuple(code for code in present.get(path, ()) if code not in last))
    ]
    found, silenced, served = _gather(_in_processes(_check, checks, desk))
    if silenced:
        desk.facts = replace(desk.facts, silenced=silenced)
        found, _, _ = _gather(_in_processes(_check, checks, desk))
    desk.facts = replace(desk.facts, planned=tuple(found))
    named = {finding.path for finding in found}
    for rule in rules:
        if rule.judges_ignores:
            desk.facts = replace(desk.facts, served=served, asked=frozenset(rule.code for rule in rules))
        if rule.last:
            for path, source in desk.sources.items():
                if rule.code in present.get(path, ()) or (path in named and triggered(source, (rule,))):
                    more, _, used = _check(desk, (path, (rule.code,)))
                    found.extend(more)
                    served |= used
    return Scan(desk.facts, tuple(sorted(found, key=_order)), present, tuple(sorted(skipped.items())))


def _among(desk: Desk, present: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The rules that may match in each file, less those that the facts rule out."""
    asked = {rule.code: rule.among(desk.facts) for rule in desk.options.rules if rule.among}
    return {
        path: kept
        for path, codes in present.items()
        if (
            kept := tuple(
                code
                for code in codes
                if code not in asked or path in asked[code] or desk.sources[path].kind not in ("python", "notebook")
            )
        )
    }


@contextmanager
def _no_collector() -> Iterator[None]:
    """Switches the garbage collector off. Syntax trees hold no cycles, so they are freed without it, and it
    would go over all their nodes again and again while they are made: a fifth of the time of parsing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Desk:
    """What a process works with: the sources by path, the options, the files that it has parsed, and the facts once
    they are known."""

    def __init__(
        self, sources: Mapping[str, Source], options: Options, facts: Facts | None = None, room: int = KEPT_BYTES
    ) -> None:
        self.sources, self.options = sources, options
        self.trees = Trees(sources, room)
        self.facts = replace(facts or Facts({}), trees=self.trees)

    def open(self, path: str, as_text: bool) -> PythonFile | TextFile:
        """The file as rules see it. Raises Unreadable."""
        source = self.sources[path]
        return load(source, True) if as_text or source.kind not in ("python", "notebook") else self.trees.open(path)


def _in_processes(work: Callable[[Desk, Any], Any], items: Sequence[tuple[str, Any]], desk: Desk) -> Iterable[Any]:
    """`work` of each item, whose first part is a path; in several processes where there is enough to do.

    Each of them is given the desk once, when it starts, and not with every item.
    """
    options = desk.options
    jobs = min(options.jobs, os.cpu_count() or 1)
    if jobs < 2 or sum(len(desk.sources[item[0]].data) for item in items) < POOL_BYTES:
        yield from (work(desk, item) for item in items)
        return
    from concurrent.futures import ProcessPoolExecutor

    given = Desk(desk.sources, options, desk.facts, KEPT_BYTES // jobs)
    with ProcessPoolExecutor(jobs, initializer=_sit_down, initargs=(given,)) as pool:
        yield from pool.map(_work_there, [work] * len(items), items, chunksize=max(1, len(items) // (jobs * 8)))


_desk: Desk


def _sit_down(desk: Desk) -> None:
    global _desk
    _desk = desk
    gc.disable()


def _work_there(work: Callable[[Desk, Any], Any], item: tuple[str, Any]) -> Any:
    return work(_desk, item)


def _order(finding: Finding) -> tuple[Any, ...]:
    return (finding.path, finding.cell or 0, finding.span, finding.code, finding.row or "", finding.message)


def _collect(
    desk: Desk, progress: Callable[[int, int], None] | None
) -> tuple[Facts, dict[str, tuple[str, ...]], dict[str, str]]:
    options, sources = desk.options, desk.sources
    files: dict[str, FileFacts] = {}
    texts: dict[str, Mapping[str, Any]] = {}
    present: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}

    def read(batch: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        for done, ((path, _), result) in enumerate(zip(batch, _in_processes(_read, batch, desk), strict=True), 1):
            if progress:
                progress(done, len(batch))
            if result.error:
                skipped[path] = result.error
            if result.facts:
                files[path] = result.facts
            if result.collected:
                texts[path] = result.collected
            if result.present:
                present[path] = result.present

    search = Search(sources)
    first = list(rules_by_file(search, sources, options.rules).items())
    read(sorted(first, key=lambda item: (-len(sources[item[0]].data), item[0])))
    kinds = {path: source.kind for path, source in sources.items()}
    mentions: dict[bytes, frozenset[str]] = {}
    while True:
        facts = Facts(
            files,
            mentions,
            kinds=kinds,
            pins=options.pins,
            forked=options.forked,
            target=options.target,
            namespace=options.namespace,
            texts=texts,
            sources=sources,
            trees=desk.trees,
        )
        mentions = search.holders(_asked(options.rules, facts))
        asked = {path for paths in mentions.values() for path in paths}
        wanted = asked | _base_paths(facts, sources)
        more = [
            (path, ())
            for path in sorted(wanted)
            if sources[path].kind == "python" and path not in files and path not in skipped
        ]
        if not more:
            named = {text for rule in options.rules if _is_present(rule, present) for text in rule.mentions}
            return replace(facts, mentions=mentions | search.holders(named)), present, skipped
        read(more)


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


def _read(desk: Desk, item: tuple[str, tuple[str, ...]]) -> _Read:
    """What one file says, with what the rules of those codes want of it."""
    path, codes = item
    source = desk.sources[path]
    texts = tuple(rule.code for rule in desk.options.rules if rule.code in codes and sees_text(rule, source))
    try:
        file = desk.open(path, bool(codes) and len(texts) == len(codes))
    except Unreadable as error:
        return _Read(None, texts if source.kind == "notebook" else (), str(error))
    if isinstance(file, TextFile):
        return _Read(None, codes, collected=_collected_text(file, desk.options.rules, codes))
    rules = [rule for rule in desk.options.rules if rule.code in codes and rule.code not in texts]
    said = {collect: collect(file) for rule in rules if (collect := rule.collect)}
    collected = {rule.code: value for rule in rules if rule.collect and (value := said[rule.collect]) is not None}
    present = tuple(rule.code for rule in rules if rule.present is None or rule.present(file))
    if present and desk.trees.has_room:
        desk.trees.hold(path)
    return _Read(collect_file(file, collected), (*texts, *present))


def _collected_text(file: TextFile, rules: Sequence[Rule], codes: tuple[str, ...]) -> dict[str, Any]:
    asked = [(rule.code, rule.collect_text) for rule in rules if rule.code in codes and rule.collect_text]
    return {code: value for code, collect in asked if (value := collect(file)) is not None}


def load(source: Source, as_text: bool = False) -> PythonFile | TextFile:
    """The file as rules see it; a notebook as its code, unless its text is asked for. Raises Unreadable."""
    if source.kind == "notebook" and not as_text:
        return Notebook.parse(source)
    return PythonFile.parse(source) if source.kind == "python" else TextFile.decode(source)


Checked = tuple[list[Finding], frozenset[tuple[str, str]], frozenset[tuple[str, int, str]]]


def _gather(results: Iterable[Checked]) -> Checked:
    found: list[Finding] = []
    silenced: set[tuple[str, str]] = set()
    served: set[tuple[str, int, str]] = set()
    for findings, units, comments in results:
        found.extend(findings)
        silenced |= units
        served |= comments
    return found, frozenset(silenced), frozenset(served)


def _check(desk: Desk, item: tuple[str, tuple[str, ...]]) -> Checked:
    """What the rules of those codes find in one file, the units of which a part was silenced there, and the codes in
    its comments that silenced something."""
    path, codes = item
    options, facts, source = desk.options, desk.facts, desk.sources[path]
    rules = [rule for rule in options.rules if rule.code in codes]
    views: dict[bool, PythonFile | TextFile] = {}
    every: list[tuple[Rule, Match, PythonFile | TextFile]] = []
    for rule in rules:
        as_text = sees_text(rule, source)
        try:
            file = views.setdefault(as_text, views.get(as_text) or desk.open(path, as_text))
        except Unreadable:
            continue
        if isinstance(file, PythonFile):
            desk.trees.hold(path)
        every.extend((rule, match, file) for match in _every(rule, file, facts))
    silent = [_silent(rule, match, file, options) for rule, match, file in every]
    units = {
        (rule.code, match.unit) for (rule, match, _), quiet in zip(every, silent, strict=True) if match.unit and quiet
    }
    found = [
        _finding(rule, match, file, options)
        for (rule, match, file), quiet in zip(every, silent, strict=True)
        if not quiet
    ]
    desk.trees.release(path)
    served = {comment for rule, match, file in every for comment in _comments(rule, match, file)}
    return found, frozenset(units), frozenset(served)


def _finding(rule: Rule, match: Match, file: PythonFile | TextFile, options: Options) -> Finding:
    """What is reported of a match; in a notebook its lines are counted in its cell."""
    cell, span = None, match.span
    if isinstance(file, Notebook):
        cell, span = file.place(span)
    elif isinstance(file, TextFile) and file.kind == "notebook":
        cell, span = place_in_cell(file, span)
    return Finding(
        rule.code,
        file.path,
        span,
        match.message,
        match.fix,
        match.reason,
        match.row,
        cell,
        applied=options.applies(match),
        needs=match.needs,
    )


def matches(rule: Rule, file: PythonFile | TextFile, facts: Facts, options: Options) -> list[Match]:
    """What a rule finds in a file, less what a comment or an option leaves out."""
    return [match for match in _every(rule, file, facts) if not _silent(rule, match, file, options)]


def _every(rule: Rule, file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """A rule's matches; those that belong to a silenced one elsewhere lose their edits."""
    check: Any = rule.check
    for match in check(file, facts):
        needed = match.needs or rule.needs
        if match.edits and needed and facts.target and Version(needed) > Version(facts.target):
            reason = f"Not rewritten: what it would become exists since Lightning {needed}, and the target is older."
            match = replace(match, fix="manual", reason=reason, edits=())
        if (rule.code, match.unit) in facts.silenced and match.edits:
            reason = "Not rewritten: a part of the same change is ignored by a comment, or lies outside the given path."
            match = replace(match, fix="manual", reason=reason, edits=())
        elif facts.forked and rule.breaks_in and match.fix == "safe":
            reason = f"{match.reason} Lightning comes from an address here: its release, and so the effect, is unknown."
            match = replace(match, fix="unsafe", reason=reason)
        yield match


def _silent(rule: Rule, match: Match, file: PythonFile | TextFile, options: Options) -> bool:
    if file.path in options.left_out or f"{rule.code}:{match.row}" in options.ignored_rows:
        return True
    here = options.ignored_in.get(file.path, ())
    if rule.code.startswith(here) or f"{rule.code}:{match.row}" in here:
        return True
    return any(True for _ in _comments(rule, match, file))


def _comments(rule: Rule, match: Match, file: PythonFile | TextFile) -> Iterator[tuple[str, int, str]]:
    """The codes in comments that silence a match, with path and line (0 where lines are those of a notebook's JSON)."""
    named = {rule.code, f"{rule.code}:{match.row}"} | ({"*"} if not rule.judges_ignores else set())
    for line in {match.span.line, match.span.end_line}:
        for code in file.ignores.get(line, frozenset()) & named:
            yield file.path, 0 if isinstance(file, TextFile) and file.kind == "notebook" else line, code
