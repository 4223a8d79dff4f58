"""What `check` remembers of a project from one command to the next."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from codemods.code.source import Source
from codemods.engine.scan import Options, scan
from codemods.engine.scan_cache import Memory
from codemods.rule import all_rules
from fixer import cache, remembered

FILES = (Source("model.py", "python", b"import pytorch_lightning as pl\n\npl.Trainer(gpus=1)\n"),)
OPTIONS = Options(all_rules())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "SMALL", 0)
    return tmp_path


def look(root: Path) -> Memory:
    with remembered.remembering(root, OPTIONS, FILES) as memory:
        scan(FILES, OPTIONS, memory=memory)
    return memory


def test_the_second_look_knows_what_the_first_said(home: Path) -> None:
    assert look(home).learned
    assert not look(home).learned
    assert look(home / "another").learned


def test_small_projects_leave_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "SMALL", 10_000)
    look(home)
    assert not (home / "cache").exists()


def test_nobody_else_may_read_it(home: Path) -> None:
    look(home)
    (place,) = remembered.places()
    assert place.stat().st_mode & 0o077 == 0
    assert place.parent.stat().st_mode & 0o077 == 0


def test_a_look_that_fails_leaves_what_was_there(home: Path) -> None:
    look(home)
    (place,) = remembered.places()
    kept = place.read_bytes()
    with pytest.raises(ZeroDivisionError), remembered.remembering(home, OPTIONS, FILES):
        raise ZeroDivisionError
    assert place.read_bytes() == kept


def test_a_folder_that_cannot_be_made_costs_nothing_but_the_memory(home: Path) -> None:
    (home / "cache").write_text("in the way")
    assert look(home).learned
    assert look(home).learned


def test_only_so_many_projects_are_remembered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "KEPT", 2)
    for name in ("a", "b", "c"):
        look(home / name)
    assert len(remembered.places()) == 2


def test_the_cache_command_tells_and_forgets(home: Path) -> None:
    look(home / "a")
    look(home / "b")
    old = remembered.places()[0]
    os.utime(old, (time.time() - 40 * 86_400,) * 2)
    assert "remembered: what the files of 2 projects said" in cache.listed()
    assert "forgotten: what the files of 1 project said" in cache.pruned(30)
    assert not old.exists()
    assert "forgotten: what the files of 1 project said" in cache.pruned(0)
    assert "remembered" not in cache.listed()


def test_who_only_looks_knows_it_and_adds_nothing(home: Path) -> None:
    look(home)
    (place,) = remembered.places()
    kept = place.read_bytes()
    memory = remembered.recalled(home, OPTIONS, FILES)
    scan(FILES, OPTIONS, memory=memory)
    assert not memory.learned
    scan((), OPTIONS, memory=remembered.recalled(home / "another", OPTIONS, FILES))
    assert place.read_bytes() == kept and list(remembered.places()) == [place]
