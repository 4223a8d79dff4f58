"""fixer sees and does in a process that has loaded it what it would in one that is started anew."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import warm
from tests.fixer.choosing.pseudo_terminal import AtTerminal
from tests.fixer.command import launched, old_project
from tests.fixer.plugin_projects import TRAIN, written
from tests.fixer.test_interrupt import wait

pytestmark = pytest.mark.skipif(not warm.IS_POSSIBLE, reason="where it cannot be, fixer is started anew")

SEES = """
import gc, json, os, signal, sys, threading, warnings
def is_handed_on(number):
    try:
        return os.get_inheritable(number)
    except OSError:
        return False
if threading.current_thread() is threading.main_thread() and not os.environ.get("TOLD"):
    os.environ["TOLD"] = "1"
    main, streams = sys.modules["__main__"], (sys.stdin, sys.stdout, sys.stderr)
    told = {
        "argv": sys.argv, "path": sys.path, "here": os.getcwd(), "variables": dict(os.environ),
        "main": [main.__name__, main.__file__, main.__spec__.name, sys.modules.get("fixer.__main__") is None],
        "streams": [[each.encoding, each.errors, each.line_buffering, each.write_through, each.isatty(), each.fileno(),
                     type(each.buffer).__name__, each.name, each.mode] for each in streams],
        "same": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__],
        "signals": {each.name: repr(signal.getsignal(each)).split(" at ")[0] for each in signal.Signals},
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "threads": threading.active_count(),
        "leads": [os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid()],
        "terminal": sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpid(),
        "flags": str(sys.flags), "warned": str(warnings.filters), "thresholds": gc.get_threshold(),
        "left": sorted(name for name in sys.modules if "warm" in name or name == "server"),
        "open": [int(each) for each in os.listdir("/proc/self/fd") if 2 < int(each) < 64 and is_handed_on(int(each))],
        "typed": "" if sys.stdin.isatty() else sys.stdin.read(),
    }
    sys.stderr.write("SEEN" + json.dumps(told) + chr(10))
"""
Start = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(written(before=SEES))
    return old_project(tmp_path / "project", {"train.py": TRAIN})


def both(monkeypatch: pytest.MonkeyPatch, start: Start) -> list[Any]:
    """What comes of it anew, and where fixer is loaded."""
    with monkeypatch.context() as changed:
        changed.setattr(warm, "IS_POSSIBLE", False)
        anew = start(subprocess.Popen)
    return [anew, start(warm.Started)]


def seen(text: str) -> dict[str, Any]:
    (line,) = (line for line in text.splitlines() if line.startswith("SEEN"))
    return dict(json.loads(line.removeprefix("SEEN")))


def test_it_sees_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(kind: type) -> tuple[int, str, dict[str, Any]]:
        words = ("check", f"--plugins={project.parent / 'own.py'}", "--jobs", "1", "--output-format", "json")
        how = {"stdin": subprocess.PIPE, "start_new_session": True, "env": {"XDG_CACHE_HOME": str(project.parent)}}
        with launched(project, *words, **how) as running:
            assert type(running) is kind
            out, err = running.communicate(b"one\r\ntwo")
        found = seen(err.decode())
        return running.returncode, out.decode().replace(str(json.loads(out)["duration_s"]), ""), found

    anew, warmed = both(monkeypatch, start)
    assert warmed == anew
    assert anew[2]["typed"] == "one\r\ntwo" and anew[2]["leads"] == [True, True]


def test_it_sees_the_same_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(kind: type) -> tuple[int, dict[str, Any]]:
        with AtTerminal(project, "check", f"--plugins={project.parent / 'own.py'}", "--jobs", "1") as shown:
            assert type(shown.process) is kind
            code, text = shown.end()
        return code, seen(text)

    anew, warmed = both(monkeypatch, start)
    assert warmed == anew
    assert anew[1]["terminal"] is True


@pytest.mark.parametrize(
    "words", [("check",), ("diff",), ("rules",), ("--version",), ("check", "--nonsense"), ("explain", "no such rule")]
)
def test_it_says_and_ends_the_same(project: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def start(kind: type) -> tuple[int, bytes, bytes]:
        with launched(project, *words) as running:
            assert type(running) is kind
            return (*running.communicate(), running.wait())

    anew, warmed = both(monkeypatch, start)
    assert warmed == anew


@pytest.mark.parametrize(("stream", "words"), [("stdout", ("rules",)), ("stderr", ("explain", "no such rule"))])
def test_it_ends_the_same_where_nothing_can_be_written(
    project: Path, stream: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(kind: type) -> tuple[int, bytes | None, bytes | None]:
        with Path("/dev/full").open("wb") as full, launched(project, *words, **{stream: full}) as running:
            return (*running.communicate(), running.wait())

    anew, warmed = both(monkeypatch, start)
    assert warmed == anew and anew[2] != 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_is_ended_the_same(
    project: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, interrupts: None
) -> None:
    (project.parent / "own.py").write_text(written(before="import sys, time\nprint(1, flush=True)\ntime.sleep(600)"))

    def start(kind: type) -> tuple[int, bytes]:
        with launched(project, "check", f"--plugins={project.parent / 'own.py'}") as running:
            assert running.stdout and running.stderr and running.stdout.readline() == b"1\n" and running.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(0.01)
            os.kill(running.pid, number)
            said = running.stderr.read()
            assert wait(lambda: psutil.Process(running.pid).status() == psutil.STATUS_ZOMBIE, 60)
            code = running.wait()
            assert not psutil.pid_exists(running.pid)
            return code, said

    anew, warmed = both(monkeypatch, start)
    assert warmed == anew and anew[0] == (130 if number == signal.SIGINT else -number)


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "PYTHONPATH", "LC_ALL"])
def test_an_interpreter_that_is_to_be_another_is_started_anew(tmp_path: Path, name: str) -> None:
    with launched(tmp_path, "--version", env={name: "1"}) as running:
        assert type(running) is subprocess.Popen
    with launched(tmp_path, "--version", options=("-X", "importtime")) as running:
        assert type(running) is subprocess.Popen


@pytest.mark.cold
def test_one_that_is_to_be_cold_is_started_anew(tmp_path: Path) -> None:
    with launched(tmp_path, "--version") as running:
        assert type(running) is subprocess.Popen and running.args[0] == sys.executable
