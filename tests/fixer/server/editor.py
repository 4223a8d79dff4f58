"""An editor for tests: a language client over standard input and output that knows nothing of pygls."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.fixer.command import environment

Json = dict[str, Any]
PATIENCE_S = 30.0
ABLE: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True, "codeDescriptionSupport": True, "dataSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source"]}},
            "dataSupport": True,
            "disabledSupport": True,
            "isPreferredSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
}
"""What an editor can that can everything."""


def path_of(uri: str) -> Path:
    """Where a document lies."""
    return Path(unquote(urlsplit(uri).path))


def without(*path: str) -> Json:
    """An able editor that cannot do one thing."""
    made = json.loads(json.dumps(ABLE))
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return dict(made)


class Failed(Exception):
    """What a server answered instead of a result."""


class Editor:
    """A server in a process of its own, and what it said."""

    def __init__(self, *folders: Path, able: Json = ABLE, cwd: Path | None = None, **env: str) -> None:
        command = [sys.executable, "-m", "fixer", "server"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=cwd or (folders[0] if folders else None), env=environment(env),
        )  # fmt: skip
        self.said: list[Json] = []
        self.texts: dict[str, tuple[int, str]] = {}
        self.log = b""
        self._queue: queue.Queue[Json | None] = queue.Queue()
        self._number = 0
        self._answers: dict[int, Json] = {}
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        self.folders, self.able = folders, able

    def begin(self) -> Json:
        """The handshake; returns what the server can."""
        folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in self.folders]
        asked = {"processId": None, "rootUri": None, "capabilities": self.able, "workspaceFolders": folders}
        result: Json = self.ask("initialize", asked)
        self.tell("initialized", {})
        return dict(result["capabilities"])

    def __enter__(self) -> Editor:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()

    def end(self) -> int:
        """Asks the server to end, and returns its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(PATIENCE_S)

    def open(self, path: Path, text: str | None = None, language: str = "python") -> str:
        """Opens a file, as it is on the disk or with another text, and returns its address."""
        uri, text = path.as_uri(), path.read_bytes().decode() if text is None else text
        self.texts[uri] = 1, text
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def type(self, uri: str, text: str) -> int:
        """Changes a document, and returns its version."""
        version = self.texts[uri][0] + 1
        self.texts[uri] = version, text
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return version

    def diagnostics(self, uri: str, version: int | None = None, after: int = 0) -> list[Json]:
        """The diagnostics of a document in its version of now, as soon as they come; `after` skips what was said
        before."""
        version = self.texts[uri][0] if version is None else version

        def found(message: Json) -> bool:
            told = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and told["uri"] == uri
                and told.get("version") == version
            )

        return list(self.wait(found, after)["params"]["diagnostics"])

    def actions(self, uri: str, range: Json, only: list[str] | None = None) -> list[Json]:
        """The actions that are offered for a part of a document."""
        context: Json = {"diagnostics": [], **({"only": only} if only else {})}
        asked = {"textDocument": {"uri": uri}, "range": range, "context": context}
        return list(self.ask("textDocument/codeAction", asked) or [])

    def resolve(self, action: Json) -> Json:
        """An action with its edit."""
        return dict(self.ask("codeAction/resolve", action))

    def apply(self, edit: Json, units: str = "utf-16") -> dict[str, str]:
        """Makes an edit as an editor does, and returns the new texts by address: of documents that are open in the
        version that they have, of others as they are on the disk."""
        after: dict[str, str] = {}
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit.get("changes", {}).items()
        ]
        for change in changes:
            if change.get("kind") == "create":
                assert not path_of(change["uri"]).exists()
                after[change["uri"]] = ""
                continue
            uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
            known = self.texts.get(uri)
            assert version in ((known[0], None) if known and "changes" in edit else (known[0] if known else None,))
            before = after.get(uri) if uri in after else known[1] if known else path_of(uri).read_bytes().decode()
            after[uri] = applied(before or "", change["edits"], units)
        return after

    def ask(self, method: str, params: object) -> Any:
        """Asks, and waits for the answer. Raises Failed."""
        self._number += 1
        number = self._number
        self.send({"id": number, "method": method, "params": params})
        answer = self.wait(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise Failed(answer["error"]["message"])
        return answer["result"]

    def tell(self, method: str, params: object) -> None:
        """Tells the server something."""
        self.send({"method": method, "params": params})

    def wait(self, wanted: Callable[[Json], bool], after: int = 0) -> Json:
        """The first message of a kind, of those that came already or that come. Answers what the server asks."""
        for message in self.said[after:]:
            if wanted(message):
                return message
        while (message := self._queue.get(timeout=PATIENCE_S)) is not None:
            self.said.append(message)
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            if wanted(message):
                return message
        raise AssertionError(f"the server ended with {self.process.wait(5)}: {self.log.decode()}")

    def shown(self) -> list[str]:
        """The messages that a person saw."""
        return [item["params"]["message"] for item in self.said if item.get("method") == "window/showMessage"]

    def send(self, message: Mapping[str, object]) -> None:
        """Sends a message as it is."""
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        try:
            while header := stream.readline():
                length = int(header.split(b":")[1])
                while stream.readline().strip():
                    pass
                self._queue.put(json.loads(stream.read(length)))
        except ValueError:
            pass
        self._queue.put(None)

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.log += line


def applied(text: str, edits: list[Json], units: str = "utf-16") -> str:
    """A text with the edits of a server, made as the protocol says, from the last one back."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)

    def offset(place: Json) -> int:
        before = sum(map(len, lines[: place["line"]]))
        line = lines[place["line"]] if place["line"] < len(lines) else ""
        seen = count = 0
        while count < len(line) and seen < place["character"]:
            seen += len(line[count].encode(f"{units}-le" if units != "utf-8" else units)) // UNIT_BYTES[units]
            count += 1
        assert seen == place["character"], "a place within a character, or behind the end of its line"
        return before + count

    spans = [(offset(edit["range"]["start"]), offset(edit["range"]["end"]), edit["newText"]) for edit in edits]
    assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans))), "edits overlap"
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def units_of(text: str) -> int:
    """How many units of UTF-16 a text has."""
    return len(text.encode("utf-16-le")) // 2
