"""A project as an editor has it: the files on the disk, and those that are open as they are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.code.parsed_files import ParsedFiles
from codemods.code.source import PythonFile, Source, Unreadable
from codemods.engine.glance import glance
from codemods.engine.passes import Ask
from codemods.engine.scan import Options, Scan, scan
from codemods.engine.scan_cache import Memory
from codemods.finding import Finding
from codemods.rule import OthersRules, others_rules, take_others
from fixer.config import Config
from fixer.errors import UsageError
from fixer.files import kind_of
from fixer.in_force import NAME, in_force
from fixer.project import NOTEBOOK_LIMIT, SOURCE_LIMIT, Project, ProjectSource, open_tree
from fixer.remembered import recalled
from fixer.server.documents import Document, as_bytes
from fixer.settings import SharedOptions, options_for

Tell = Callable[[tuple[Finding, ...]], None]
"""Gets findings of a document before it was looked at as a whole."""


@dataclass(frozen=True)
class Look:
    """What is known of a project: the files that were looked at, how, and what was found; the documents among them."""

    project: Project
    options: Options
    scan: Scan
    documents: Mapping[str, Document]

    @property
    def sources(self) -> Mapping[str, Source]:
        """The files by path, as they were looked at."""
        return self.scan.facts.trees.sources

    def narrowed(self, path: str, asked: SharedOptions) -> Options:
        """The options for one file alone, as the command line has them for that path."""
        return replace(options_for(asked, replace(self.project, scope=path)), jobs=1)


class ServedProject:
    """One project, looked at again and again. `place` is what it is opened by: a folder, or a file outside of any.

    A look at everything gives what `fixer check` does; a glance at a document what that says by itself, with what is
    known of the others. While a document does not parse, what it was before stands."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.look: Look | None = None
        self._others = OthersRules()
        self._disk: Project | None = None
        self._is_stale = True
        self._whole: Look | None = None
        self._memory: Memory | None = None
        self._unfinished: tuple[tuple[Source, ...], Memory] | None = None
        self._sound: dict[str, tuple[ProjectSource, Document]] = {}
        self._of_disk = self._of_editor = ""
        self._of_parsed: dict[str, Source] = {}
        self._parsed = ParsedFiles(self._of_parsed)

    def reread(self) -> None:
        """Reads the files on the disk before the next look at everything."""
        self._is_stale = True

    def put_rules_in_force(self) -> None:
        """Puts the rules of others that this project asks for in the place of those that another one does."""
        take_others(self._others)

    @property
    def complaint(self) -> str:
        """What is wrong with the settings, which are those of before then."""
        return self._of_editor or self._of_disk

    def look_at_all(self, documents: Iterable[Document], ask: Ask) -> None:
        """Looks at the whole project. Raises UsageError where it cannot be opened, and what `ask` raises."""
        disk = self._read()
        self.put_rules_in_force()
        self._of_editor = ""
        laid, seen = self._overlaid(disk, documents)
        project, options = self._configured(laid)
        if others_rules().state != self._others.state:
            self._memory = self._unfinished = None
        self._others = others_rules()
        sources = self._known(project.sources)
        before = self._whole
        if before is None or before.options != options or tuple(before.sources.values()) != sources:
            before = Look(project, options, self._scanned(project.root, sources, options, ask), {})
        self._whole = self.look = replace(before, project=project, documents=seen)

    def glance_at(self, document: Document, tell: Tell = lambda findings: None, ask: Ask = lambda: None) -> bool:
        """Looks at one document, and says whether that was possible: not while it does not parse, nor where it is not
        Python or was not there when everything was looked at. `tell` gets what can be said of it early, and `ask` may
        end the look after that."""
        look, path = self.look, self.path_of(document)
        known = look.sources.get(path) if look and path else None
        if look is None or path is None or known is None or known.kind != "python":
            return False
        self.put_rules_in_force()
        source = replace(known, data=as_bytes(document.text, "python", known.data))
        parsed = self._parsed.known
        found = look.scan if source == known else glance(look.scan, source, look.options, parsed, tell, ask)
        if isinstance(found, str):
            return False
        self._keep_parsed(found)
        self._sound[path] = ProjectSource(path, "python", source.data), document
        self.look = replace(look, scan=found, documents={**look.documents, path: document})
        return True

    def findings_in(self, document: Document) -> tuple[Finding, ...] | None:
        """What was found in a document as it is now; None where it was not looked at as it is."""
        path = self.path_of(document)
        if self.look is None or path is None or self.look.documents.get(path) != document:
            return None
        return tuple(finding for finding in self.look.scan.findings if finding.path == path)

    def path_of(self, document: Document) -> str | None:
        """The path of a document from the root; None where it lies elsewhere."""
        root = self._disk.root if self._disk else None
        return document.path.relative_to(root).as_posix() if root and document.path.is_relative_to(root) else None

    def _read(self) -> Project:
        """The files on the disk; with the settings of before where those that are there cannot be used."""
        if self._disk is None or self._is_stale:
            self._is_stale = False  # first: what changes while files are read is read again
            self._of_disk = ""
            try:
                self._disk = open_tree(self.place)
            except UsageError as error:
                if self._disk is None:
                    raise
                self._of_disk = str(error)
        return self._disk

    def _overlaid(self, disk: Project, documents: Iterable[Document]) -> tuple[Project, dict[str, Document]]:
        """The project with what is open instead of what is on the disk, and the documents that it holds as they are."""
        by_path = {source.path: source for source in disk.sources}
        sound: dict[str, tuple[ProjectSource, Document]] = {}
        seen: dict[str, Document] = {}
        for document in documents:
            path = self.path_of(document)
            source = _source(path, document, by_path.get(path)) if path else None
            if path is None or source is None:
                continue
            if _is_sound(source):
                sound[path] = source, document
                seen[path] = document
            elif path in self._sound:
                sound[path] = self._sound[path]
            else:
                continue
            by_path[path] = sound[path][0]
        self._sound = sound
        return replace(disk, sources=tuple(by_path[path] for path in sorted(by_path))), seen

    def _configured(self, project: Project) -> tuple[Project, Options]:
        """The project with the settings as they are in the editor, or those of before where these cannot be used."""
        own = next((source.data for source in project.sources if source.path == NAME), None)
        asked = SharedOptions(project.root, jobs=1)
        try:
            project = replace(project, config=in_force(own, own).config)
            return project, options_for(asked, project)
        except UsageError as error:
            self._of_editor = str(error)
            project = replace(project, config=self._whole.project.config if self._whole else Config())
            return project, options_for(asked, project)

    def _known(self, every: Iterable[ProjectSource]) -> tuple[Source, ...]:
        """The files as the engine takes them: those that are as they were are the same, with what is known of them."""
        before = self.look.sources if self.look else {}
        made = (Source(source.path, source.kind, source.data) for source in every)
        return tuple(known if (known := before.get(source.path)) == source else source for source in made)

    def _scanned(self, root: Path, sources: tuple[Source, ...], options: Options, ask: Ask) -> Scan:
        """A look at all files. One that was ended goes on where it was, as long as they are the same."""
        known = self._memory
        if self._unfinished and self._unfinished[0] == sources:
            known = self._unfinished[1]
        memory = known.again() if known else recalled(root, options, sources)
        memory.parsed = self._parsed.known
        try:
            found = scan(sources, options, lambda done, total: ask(), memory)
        except BaseException:
            self._unfinished = sources, memory
            raise
        self._memory, self._unfinished = memory, None
        self._keep_parsed(found)
        return found

    def _keep_parsed(self, found: Scan) -> None:
        for path, source in found.facts.trees.sources.items():
            if self._parsed.known(source) is None and (file := found.facts.trees.known(source)):
                self._of_parsed[path] = source
                self._parsed.take(path, file.again())


def _source(path: str, document: Document, on_disk: ProjectSource | None) -> ProjectSource | None:
    """A document as a file of the project; None for one that is not read, or that lies there and is ignored by git."""
    kind = kind_of(path)
    if kind is None or (on_disk is None and document.path.exists()):
        return None
    data = as_bytes(document.text, kind, on_disk.data if on_disk else None)
    too_large = len(data) > (NOTEBOOK_LIMIT if kind == "notebook" else SOURCE_LIMIT)
    return None if too_large else ProjectSource(path, kind, data)


def _is_sound(source: ProjectSource) -> bool:
    """Whether a file is none that is being typed at, and does not parse."""
    try:
        if source.kind == "python":
            PythonFile.parse(Source(source.path, source.kind, source.data))
    except Unreadable:
        return False
    return True
