"""Processes that have loaded torch and Lightning, in which the tests run what a proof would start anew each time.

What a program costs at its start, to load both, is more than most of the trainings here. A fixture of all tests has the
proofs of this process use them but where a test is marked `cold`; what is shut in still is, by the same code.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import hashlib
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
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from verify.harness import HARNESS
from verify.sandbox import jail

LONGEST = 200
"""After so many seconds a program of a test is ended."""
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
FOLDER = Path(tempfile.gettempdir()) / f"fixer-warm-{RUN}"
"""Where the processes of this run of the tests meet."""
SERVER = Path(__file__).with_name("server.py")
JAIL = Path(jail.__file__)
SETTINGS = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}  # fmt: skip
IS_POSSIBLE = sys.platform == "linux" and not any(Path(each).exists() for each in ("/dev/nvidiactl", "/dev/kfd"))
"""A process that has looked for accelerators cannot be forked into one that uses them."""
_LOCK = threading.Lock()
_SERVED: dict[str, Server | None] = {}
_STARTED: list[subprocess.Popen[bytes]] = []


class Server:
    """A process of one interpreter that waits with torch and Lightning loaded, one for all processes of a run of the
    tests: who asks first starts it in a folder, and it ends when the last of them has."""

    def __init__(self, python: str, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.place = str(folder / "socket")
        held = folder / "held"
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not held.exists():
                os.mkfifo(held, 0o600)
            try:
                self._held = os.open(held, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads it
                self._start(python, folder, held)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._held)

    def _start(self, python: str, folder: Path, held: Path) -> None:
        """Start the process, which reads what is held until nobody holds it."""
        Path(self.place).unlink(missing_ok=True)
        reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        self._held = os.open(held, os.O_WRONLY)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        process = subprocess.Popen(
            [python, str(SERVER), self.place, str(HARNESS)],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**kept, **SETTINGS, "HOME": str(folder)},
            start_new_session=True,
        )
        os.close(reading)
        _STARTED.append(process)
        assert process.stdout is not None
        if not process.stdout.readline():
            shutil.rmtree(folder)
            raise OSError(f"{python} has nothing loaded: it ended with {process.wait()}")

    def connected(self) -> socket.socket:
        """A connection to the process."""
        made = socket.socket(socket.AF_UNIX)
        try:
            made.connect(self.place)
        except OSError:
            made.close()
            raise
        return made


def serving(python: str) -> Server | None:
    """The process of an interpreter, started where no process of this run of the tests has; None where nothing can be
    loaded."""
    with _LOCK:
        server = _SERVED.get(python)
        if server is not None:
            with contextlib.suppress(OSError), server.connected():
                return server
        if server is not None or python not in _SERVED:
            _SERVED[python] = None
            with contextlib.suppress(OSError):
                _SERVED[python] = Server(python, FOLDER / hashlib.sha256(python.encode()).hexdigest()[:16])
        return _SERVED[python]


class Started:
    """A program in a child of a server, with what of `subprocess.Popen` is asked of it. It reads from a descriptor,
    which is closed here, where one is given."""

    def __init__(
        self, of: Server, command: Sequence[str], folder: Path, environment: Mapping[str, str], given: int | None = None
    ) -> None:
        self._of = of
        self.returncode: int | None = None
        reading, output = os.pipe()
        self.stdout: IO[bytes] = open(reading, "rb", buffering=0)  # noqa: SIM115, PTH123
        self._server = of.connected()
        asked = {"command": list(command), "folder": str(folder), "environment": dict(environment)}
        handed = [output] if given is None else [output, given]
        right = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handed))
        text = json.dumps(asked).encode() + b"\n"
        sent = self._server.sendmsg([text], [right])
        self._server.sendall(text[sent:])
        for each in handed:
            os.close(each)
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


def begun(command: Sequence[str], folder: Path, environment: Mapping[str, str], given: int | None = None) -> Any:
    """A script that is started by its path where torch and Lightning are loaded already; it reads from a descriptor,
    which is closed here, where one is given."""
    if IS_POSSIBLE and (server := serving(command[0])):
        return Started(server, command, folder, environment, given)
    how: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "bufsize": 0}
    started = subprocess.Popen(command, cwd=folder, env=environment, stdin=given or subprocess.DEVNULL, **how)
    if given is not None:
        os.close(given)
    return started


def _interpreter(words: Sequence[str]) -> str | None:
    """The interpreter of a command that runs the harness and nothing else, shut in by us or not at all."""
    if len(words) < 3 or Path(words[-2]).parts[-2:] != ("harness", HARNESS.name):
        return None
    is_shut_in = words[1:3] == ["-I", "-S"] and Path(words[3]) == JAIL and len(words) == 8
    return words[-3] if is_shut_in or len(words) == 3 else None


def run(spec: Path, folder: Path, python: Path | str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Have the harness do what a file asks for, in a folder; how it ended, and what it wrote."""
    return program(HARNESS, str(spec), folder=folder, python=python)


def program(
    script: Path, *words: str, folder: Path, python: Path | str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run a script by its path in a folder, where torch and Lightning are loaded already; how it ended, and what it
    wrote."""
    command = [str(python), str(script), *words]
    with begun(command, folder, os.environ) as child:
        late = threading.Timer(LONGEST, child.kill)
        late.start()
        try:
            text = child.stdout.read().decode("utf-8", "replace")
        finally:
            late.cancel()
        return subprocess.CompletedProcess(command, child.wait(), text)
