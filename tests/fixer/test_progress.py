"""What is said on standard error while a command works: all of it at a terminal, seldom in a log."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fixer import console
from tests.fixer.command import environment
from verify.follow import PassingLine


def test_a_log_gets_stages_at_once_and_numbers_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with console.progress(quiet=False) as say:
        for second, line in enumerate(
            ["begin", *(PassingLine(f"step {number}") for number in range(65)), "end\x1b[1m"]
        ):
            now[0] = float(second)
            say(line)
    assert capsys.readouterr().err.splitlines() == ["begin", "step 29", "step 59", "end\\x1b[1m"]


def test_nothing_is_said_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress(quiet=True) as say:
        say("begin")
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_the_last_line_with_the_time_and_clears_it() -> None:
    code = """
import time
from fixer.console import progress
from verify.follow import PassingLine
with progress(False) as say:
    say("[bold]stage[/bold]")
    say(PassingLine(("before " * 20) + "step 1 of 16, loss 0.5"))
    time.sleep(0.3)
"""
    shown = at_a_terminal(code)
    assert "step 1 of 16, loss 0.5" in shown
    assert "0:00:00" in shown
    assert shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))


def at_a_terminal(code: str) -> str:
    """What a Python program shows on a terminal as its standard error."""
    reading, writing = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=writing,
        cwd=Path(__file__).parent,
        env=environment({"COLUMNS": "100", "TERM": "xterm"}),
    )
    os.close(writing)
    shown, began = b"", time.monotonic()
    while time.monotonic() - began < 60:
        try:
            part = os.read(reading, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(reading)
    assert child.wait(timeout=60) == 0
    return shown.decode()
