"""Processes that have loaded torch and Lightning, or fixer, whose children the tests run instead of starting it anew.

What a program costs at its start, to load these, is more than most of the trainings here, and of the commands of fixer.
A fixture of all tests has the proofs of this process use them but where a test is marked `cold`; what is shut in still
is, by the same code.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import functools
import hashlib
import inspect
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_")
"""How the variables begin that an interpreter goes by at its start."""
OF_INTERPRETER = {
    **{name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)},
    "PYTHONPATH": str(Path(__file__).parents[2]),
}
"""Those of the processes in which fixer is loaded."""
IS_POSSIBLE = sys.platform == "linux" and not any(Path(each).exists() for each in ("/dev/nvidiactl", "/dev/kfd"))
"""A process that has looked for accelerators cannot be forked into one that uses them."""
_LOCK = threading.Lock()
_SERVED: dict[str, Server | None] = {}
_STARTED: list[subprocess.Popen[bytes]] = []


class Server:
    """A process of one interpreter that waits with something loaded, one for all processes of a run of the tests: who
    asks first starts it in a folder, and it ends when the last of them has."""

    def __init__(self, python: str, folder: Path, load: str = "torch") -> None:
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
                self._start(python, folder, held, load)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._held)

    def _start(self, python: str, folder: Path, held: Path, load: str) -> None:
        """Start the process, which reads what is held until nobody holds it."""
        Path(self.place).unlink(missing_ok=True)
        reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        self._held = os.open(held, os.O_WRONLY)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        process = subprocess.Popen(
            [python, str(SERVER), self.place, load, *([str(HARNESS)] if load == "torch" else [])],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**kept, **(SETTINGS if load == "torch" else OF_INTERPRETER), "HOME": str(folder)},
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


def serving(python: str, load: str = "torch") -> Server | None:
    """The process of an interpreter, started where no process of this run of the tests has; None where nothing can be
    loaded."""
    name = f"{load} {python}"
    with _LOCK:
        server = _SERVED.get(name)
        if server is not None:
            with contextlib.suppress(OSError), server.connected():
                return server
        if server is not None or name not in _SERVED:
            _SERVED[name] = None
            with contextlib.suppress(OSError):
                _SERVED[name] = Server(python, FOLDER / hashlib.sha256(name.encode()).hexdigest()[:16], load)
        return _SERVED[name]


class Started(subprocess.Popen[bytes]):
    """A program in a child of a server, which leads a session, of the terminal that it reads from if it is to."""

    def __init__(self, of: Server, command: Sequence[str], *, has_terminal: bool = False, **how: Any) -> None:
        self._of, self._has_terminal, self._ending = of, has_terminal, threading.Lock()
        super().__init__(command, **how)

    def _execute_child(self, *given: Any) -> None:
        """What Popen does once it has made the pipes."""
        how = dict(zip(inspect.signature(super()._execute_child).parameters, given, strict=False))  # type: ignore[misc]
        ends = [how[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        handed = [number if end == -1 else end for number, end in enumerate(ends)]
        asked = {
            "command": [os.fsdecode(word) for word in how["args"]],
            "folder": os.fsdecode(how["cwd"] or Path.cwd()),
            "environment": dict(os.environ if how["env"] is None else how["env"]),
            "has_terminal": self._has_terminal,
        }
        try:
            self._server = self._of.connected()
            right = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handed))
            text = json.dumps(asked).encode() + b"\n"
            self._server.sendall(text[self._server.sendmsg([text], [right]) :])
            self._told = self._server.makefile()
            self.pid = int(self._told.readline())
        finally:
            names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            self._close_pipe_fds(*(how[name] for name in names))  # type: ignore[attr-defined]

    def poll(self) -> int | None:
        return self._end() if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._end()

    def _has_ended(self, timeout: float | None) -> bool:
        return self.returncode is not None or bool(select.select([self._server], [], [], timeout)[0])

    def _end(self) -> int:
        with self._ending:
            if self.returncode is None:
                self.returncode = int(self._told.readline() or -signal.SIGKILL)
                self._server.shutdown(socket.SHUT_WR)
                self._told.read()  # which ends once the system has forgotten it
                self._told.close()
                self._server.close()
        return self.returncode


def opened(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """What `subprocess.Popen` gives, of a program of the harness in a child of the server of its interpreter."""
    words = [str(word) for word in command]
    if IS_POSSIBLE and (python := _interpreter(words)) and (server := serving(python)):
        return Started(server, words, **how)
    return subprocess.Popen(command, **how)


def begun(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], given: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A script that is started by its path where torch and Lightning are loaded already; it reads from a descriptor."""
    start = functools.partial(Started, server) if IS_POSSIBLE and (server := serving(command[0])) else subprocess.Popen
    return start(
        command, cwd=folder, env=environment, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
    )


def fixer(
    words: Sequence[str | Path], *, options: Sequence[str] = (), has_terminal: bool = False, **how: Any
) -> subprocess.Popen[bytes]:
    """`python -m fixer` where fixer is loaded already, unless the interpreter is to have options, or variables that it
    goes by at its start are others there."""
    command = [sys.executable, *options, "-m", "fixer", *map(str, words)]
    same = {name: value for name, value in how["env"].items() if name.startswith(READ_AT_START)} == OF_INTERPRETER
    if IS_POSSIBLE and same and not options and (server := serving(sys.executable, "fixer")):
        return Started(server, command, has_terminal=has_terminal, **how)
    if has_terminal:
        how |= {"start_new_session": True, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
    return subprocess.Popen(command, **how)


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
