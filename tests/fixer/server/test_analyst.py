"""Who looks at projects: what is kept of them, and what comes meanwhile from the thread that speaks with the editor."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixer.server.analyst import Analyst, Published
from fixer.server.documents import Document
from fixer.server.project import ServedProject
from tests.fixer.command import OLD, old_project

PATIENCE_S = 120.0
"""Each look ends with a turn of the collector, which goes over all that a process of tests holds."""


class Watched:
    """An analyst, and what it gave."""

    def __init__(self) -> None:
        self.published: queue.Queue[Published] = queue.Queue()
        self.told: list[str] = []
        self.analyst = Analyst(self.published.put, self.told.append)
        self.analyst.start()

    def open(self, path: Path) -> Document:
        """Opens a file, and waits for what is found in it."""
        document = Document(path.as_uri(), path, path.read_text(), 1)
        self.analyst.update(document)
        while self.published.get(timeout=PATIENCE_S).document != document:
            pass
        return document

    def project_of(self, document: Document) -> ServedProject | None:
        return self.analyst.ask(lambda: self.analyst.project_of(document)).result(PATIENCE_S)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.analyst.end()
    assert made.told == []


def test_a_project_is_forgotten_with_its_last_document(watched: Watched, tmp_path: Path) -> None:
    own = old_project(tmp_path / "own", {"a.py": OLD})
    library = old_project(tmp_path / "library", {"a.py": OLD, "b.py": OLD})
    watched.analyst.set_folders([own])
    first, second, third = map(watched.open, (own / "a.py", library / "a.py", library / "b.py"))
    watched.analyst.close(first.uri)
    watched.analyst.close(second.uri)
    assert watched.project_of(first) and watched.project_of(third)
    watched.analyst.close(third.uri)
    assert watched.project_of(first) and not watched.project_of(third)
    assert watched.project_of(watched.open(library / "a.py"))


def test_folders_that_change_while_a_place_is_looked_for(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "a.py").write_bytes(OLD)
    watched.analyst.set_folders([tmp_path])

    def meanwhile(folder: Path) -> None:
        monkeypatch.setattr("fixer.server.analyst.find_repository", lambda _: None)
        watched.analyst.set_folders([inner])

    monkeypatch.setattr("fixer.server.analyst.find_repository", meanwhile)
    document = watched.open(inner / "a.py")
    while (project := watched.project_of(document)) is None or project.place != inner:
        watched.published.get(timeout=PATIENCE_S)


def test_a_look_that_another_document_ends_is_made_after_that(tmp_path: Path) -> None:
    root = old_project(tmp_path / "own", {"a.py": OLD, "b.py": OLD})
    later = [
        Document(path.as_uri(), path, f"{OLD.decode()}\nimport pytorch_lightning as late\n", 2)
        for path in (root / "a.py", root / "b.py")
    ]
    seen: list[Published] = []

    def publish(made: Published) -> None:
        """The second document is typed at as soon as the first one is told of, before all of it was looked at."""
        seen.append(made)
        if made.document == later[0] and seen.count(made) == 1 and later[1] not in [one.document for one in seen]:
            analyst.update(later[1])

    analyst = Analyst(publish, lambda message: None)
    analyst.start()
    for document in later:
        analyst.update(Document(document.uri, document.path, OLD.decode(), 1))
    project = analyst.ask(lambda: analyst.project_of(later[0])).result(PATIENCE_S)
    assert project
    analyst.update(later[0])
    looked = analyst.ask(lambda: [project.findings_in(document) for document in later]).result(PATIENCE_S)
    analyst.end()
    assert None not in looked
    assert [one.document for one in seen if one.document in later][:2] == later
    assert len(seen) < 12
