"""One plan or one proof: `fixer run` in a process of its own, which is told nothing but what it needs.

A task names files and options, and no token: it is the same on this machine and on a node of a cluster.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fixer.fleet.asked import RepositoryOptions

REPORT, PAGE, LOG, RUNS = "report.json", "page.html", "log.txt", "runs"
_PASSED = {
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "WINDIR",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NETRC", "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH",
}  # fmt: skip
_PASSED_PREFIXES = ("LC_", "XDG_", "CUDA_", "NVIDIA_", "ROCR_", "HIP_")
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_LOOK_S = 0.05
_GRACE_S = 10.0
_LOG_END = 64 * 1024


@dataclass(frozen=True)
class FleetTask:
    """A plan or a proof of one repository: the clone it is made of, the folder that takes what comes out, the words
    that `fixer run` is given, and what it needs."""

    repository: str
    step: Literal["plan", "prove"]
    clone: str
    folder: str
    arguments: tuple[str, ...]
    seconds: float
    cpus: int = 1
    gpus: int = 0
    memory: int | None = None

    @property
    def name(self) -> str:
        """What it is called on a dashboard."""
        return f"{self.step} {self.repository}"


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended: what `fixer` exited with (None where it was ended after its time), and what it cost, in seconds
    by the clock and of processors."""

    code: int | None
    seconds: float
    cpu: float


def arguments_of(options: RepositoryOptions, *, plan: bool) -> tuple[str, ...]:
    """What `fixer run` is given for a repository: for its plan alone, or for the whole way to a branch."""
    given = {
        "--select": None if options.select is None else ",".join(options.select),
        "--ignore": None if options.ignore is None else ",".join(options.ignore),
        "--target": options.target,
        "--namespace": options.namespace,
        "--plugins": ",".join(options.plugins),
        "--branch": options.branch,
        **({} if plan else {"--require": options.require, "--budget": options.budget}),
        "--timeout": None if plan or options.timeout is None else f"{options.timeout:g}",
    }
    switches = (
        ("--unsafe-fixes", options.unsafe_fixes),
        ("--no-verify", plan or not options.prove),
        ("--dry-run", plan and options.prove),
    )
    return (
        *(f"{name}={value}" for name, value in given.items() if value is not None),
        *(name for name, on in switches if on),
    )


def environment(of: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The variables of a task's process: what finds programs and settings and is called nothing secret, and what
    installers are told. Its runs are kept in its folder."""
    from verify.environments.installer import is_theirs

    passed = {name: value for name, value in of.items() if is_theirs(name) or _is_passed(name.upper())}
    return {**passed, "PYTHONPATH": home(), "FIXER_RUNS": str(folder / RUNS), "NO_COLOR": "1"}


def _is_passed(name: str) -> bool:
    found = name in _PASSED or name.startswith(_PASSED_PREFIXES)
    return found and not any(one in name for one in _SECRET)


def home() -> str:
    """The folder that fixer and its sibling packages lie in."""
    return str(Path(__file__).resolve().parents[2])


def run_task(task: FleetTask, stop: threading.Event | None = None) -> TaskOutcome:
    """Does a task, in a folder that is emptied first. It is ended once its time is over, or `stop` is set."""
    folder = Path(task.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    command = [
        *(sys.executable, "-m", "fixer.fleet.child", str(os.getpid()), "run", task.clone, "--quiet"),
        *(f"--output-file=json:{folder / REPORT}", f"--output-file=html:{folder / PAGE}"),
        *(f"--jobs={task.cpus}", *task.arguments),
    ]
    began = time.monotonic()
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=home(),
            env=environment(os.environ, folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code, cpu = _ended(process, began + task.seconds, stop or threading.Event())
    _shorten(folder / LOG)
    return TaskOutcome(code, time.monotonic() - began, cpu)


def _ended(process: subprocess.Popen[bytes], deadline: float, stop: threading.Event) -> tuple[int | None, float]:
    """What a process exited with, None where it was ended, and the seconds of processors that it used. It is asked to
    end, and after a grace killed with all that it started."""
    from verify.sandbox.process import kill

    asked = math.inf
    while True:
        code, cpu = _looked(process)
        if code is not None:
            return (None if asked < math.inf else code), cpu
        now = time.monotonic()
        if asked == math.inf and (now > deadline or stop.is_set()):
            process.terminate()
            asked = now
        if now > asked + _GRACE_S:
            kill(process.pid)
        time.sleep(_LOOK_S)


def _looked(process: subprocess.Popen[bytes]) -> tuple[int | None, float]:
    if sys.platform == "win32":
        return process.poll(), 0.0
    if process.returncode is not None:
        return process.returncode, 0.0
    try:
        id, status, usage = os.wait4(process.pid, os.WNOHANG)
    except ChildProcessError:
        return process.poll() or 0, 0.0
    if id == 0:
        return None, 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def _shorten(log: Path) -> None:
    """Keeps the end of a log."""
    size = log.stat().st_size
    if size > _LOG_END:
        with log.open("rb") as stream:
            stream.seek(size - _LOG_END)
            end = stream.read()
        log.write_bytes(b"...\n" + end)
