"""Git servers on this machine: bare repositories, over file and over http, and clones of them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl

from tests.fixer.command import OLD
from tests.fixer.forge_api import Answer
from tests.fixer.git_repos import Repo
from tests.support import git

BRANCH = "fixer/lightning-2.6.6"


def bare(place: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """A bare repository with one commit of files that a rule changes."""
    place.mkdir(parents=True)
    git(place, "init", "--quiet", "--bare", "--initial-branch=main")
    git(place, "config", "http.receivepack", "true")
    git(place, "config", "uploadpack.allowFilter", "true")
    git(place, "config", "uploadpack.allowAnySHA1InWant", "true")
    commit(place, files or {"train.py": OLD})
    return place


def clone(origin: Path | str, place: Path, *options: str) -> Repo:
    """A fresh clone."""
    git(place.parent, "clone", "--quiet", *options, str(origin), str(place))
    return Repo(place)


def commit(origin: Path, files: Mapping[str, bytes], branch: str = "main", start: str | None = None) -> str:
    """A person's commit, pushed onto a branch of a bare repository."""
    place = origin.parent / f"workspace-{len(list(origin.parent.iterdir()))}"
    git(origin.parent, "clone", "--quiet", str(origin), str(place))
    git(place, "switch", "--quiet", *(("-c",) if start else ()), branch, *([start] if start else [])) if git(
        place, "branch", "--all"
    ) else git(place, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    Repo(place).write(dict(files))
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "A person's work")
    git(place, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    return git(place, "rev-parse", "HEAD")


def head(origin: Path, branch: str = BRANCH) -> str:
    """The last commit of a branch, "" where there is none."""
    return git(origin, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")


class ForgeApi(Protocol):
    """What answers for a forge."""

    address: str

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Answer: ...


class _Server(ThreadingHTTPServer):
    """Bare repositories below a folder, over git's smart http protocol; who does not show the header is refused."""

    folder: Path
    asked: list[tuple[str, str]]
    authorization: str | None = None
    api: ForgeApi | None = None


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def _answer_api(self, path: str, query: Mapping[str, str]) -> None:
        assert self.server.api is not None
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        status, said = self.server.api.answer(self.command, path, query, body, dict(self.headers.items()))
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(content)

    def _answer(self) -> None:
        shown = self.headers.get("Authorization", "")
        if self.path.startswith("/api/"):
            path, _, query = self.path.partition("?")
            self._answer_api(path, dict(parse_qsl(query)))
            return
        self.server.asked.append((self.path, shown))
        if self.server.authorization and shown != self.server.authorization:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(length)
        variables = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "someone",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=variables)
        top, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in top.decode().split("\r\n") if line]
        status = next((value for name, _, value in lines if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, _, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().strip() or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(
    folder: Path, authorization: str | None = None, api: ForgeApi | None = None
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Bare repositories below a folder over http: the server's address, and what it was asked with which header."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.folder, server.asked, server.authorization, server.api = folder, [], authorization, api
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        if api:
            api.address = address
        yield address, server.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
