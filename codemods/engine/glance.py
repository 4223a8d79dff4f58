"""A look at one file that changed since a look at the whole tree, with what is known of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from codemods.code.parsed_files import Parsed
from codemods.code.search import Search
from codemods.code.source import Source
from codemods.engine.passes import Ask, Checked, check, check_as_written, read
from codemods.engine.refused import Refusals
from codemods.engine.scan import Options, Scan, TreeLook, without_collector
from codemods.engine.scan_cache import Memory
from codemods.engine.standing import standing
from codemods.engine.triggers import rules_by_file
from codemods.engine.workers import Item, Workers
from codemods.engine.workspace import Workspace
from codemods.finding import Finding
from codemods.lightning.class_answers import ClassAnswers
from codemods.lightning.facts import SEARCH, Facts
from codemods.lightning.linking import together
from codemods.lightning.written_out import BY_PATH


def glance(
    before: Scan,
    source: Source,
    options: Options,
    parsed: Parsed,
    tell: Callable[[tuple[Finding, ...]], None] | None = None,
    ask: Ask = lambda: None,
) -> Scan | str:
    """What a look at the tree gives where one Python file is another since `before`, as far as that file says; why it
    cannot be read, where that is so.

    Of other files what was found before stands, and no file is read that was not: a look at the whole tree may give
    more where what the file says to others changed. `parsed` gives files that were parsed for other looks. `tell` gets
    the findings of the file early: those of the text as it is written, and of those that were
    found before the ones in lines that are as they were. `ask` is called again and again after that; what it raises
    ends the glance."""
    sources = {**before.facts.trees.sources, source.path: source}
    workspace = Workspace(sources, replace(options, jobs=1), parsed=parsed)
    with without_collector(), Workers(workspace) as workers:
        look = _Glance(workers, before, source, tell, ask)
        return look.error or look.scan()


class _Glance(TreeLook):
    """A look at a tree of which all but one file was looked at before."""

    def __init__(
        self,
        workers: Workers,
        before: Scan,
        source: Source,
        tell: Callable[[tuple[Finding, ...]], None] | None,
        ask: Ask,
    ) -> None:
        super().__init__(workers, Memory(), None, Refusals())
        self.known, self.path = before, source.path
        self.tell, self.ask = tell, ask
        known = before.facts
        if SEARCH in known.of_sources:
            self.workspace.of_sources[SEARCH] = known.of_sources[SEARCH].having(source)
        search = Search({source.path: source})
        called = rules_by_file(search, {source.path: source}, self.options.rules).get(source.path, ())
        self.first = read(self.workspace, (source.path, called))
        self.error = self.first.error
        self.files = dict(known.files)
        if self.first.facts is not None and (called or source.path in known.files):
            self.files[source.path] = self.first.facts
        shared = before.present.get(source.path, ()) if source.path in together(known) else ()
        self.present = {**before.present, source.path: tuple(dict.fromkeys((*self.first.present, *shared)))}
        self.skipped = {path: why for path, why in before.skipped if path != source.path}
        self.mentions = {
            text: (paths - {source.path}) | held
            for text, held in search.holders(set(known.mentions)).items()
            for paths in (known.mentions[text],)
        }

    def _collect(self) -> Facts:
        known = self.known.facts
        return replace(self._facts(self.mentions), texts=known.texts, silenced=known.silenced)

    def _learn(self, facts: Facts) -> None:
        self.workers.learn(facts)

    def _check(self, items: Sequence[Item]) -> Checked:
        """What a second look says of the file, with what was found in the others."""
        known = self.known
        others = [
            finding
            for path, codes in items
            if path != self.path
            for code in codes
            for finding in known.by_unit.get((code, path), ())
        ]
        own = next((codes for path, codes in items if path == self.path), ())
        if self.tell:
            self._tell_early(self.tell, own)
            self.tell = None
        said = check(self.workspace, (self.path, own), self.ask) if own else Checked()
        if said.absent:
            self.absent[self.path] = self.absent.get(self.path, frozenset()) | said.absent
        more = said.silenced - known.facts.silenced
        return Checked(
            (*others, *said.findings),
            more | known.facts.silenced if more else frozenset(),
            frozenset(item for item in known.facts.served if item[0] != self.path) | said.served,
        )

    def _tell_early(self, tell: Callable[[tuple[Finding, ...]], None], codes: tuple[str, ...]) -> None:
        """Tells of the file as it is written. To write out the Trainers of all other files takes longer than the rest,
        so they are as they were found before, for this alone."""
        now = self.workspace.facts
        ways = self.known.facts.of_sources.get(BY_PATH, {})
        others = {asked: made for asked, made in ways.items() if asked[0] != self.path}
        self.workspace.facts = replace(now, of_sources={**now.of_sources, BY_PATH: others}, of_classes=ClassAnswers())
        written = check_as_written(self.workspace, (self.path, codes)).findings
        self.workspace.facts = now
        before = [finding for finding in self.known.findings if finding.path == self.path]
        texts = (sources[self.path].data for sources in (self.known.facts.trees.sources, self.sources))
        tell(standing(before, written, *texts))
