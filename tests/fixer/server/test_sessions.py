"""How a session begins and ends, and whole sessions as editors led them.

The recordings in `sessions/` are what an editor sent, one message a line, with `/ROOT` for the folder: Neovim as Debian
has it and a later one, each driven headless through diagnostics, hover, a quick fix and saving; and the extension of
`editors/vscode` with the client library of VS Code, in Node with a stand-in for the editor's own API.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from fixer import __version__
from tests.fixer.command import OLD, ROOT, Ask, old_project
from tests.fixer.server.editor import PATIENCE_S, Editor, Json

SESSIONS = sorted((Path(__file__).parent / "sessions").glob("*.jsonl"))
UNITS = {"neovim-0.12-dev": "utf-8"}
PINS = b"pytorch-lightning==1.9.0\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return old_project(tmp_path.resolve() / "project", {"train.py": OLD, "requirements.txt": PINS})


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.stem)
def test_a_recorded_session(session: Path, root: Path) -> None:
    messages = [json.loads(line) for line in session.read_text().replace("/ROOT", str(root)).splitlines()]
    answers: dict[str, list[Json]] = {}
    editor = Editor(root)
    with_numbers = [message for message in messages if "method" in message]  # replies are given as the server asks
    for message in with_numbers:
        editor.send(message)
        method = message["method"]
        if "id" in message:
            answer = editor.wait(lambda said, asked=message["id"]: said.get("id") == asked and "method" not in said)
            assert "error" not in answer, answer
            answers.setdefault(method, []).append(answer["result"])
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            document = message["params"]["textDocument"]
            editor.texts[document["uri"]] = document["version"], ""
            answers.setdefault(method, []).append({"found": editor.diagnostics(document["uri"])})
    assert editor.process.stdin
    editor.process.stdin.close()
    assert editor.process.wait(PATIENCE_S) == 0
    assert b"Traceback" not in editor.log

    (begun,) = answers["initialize"]
    assert begun["capabilities"]["positionEncoding"] == UNITS.get(session.stem, "utf-16")
    assert [item["code"] for item in answers["textDocument/didOpen"][0]["found"]] == ["LIT101"]
    assert all("LIT101 trainer-gpus" in said["contents"]["value"] for said in answers["textDocument/hover"])
    for offers in answers["textDocument/codeAction"]:
        assert {offer["kind"] for offer in offers} <= {"quickfix", "source.fixAll.fixer"} and offers
    for action in answers["codeAction/resolve"]:
        (change,) = action["edit"]["documentChanges"]
        assert change["edits"][0]["newText"] == 'trainer = pl.Trainer(accelerator="cpu", max_epochs=1)\n'
    if changed := answers.get("textDocument/didChange"):
        assert changed[-1]["found"] == [], "the quick fix was taken"


def test_what_the_server_says_it_can(root: Path) -> None:
    with Editor(root) as editor:
        result = next(said["result"] for said in editor.said if said.get("id") == 1)
        assert result["serverInfo"] == {"name": "fixer", "version": __version__}
        able = result["capabilities"]
        assert able["textDocumentSync"]["change"] == 1
        assert able["codeActionProvider"] == {
            "codeActionKinds": ["quickfix", "source.fixAll.fixer"],
            "resolveProvider": True,
        }
        assert able["hoverProvider"]
        assert not able.get("executeCommandProvider", {}).get("commands")


def test_it_ends_as_the_protocol_has_it(root: Path) -> None:
    with Editor(root) as editor:
        editor.diagnostics(editor.open(root / "train.py"))
        assert editor.end() == 0


def test_an_exit_without_a_word_is_an_error(root: Path) -> None:
    with Editor(root) as editor:
        editor.tell("exit", None)
        assert editor.process.wait(PATIENCE_S) == 1


def test_an_editor_that_is_gone_ends_it(root: Path) -> None:
    with Editor(root) as editor:
        editor.open(root / "train.py")
        assert editor.process.stdin
        editor.process.stdin.close()
        assert editor.process.wait(PATIENCE_S) == 1
        assert b"Traceback" not in editor.log


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(root: Path, number: signal.Signals) -> None:
    with Editor(root) as editor:
        editor.diagnostics(editor.open(root / "train.py"))
        editor.process.send_signal(number)
        assert editor.process.wait(PATIENCE_S) == -number


def test_what_it_does_not_know_is_said_and_ends_nothing(root: Path) -> None:
    with Editor(root) as editor:
        editor.send({"id": 900, "method": "workspace/symbol", "params": {"query": "x"}})
        answer = editor.wait(lambda said: said.get("id") == 900)
        assert answer["error"]["code"] == -32601
        editor.tell("$/whatever", {})
        assert editor.diagnostics(editor.open(root / "train.py"))


def test_without_pygls_it_says_what_to_install(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("fixer.server")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pygls", "lsprotocol"):
        monkeypatch.setitem(sys.modules, name, None)
    said = ask("server")
    assert said.complaint() == "fixer: `fixer server` needs pygls; run `pip install 'fixer[server]'`"
    assert said.out == ""


# The extension


def test_the_extension_is_of_this_release() -> None:
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text())
    lock = (folder / "package-lock.json").read_text()
    assert package["version"] == json.loads(lock)["version"] == __version__
    assert '"resolved"' not in lock, "where a package was taken from is no part of the lock"
    ignored = (ROOT / ".gitignore").read_text().split("\n")
    assert {"node_modules/", "*.vsix"} <= set(ignored)
