"""What an editor changes when one takes an offer: byte for byte what `fixer fix` makes of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixer.command import OLD, Ask, old_project
from tests.fixer.server.editor import ABLE, Editor, Json, path_of, without
from tests.fixer.test_new_files import NEW, OWN, SCRIPT

PROJECTS = Path(__file__).parents[2] / "projects"
WHOLE: Json = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
TWO = """\
import pytorch_lightning as pl

# 😀
one = pl.Trainer(gpus=1, progress_bar_refresh_rate=0)
two = pl.Trainer(gpus=2, name="😀")
"""
UNSAFE = "import pytorch_lightning as pl\n\n\ndef make(gpus):\n    return pl.Trainer(gpus=gpus)\n"
WITH_NAMES = "1.4.9"
"""The last release to which text in `gpus=` named a device, so that it is not known what it may ask for."""
MANUAL = "import pytorch_lightning as pl\nfrom mine import find\n\npl.Trainer(gpus=find())\n"


def project(tmp_path: Path, text: str | bytes, release: str = "1.9.0") -> Path:
    data = text.encode() if isinstance(text, str) else text
    pins = f"pytorch-lightning=={release}\n".encode()
    return old_project(tmp_path.resolve() / "project", {"train.py": data, "requirements.txt": pins}) / "train.py"


def opened(editor: Editor, path: Path) -> tuple[str, list[Json]]:
    uri = editor.open(path)
    return uri, editor.diagnostics(uri)


def of_title(actions: list[Json], words: str) -> Json:
    (action,) = [action for action in actions if words in action["title"]]
    return action


def made(editor: Editor, action: Json) -> dict[Path, bytes]:
    """What the files become when an offer is taken."""
    after = editor.apply(editor.resolve(action)["edit"])
    return {path_of(uri): text.encode() for uri, text in after.items()}


def fixed(ask: Ask, path: Path, *options: str, text: str | None = None) -> bytes:
    """What `fixer fix` makes of a file, in a copy of its project."""
    copy = path.parent.with_name(f"{path.parent.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path.parent, copy)
    place = copy / path.name
    if text is not None:
        place.write_text(text)
    assert ask("fix", place, *options).code == 0
    return place.read_bytes()


def test_one_place(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    text = TWO.replace(", progress_bar_refresh_rate=0", "")
    path = project(tmp_path, text)
    uri, every = opened(editor, path)
    found = [item for item in every if item["code"] == "LIT101"]
    assert [item["range"]["start"]["line"] for item in found] == [3, 4]
    silence = "  # fixer: ignore[LIT101]"
    for item, other in zip(found, (4, 3), strict=True):
        action = of_title(editor.actions(uri, item["range"]), "LIT101: rewrite this place")
        assert (action["kind"], action["isPreferred"]) == ("quickfix", True)
        lines = [f"{line}{silence}" if number == other else line for number, line in enumerate(text.split("\n"))]
        alone = fixed(ask, path, "--select", "LIT101", text="\n".join(lines))
        assert made(editor, action) == {path: alone.replace(silence.encode(), b"")}


def test_all_of_a_rule_in_a_file(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    path = project(tmp_path, TWO)
    uri, found = opened(editor, path)
    count = sum(item["code"] == "LIT101" for item in found)
    action = of_title(editor.actions(uri, found[0]["range"]), f"LIT101: rewrite all {count} places in this file")
    assert "isPreferred" not in action
    assert made(editor, action) == {path: fixed(ask, path, "--select", "LIT101")}


def test_all_that_is_safe_in_a_file(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    path = project(tmp_path, TWO + UNSAFE.split("\n", 2)[2], WITH_NAMES)
    uri, _ = opened(editor, path)
    for only in (["source.fixAll.fixer"], ["source.fixAll"], ["source"]):
        (action,) = editor.actions(uri, WHOLE, only)
        assert action["kind"] == "source.fixAll.fixer"
    assert made(editor, action) == {path: fixed(ask, path)}
    assert b"gpus=gpus" in fixed(ask, path)
    assert editor.actions(uri, WHOLE, ["refactor"]) == []
    assert {item["kind"] for item in editor.actions(uri, WHOLE, ["quickfix"])} == {"quickfix"}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("coding", ["", "# -*- coding: latin-1 -*-\n"], ids=["utf-8", "latin-1"])
def test_line_ends_and_encodings_stay(editor: Editor, ask: Ask, tmp_path: Path, end: str, coding: str) -> None:
    text = (coding + TWO.replace("😀", "é")).replace("\n", end)
    encoding = "latin-1" if coding else "utf-8"
    path = project(tmp_path, text.encode(encoding))
    uri = editor.open(path, text)
    assert editor.diagnostics(uri)
    (action,) = editor.actions(uri, WHOLE, ["source.fixAll.fixer"])
    (after,) = editor.apply(editor.resolve(action)["edit"]).values()
    assert after.encode(encoding) == fixed(ask, path)


def test_a_byte_order_mark_is_no_part_of_what_an_editor_shows(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    path = project(tmp_path, b"\xef\xbb\xbf" + TWO.encode())
    uri = editor.open(path, TWO)
    (action,) = editor.actions(uri, WHOLE, ["source.fixAll.fixer"])
    (after,) = editor.apply(editor.resolve(action)["edit"]).values()
    assert b"\xef\xbb\xbf" + after.encode() == fixed(ask, path)


def test_what_is_only_probably_right_is_marked(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    path = project(tmp_path, UNSAFE, WITH_NAMES)
    uri, (item,) = opened(editor, path)
    assert item["data"]["level"] == "unsafe"
    (action,) = editor.actions(uri, item["range"])
    assert action["title"] == "fixer LIT101 (unsafe): rewrite this place"
    assert "isPreferred" not in action
    assert made(editor, action) == {path: fixed(ask, path, "--unsafe-fixes")}
    assert editor.actions(uri, WHOLE, ["source.fixAll.fixer"]) == []


def test_what_a_person_has_to_do_has_no_quick_fix(editor: Editor, tmp_path: Path) -> None:
    uri, (item,) = opened(editor, project(tmp_path, MANUAL))
    assert item["data"]["level"] == "manual"
    assert editor.actions(uri, WHOLE) == []


def test_settings_that_allow_what_is_unsafe_are_not_taken_for_safe(editor: Editor, tmp_path: Path) -> None:
    path = project(tmp_path, UNSAFE, WITH_NAMES)
    (path.parent / "pyproject.toml").write_text("[tool.fixer]\nunsafe-fixes = true\n")
    uri, (item,) = opened(editor, path)
    (action,) = editor.actions(uri, item["range"])
    assert "(unsafe)" in action["title"] and "isPreferred" not in action


def test_only_what_stands_there_is_offered(editor: Editor, tmp_path: Path) -> None:
    uri, found = opened(editor, project(tmp_path, TWO))
    line = found[0]["range"]["start"]["line"]
    elsewhere = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    assert editor.actions(uri, elsewhere, ["quickfix"]) == []
    cursor = {"start": found[0]["range"]["start"], "end": found[0]["range"]["start"]}
    titles = [action["title"] for action in editor.actions(uri, cursor, ["quickfix"])]
    assert titles[0] == "fixer LIT101: rewrite this place" and line == 3


def test_an_offer_names_the_diagnostics_that_it_answers(editor: Editor, tmp_path: Path) -> None:
    uri, found = opened(editor, project(tmp_path, TWO))
    asked = {"textDocument": {"uri": uri}, "range": found[0]["range"], "context": {"diagnostics": found}}
    for action in editor.ask("textDocument/codeAction", asked):
        one = "this place" in action["title"]
        assert len(action["diagnostics"]) == 1 if one else len(action["diagnostics"]) > 1


# What changes together


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "two"
    shutil.copytree(PROJECTS / "gru_across_files", root)
    return old_project(root, {"notes.md": b""})


def fixed_tree(ask: Ask, root: Path, *options: str) -> Iterator[tuple[Path, bytes]]:
    copy = root.with_name(f"{root.name}-copy")
    shutil.copytree(root, copy)
    assert ask("fix", copy, *options).code == 0
    for path in sorted(copy.rglob("*.py")):
        here = root / path.relative_to(copy)
        if not here.exists() or here.read_bytes() != path.read_bytes():
            yield here, path.read_bytes()


@pytest.mark.parametrize("both", [True, False], ids=["both are open", "one is open"])
def test_two_files_that_change_together(editor: Editor, ask: Ask, two_files: Path, both: bool) -> None:
    if both:
        opened(editor, two_files / "train.py")
    uri, found = opened(editor, two_files / "model.py")
    (item, *_) = [item for item in found if item["code"] == "TBP001"]
    action = of_title(editor.actions(uri, item["range"]), "TBP001: rewrite this place")
    edit = editor.resolve(action)["edit"]
    versions = {path_of(each["textDocument"]["uri"]).name: each["textDocument"]["version"]
                for each in edit["documentChanges"]}  # fmt: skip
    assert versions == {"model.py": 1, "train.py": 1 if both else None}
    after = {path_of(uri): text.encode() for uri, text in editor.apply(edit).items()}
    assert after == dict(fixed_tree(ask, two_files, "--select", "TBP001"))


def test_a_part_of_a_change_is_not_made(editor: Editor, two_files: Path) -> None:
    """All of a rule in one file is no more than `fixer fix` makes of that file alone."""
    uri, found = opened(editor, two_files / "model.py")
    (item, *_) = [item for item in found if item["code"] == "TBP001"]
    data = editor.actions(uri, item["range"])[0]["data"] | {"finding": "", "code": "TBP001"}
    action = editor.resolve({"title": "all", "data": data})
    assert "edit" not in action
    assert any("a part of the same change" in message for message in editor.shown())


def test_an_editor_that_cannot_change_two_files_at_once_is_told_why(two_files: Path) -> None:
    able = without("workspace", "workspaceEdit")
    able["textDocument"]["codeAction"].pop("resolveSupport")
    with Editor(two_files, able=able) as other:
        uri, found = opened(other, two_files / "model.py")
        (item, *_) = [item for item in found if item["code"] == "TBP001"]
        action = of_title(other.actions(uri, item["range"]), "TBP001: rewrite this place")
        assert "edit" not in action
        assert "model.py, train.py change together" in action["disabled"]["reason"]


def test_an_editor_that_cannot_show_why_is_offered_nothing(two_files: Path) -> None:
    able = without("workspace", "workspaceEdit")
    able["textDocument"]["codeAction"] = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}}
    with Editor(two_files, able=able) as other:
        uri, found = opened(other, two_files / "model.py")
        (item, *_) = [item for item in found if item["code"] == "TBP001"]
        assert all("TBP001" not in action["title"] for action in other.actions(uri, item["range"]))


def test_edits_come_at_once_where_an_editor_does_not_ask_again(ask: Ask, tmp_path: Path) -> None:
    path = project(tmp_path, OLD)
    able = without("textDocument", "codeAction", "resolveSupport")
    with Editor(path.parent, able=able) as other:
        uri, (item,) = opened(other, path)
        action = of_title(other.actions(uri, item["range"]), "this place")
        (after,) = other.apply(action["edit"]).values()
        assert after.encode() == fixed(ask, path)


def scripts(tmp_path: Path) -> Path:
    text = SCRIPT.replace("(ArgumentParser())", "(parser)").replace("\nparser", OWN, 1).encode()
    return old_project(tmp_path.resolve() / "scripts", {"a.py": text, "b.py": text, "pkg/models.py": b""})


def test_a_file_that_a_rewrite_brings(editor: Editor, ask: Ask, tmp_path: Path) -> None:
    root = scripts(tmp_path)
    uri, found = opened(editor, root / "a.py")
    action = of_title(editor.actions(uri, found[0]["range"]), "rewrite this place")
    edit = editor.resolve(action)["edit"]
    assert {"kind": "create", "uri": (root / NEW).as_uri()} in edit["documentChanges"]
    after = {path_of(uri).name: text.encode() for uri, text in editor.apply(edit).items()}
    expected = {path.name: data for path, data in fixed_tree(ask, root, "--select", "LIT130")}
    assert after == {name: expected[name] for name in ("a.py", NEW)}
    (root / NEW).write_text("mine\n")
    assert "edit" not in editor.resolve(action)
    assert any(f"{NEW} is in the way" in message for message in editor.shown())


# What changed since


def test_an_offer_for_a_text_of_before_is_refused(editor: Editor, tmp_path: Path) -> None:
    uri, found = opened(editor, project(tmp_path, TWO))
    action = editor.actions(uri, found[0]["range"])[0]
    editor.type(uri, f"# more\n{TWO}")
    assert "edit" not in editor.resolve(action)
    assert any("the document changed since" in message for message in editor.shown())


def test_a_closed_file_that_changed_on_the_disk_is_not_changed_blindly(editor: Editor, two_files: Path) -> None:
    uri, found = opened(editor, two_files / "model.py")
    (item, *_) = [item for item in found if item["code"] == "TBP001"]
    action = of_title(editor.actions(uri, item["range"]), "TBP001: rewrite this place")
    train = two_files / "train.py"
    train.write_text(f"# mine\n{train.read_text()}")
    assert "edit" not in editor.resolve(action)
    assert any("train.py changes with it, and is another on the disk" in message for message in editor.shown())


def test_a_closed_file_that_is_gone_is_not_made_again(editor: Editor, two_files: Path) -> None:
    uri, found = opened(editor, two_files / "model.py")
    (item, *_) = [item for item in found if item["code"] == "TBP001"]
    action = of_title(editor.actions(uri, item["range"]), "TBP001: rewrite this place")
    (two_files / "train.py").unlink()
    mark = len(editor.shown())
    assert "edit" not in editor.resolve(action)
    assert "train.py changes with it, and is another on the disk" in editor.shown()[mark]


@pytest.mark.parametrize("only", ["quickfix", "source.fixAll.fixer"])
def test_characters_that_the_file_cannot_hold_are_not_replaced(editor: Editor, tmp_path: Path, only: str) -> None:
    path = project(tmp_path, OLD)
    uri = editor.open(path, f"# -*- coding: latin-1 -*-\n{OLD.decode()}# 5 \u20ac\n")
    assert editor.diagnostics(uri)
    mark = len(editor.shown())
    for action in editor.actions(uri, WHOLE, [only]):
        assert "edit" not in editor.resolve(action)
    assert "train.py holds characters that its encoding does not have" in editor.shown()[mark]


def test_an_editor_that_knows_no_actions_is_offered_none(tmp_path: Path) -> None:
    path = project(tmp_path, OLD)
    able = {**ABLE, "textDocument": {"publishDiagnostics": {}}}
    with Editor(path.parent, able=able) as other:
        uri, (item,) = opened(other, path)
        assert "codeDescription" not in item
        assert other.actions(uri, item["range"]) == []
