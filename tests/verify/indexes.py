"""An index of our own on this machine, with wheels that are made for it, which notes what it is asked for."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Index:
    """A PEP 503 index; `asked` has the name of each project whose page or file somebody wanted, `fetched` those whose
    file was given away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.fetched: list[str] = []
        self.url = ""
        folder.mkdir()

    def add(self, name: str, version: str = "1.0", module: str = "", text: str = "", needs: str = "") -> str:
        """Put a wheel on it, with one module; the hash of its file is returned."""
        plain = name.replace("-", "_")
        told = f"{plain}-{version}.dist-info"
        path = self.folder / f"{plain}-{version}-py3-none-any.whl"
        needed = f"Requires-Dist: {needs}\n" if needs else ""
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{module or plain}.py", text)
            archive.writestr(f"{told}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}")
            archive.writestr(f"{told}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{told}/RECORD", f"{module or plain}.py,,\n{told}/METADATA,,\n")
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def page(self, path: str) -> bytes | None:
        """What is at a path of the index; None where nothing is."""
        kind, _, name = path.strip("/").partition("/")
        self.asked.append(name.split("-")[0].replace("_", "-") if kind == "files" else name)
        if kind == "files":
            self.fetched.append(self.asked[-1])
            file = self.folder / Path(name).name
            return file.read_bytes() if file.is_file() else None
        files = sorted(self.folder.glob(f"{name.replace('-', '_')}-*.whl"))
        links = "".join(f'<a href="/files/{file.name}">{file.name}</a>' for file in files)
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if files else None


@contextmanager
def served(folder: Path) -> Iterator[Index]:
    """An index that is there for as long as it is needed."""
    index = Index(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = index.page(self.path)
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Type", "text/html" if "/simple/" in self.path else "application/octet-stream")
            self.send_header("Content-Length", str(len(found or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(found or b"")

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
