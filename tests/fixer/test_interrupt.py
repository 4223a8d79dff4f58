"""Ctrl-C and the like: nothing is left behind, whatever fixer was doing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.fixer.command import OLD, environment, old_project
from tests.fixer.git_repos import Repo
from tests.support import git

pytestmark = pytest.mark.usefixtures("interrupts")

LARGE = b"# gpus= pytorch_lightning\n" + b"x = [1, 2, 3]\n" * 20_000
SLEEPING = OLD.replace(b"trainer", b"import time\nopen('started', 'w').close()\ntime.sleep(100)\ntrainer", 1)
SLEEPING += b"trainer.fit(None)\n"


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    """A repository that takes a while to read."""
    files = {f"large{number}.py": LARGE for number in range(60)}
    return old_project(tmp_path / "project", {"train.py": OLD, **files})


@pytest.fixture
def training(tmp_path: Path, own_home: None) -> Path:
    """A repository whose script takes a while to train."""
    return old_project(tmp_path / "project", {"train.py": SLEEPING, "requirements.txt": b"pytorch-lightning==1.8.6\n"})


def begin(folder: Path, temporary: Path, *options: str) -> subprocess.Popen[bytes]:
    temporary.mkdir()
    command = [sys.executable, "-m", "fixer", "run", str(folder), "--output-format", "json", *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(temporary)}),
        start_new_session=True,
    )


def ended(started: subprocess.Popen[bytes], folder: Path, temporary: Path, before: dict[str, str]) -> None:
    """It ended as an interrupted command does, and left nothing."""
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert err.decode().splitlines()[-1:] == ["fixer: interrupted"]
    assert b"Traceback" not in err, err
    assert json.loads(out)["error"] == "interrupted"
    assert git(folder, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(folder, "status", "--porcelain") == ""
    assert Repo(folder).fingerprint() == before
    assert [place.name for place in temporary.glob("fixer-*")] == []
    assert wait(lambda: not list(working_in(temporary, started.pid)))


def working_in(temporary: Path, group: int) -> Iterator[int]:
    """The processes that fixer left: those of its session, and those with its temporary folder in their command."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == group or str(temporary) in " ".join(process.cmdline()):
                yield process.pid


def wait(until: Callable[[], bool], seconds: float = 300) -> bool:
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def to_process(pid: int, number: int) -> None:
    os.kill(pid, number)


def to_group(pid: int, number: int) -> None:
    """As a terminal does."""
    os.killpg(pid, number)


@pytest.mark.parametrize("send", [to_process, to_group])
@pytest.mark.parametrize("pause", [0.05, 1.0])
def test_while_reading(reading: Path, tmp_path: Path, send: Callable[[int, int], None], pause: float) -> None:
    before = Repo(reading).fingerprint()
    started = begin(reading, tmp_path / "tmp", "--no-verify", "--jobs", "2")
    assert started.stderr is not None
    assert started.stderr.readline() == b"reading the repository\n"
    time.sleep(pause)
    send(started.pid, signal.SIGINT)
    ended(started, reading, tmp_path / "tmp", before)


AT_FORK = """
import os, signal, sys
import fixer.__main__

os.register_at_fork({when}=lambda: os.kill({who}, signal.SIGINT))
sys.argv = ["fixer", "check", {folder!r}, "--jobs", "2"]
fixer.__main__.main()
"""


@pytest.mark.parametrize("when", ["before", "after_in_parent", "after_in_child"])
def test_while_a_process_is_made(reading: Path, when: str) -> None:
    """What is raised around a fork is printed and forgotten."""
    who = "os.getppid()" if when == "after_in_child" else "os.getpid()"
    code = AT_FORK.format(when=when, who=who, folder=str(reading))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment({}))
    assert (ended.returncode, ended.stderr.splitlines()[-1:]) == (130, ["fixer: interrupted"])
    assert "Traceback" not in ended.stderr


WITHIN_EXEC = """
import fixer.__main__, fixer.cli

def start(argv):
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 130

fixer.cli.start = start
fixer.__main__.main()
"""


def test_while_a_dataclass_is_made(tmp_path: Path) -> None:
    """Python ends a module that was interrupted in the `exec` of a text by the signal, though that was answered."""
    (tmp_path / "interrupted.py").write_text(WITHIN_EXEC)
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 130, done.stderr


@pytest.mark.parametrize(("send", "number"), [(to_group, signal.SIGINT), (to_process, signal.SIGTERM)])
def test_while_training(
    training: Path, tmp_path: Path, send: Callable[[int, int], None], number: signal.Signals
) -> None:
    before = Repo(training).fingerprint()
    temporary = tmp_path / "tmp"
    started = begin(training, temporary)
    assert wait(lambda: len(list(temporary.glob("fixer-*/*/tree/*/started"))) == 2), "both trees run"
    send(started.pid, number)
    ended(started, training, temporary, before)
