"""What an editor is shown of a project is what `fixer check` says of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from codemods.finding import Finding, Span
from fixer.pipeline import check
from fixer.reports.rules import page
from fixer.server.client import Client
from fixer.server.documents import Document
from fixer.server.findings import hover
from fixer.settings import SharedOptions
from tests.fixer.command import OLD, old_project
from tests.fixer.server.editor import Editor, Json, units_of, without

PROJECTS = Path(__file__).parents[2] / "projects"
SEVERITY = {"safe": 3, "unsafe": 2, "manual": 2}
SETTINGS = {
    "select": 'select = ["TBP"]',
    "ignore": 'ignore = ["LIT101"]',
    "row": 'ignore = ["LIT101:M164"]',
    "target": 'target = "2.0.0"',
    "exclude": 'exclude = ["train.py"]',
    "in one file": '[tool.fixer.per-file-ignores]\n"train.py" = ["LIT101"]',
    "in another": '[tool.fixer.per-file-ignores]\n"other.py" = ["LIT101"]',
    "unsafe": "unsafe-fixes = true",
}
WIDE = """\
import pytorch_lightning as pl

name = "\U0001d54f 😀 é"; trainer = pl.Trainer(gpus=1, logger="😀", progress_bar_refresh_rate=2)
"""


def told(path: Path, root: Path | None = None) -> list[tuple[Any, ...]]:
    """What `check` says of a file of a project, as an editor is shown it."""
    root = root or path.parent
    lines = path.read_bytes().decode().split("\n")

    def place(line: int, column: int) -> tuple[int, int]:
        return line - 1, units_of(lines[line - 1][: column - 1])

    name = path.relative_to(root).as_posix()
    found = [finding for finding in check(SharedOptions(root), lambda _: None).findings if finding.path == name]
    return sorted(
        (
            place(finding.span.line, finding.span.column),
            place(finding.span.end_line, finding.span.end_column),
            finding.code,
            f"{finding.message}\n{finding.fix}: {finding.reason}",
            1 if finding.stops and finding.fix != "safe" else SEVERITY[finding.fix],
        )
        for finding in found
    )


def shown(diagnostics: list[Json]) -> list[tuple[Any, ...]]:
    return sorted(
        (
            *((place["line"], place["character"]) for place in (item["range"]["start"], item["range"]["end"])),
            item["code"],
            item["message"],
            item["severity"],
        )
        for item in diagnostics
    )


def project(tmp_path: Path, text: str, **files: str) -> Path:
    root = tmp_path.resolve() / "project"
    named = {name.replace("__", "."): more.encode() for name, more in files.items()}
    old_project(root, {"train.py": text.encode(), **named})
    return root / "train.py"


@pytest.mark.parametrize("name", ["gru_across_files", "gan_frequency", "chunks_of_a_subclass"])
def test_every_file_of_a_project(name: str, editor: Editor, tmp_path: Path) -> None:
    root = tmp_path.resolve() / name
    shutil.copytree(PROJECTS / name, root)
    old_project(root, {"configs/train.yaml": b"trainer:\n  gpus: 1\n", "setup.cfg": b"[a]\n"})
    found = {
        path: shown(editor.diagnostics(editor.open(path)))
        for path in sorted(root.rglob("*"))
        if path.suffix in (".py", ".txt", ".yaml", ".toml", ".cfg")
    }
    assert found == {path: told(path, root) for path in found}
    assert any(found.values())


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_settings_hold(settings: str, editor: Editor, tmp_path: Path) -> None:
    table = settings if settings.startswith("[") else f"[tool.fixer]\n{settings}"
    path = project(tmp_path, f"{OLD.decode()}\npl.Trainer(gpus=find())\n", pyproject__toml=f"{table}\n")
    assert shown(editor.diagnostics(editor.open(path))) == told(path)


def test_comments_hold(editor: Editor, tmp_path: Path) -> None:
    path = project(tmp_path, OLD.decode().replace("max_epochs=1)", "max_epochs=1)  # fixer: ignore[LIT101]"))
    assert editor.diagnostics(editor.open(path)) == told(path) == []


def test_wide_characters(editor: Editor, tmp_path: Path) -> None:
    path = project(tmp_path, WIDE)
    found = editor.diagnostics(editor.open(path))
    assert shown(found) == told(path)
    line = WIDE.split("\n")[2]
    (first, *_) = sorted(found, key=lambda item: int(item["range"]["start"]["character"]))
    assert first["range"]["start"]["character"] == units_of(line[: line.index("gpus")])


def test_columns_in_bytes_where_the_editor_counts_so(tmp_path: Path) -> None:
    path = project(tmp_path, WIDE)
    able = without("general") | {"general": {"positionEncodings": ["utf-8", "utf-16"]}}
    with Editor(path.parent, able=able) as other:
        assert {item["range"]["start"]["line"] for item in other.diagnostics(other.open(path))} == {2}
        (first, *_) = [item["range"]["start"]["character"] for item in other.diagnostics(path.as_uri())]
        line = WIDE.split("\n")[2]
        assert first == len(line[: line.index("gpus")].encode())


def test_the_rule_is_linked_and_its_level_told(editor: Editor, tmp_path: Path) -> None:
    path = project(tmp_path, OLD.decode())
    (item,) = editor.diagnostics(editor.open(path))
    assert (item["source"], item["code"], item["data"]["level"]) == ("fixer", "LIT101", "safe")
    assert item["codeDescription"]["href"].startswith("https://")


def test_the_page_of_a_rule_is_shown_at_its_place(editor: Editor, tmp_path: Path) -> None:
    path = project(tmp_path, OLD.decode())
    uri = editor.open(path)
    (item,) = editor.diagnostics(uri)
    asked = {"textDocument": {"uri": uri}, "position": item["range"]["start"]}
    said = editor.ask("textDocument/hover", asked)
    assert said["range"] == item["range"]
    assert f"````text\n{page('LIT101')}````" in said["contents"]["value"]
    for place in ({"line": 0, "character": 0}, item["range"]["end"], {"line": 99, "character": 0}):
        assert editor.ask("textDocument/hover", asked | {"position": place}) is None


def test_code_in_a_message_is_shown_as_it_is() -> None:
    message = "`val_*[0]` of an_object_*, not `on_fit_end`\\ or `"
    finding = Finding("LIT101", "a.py", Span(1, 1, 1, 2), message, "manual", "Write `a_b` <here>.")
    document = Document("file:///a.py", Path("/a.py"), "x\n", 1)
    found = hover([finding], document, types.Position(0, 0), Client(markdown=True))
    assert found and isinstance(found.contents, types.MarkupContent)
    said = found.contents.value
    assert said.startswith("LIT101: `val_*[0]` of an\\_object\\_\\*, not `on_fit_end`\\\\ or \\`\n\n")
    assert "Write `a_b` \\<here\\>." in said


def test_an_editor_without_markdown_is_shown_the_page_as_it_is(tmp_path: Path) -> None:
    path = project(tmp_path, OLD.decode())
    with Editor(path.parent, able=without("textDocument", "hover")) as other:
        uri = other.open(path)
        (item,) = other.diagnostics(uri)
        asked = {"textDocument": {"uri": uri}, "position": item["range"]["start"]}
        said = other.ask("textDocument/hover", asked)["contents"]
        assert said["kind"] == "plaintext" and said["value"].endswith(page("LIT101"))


def test_notebooks_are_read_for_the_others_alone(editor: Editor, tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": OLD.decode()}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    path = project(tmp_path, OLD.decode(), note__ipynb=text)
    notebook = path.with_name("note.ipynb")
    assert check(SharedOptions(notebook), lambda _: None).findings
    assert editor.diagnostics(editor.open(notebook, language="json")) == []
