"""Running a program that is not ours: in its own group, with limits, and never left behind."""

from __future__ import annotations

import collections
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

PREFIX = "fixer-verify-"
_MARK = "FIXER_RUN"
_KEPT = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR")
_KEPT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_", "ROCR_", "HIP_")
_TAIL = 64 * 1024


class Stopped(Exception):
    """The run was given up from outside."""


@dataclass(frozen=True)
class Limits:
    """What a program may use: seconds, bytes of memory over all its processes, and processes."""

    seconds: float
    memory: int
    processes: int = 256


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
) -> Outcome:
    """Run a program without standard input until it ends or breaks a limit; none of its children survives.

    Raises Stopped once `stop` is set, after ending the program.
    """
    mark = secrets.token_hex(8)
    started = time.monotonic()
    child = subprocess.Popen(
        list(command),
        cwd=folder,
        env={**environment, _MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail: collections.deque[bytes] = collections.deque(maxlen=_TAIL // 4096)
    reader = threading.Thread(target=_drain, args=(child.stdout, tail), daemon=True)
    reader.start()
    try:
        ended = _watch(child, mark, limits, stop)
    finally:
        _end(child, mark)
    reader.join(timeout=5)
    if stop.is_set():
        raise Stopped
    text = b"".join(tail).decode("utf-8", "replace")
    return Outcome(child.returncode, text, ended, time.monotonic() - started)


def _drain(stream: IO[bytes] | None, tail: collections.deque[bytes]) -> None:
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError), stream:
        while chunk := os.read(stream.fileno(), 4096):
            tail.append(chunk)


def _watch(child: subprocess.Popen[bytes], mark: str, limits: Limits, stop: threading.Event) -> str | None:
    """Wait for the end; what broke a limit is returned."""
    deadline = time.monotonic() + limits.seconds
    while not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=0.1)
            return None
        if time.monotonic() > deadline:
            return f"it ran longer than {limits.seconds:g} seconds"
        members = [child.pid, *marked(mark)]
        if len(members) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if sum(_resident(pid) for pid in set(members)) > limits.memory:
            return f"it used more than {limits.memory / 2**30:.1f} GiB of memory"
    return None


def _end(child: subprocess.Popen[bytes], mark: str) -> None:
    """End the group politely, then for good, and whatever left the group."""
    if child.poll() is None:
        _signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=2)
    _signal_group(child.pid, _KILL)
    if child.poll() is None:
        child.kill()
    child.wait()
    for _ in range(50):
        left = marked(mark)
        if not left:
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, _KILL)
        time.sleep(0.05)


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def _signal_group(pid: int, number: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, number)


def marked(mark: str) -> list[int]:
    """The living processes that carry this run's mark in their environment; none where there is no /proc."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory() -> int:
    """The bytes of memory that this machine, or the container that we are in, has."""
    sizes = []
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes, default=8 * 2**30)


def scrubbed(home: Path, cores: int) -> dict[str, str]:
    """An environment with nothing of the user's but what a program needs to start; all files go below `home`."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
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
    }  # fmt: skip
    return {**kept, **{name: str(home / folder) for name, folder in places.items()}, **settings}


def isolation() -> tuple[str, ...]:
    """The command to put before another so that it has no network, empty where the system has none."""
    unshare = shutil.which("unshare") if sys.platform == "linux" else None
    if not unshare:
        return ()
    up = 'ip link set lo up 2>/dev/null; exec "$@"'
    command = (unshare, "-rn", "sh", "-c", up, "sh")
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return command if tried.returncode == 0 else ()


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder that is gone afterwards; those of runs that were killed go too."""
    for stale in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = stale.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
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


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
