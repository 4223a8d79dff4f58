"""Nodes that do not see the fleet's folder: the same comes back from them, and environments are built once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from fixer.fleet import parcels
from fixer.fleet.asked import RepositoryOptions
from fixer.fleet.clones import fetched
from fixer.fleet.parcels import (
    Carried,
    brought_back,
    environments_here,
    pack_environment,
    packed,
    run_apart,
    run_here,
    take_environment,
    unpacked,
)
from fixer.fleet.tasks import LOG, PAGE, REPORT, FleetTask, TaskOutcome, arguments_of
from fixer.tokens import Tokens
from tests.fixer.fleet.organisation import in_process
from tests.fixer.fleet.stand_in import repositories
from tests.support import git

BRANCH = "fixer/lightning-2.6.6"


def test_the_same_comes_of_a_task_that_is_carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "run_task", in_process)
    (one,) = repositories(tmp_path, ["a"], RepositoryOptions(prove=False))
    clone, other = tmp_path / "here" / "a", tmp_path / "there" / "a"
    for place in (clone, other):
        base = fetched(place, one, Tokens())
    task = FleetTask("a", "plan", str(clone), str(tmp_path / "task"), arguments_of(one.options, plan=True), 100)
    assert run_here(replace(task, clone=str(tmp_path / "nowhere"))) is None
    run_here(replace(task, clone=str(other), folder=str(tmp_path / "other")))
    carried = run_apart(task, packed(clone), {"x": lambda: pytest.fail("a plan needs no environment")})
    assert not git(clone, "for-each-ref", "refs/heads") and not (tmp_path / "task").exists()
    assert brought_back(task, carried).code == 0
    assert git(clone, "rev-parse", BRANCH) == git(other, "rev-parse", BRANCH) != base
    assert git(clone, "status", "--porcelain") == "" and git(clone, "rev-parse", "HEAD") == base
    names = {str(path.relative_to(tmp_path / "task")) for path in (tmp_path / "task").rglob("*") if path.is_file()}
    assert names >= {REPORT, PAGE, LOG} and [name for name in names if name.endswith("result.json")]


def test_nothing_is_written_outside_the_folder_of_a_task(tmp_path: Path) -> None:
    task = FleetTask("a", "plan", str(tmp_path), str(tmp_path / "task"), (), 1)
    with pytest.raises(OSError, match="leads out of the folder"):
        brought_back(task, Carried(TaskOutcome(0, 0, 0), {"../x": b""}, b"", ()))
    assert not (tmp_path / "x").exists()


def test_a_folder_is_the_same_elsewhere(tmp_path: Path) -> None:
    place = tmp_path / "one"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to("/usr/bin/python3")
    (place / "bin" / "tool").write_text("#!/bin/sh\n")
    (place / "bin" / "tool").chmod(0o755)
    unpacked(packed(place), tmp_path / "two")
    assert (tmp_path / "two" / "bin" / "python").readlink() == Path("/usr/bin/python3")
    assert os.access(tmp_path / "two" / "bin" / "tool", os.X_OK)


def test_an_environment_is_fetched_once_and_built_where_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def node(name: str) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        return tmp_path / name / "fixer" / "environments"

    built = node("first") / "pl-1.9.5-abc"
    built.mkdir(parents=True)
    (built / "fixer-environment.json").write_text('{"left": []}')
    (built.parent / "pl-1.8.6-def").mkdir()
    assert environments_here() == ["pl-1.9.5-abc"]
    data = pack_environment("pl-1.9.5-abc")
    asked: list[str] = []

    def fetch() -> bytes:
        asked.append("asked")
        return data if len(asked) > 1 else b"rubbish"

    there = node("second")
    there.mkdir(parents=True)
    task = FleetTask("a", "prove", "a", "", (), 1)
    monkeypatch.setattr(parcels, "run_task", lambda given: TaskOutcome(0, 0, 0))
    told = []
    for _ in range(3):
        carried = run_apart(task, packed(tmp_path / "first"), {"pl-1.9.5-abc": fetch})
        told.append((carried.environments, [place.name for place in there.iterdir()]))
    assert told == [((), []), (("pl-1.9.5-abc",), ["pl-1.9.5-abc"]), ((), ["pl-1.9.5-abc"])] and len(asked) == 2
    take_environment("pl-1.9.5-abc", lambda: pytest.fail("it is there"))
