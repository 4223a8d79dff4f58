"""The processes that look at files: what is said of one that fails."""

from __future__ import annotations

import os
import signal

import pytest

from codemods.engine import workers
from codemods.engine.scan import Options
from codemods.engine.workers import Item, Workers
from codemods.engine.workspace import Workspace
from codemods.rule import all_rules
from tests.codemods.support import sources

ITEMS: list[Item] = [("a.py", ()), ("b.py", ())]


class Closed(Exception):
    """An error that cannot be sent to another process."""

    def __init__(self) -> None:
        super().__init__(lambda: None)


def fail(workspace: Workspace, item: Item) -> str:
    raise Closed


def die(workspace: Workspace, item: Item) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return item[0]


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(workers, "POOL_BYTES", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    files = sources({path: "import torch\n" for path, _ in ITEMS})
    return Workspace({source.path: source for source in files}, Options(all_rules(), jobs=2), 1_000_000)


def test_an_error_comes_with_its_traceback(two: Workspace) -> None:
    with Workers(two) as working, pytest.raises(RuntimeError, match=r"(?s)in fail\n.*Closed"):
        list(working.look(fail, ITEMS))


def test_a_process_that_is_ended_from_outside_is_named(two: Workspace) -> None:
    with Workers(two) as working, pytest.raises(ChildProcessError, match=r"exit status -9.*--jobs 1"):
        list(working.look(die, ITEMS))
