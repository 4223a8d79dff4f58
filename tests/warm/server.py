"""Starts programs in children that have torch and Lightning loaded: `python server.py PLACE HARNESS`, PLACE a socket.

Started by path, in the interpreter that the programs are for. Each connection brings a command, a folder, variables and
the descriptor of an output, and of an input where there is one. A forked child becomes that program, as a new
interpreter would: also where the command shuts in a program of this interpreter, by the very code that does it else.
The number of the child is told at once, how it ended at its end. It ends when its standard input does, and its children
with it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

PACKAGES = ("pytorch_lightning", "lightning.pytorch")
DEATHSIG, KILL = 1, 9
POLL = 0.01
END = os._exit
"""As it is before a program changes it."""


def main(place: str, harness: str) -> None:
    """Serve until standard input ends."""
    load(harness)
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
            asking, _ = listening.accept()
            with contextlib.suppress(OSError, IndexError):  # who asked is gone
                living[begin(asking, [listening, *living.values()])] = asking
        while living and (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            answer(living.pop(ended[0]), os.waitstatus_to_exitcode(ended[1]))


def load(path: str) -> None:
    """Load what each program would have to: torch, and Lightning where that goes by itself."""
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


def answer(asking: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError), asking:
        asking.sendall(f"{number}\n".encode())


def begin(asking: socket.socket, others: Sequence[socket.socket]) -> int:
    """Fork the child that becomes the program which is asked for, and tells its number once it leads a session."""
    descriptors = array.array("i")
    text, ancillary, *_ = asking.recvmsg(1 << 22, socket.CMSG_SPACE(2 * descriptors.itemsize))
    descriptors.frombytes(ancillary[0][2])
    output, *given = descriptors
    while not text.endswith(b"\n"):
        text += asking.recv(1 << 22)
    child = os.fork()
    if child:
        for each in descriptors:
            os.close(each)
        return child
    try:
        ctypes.CDLL(None).prctl(DEATHSIG, KILL)
        os.setsid()
        asking.sendall(f"{os.getpid()}\n".encode())
        for each in (asking, *others):
            each.close()
        reading = given[0] if given else os.open(os.devnull, os.O_RDONLY)
        for old, new in ((reading, 0), (output, 1), (output, 2)):
            os.dup2(old, new)
        os.close(reading)
        os.close(output)
        become(json.loads(text))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def become(asked: Mapping[str, Any]) -> NoReturn:
    """Be the program, with what it is to see."""
    import torch

    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None
    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    command = asked["command"]
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
    finishing: Any = threading
    with contextlib.suppress(BaseException):
        finishing._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    if is_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    END(status & 0xFF)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(*sys.argv[1:])
