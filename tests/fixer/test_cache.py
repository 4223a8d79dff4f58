from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from fixer import cache
from fixer.proof_state import states
from tests.fixer.command import Ask
from verify.environments.building import MARKER
from verify.environments.environment_cache import DAY


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    for name, days in (("new", 0), ("old", 40)):
        (tmp_path / name).mkdir()
        marker = tmp_path / name / MARKER
        marker.write_text(json.dumps({"asked": ["3.11.7", "linux", ["torch==2", f"lightning=={days}"]], "left": []}))
        os.utime(marker, (0, time.time() - days * DAY))
    return tmp_path


def test_the_list_and_what_is_removed_from_it(ask: Ask, folder: Path) -> None:
    first, second, last = ask("cache").out.splitlines()
    assert first == "new  0.0 MB  used today  Python 3.11.7, torch==2, lightning==0"
    assert second == "old  0.0 MB  used 40 days ago  Python 3.11.7, torch==2, lightning==40"
    assert last == f"2 environments in {folder}: 0.0 MB"
    assert ask("cache", "--prune", "30").out.splitlines()[-1] == f"removed 1 environment from {folder}: 0.0 MB"
    assert [place.name for place in folder.iterdir()] == ["new"]
    assert ask("cache", "--prune", "30").out == f"nothing to remove in {folder}\n"
    unfinished = states() / "one"
    unfinished.mkdir(parents=True)
    assert ask("cache", "--clear").code == 0
    assert not unfinished.exists()
    assert ask("cache").out == f"no environment is kept in {folder}\n"
