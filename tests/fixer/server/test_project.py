"""A project that is looked at again and again, beside others: what is known of it is of its own files and rules, and of
now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.rule import OthersRules, take_others
from fixer.project import Project
from fixer.server import project as served
from fixer.server.documents import Document
from fixer.server.project import ServedProject
from tests.fixer.command import OLD, old_project

ROWS = """\
[rule]
code = "ACM101"

[[rename]]
old = "acme.train.run"
new = "acme.train.{new}"
since = "acme 3.0"
"""
CODE = b"import acme.train\n\nacme.train.run()\n"
IGNORING = b"import pytorch_lightning as pl\n\npl.Trainer()  # fixer: ignore[*]\n"


@pytest.fixture(autouse=True)
def no_other_rules() -> Iterator[None]:
    yield
    take_others(OthersRules())


def look(project: ServedProject, *documents: Document) -> list[str]:
    """The codes that a look at everything gives."""
    project.reread()
    project.look_at_all(documents, lambda: None)
    assert project.look
    return [finding.code for finding in project.look.scan.findings]


def document_of(path: Path) -> Document:
    return Document(path.as_uri(), path, path.read_text(), 1)


def with_rules(folder: Path, named: str, files: dict[str, bytes]) -> Path:
    return old_project(folder, files | {"pyproject.toml": f'[tool.fixer]\nplugins = ["{named}"]\n'.encode()})


def test_rules_that_changed_are_not_answered_for_by_those_of_before(tmp_path: Path) -> None:
    root = with_rules(tmp_path / "a", "rows.toml", {"m.py": CODE, "rows.toml": ROWS.format(new="go").encode()})
    project = ServedProject(root)
    assert look(project) == ["ACM101"]
    (root / "rows.toml").write_text(ROWS.format(new="walk"))
    assert look(project) == ["ACM101"]
    assert project.look and "acme.train.walk" in project.look.scan.findings[0].reason


def test_a_project_keeps_its_rules_where_another_has_none(tmp_path: Path) -> None:
    """Rules in Python are not loaded here, and so no comment can be told to be idle."""
    rule = {"m.py": IGNORING, "own/acm555.py": b"RULE = 1\n"}
    one = ServedProject(with_rules(tmp_path / "a", "own", rule))
    document = document_of(one.place / "m.py")
    assert look(one, document) == []
    assert look(ServedProject(old_project(tmp_path / "b", {"m.py": IGNORING}))) == ["IGN001"]
    later = replace(document, text=f"{document.text}\n", version=2)
    assert one.glance_at(later)
    assert one.findings_in(later) == ()


def test_what_changes_while_files_are_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = old_project(tmp_path / "a", {"m.py": b"x = 1\n"})
    project = ServedProject(root)
    read = served.open_tree

    def read_while_it_changes(place: Path) -> Project:
        found = read(place)
        (root / "m.py").write_bytes(OLD)
        project.reread()
        return found

    monkeypatch.setattr(served, "open_tree", read_while_it_changes)
    assert look(project) == []
    monkeypatch.undo()
    project.look_at_all((), lambda: None)
    assert project.look and [finding.code for finding in project.look.scan.findings] == ["LIT101"]
