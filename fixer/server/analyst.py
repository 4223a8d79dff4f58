"""Who looks at projects while an editor goes on: one thread, which does what is most urgent next."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from codemods.finding import Finding
from fixer.errors import UsageError
from fixer.gitio import find_repository, git_is_installed
from fixer.server.documents import Document
from fixer.server.project import ServedProject

DEBOUNCE = 0.05
"""Seconds without a change after which a document is looked at."""
SETTLED = 0.25
"""Seconds without a change after which a document is looked at for what is seen through in it."""
IDLE = 0.8
"""Seconds without a change after which everything is looked at again."""

T = TypeVar("T")
Work = Callable[[], None]
log = logging.getLogger("fixer.server")


class LookEnded(Exception):
    """Something more urgent is to be done."""


@dataclass(frozen=True)
class Published:
    """What was found in a document, as it is in this version."""

    document: Document
    findings: tuple[Finding, ...]


class Analyst:
    """Looks at the documents that are open, and at their projects.

    A document that changed is looked at by itself as soon as nobody types, first as it is written and then for what is
    seen through in it, and with its whole project a little later.
    Questions are answered in between, once every document was looked at as it is. `publish` and `tell` are called in
    the thread."""

    def __init__(self, publish: Callable[[Published], None], tell: Callable[[str], None]) -> None:
        self._publish, self._tell = publish, tell
        self._lock = threading.Condition()
        self._documents: dict[str, Document] = {}
        self._folders: tuple[Path, ...] = ()
        self._projects: dict[Path, ServedProject] = {}
        self._places: dict[Path, Path] = {}
        self._changed: dict[str, None] = {}
        self._postponed: dict[str, None] = {}
        self._shown: dict[str, Published] = {}
        self._changed_at = 0.0
        self._due: dict[Path, float] = {}
        self._asked: list[tuple[Callable[[], Any], Future[Any]]] = []
        self._told: set[str] = set()
        self._has_ended = False
        self._thread = threading.Thread(target=self._run, name="fixer analyst", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def end(self) -> None:
        """Ends what is being done, and the thread."""
        with self._lock:
            self._has_ended = True
            self._lock.notify()

    def set_folders(self, folders: list[Path]) -> None:
        """Takes the folders that are open: a file outside of any repository belongs to the one that it lies in."""
        with self._lock:
            self._folders = tuple(sorted(folders, key=lambda folder: -len(folder.parts)))
            self._places.clear()
            self._changed.update(dict.fromkeys(self._documents))
            self._lock.notify()

    def update(self, document: Document) -> None:
        """Takes a document as it was opened, or as it is now."""
        with self._lock:
            self._documents[document.uri] = document
            self._changed[document.uri] = None
            self._postponed.pop(document.uri, None)
            self._changed_at = time.monotonic()
            self._lock.notify()

    def close(self, uri: str) -> None:
        """Takes a document for closed: what is on the disk holds again. A project outside of the folders that are open
        is forgotten with its last document."""
        with self._lock:
            gone = self._documents.pop(uri, None)
            self._shown.pop(uri, None)
            self._changed.pop(uri, None)
            self._postponed.pop(uri, None)
            used = {self._known_place(document) for document in self._documents.values()}
            for place in [place for place in self._projects if place not in used and not self._is_open(place)]:
                del self._projects[place]
                self._due.pop(place, None)
        if gone:
            self.reread([gone.path])

    def reread(self, paths: list[Path]) -> None:
        """Takes files for changed on the disk."""
        with self._lock:
            for place, project in self._projects.items():
                folder = place if place.is_dir() else place.parent
                if any(path.is_relative_to(folder) for path in paths):
                    project.reread()
                    self._due[place] = time.monotonic() + IDLE
            self._lock.notify()

    def document(self, uri: str) -> Document | None:
        """A document that is open."""
        with self._lock:
            return self._documents.get(uri)

    def documents(self) -> dict[Path, Document]:
        """The documents that are open, by where their files lie."""
        with self._lock:
            return {document.path: document for document in self._documents.values()}

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Has a question answered in the thread."""
        future: Future[T] = Future()
        with self._lock:
            self._asked.append((question, future))
            self._lock.notify()
        return future

    def project_of(self, document: Document) -> ServedProject | None:
        """The project that a document belongs to, where it could be looked at; for questions, with its rules in
        force."""
        with self._lock:
            project = self._projects.get(self._known_place(document))
        if project:
            project.put_rules_in_force()
        return project

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except LookEnded:
                continue
            except Exception as error:
                log.exception("a look failed")
                self._complain(f"a bug in fixer: {type(error).__name__}: {error}; please report it")

    def _next(self) -> Work | None:
        """What is to be done next; waits for it. None at the end."""
        with self._lock:
            while not self._has_ended:
                now = time.monotonic()
                if self._changed and (self._asked or now >= self._changed_at + DEBOUNCE):
                    return self._first_of(self._changed)
                if self._postponed and not self._changed:
                    return self._first_of(self._postponed)
                if self._asked:
                    question, future = self._asked.pop(0)
                    return lambda: _answer(question, future)
                place = min(self._due, key=self._due.__getitem__, default=None)
                if place is not None and now >= self._due[place] and not self._changed:
                    del self._due[place]
                    return lambda: self._look_at_all(place)
                times = [*self._due.values(), *([self._changed_at + DEBOUNCE] if self._changed else [])]
                self._lock.wait(max(0.0, min(times) - now) if times else None)
            return None

    def _first_of(self, waiting: dict[str, None]) -> Work:
        """A look at the document that has waited longest; the lock is held."""
        uri = next(iter(waiting))
        del waiting[uri]
        return partial(self._look_at, self._documents[uri])

    def _look_at(self, document: Document) -> None:
        place = self._place_of(document)
        if place is None:
            return
        with self._lock:
            project = self._projects.setdefault(place, ServedProject(place))
        if project.look is None:
            self._look_at_all(place)
            return
        try:
            if project.glance_at(document, partial(self._publish_new, document), self._ask_of_glance):
                self._publish_new(document, project.findings_in(document) or ())
        except LookEnded:
            self._postpone(document)
            raise
        with self._lock:
            self._due[place] = time.monotonic() + IDLE

    def _look_at_all(self, place: Path) -> None:
        with self._lock:
            project, every = self._projects.get(place), list(self._documents.values())
        if project is None:
            return
        documents = [document for document in every if self._place_of(document) == place]
        try:
            project.look_at_all(documents, self._ask if project.look else lambda: None)
        except UsageError as error:
            self._complain(str(error))
            return
        except LookEnded:
            with self._lock:
                self._due.setdefault(place, time.monotonic())
            raise
        if project.complaint:
            self._complain(project.complaint)
        else:
            self._told.clear()
        for document in documents:
            self._publish_of(project, document)
        gc.collect()  # looks switch the collector off, and leave trees with cycles

    def _ask(self) -> None:
        """Ends a look where there is something to do that cannot wait for it."""
        if self._has_ended or self._changed or self._asked:
            raise LookEnded

    def _postpone(self, document: Document) -> None:
        """Has a document looked at again after those that changed, where it is not one of them itself."""
        with self._lock:
            if self._documents.get(document.uri) == document:
                self._postponed[document.uri] = None

    def _ask_of_glance(self) -> None:
        """Goes on with a glance once nobody types or somebody asks, and ends it where somebody types on. Questions wait
        for it: they are about what it finds."""
        with self._lock:
            while not (self._has_ended or self._changed or self._asked):
                left = self._changed_at + SETTLED - time.monotonic()
                if left <= 0:
                    return
                self._lock.wait(left)
            if self._has_ended or self._changed:
                raise LookEnded

    def _publish_of(self, project: ServedProject, document: Document) -> None:
        if (findings := project.findings_in(document)) is not None:
            self._publish_as(document, findings)

    def _publish_new(self, document: Document, findings: tuple[Finding, ...]) -> None:
        """Publishes what was found in a document, where that is not what is shown of it."""
        if self._shown.get(document.uri) != Published(document, findings):
            self._publish_as(document, findings)

    def _publish_as(self, document: Document, findings: tuple[Finding, ...]) -> None:
        if self.document(document.uri) == document:
            made = self._shown[document.uri] = Published(document, findings)
            self._publish(made)

    def _complain(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self._tell(message)

    def _place_of(self, document: Document) -> Path | None:
        """What the project of a document is opened by: its repository, the folder that is open, or its file alone."""
        folder = document.path.parent
        with self._lock:
            place, folders = self._places.get(folder), self._folders
        if place is None:
            try:
                repository = find_repository(folder) if git_is_installed() and folder.is_dir() else None
            except UsageError as error:
                self._complain(str(error))
                return None
            around = (each for each in folders if folder.is_relative_to(each))
            place = repository.root if repository else next(around, None)
            if place is None:
                return document.path if document.path.is_file() else None
            with self._lock:
                if self._folders == folders:
                    self._places[folder] = place
        return place

    def _known_place(self, document: Document) -> Path:
        """What the project of a document is opened by, as far as it was looked at; the lock is held."""
        return self._places.get(document.path.parent, document.path)

    def _is_open(self, place: Path) -> bool:
        """Whether a project lies in a folder that is open, or around one."""
        return any(place.is_relative_to(each) or each.is_relative_to(place) for each in self._folders)


def _answer(question: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(question())
    except BaseException as error:
        future.set_exception(error)
