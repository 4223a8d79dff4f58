"""The table that is shown while a fleet runs, by its own run and by `status --watch`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fixer.fleet import status
from fixer.fleet.asked import FleetRepository
from fixer.fleet.state import FleetState, opened
from fixer.fleet.status import live, watched


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with opened(tmp_path, make=True) as held:
        held.enroll([FleetRepository(f"acme/{name}", f"/{name}") for name in "abc"])
        held.begin("acme/b", "clone")
        yield held


def test_a_run_shows_what_it_does_on_a_terminal(
    state: FleetState, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(status, "_PAUSE_S", 0.0)
    monkeypatch.setattr(status, "_SHARE", 0)
    with live(state) as say:
        say("acme/b: clone")
        state.end("acme/b", "clone", "done", {"state": "cloned"})
        state.begin("acme/b", "plan")
        say("acme/b: plan")
    shown = capsys.readouterr().err
    assert "3 repositories: 3 queued" in shown and "3 repositories: 2 queued, 1 cloned" in shown
    assert shown.index("clone") < shown.index("plan") and "acme/a" not in shown


def test_a_run_says_a_line_elsewhere(state: FleetState, capsys: pytest.CaptureFixture[str]) -> None:
    with live(state) as say:
        say("acme/b: clone failed: \x1b[31mred\nnext")
    assert capsys.readouterr().err.count("\n") == 1


def test_who_watches_sees_what_changes_until_the_run_ends(
    state: FleetState, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[float] = []

    def wait(seconds: float) -> None:
        asked.append(seconds)
        state.end("acme/b", "clone", "failed", {"state": "failed"})
        state.begin("acme/c", "clone")

    monkeypatch.setattr(status.time, "sleep", wait)
    watched(state, lambda: len(asked) < 2)
    shown = capsys.readouterr().out
    assert "3 repositories: 3 queued" in shown and "3 repositories: 2 queued, 1 failed" in shown
    assert shown.index("acme/b") < shown.index("acme/c") and len(asked) == 2
