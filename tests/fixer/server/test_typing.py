"""As one types: the text of the editor counts, the rest is on the disk, and nothing that is half typed ends it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fixer.command import NEW, OLD, old_project
from tests.fixer.git_repos import Repo
from tests.fixer.server.editor import Editor, Json
from tests.fixer.test_nothing_runs import planted as planted

BASE = "import pytorch_lightning as pl\n\n\nclass Base(pl.LightningModule):\n    pass\n"
NET = "from base import Base\n\n\nclass Net(Base):\n    def training_epoch_end(self, outputs):\n        print(1)\n"
PINS = b"pytorch-lightning==1.9.0\n"
CHANGED = "workspace/didChangeWatchedFiles"
BROKEN = ("def f(:\n", "x = (\n", "'", '"""', "\x00", "class", "\ud83d", "if x:\n", " y = 1\n  z\n", "(" * 500)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return old_project(tmp_path.resolve() / "project", {"train.py": OLD, "requirements.txt": PINS})


def published(editor: Editor, uri: str) -> list[Json]:
    """What was said of a document so far."""
    said = (item for item in editor.said if item.get("method") == "textDocument/publishDiagnostics")
    return [item["params"] for item in said if item["params"]["uri"] == uri]


def codes(found: list[Json]) -> list[str]:
    return [item["code"] for item in found]


def test_the_text_of_the_editor_counts(editor: Editor, root: Path) -> None:
    uri = editor.open(root / "train.py")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    editor.type(uri, NEW.decode())
    assert editor.diagnostics(uri) == []
    editor.type(uri, f"\n\n{OLD.decode()}")
    (item,) = editor.diagnostics(uri)
    assert item["range"]["start"]["line"] == 4
    assert (root / "train.py").read_bytes() == OLD


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_what_is_half_typed_says_nothing(editor: Editor, root: Path, text: str) -> None:
    uri = editor.open(root / "train.py")
    editor.diagnostics(uri)
    broken = editor.type(uri, f"{OLD.decode()}{text}")
    time.sleep(0.15)
    assert editor.actions(uri, {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}) == []
    editor.type(uri, f"{OLD.decode()}\n")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    assert broken not in [said.get("version") for said in published(editor, uri)]


def test_a_file_that_never_parsed(editor: Editor, root: Path) -> None:
    (root / "broken.py").write_text("def f(:\n")
    first = editor.open(root / "broken.py")
    uri = editor.open(root / "train.py")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    assert published(editor, first) == []
    editor.type(first, OLD.decode())
    assert codes(editor.diagnostics(first)) == ["LIT101"]


def test_fast_typing_is_looked_at_when_it_ends(editor: Editor, root: Path) -> None:
    uri = editor.open(root / "train.py")
    editor.diagnostics(uri)
    for number in range(30):
        last = editor.type(uri, f"{OLD.decode()}x = {number}\n")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    versions = [said["version"] for said in published(editor, uri)]
    assert versions == sorted(versions) and versions[-1] == last and len(versions) < 20


def test_other_documents_follow(editor: Editor, tmp_path: Path) -> None:
    root = old_project(tmp_path.resolve() / "two", {"base.py": BASE.encode(), "net.py": NET.encode()})
    net, base = editor.open(root / "net.py"), editor.open(root / "base.py")
    assert "LIT201" in codes(editor.diagnostics(net))
    editor.diagnostics(base)
    mark = len(editor.said)
    editor.type(base, "class Base:\n    pass\n")
    assert editor.diagnostics(net, after=mark) == []
    mark = len(editor.said)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": base}})
    assert "LIT201" in codes(editor.diagnostics(net, after=mark))
    assert published(editor, base)[-1]["diagnostics"] == []


def test_a_file_that_is_not_saved_yet(editor: Editor, root: Path) -> None:
    uri = editor.open(root / "new.py", OLD.decode())
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    assert not (root / "new.py").exists()


