"""Which functions of a project were called, and how often."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from verify.harness import calls

MODULE = """def used():
    return 1


def keep(function):
    return function


@keep
def wrapped():
    yield 1
    yield 2


def idle():
    return 1
"""
PROGRAM = """import importlib.util, json, sys, threading

spec = importlib.util.spec_from_file_location("calls", sys.argv[1])
calls = importlib.util.module_from_spec(spec)
spec.loader.exec_module(calls)
import project

seen = calls.Calls(sys.argv[2], ["project.py:1", "project.py:9", "project.py:15"])
seen.begin()
for _ in range(12):
    project.used()
thread = threading.Thread(target=lambda: list(project.wrapped()))
thread.start()
thread.join()
first = seen.report(), seen.times()
seen.begin()
project.used()
print(json.dumps([*first, seen.report(), seen.times()]))
"""
COUNTS = sys.version_info >= (3, 12)


@pytest.fixture
def told(tmp_path: Path) -> list[object]:
    """What is told of a run, and of a second one."""
    (tmp_path / "project.py").write_text(MODULE)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", calls.__file__, str(tmp_path)]
    found: list[object] = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout)
    return found


def test_calls_are_told_and_counted_where_python_counts_them(told: list[object]) -> None:
    assert told[0] == ["project.py:1", "project.py:9"]
    assert told[1] == ({"project.py:1": 12, "project.py:9": 1} if COUNTS else None)


def test_a_second_run_begins_at_nothing(told: list[object]) -> None:
    assert told[2:] == [["project.py:1"], {"project.py:1": 1} if COUNTS else None]
