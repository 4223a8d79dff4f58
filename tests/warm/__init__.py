"""Processes that have loaded torch and Lightning, in which the tests run what a proof would start anew each time.

What a program costs at its start, to load both, is more than most of the trainings here. A fixture, `warm`, has every
proof of this process use them; what is shut in still is, by the same code. `started_anew` is the fixture for tests of
the start itself.
"""

from __future__ import annotations

import array
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from verify.harness import HARNESS
from verify.sandbox import jail

LONGEST = 200
"""After so many seconds a program of a test is ended."""
KEPT = 6
"""How many such processes live at once."""
SERVER = Path(__file__).with_name("server.py")
JAIL = Path(jail.__file__)
SETTINGS = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}  # fmt: skip
IS_POSSIBLE = sys.platform == "linux" and not any(Path(each).exists() for each in ("/dev/nvidiactl", "/dev/kfd"))
"""A process that has looked for accelerators cannot be forked into one that uses them."""
_LOCK = threading.Lock()


class Server:
    """A process of one interpreter that waits with torch and Lightning loaded."""

    def __init__(self, python: str) -> None:
        self.place = str(Path(tempfile.mkdtemp(prefix="fixer-warm-")) / "socket")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        self.process = subprocess.Popen(
            [python, str(SERVER), self.place, str(HARNESS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(self.place).parent,
            env={**kept, **SETTINGS, "HOME": str(Path(self.place).parent)},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            shutil.rmtree(Path(self.place).parent, ignore_errors=True)
            raise OSError(f"{python} has nothing loaded: it ended with {self.process.wait()}")


def serving(python: str) -> Server | None:
    """The process of an interpreter, started when it is asked for first; None where nothing can be loaded. It ends
    with the tests, or when others were asked for since and nothing of it runs."""
    with _LOCK:
        server = _served(python)
        if server is not None and server.process.poll() is not None:
            shutil.rmtree(Path(server.place).parent, ignore_errors=True)
            _served.cache_clear()
            server = _served(python)
        return server


@functools.lru_cache(KEPT)
def _served(python: str) -> Server | None:
    with contextlib.suppress(OSError):
        return Server(python)
    return None


class Started:
    """A program in a child of a server, with what of `subprocess.Popen` is asked of it."""

    def __init__(self, of: Server, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._of = of
        self.returncode: int | None = None
        reading, output = os.pipe()
        self.stdout: IO[bytes] = open(reading, "rb", buffering=0)  # noqa: SIM115, PTH123
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(of.place)
        asked = {"command": list(command), "folder": str(folder), "environment": dict(environment)}
        right = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [output]))
        text = json.dumps(asked).encode() + b"\n"
        sent = self._server.sendmsg([text], [right])
        self._server.sendall(text[sent:])
        os.close(output)
        self._told = self._server.makefile()
        self.pid = int(self._told.readline())

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.wait()

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._server], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._server], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a program", timeout or 0)
        return self._end()

    def _end(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._told.readline() or -signal.SIGKILL)
            self._told.close()
            self._server.close()
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def opened(command: Sequence[str], **how: Any) -> Any:
    """What `subprocess.Popen` gives, of a program of the harness in a child of the server of its interpreter."""
    words = [str(word) for word in command]
    if IS_POSSIBLE and (python := _interpreter(words)) and (server := serving(python)):
        return Started(server, words, how["cwd"], how["env"])
    return subprocess.Popen(command, **how)


def _interpreter(words: Sequence[str]) -> str | None:
    """The interpreter of a command that runs the harness and nothing else, shut in by us or not at all."""
    if len(words) < 3 or Path(words[-2]).parts[-2:] != ("harness", HARNESS.name):
        return None
    is_shut_in = words[1:3] == ["-I", "-S"] and Path(words[3]) == JAIL and len(words) == 8
    return words[-3] if is_shut_in or len(words) == 3 else None


def run(spec: Path, folder: Path, python: Path | str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Have the harness do what a file asks for, in a folder; how it ended, and what it wrote."""
    command = [str(python), str(HARNESS), str(spec)]
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with opened(command, cwd=folder, env=dict(os.environ), **how) as child:
        late = threading.Timer(LONGEST, child.kill)
        late.start()
        try:
            text = child.stdout.read().decode("utf-8", "replace")
        finally:
            late.cancel()
        return subprocess.CompletedProcess(command, child.wait(), text)
