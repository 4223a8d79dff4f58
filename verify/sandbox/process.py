"""Running a program that is not ours: in its own group, with limits, and never left behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

PREFIX = "fixer-verify-"
_MARK = "FIXER_RUN"
_KEPT = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR")
_KEPT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_", "ROCR_", "HIP_")
_TAIL = 64 * 1024
_SPARE = 2**30
TASKS_EACH = 16
"""How many threads there may be for each process that there may be."""


class Stopped(Exception):
    """The run was given up from outside."""


@dataclass(frozen=True)
class Limits:
    """What a program may use: seconds, bytes of memory over all its processes, processes, and bytes that it writes."""

    seconds: float
    memory: int
    processes: int = 256
    disk: int = 4 * 2**30


@dataclass(frozen=True)
class Outcome:
    """How a program ended: its status, the end of its output, and what it was ended for, if it was."""

    status: int
    output: str
    ended: str | None
    seconds: float


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limits: Limits,
    stop: threading.Event,
    own: Path | None = None,
) -> Outcome:
    """Run a program without standard input until it ends or breaks a limit; none of its children survives.

    What it writes is bounded below `own`. Raises Stopped once `stop` is set, after ending the program.
    """
    mark = secrets.token_hex(8)
    started = time.monotonic()
    room = Room(own, limits.disk) if own else None
    child = subprocess.Popen(
        list(command),
        cwd=folder,
        env={**environment, _MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail = bytearray()
    reader = threading.Thread(target=_drain, args=(child.stdout, tail), daemon=True)
    reader.start()
    family = Family(child.pid, mark)
    try:
        ended = _watch(child, family, limits, room, stop)
    finally:
        _end(child, family)
    reader.join(timeout=5)
    if stop.is_set():
        raise Stopped
    text = bytes(tail).decode("utf-8", "replace")
    return Outcome(child.returncode, text, ended, time.monotonic() - started)


def _drain(stream: IO[bytes] | None, tail: bytearray) -> None:
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError), stream:
        while chunk := os.read(stream.fileno(), 4096):
            tail += chunk
            del tail[:-_TAIL]


def _watch(
    child: subprocess.Popen[bytes], family: Family, limits: Limits, room: Room | None, stop: threading.Event
) -> str | None:
    """Wait for the end; what broke a limit is returned."""
    deadline = time.monotonic() + limits.seconds
    while not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=0.1)
            return None
        if time.monotonic() > deadline:
            return f"it ran longer than {limits.seconds:g} seconds"
        members = family.look()
        if len(members) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if family.threads > limits.processes * TASKS_EACH:
            return f"it started more than {limits.processes * TASKS_EACH} threads"
        if family.resident > limits.memory:
            return f"it used more than {limits.memory / 2**30:.1f} GiB of memory"
        if room and (full := room.full()):
            return full
    return None


def _end(child: subprocess.Popen[bytes], family: Family) -> None:
    """End all politely, then for good: the child last, since what its children leave comes to it."""
    if child.poll() is None:
        _ask(family.look())
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=5)
    for _ in range(50):
        left = family.look() | set(marked(family.mark))
        if not left - {child.pid}:
            break
        _kill(left, child.pid)
    _signal_group(child.pid, _KILL)
    if child.poll() is None:
        child.kill()
    child.wait()


def kill(root: int) -> None:
    """Kill a process with all that it started and that is still its own, in whatever group."""
    family = Family(root, "")
    for _ in range(50):
        left = family.look()
        if not left - {root}:
            break
        _kill(left, root)
    _signal_group(root, _KILL)
    with contextlib.suppress(psutil.Error):
        psutil.Process(root).kill()


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def _ask(members: set[int]) -> None:
    """Ask all to end, once each: a second signal would break into what the first makes them do."""
    groups = _groups(members)
    for group in groups:
        _signal_group(group, signal.SIGTERM)
    if not groups:
        for pid in members:
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).terminate()


def _kill(members: set[int], child: int) -> None:
    """Kill all but the child: by groups, since no fork outruns that, and one by one."""
    for group in _groups(members - {child}) - {child}:
        _signal_group(group, _KILL)
    for pid in members - {child}:
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).kill()


def _groups(members: set[int]) -> set[int]:
    """The groups that they are in but for our own; none where the system has no groups."""
    found: set[int] = set()
    if sys.platform != "win32":
        for pid in members:
            with contextlib.suppress(OSError):
                found.add(os.getpgid(pid))
        found.discard(os.getpgrp())
    return found


def _signal_group(pid: int, number: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, number)


class Family:
    """A program with all that it started, as far as the system tells: also what once belonged to it and left."""

    def __init__(self, root: int, mark: str) -> None:
        self.root = root
        self.mark = mark
        self.threads = 0
        self.resident = 0
        self._known: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            self._known.append(psutil.Process(root))

    def look(self) -> set[int]:
        """The living members; `threads` is then how many all of them have, `resident` the bytes of memory."""
        found: dict[psutil.Process, None] = {}
        for process in self._known:
            if process not in found:  # else all of its own are there already: asking takes a look at every process
                found |= dict.fromkeys([process, *_children(process)])
        self._known = [process for process in found if process.is_running()]
        living = [each for process in self._known if (each := _usage(process))]
        self.threads = sum(each.threads for each in living)
        self.resident = sum(each.resident for each in living)
        return {each.pid for each in living}


@dataclass(frozen=True)
class _Usage:
    pid: int
    threads: int
    resident: int


def _usage(process: psutil.Process) -> _Usage | None:
    """What a process uses, None where it has ended; what the system does not tell counts as nothing."""
    threads = resident = 0
    try:
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            with contextlib.suppress(psutil.AccessDenied):
                threads, resident = process.num_threads(), process.memory_info().rss
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        pass
    return _Usage(process.pid, threads, resident)


def _children(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return list(process.children(recursive=True))
    return []


def marked(mark: str) -> list[int]:
    """The living processes that carry this run's mark in their environment, as far as the system shows that."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(_MARK) == mark:
                found.append(process.pid)
    return found


