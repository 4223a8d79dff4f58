"""Files for patterns that find nothing."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.verify.harness.raising import raised
from verify.harness.data_errors import following, may_follow
from verify.harness.data_search import watch_globs
from verify.harness.made_data import Entry, remove, told, write


def test_patterns_that_find_nothing_are_filled_where_that_ends_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, name in ((Path, "glob"), (Path, "rglob")):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    for place in ("glob.iglob", "os.walk"):
        monkeypatch.setattr(place, _held(place))
    globs: dict[str, None] = {}
    watch_globs(globs)
    assert glob.glob(f"{tmp_path}/sounds/*.wav") == list((tmp_path / "data").glob("*/*.png")) == []  # noqa: PTH207
    error = raised(tmp_path, "raise ValueError('num_samples should be a positive integer value, but got 0')")
    found = following(error, (), globs, tmp_path)
    assert found and [each["path"] for each in found[0]] == ["sounds", "data"]
    write(found[0], tmp_path)
    assert len(list((tmp_path / "data").glob("*/*.png"))) == len(list((tmp_path / "sounds").iterdir())) == 16
    assert following(error, found[0], globs, tmp_path) is None


@pytest.fixture
def globs(monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    """The patterns that find nothing."""
    for kind, name in ((Path, "glob"), (Path, "rglob")):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    for place in ("glob.iglob", "os.walk"):
        monkeypatch.setattr(place, _held(place))
    found: dict[str, None] = {}
    watch_globs(found)
    return found


NESTED = """
import glob, os
speakers = sorted(glob.glob(os.path.join(root, 'data', '*')))
sounds = [each for speaker in speakers for each in glob.glob(os.path.join(speaker, '*.wav'))]
"""


@pytest.mark.parametrize("asked", ["assert len(sounds) != 0, 'no data found'", "assert len(sounds)", "sounds[0]"])
def test_folders_are_made_where_patterns_look_below_what_others_find(
    asked: str, globs: dict[str, None], tmp_path: Path
) -> None:
    plan: list[Entry] = []
    for expected in ("{}.wav", "{}/{}.wav"):
        globs.clear()
        error = raised(tmp_path, NESTED + asked)
        assert may_follow(error, tmp_path)
        found = following(error, plan, globs, tmp_path)
        assert found and [each["pattern"] for each in found[0]] == [expected]
        for entry in plan:
            remove(entry, tmp_path)
        plan = found[0]
        write(plan, tmp_path)
    assert sorted((tmp_path / "data").iterdir())[1].is_dir()
    with pytest.raises(AssertionError, match="raised nothing"):
        raised(tmp_path, NESTED + asked)


@pytest.mark.parametrize("asked", ["assert len(sounds) == 3", "assert speakers is None", "assert not sounds"])
def test_other_assertions_ask_for_no_data(asked: str, tmp_path: Path) -> None:
    assert not may_follow(raised(tmp_path, "speakers = sounds = [1]\n" + asked), tmp_path)


def test_patterns_for_tables_and_objects_are_filled_with_these(globs: dict[str, None], tmp_path: Path) -> None:
    for pattern in ("data/train/*.pt", "data/*.json", "runs/*.ckpt"):
        assert glob.glob(f"{tmp_path}/{pattern}") == []  # noqa: PTH207
    found = following(raised(tmp_path, "[][0]"), (), globs, tmp_path)
    assert found and [each.get("form") for each in found[0]] == ["object", "json"]
    write(found[0], tmp_path)
    assert len(list((tmp_path / "data").glob("*.json"))) == 16
    assert torch.load(tmp_path / "data/train/3.pt")[0]["column0"] is not None
    assert "16 files of 64 rows" in told(found[0][1])


def _held(place: str) -> Callable[..., Any]:
    import importlib

    module, name = place.split(".")
    held: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return held