def test_what_git_ignores_is_not_looked_at(editor: Editor, root: Path) -> None:
    (root / ".gitignore").write_text("own.py\n")
    (root / "own.py").write_bytes(OLD)
    ignored, uri = editor.open(root / "own.py"), editor.open(root / "train.py")
    assert editor.diagnostics(uri)
    assert published(editor, ignored) == []


def test_documents_that_are_in_no_file(editor: Editor, root: Path) -> None:
    document = {"uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": OLD.decode()}
    editor.tell("textDocument/didOpen", {"textDocument": document})
    asked = {"textDocument": {"uri": document["uri"]}, "position": {"line": 2, "character": 22}}
    assert editor.ask("textDocument/hover", asked) is None


@pytest.mark.parametrize("name", ["%00.py", "round.py"])
def test_documents_that_are_nowhere(editor: Editor, root: Path, name: str) -> None:
    (root / "round.py").symlink_to("round.py")
    shown = len(editor.shown())
    document = {"uri": f"{root.as_uri()}/{name}", "languageId": "python", "version": 1, "text": OLD.decode()}
    editor.tell("textDocument/didOpen", {"textDocument": document})
    assert codes(editor.diagnostics(editor.open(root / "train.py"))) == ["LIT101"]
    editor.tell("textDocument/didClose", {"textDocument": {"uri": document["uri"]}})
    assert editor.shown()[shown:] == []


def test_names_that_addresses_spell_otherwise(editor: Editor, tmp_path: Path) -> None:
    root = old_project(tmp_path.resolve() / "ä b%20c#d", {"é.py": OLD, "requirements.txt": PINS})
    uri = editor.open(root / "é.py")
    assert "%" in uri and codes(editor.diagnostics(uri)) == ["LIT101"]
    actions = editor.actions(uri, editor.diagnostics(uri)[0]["range"])
    assert editor.apply(editor.resolve(actions[0])["edit"])[uri].encode() == NEW


# Settings


def set_on_disk(editor: Editor, root: Path, text: str) -> int:
    """Writes settings, as an editor tells of them; returns what was said before."""
    place = root / "pyproject.toml"
    mark = len(editor.said)
    place.write_text(text)
    editor.tell(CHANGED, {"changes": [{"uri": place.as_uri(), "type": 2}]})
    return mark


def test_settings_on_the_disk_hold_at_once(editor: Editor, root: Path) -> None:
    uri = editor.open(root / "train.py")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    mark = set_on_disk(editor, root, '[tool.fixer]\nignore = ["LIT101"]\n')
    assert editor.diagnostics(uri, after=mark) == []
    mark = set_on_disk(editor, root, "[tool.fixer]\n")
    assert codes(editor.diagnostics(uri, after=mark)) == ["LIT101"]


def test_settings_in_the_editor_hold_at_once(editor: Editor, root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.fixer]\n")
    uri, settings = editor.open(root / "train.py"), editor.open(root / "pyproject.toml", language="toml")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    mark = len(editor.said)
    editor.type(settings, '[tool.fixer]\nignore = ["LIT101"]\n')
    assert editor.diagnostics(uri, after=mark) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[tool.fixer]\nselect = ["XYZ"]\n', "no rule is called 'XYZ'"),
        ("[tool.fixer]\ntargt = 1\n", "unknown key 'targt', did you mean 'target'?"),
        ("[tool.fixer\n", "not valid TOML"),
        ('[tool.fixer]\ntarget = "9.9.9"\n', "fixer moves to releases from 2.0.0"),
    ],
)
@pytest.mark.parametrize("typed", [True, False], ids=["typed", "saved"])
def test_settings_that_cannot_be_used(editor: Editor, root: Path, text: str, words: str, typed: bool) -> None:
    good = '[tool.fixer]\nignore = ["LIT110"]\n'
    (root / "pyproject.toml").write_text(good)
    uri = editor.open(root / "train.py")
    assert codes(editor.diagnostics(uri)) == ["LIT101"]
    settings = editor.open(root / "pyproject.toml", language="toml") if typed else ""
    mark = len(editor.said)
    if typed:
        editor.type(settings, text)
    else:
        set_on_disk(editor, root, text)
    shown = editor.wait(lambda item: item.get("method") == "window/showMessage", mark)
    assert words in shown["params"]["message"]
    editor.type(uri, f"\n{OLD.decode()}")
    assert codes(editor.diagnostics(uri)) == ["LIT101"], "what held before holds"
    ignoring = good.replace("110", "101")
    mark = len(editor.said)
    if typed:
        editor.type(settings, ignoring)
    else:
        set_on_disk(editor, root, ignoring)
    assert editor.diagnostics(uri, after=mark) == []