class Room:
    """How much more may be written below a folder, looked at once a second."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._before = used(folder)
        self._floor = min(_SPARE, shutil.disk_usage(folder).free // 2)
        self._next = 0.0

    def full(self) -> str | None:
        """Why nothing more may be written, None while something may. Deleted files that are still open are only
        seen by what they leave of the disk."""
        if time.monotonic() < self._next:
            return None
        if used(self.folder) - self._before > self.limit:
            return f"it wrote more than {self.limit / 2**30:.1f} GiB"
        if shutil.disk_usage(self.folder).free < self._floor:
            return "it filled the disk"
        self._next = time.monotonic() + 1
        return None


def used(folder: Path) -> int:
    """The bytes on disk below a folder; links are not followed."""
    total = 0
    waiting = [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        found = entry.stat(follow_symlinks=False)
                        total += getattr(found, "st_blocks", found.st_size // 512) * 512
    return total


def memory() -> int:
    """The bytes of memory that this machine, or the container that we are in, has."""
    sizes = [int(psutil.virtual_memory().total)]
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes)


def kept() -> dict[str, str]:
    """What a program needs of the user's environment to start."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def scrubbed(home: Path, cores: int) -> dict[str, str]:
    """An environment with nothing of the user's but what a program needs to start; all files go below `home`."""
    places = {
        "HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp",
        "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data",
        "TORCH_HOME": "cache/torch", "HF_HOME": "cache/huggingface", "MPLCONFIGDIR": "config/matplotlib",
    }  # fmt: skip
    for folder in set(places.values()):
        (home / folder).mkdir(parents=True, exist_ok=True)
    settings = {
        "MPLBACKEND": "Agg", "WANDB_MODE": "disabled", "TOKENIZERS_PARALLELISM": "false",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "OMP_NUM_THREADS": str(cores), "USER": "fixer", "LOGNAME": "fixer",
        "PYTORCH_ENABLE_MPS_FALLBACK": "1",
        # protobuf's other implementations refuse what protoc made before 3.19, as it is in TensorBoard up to 2.8
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
    }  # fmt: skip
    return {**kept(), **{name: str(home / folder) for name, folder in places.items()}, **settings}


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder that is gone afterwards; those of runs that were killed go too."""
    for stale in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = stale.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")).resolve()
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, also where the program took its own rights away."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for path in [folder, *folder.rglob("*")]:
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
