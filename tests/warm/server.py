"""Starts programs in children that have loaded what they need: `python server.py PLACE LOAD [HARNESS]`, PLACE a socket,
LOAD `torch` (and Lightning), for scripts, or `fixer`, for its command.

Started by path, in the interpreter that the programs are for. Each connection brings a command, a folder, variables and
the descriptors of input, output and errors. A forked child becomes that program, as a new interpreter would: also where
the command shuts in a program of this interpreter, by the very code that does it else. The number of the child is told
at once, at its end how it ended, and it stays until that is heard. The server ends when its standard input does, and
its children with it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import io
import json
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import termios
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

PACKAGES = ("pytorch_lightning", "lightning.pytorch")
FIXER = ("codemods", "verify", "fixer")
DEATHSIG, KILL = 1, 9
POLL = 0.01
END = os._exit
"""As it is before a program changes it."""


def serve(place: str) -> Mapping[str, Any]:
    """Serve until standard input ends; in a child, what is asked of it."""
    gc.collect()
    gc.freeze()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen()
    print(flush=True)
    waiting, living = selectors.DefaultSelector(), dict[int, socket.socket]()
    waiting.register(listening, selectors.EVENT_READ)
    waiting.register(0, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select(POLL if living else None):
            if key.fd == 0:
                shutil.rmtree(folder := Path(place).parent, ignore_errors=True)
                with contextlib.suppress(OSError):  # others are in there
                    folder.parent.rmdir()
                os._exit(0)
            if key.data:  # who asked has heard how it ended, or is gone
                waiting.unregister(key.fileobj)
                os.waitpid(key.data, 0)
                key.fileobj.close()
                continue
            asking, _ = listening.accept()
            with contextlib.suppress(OSError, IndexError):  # who asked is gone
                asked, descriptors = heard(asking)
                others = [key.fileobj for key in waiting.get_map().values() if key.fd]
                if not (number := os.fork()):
                    begin(asking, asked, descriptors, [*others, *living.values(), waiting])
                    return asked
                living[number] = asking
                for each in descriptors:
                    os.close(each)
        for number, asking in [*living.items()]:
            if ended := os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                with contextlib.suppress(OSError):
                    status = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
                    asking.sendall(f"{status}\n".encode())
                waiting.register(living.pop(number), selectors.EVENT_READ, number)


def load_torch(path: str) -> None:
    """Load what each script would have to: torch, and Lightning where that goes by itself."""
    import torch

    with contextlib.suppress(ImportError):
        import torch._dynamo  # as the first optimizer does, where Lightning has not
    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("warm_harness", path)
    assert spec is not None and spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    for name in PACKAGES:
        before = set(sys.modules)
        if harness.installed(name):
            try:
                harness.lightning_packages([name])
            except Exception:
                for half in set(sys.modules) - before:
                    del sys.modules[half]
    for name in [name for name in sys.modules if name.startswith(("warm_harness", "_fixer_harness"))]:
        del sys.modules[name]


def load_fixer() -> None:
    """Load all that a command may have to."""
    for name in FIXER:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not found.name.endswith(".__main__") and not found.name.startswith("verify.harness."):
                with contextlib.suppress(ImportError):  # an extra is not installed
                    importlib.import_module(found.name)


def heard(asking: socket.socket) -> tuple[Mapping[str, Any], Sequence[int]]:
    """What is asked for, and the descriptors that come with it."""
    descriptors = array.array("i")
    text, ancillary, *_ = asking.recvmsg(1 << 22, socket.CMSG_SPACE(3 * descriptors.itemsize))
    descriptors.frombytes(ancillary[0][2])
    while not text.endswith(b"\n"):
        text += asking.recv(1 << 22)
    return json.loads(text), descriptors


def begin(asking: socket.socket, asked: Mapping[str, Any], descriptors: Sequence[int], others: Sequence[Any]) -> None:
    """Have what the program is to have and nothing else, and tell the number of the process once it leads a session."""
    try:
        ctypes.CDLL(None).prctl(DEATHSIG, KILL)
        os.setsid()
        asking.sendall(f"{os.getpid()}\n".encode())
        for each in (asking, *others):
            each.close()
        for number, given in enumerate(descriptors):
            os.dup2(given, number)
            os.close(given)
        if asked["has_terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        tempfile.tempdir = None
    except BaseException:
        traceback.print_exc()
        os._exit(70)


def run_fixer(command: Sequence[str]) -> None:
    """Run `python -m fixer` to the end of its process, which is Python's where something fails at it: to take apart
    what was loaded takes longer than most commands."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, stream(number, getattr(sys, name)))
        setattr(sys, f"__{name}__", getattr(sys, name))
    sys.path[0] = str(Path.cwd())
    sys.argv = ["-m", *command[3:]]
    try:
        runpy.run_module("fixer", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        code: Any = stop.code
        with contextlib.suppress(Exception):
            finish()
            END(code & 0xFF)
        raise


def stream(number: int, before: io.TextIOWrapper) -> io.TextIOWrapper:
    """A standard stream as Python makes it, like the one that this process has."""
    unbuffered = before.write_through
    file: Any = os.fdopen(number, "wb" if number else "rb", 0 if unbuffered and number else -1, closefd=False)
    getattr(file, "raw", file).name = before.name
    lines = not unbuffered and (number == 2 or file.isatty())
    made: Any = io.TextIOWrapper(file, before.encoding, before.errors, "\n", lines, unbuffered)
    made.mode = before.mode
    return made


def run_script(command: Sequence[str]) -> NoReturn:
    """Be a script that is started by its path, shut in or not."""
    import torch

    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    replaced: Any = os
    replaced.execvpe = lambda file, words, variables: run(words[1:])
    run(command[3:] if command[1:3] == ["-I", "-S"] else command[1:])


def run(words: Sequence[str]) -> NoReturn:
    """Run a script by its path to the end of its process."""
    script = words[0]
    sys.argv, sys.path[0] = list(words), str(Path(script).parent)
    status, is_interrupted = 1, False
    try:
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
    except BaseException as error:
        traceback.print_exc()
        is_interrupted = isinstance(error, KeyboardInterrupt)
    with contextlib.suppress(BaseException):
        finish()
    if is_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    END(status & 0xFF)


def finish() -> None:
    """What Python does at the end of a process that can be seen outside."""
    finishing: Any = threading
    finishing._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()


LOADS: Mapping[str, tuple[Callable[..., None], Callable[[Sequence[str]], None]]] = {
    "torch": (load_torch, run_script),
    "fixer": (load_fixer, run_fixer),
}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    load, be = LOADS[sys.argv[2]]
    load(*sys.argv[3:])
    asked = serve(sys.argv[1])
    be(asked["command"])