def test_settings_that_cannot_be_used_from_the_start(editor: Editor, root: Path) -> None:
    (root / "pyproject.toml").write_text('[tool.fixer]\nselect = ["XYZ"]\n')
    uri = editor.open(root / "train.py")
    mark = len(editor.said)
    shown = editor.wait(lambda item: item.get("method") == "window/showMessage", mark - 1)
    assert "XYZ" in shown["params"]["message"]
    mark = set_on_disk(editor, root, "[tool.fixer]\n")
    assert codes(editor.diagnostics(uri, after=mark)) == ["LIT101"]


# Where projects begin


def test_two_roots_have_settings_of_their_own(editor: Editor, tmp_path: Path) -> None:
    files = {"train.py": OLD, "requirements.txt": PINS}
    one = old_project(tmp_path.resolve() / "one", files)
    two = old_project(tmp_path.resolve() / "two", files | {"pyproject.toml": b'[tool.fixer]\nignore = ["LIT101"]\n'})
    first, second = editor.open(one / "train.py"), editor.open(two / "train.py")
    assert codes(editor.diagnostics(first)) == ["LIT101"]
    assert editor.diagnostics(second) == []
    editor.type(second, f"{OLD.decode()}pl.Trainer(gpus=2)\n")
    editor.type(first, f"{OLD.decode()}\n")
    assert codes(editor.diagnostics(first)) == ["LIT101"]
    assert editor.diagnostics(second) == []


def test_a_folder_without_git(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "plain"
    (root / "pkg").mkdir(parents=True)
    (root / "base.py").write_text(BASE)
    (root / "pkg" / "net.py").write_text(NET)
    with Editor(root) as editor:
        assert "LIT201" in codes(editor.diagnostics(editor.open(root / "pkg" / "net.py")))


def test_a_file_outside_of_any_folder(editor: Editor, tmp_path: Path) -> None:
    root = tmp_path.resolve() / "loose"
    (root / "deep").mkdir(parents=True)
    (root / "net.py").write_text(NET)
    (root / "deep" / "base.py").write_text(BASE)
    uri = editor.open(root / "net.py")
    assert editor.diagnostics(uri) == [], "what lies below it is not read"
    (root / "base.py").write_text(BASE)
    other = editor.open(root / "base.py")
    assert editor.diagnostics(other) == []
    mark = len(editor.said)
    editor.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert "LIT201" in codes(editor.diagnostics(uri, after=mark)), "what lies beside it is"


# What it must never do


def test_nothing_is_written_and_nothing_runs(planted: Path, tmp_path: Path) -> None:
    before = Repo(planted).fingerprint()
    cache = tmp_path / "cache"
    with Editor(planted, cwd=planted, XDG_CACHE_HOME=str(cache), PYTHONDONTWRITEBYTECODE="1") as editor:
        uri = editor.open(planted / "train.py")
        found = editor.diagnostics(uri)
        assert found
        for action in editor.actions(uri, found[-1]["range"]):
            editor.resolve(action)
        assert editor.end() == 0
    assert Repo(planted).fingerprint() == before
    assert list((planted.parent / "ran").iterdir()) == []
    assert not cache.exists()
