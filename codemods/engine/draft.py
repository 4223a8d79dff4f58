"""The state of a plan in the making: what each file is by now, and what became of what was found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.code.parsed_files import ParsedFiles, load
from codemods.code.source import PythonFile, Source, TextFile
from codemods.engine.reconcile import Unit
from codemods.engine.refused import Refusals
from codemods.engine.rewriting import RequestedRewrite
from codemods.engine.triggers import sees_text
from codemods.engine.turns import KnownTurns
from codemods.finding import Finding
from codemods.lightning.facts import Facts
from codemods.rule import Match, Rule


@dataclass(frozen=True)
class Change:
    """What one rule did to one file; `before` is empty for a file that it made."""

    code: str
    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Step:
    """What one rule rewrote in one file when its turn came: the file as it was then, what was rewritten, and the files
    that it made."""

    rule: Rule
    before: Source
    done: RequestedRewrite
    made: Mapping[str, bytes]


class Draft:
    """The files as they are by now and as they were, the changes so far with, where asked for, the steps, what was
    thrown away and why, what was refused, what earlier attempts know of `turns`, how often each rule was `late`, which
    then has its turn behind others, findings that were not rewritten after all, as they were found when their rule's
    turn came, and all that each rule found then."""

    def __init__(
        self,
        sources: Sequence[Source],
        rejected: Mapping[Unit, str],
        refusals: Refusals | None = None,
        turns: KnownTurns | None = None,
        *,
        keeps_steps: bool = False,
    ) -> None:
        self.now = {source.path: source for source in sources}
        self.base: Mapping[str, Source] = dict(self.now)
        self.changes: list[Change] = []
        self.steps: list[Step] = []
        self.keeps_steps = keeps_steps
        self.refusals = refusals or Refusals()
        self.turns = turns or KnownTurns(Facts({}))
        self.late: Mapping[str, int] = {}
        self.rejected = dict(rejected)
        self.turned: dict[Finding, Match] = {}
        self.seen: dict[Unit, Sequence[Finding]] = {}
        self._facts = Facts({})
        self._trees = ParsedFiles(self.now)

    @property
    def changed(self) -> set[Unit]:
        """The rules that changed a file, with its path."""
        return {(change.code, change.path) for change in self.changes if change.before}

    def until(self, rules: Collection[Rule]) -> Draft:
        """The draft as it was before some rules, which came behind all others, had their turn."""
        behind = {rule.code for rule in rules}
        other = Draft([*self.base.values()], self.rejected, self.refusals, keeps_steps=self.keeps_steps)
        other.late = self.late
        other.seen = {unit: found for unit, found in self.seen.items() if unit[0] not in behind}
        before = [change for change in self.changes if change.code not in behind]
        other.take(before, [step for step in self.steps if step.rule.code not in behind], {}, self._facts)
        return other

    def take(
        self, changes: Sequence[Change], steps: Sequence[Step], files: Mapping[str, PythonFile], facts: Facts
    ) -> None:
        """Makes changes; `files` are those of their results that were looked at, with some facts."""
        self.steps.extend(steps if self.keeps_steps else ())
        trees = self._trees_for(facts)
        self.changes.extend(changes)
        for change in changes:
            before = self.now.get(change.path) or Source(change.path, "python", b"")
            self.now[change.path] = replace(before, data=change.after)
            trees.take(change.path, files.get(change.path))

    def open(self, rule: Rule, path: str, facts: Facts) -> PythonFile | TextFile:
        """A file as it is by now and as a rule sees it: what the rules before it worked out of it with the same facts
        is known. Raises Unreadable."""
        source = self.now[path]
        as_text = sees_text(rule, source)
        if as_text or source.kind not in ("python", "notebook"):
            return load(source, as_text)
        if path in facts.sources and facts.sources[path].data == source.data:
            return facts.trees.open(path)
        return self._trees_for(facts).open(path)

    def parsed(self, source: Source) -> PythonFile | None:
        """A file as it is by now, where a rule has looked at it."""
        return self._trees.known(source)

    def _trees_for(self, facts: Facts) -> ParsedFiles:
        """The changed files, as they are by now, that were looked at with some facts."""
        if self._facts is not facts:
            self._facts, self._trees = facts, ParsedFiles(self.now)
        return self._trees
