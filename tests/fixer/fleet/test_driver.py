"""The way of a repository through a fleet, with plans and proofs that are only told of."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fixer.fleet.asked import FleetOptions, FleetRepository, RepositoryOptions
from fixer.fleet.clones import fetched
from fixer.fleet.driver import STOP
from fixer.fleet.failures import StepFailure
from fixer.fleet.state import opened
from fixer.fleet.tasks import FleetTask, TaskOutcome
from fixer.fleet.words import Step
from fixer.tokens import Tokens
from tests.fixer.fleet.stand_in import RecordedEngine, ended, finding, repositories, rows, run
from tests.support import commit_all, git


def states(folder: Path) -> dict[str, str]:
    return {name: row.state for name, row in rows(folder).items()}


def test_each_step_is_written_down_with_its_cost(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a", "b"])
    engine = RecordedEngine()
    end = run(tmp_path, every, engine)
    assert (end.stopped, end.waits) == ("", "")
    row = rows(tmp_path)["a"]
    assert (row.state, row.verdict, row.ready, row.branch) == ("proven", "repaired", True, "fixer/lightning-2.6.6")
    assert row.base == git(Path(every[0].address), "rev-parse", "HEAD")
    with opened(tmp_path / "state") as state:
        steps = {(one.repository, one.step): one for one in state.steps()}
        assert state.findings()[0].code == "LIT101"
    assert set(steps) == {(name, step) for name in "ab" for step in ("clone", "plan", "prove")}
    proof = steps["b", "prove"]
    assert (proof.tries, proof.outcome, proof.seconds, proof.cpu) == (1, "done", 0.5, 0.25)
    assert proof.ended and proof.ended >= proof.started
    assert {task.step for task in engine.tasks} == {"plan", "prove"} and engine.closed
    assert (tmp_path / "state" / "pages" / f"{every[0].key}.html").is_file()


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"])
    run(tmp_path, every, RecordedEngine())
    before = rows(tmp_path)
    engine = RecordedEngine()
    run(tmp_path, every, engine)
    assert engine.tasks == [] and rows(tmp_path) == before


def test_without_a_proof_the_plan_makes_the_branch(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"], RepositoryOptions(prove=False))
    engine = RecordedEngine(lambda task: ended(task, branch="fixer/lightning-2.6.6"))
    run(tmp_path, every, engine)
    (task,) = engine.tasks
    assert "--no-verify" in task.arguments and "--dry-run" not in task.arguments
    row = rows(tmp_path)["a"]
    assert (row.state, row.verdict, row.branch) == ("planned", "not proven", "fixer/lightning-2.6.6")


def test_what_needs_nothing_is_left_out(tmp_path: Path) -> None:
    left = [finding("TBP001", applied=False, reason="by hand")]

    def answer(task: FleetTask) -> TaskOutcome:
        return ended(task, files=[], commits=[], findings=left if task.repository == "b" else [])

    run(tmp_path, repositories(tmp_path, ["a", "b"]), engine := RecordedEngine(answer))
    assert {name: (row.state, row.reason) for name, row in rows(tmp_path).items()} == {
        "a": ("left out", "nothing to change"),
        "b": ("left out", "nothing to rewrite; 1 finding left to repair by hand"),
    }
    assert {task.step for task in engine.tasks} == {"plan"}


def test_what_does_not_reach_the_rung_is_left_out(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"], RepositoryOptions(require="same", deliver="branch"))
    run(tmp_path, every, RecordedEngine(lambda task: ended(task, 1 if task.step == "prove" else 0)))
    assert (rows(tmp_path)["a"].state, rows(tmp_path)["a"].reason) == ("left out", "its proof does not reach same")


def test_a_repository_that_fails_holds_up_no_other(tmp_path: Path) -> None:
    def answer(task: FleetTask) -> TaskOutcome:
        if task.repository.startswith("bad"):
            return ended(task, 2, error="pyproject.toml: not valid TOML; correct it")
        if task.repository == "broken":
            return ended(task, 3, log="first\nlast words\n")
        if task.repository == "odd":
            raise RuntimeError("odd")
        return ended(task)

    names = ["bad1", "bad2", "bad3", "bad4", "broken", "odd", "good"]
    every = [*repositories(tmp_path, names), FleetRepository("none", str(tmp_path / "origins"))]
    said: list[str] = []
    end = run(tmp_path, every, RecordedEngine(answer), said=said)
    assert end.stopped == ""
    found = rows(tmp_path)
    assert states(tmp_path) == {**dict.fromkeys([*names, "none"], "failed"), "good": "proven"}
    assert found["bad1"].reason == "pyproject.toml: not valid TOML; correct it"
    assert found["broken"].reason == "its process ended with 3 and no report: last words"
    assert found["odd"].reason == "a bug in fixer: RuntimeError: odd"
    assert "does not appear to be a git repository" in found["none"].reason
    assert any(line.startswith("none: clone failed") for line in said)


def test_what_was_ended_from_outside_is_tried_again(tmp_path: Path) -> None:
    killed: list[str] = []

    def answer(task: FleetTask) -> TaskOutcome:
        if task.repository == "unlucky" or (task.repository == "once" and not killed):
            killed.append(task.repository)
            return ended(task, -9)
        return ended(task)

    run(tmp_path, repositories(tmp_path, ["once", "unlucky"]), RecordedEngine(answer), FleetOptions(tries=3))
    assert states(tmp_path) == {"once": "proven", "unlucky": "failed"}
    assert killed.count("unlucky") == 3
    assert rows(tmp_path)["unlucky"].kind == "killed"


def test_what_takes_too_long_is_named(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"], RepositoryOptions(limit="5s"))
    run(tmp_path, every, RecordedEngine(lambda task: ended(task, None)))
    assert rows(tmp_path)["a"].reason == "ended after 5 s, its limit"


def test_three_failures_of_one_kind_stop_the_run_with_that_reason(tmp_path: Path) -> None:
    said = "the tree before was not run: torch==1.9 cannot be installed: error: Failed to fetch: https://example.org/"
    evidence = [{"verdict": "inconclusive", "reason": "the tree before could not be run", "facts": [{"text": said}]}]

    def offline(task: FleetTask) -> TaskOutcome:
        return ended(task, evidence=evidence) if task.step == "prove" else ended(task)

    every = repositories(tmp_path, list("abcdef"))
    end = run(tmp_path, every, RecordedEngine(offline, room=1))
    assert end.stopped.startswith("3 repositories failed for one reason: no package index was reached: the tree before")
    assert "failed" not in states(tmp_path).values()
    end = run(tmp_path, every, RecordedEngine())
    assert (end.stopped, set(states(tmp_path).values())) == ("", {"proven"})


def test_what_fails_for_one_reason_again_is_left_failed_and_the_rest_goes_on(tmp_path: Path) -> None:
    said = "the tree before was not run: torch==1.9 cannot be installed: error: Failed to fetch: https://example.org/"
    evidence = [{"verdict": "inconclusive", "reason": said, "facts": []}]

    def of_a_dead_index(task: FleetTask) -> TaskOutcome:
        dead = task.repository.startswith("x") and task.step == "prove"
        return ended(task, evidence=evidence) if dead else ended(task)

    every = repositories(tmp_path, ["x1", "x2", "x3", "a", "b"])
    assert run(tmp_path, every[:3], RecordedEngine(of_a_dead_index, room=1)).stopped
    assert "failed" not in states(tmp_path).values()
    assert run(tmp_path, every[:3], RecordedEngine(of_a_dead_index, room=1)).stopped
    assert run(tmp_path, every, RecordedEngine(of_a_dead_index, room=1)).stopped == ""
    assert states(tmp_path) == {**dict.fromkeys(["x1", "x2", "x3"], "failed"), "a": "proven", "b": "proven"}
    assert rows(tmp_path)["x1"].reason.startswith("no package index was reached: the tree before")
    with opened(tmp_path / "state") as state:
        state.retry([])
    run(tmp_path, every, RecordedEngine())
    assert {(row.state, row.excused) for row in rows(tmp_path).values()} == {("proven", "")}


def test_one_server_that_is_down_is_not_the_failure_of_another(tmp_path: Path) -> None:
    gone = [FleetRepository(f"x{number}", f"http://127.0.0.{number}:9/a") for number in (1, 2, 3)]
    end = run(tmp_path, [*gone, *repositories(tmp_path, ["a"])], RecordedEngine(), FleetOptions(tries=1))
    assert end.stopped == "" and states(tmp_path)["a"] == "proven"
    assert {rows(tmp_path)[one.name].kind for one in gone} == {f"server 127.0.0.{number}" for number in (1, 2, 3)}
    down = [FleetRepository(f"y{number}", f"http://127.0.0.1:9/{number}") for number in range(5)]
    end = run(tmp_path, down, RecordedEngine(), FleetOptions(tries=1))
    assert "3 repositories failed for one reason" in end.stopped or "4 repositories" in end.stopped
    assert {rows(tmp_path)[one.name].state for one in down} <= {"queued", "failed"}


def test_a_run_that_is_asked_to_stop_ends_what_it_does(tmp_path: Path) -> None:
    every = repositories(tmp_path, list("abcdef"))
    with opened(tmp_path / "state", make=True) as other:

        def answer(task: FleetTask) -> TaskOutcome:
            other.set_note(STOP, "yes")
            return ended(task)

        end = run(tmp_path, every, RecordedEngine(answer, room=1))
    assert end.stopped == "it was asked to stop"
    assert {row.doing for row in rows(tmp_path).values()} == {""}
    assert "failed" not in states(tmp_path).values()
    run(tmp_path, every, RecordedEngine())
    assert set(states(tmp_path).values()) == {"proven"}


def test_what_a_killed_run_was_doing_is_done_again_in_a_new_clone(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a", "b"])
    run(tmp_path, every, RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.put("a", state="planned")
        state.begin("a", "prove")
    (gone := tmp_path / "state" / "clones" / every[1].key / ".gone-1").mkdir()
    said: list[str] = []
    run(tmp_path, every, engine := RecordedEngine(), said=said)
    assert "a: prove was not finished by the run before, and is done again" in said
    assert [(task.repository, task.step) for task in engine.tasks] == [("a", "plan"), ("a", "prove")]
    assert (rows(tmp_path)["a"].copy, rows(tmp_path)["b"].copy) == (1, 0)
    assert not (tmp_path / "state" / "clones" / every[0].key / "0").exists() and not gone.exists()


def test_asking_otherwise_looks_anew_and_who_goes_is_left_out(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a", "b"])
    run(tmp_path, every, RecordedEngine())
    other = repositories(tmp_path, ["a"], RepositoryOptions(select=("LIT",)))
    run(tmp_path, other, engine := RecordedEngine())
    assert all("--select=LIT" in task.arguments for task in engine.tasks)
    assert states(tmp_path) == {"a": "proven", "b": "left out"}
    assert rows(tmp_path)["b"].reason == "it is not in the fleet any more"
    run(tmp_path, every, engine := RecordedEngine())
    assert states(tmp_path) == {"a": "proven", "b": "proven"}
    assert {task.repository for task in engine.tasks} == {"a"}


@pytest.mark.parametrize("doing", ["clone", "plan", "prove", "deliver"])
def test_what_a_killed_run_was_doing_is_not_done_for_who_has_left(tmp_path: Path, doing: Step) -> None:
    every = repositories(tmp_path, ["a", "b"])
    run(tmp_path, every, RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.put("a", state="planned")
        state.put("a", doing=doing)
    run(tmp_path, every[1:], engine := RecordedEngine())
    assert engine.tasks == [] and states(tmp_path) == {"a": "left out", "b": "proven"}
    run(tmp_path, every, RecordedEngine())
    assert states(tmp_path) == {"a": "proven", "b": "proven"}


def test_a_retry_during_a_run_is_kept_until_the_step_has_ended(tmp_path: Path) -> None:
    every, asked = repositories(tmp_path, ["a", "b"]), list[str]()
    with opened(tmp_path / "state", make=True) as other:

        def answer(task: FleetTask) -> TaskOutcome:
            if task.repository == "a" and task.step == "prove" and not asked:
                asked.extend(other.retry(["a"]))
                return ended(task, 2, error="wrong")
            return ended(task)

        run(tmp_path, every, engine := RecordedEngine(answer, room=1))
    assert states(tmp_path) == {"a": "proven", "b": "proven"}
    assert [task.step for task in engine.tasks if task.repository == "a"] == ["plan", "prove", "plan", "prove"]


def test_a_step_is_not_begun_where_another_one_is_next_by_now(tmp_path: Path) -> None:
    run(tmp_path, repositories(tmp_path, ["a"]), RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.retry(["a"])
        assert (state.begin("a", "prove"), state.row("a").doing) == (0, "")
        assert (state.begin("a", "clone"), state.row("a").doing) == (2, "clone")
        state.retry(["a"])
        assert (state.row("a").state, state.row("a").doing) == ("queued", "clone")
        state.end("a", "clone", "done", {"state": "cloned"})
        assert (state.row("a").state, state.row("a").doing) == ("queued", "")


def test_a_look_does_not_meet_another_step(tmp_path: Path) -> None:
    run(tmp_path, repositories(tmp_path, ["a", "b", "c"]), RecordedEngine())
    with opened(tmp_path / "state") as state:
        for name in "abc":
            state.put(name, pull_open=True)
        assert state.open_pulls() == ["a", "b", "c"]
        state.retry(["a"])
        state.put("b", state="planned")
        assert state.open_pulls() == ["c"]
        assert state.begin("a", "clone") and not state.begin("a", "look")
        assert state.row("a").doing == "clone"


def test_what_was_merged_or_closed_is_not_done_again_for_another_option(tmp_path: Path) -> None:
    run(tmp_path, repositories(tmp_path, ["a", "b", "c"]), RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.put("a", state="merged", pull_request="https://example.org/1")
        state.put("b", state="closed", pull_request="https://example.org/2")
    other = repositories(tmp_path, ["a", "b", "c"], RepositoryOptions(timeout=99.0))
    run(tmp_path, other, engine := RecordedEngine())
    assert states(tmp_path) == {"a": "merged", "b": "closed", "c": "proven"}
    assert {task.repository for task in engine.tasks} == {"c"}
    with opened(tmp_path / "state") as state:
        state.retry(["a"])
    run(tmp_path, other, engine := RecordedEngine())
    assert {task.repository for task in engine.tasks} == {"a"}


@pytest.mark.parametrize(
    "other", ["https://github.com/acme/a.git", "git@github.com:acme/a", "ssh://git@github.com/acme/a.git/"]
)
def test_another_spelling_of_an_address_is_the_same_repository(tmp_path: Path, other: str) -> None:
    one = FleetRepository("a", "https://github.com/acme/a")
    with opened(tmp_path, make=True) as state:
        state.enroll([one])
        state.put("a", state="merged", pull_request="https://github.com/acme/a/pull/1")
        state.enroll([replace(one, address=other)])
        row = state.row("a")
        assert (row.state, row.pull_request, row.repository.address) == (
            "merged",
            "https://github.com/acme/a/pull/1",
            other,
        )
        state.enroll([replace(one, address="https://github.com/acme/b")])
        assert (state.row("a").state, state.row("a").pull_request) == ("queued", None)


def test_a_full_disk_is_forgotten_once_a_step_went_well(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"])
    run(tmp_path, every, RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.put("a", state="queued", excused="disk")
    run(tmp_path, every, RecordedEngine())
    assert rows(tmp_path)["a"].excused == ""


def test_a_clone_is_fetched_not_made_again(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"])
    run(tmp_path, every, RecordedEngine())
    origin = Path(every[0].address)
    (origin / "train.py").write_text("import lightning\n")
    newest = commit_all(origin)
    with opened(tmp_path / "state") as state:
        assert state.retry(["a"]) == ["a"]
    run(tmp_path, every, RecordedEngine())
    clone = tmp_path / "state" / "clones" / every[0].key / "0" / "a"
    assert rows(tmp_path)["a"].base == newest == git(clone, "rev-parse", "HEAD")
    assert (clone / "train.py").read_text() == "import lightning\n"


def test_a_clone_that_is_broken_is_made_anew(tmp_path: Path) -> None:
    every = repositories(tmp_path, ["a"])
    run(tmp_path, every, RecordedEngine())
    clone = tmp_path / "state" / "clones" / every[0].key / "0" / "a"
    (clone / ".git" / "index.lock").touch()
    with opened(tmp_path / "state") as state:
        state.retry(["a"])
    run(tmp_path, every, RecordedEngine())
    assert rows(tmp_path)["a"].state == "proven" and not (clone / ".git" / "index.lock").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_git_that_was_ended_from_outside_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, real = tmp_path / "programs", shutil.which("git")
    programs.mkdir()
    script = f'#!/bin/sh\ncase "$*" in *fetch*) [ -e {tmp_path}/x ] || {{ : > {tmp_path}/x; kill -9 $$; }};; esac\n'
    (programs / "git").write_text(f'{script}exec {real} "$@"\n')
    (programs / "git").chmod(0o700)
    every = repositories(tmp_path, ["a"])
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    run(tmp_path, every, RecordedEngine(), said=(said := list[str]()))
    assert states(tmp_path) == {"a": "proven"}
    assert any("clone failed: " in line and "it was ended from outside by signal 9" in line for line in said)


def test_a_server_that_is_down_costs_no_clone(tmp_path: Path) -> None:
    place, one = tmp_path / "clone" / "a", FleetRepository("a", "http://127.0.0.1:9/a")
    place.mkdir(parents=True)
    git(place, "init", "--quiet")
    git(place, "remote", "add", "origin", one.address)
    with pytest.raises(StepFailure, match="Failed to connect"):
        fetched(place, one, Tokens())
    assert (place / ".git" / "HEAD").is_file()


def test_another_address_of_the_same_name_is_another_repository(tmp_path: Path) -> None:
    one, other = repositories(tmp_path, ["one", "other"])
    (Path(other.address) / "train.py").write_text("import lightning\n")
    newest = commit_all(Path(other.address))
    run(tmp_path, [replace(one, name="a")], RecordedEngine())
    with opened(tmp_path / "state") as state:
        state.put("a", state="delivered", pull_request="https://example.org/one/pull/1")
    run(tmp_path, [replace(other, name="a")], engine := RecordedEngine())
    row, clone = rows(tmp_path)["a"], Path(engine.tasks[0].clone)
    assert (row.base, row.pull_request) == (newest, None)
    assert git(clone, "remote", "get-url", "--push", "origin") == other.address
    assert not git(clone, "log", "--all", "--format=%H", f"^{newest}")


@pytest.mark.parametrize("base", ["next", "none"])
def test_another_branch_may_be_named(tmp_path: Path, base: str) -> None:
    every = repositories(tmp_path, ["a"], RepositoryOptions(base=base))
    git(Path(every[0].address), "branch", "next")
    run(tmp_path, every, RecordedEngine())
    row = rows(tmp_path)["a"]
    assert (row.state, row.reason) == (("proven", "") if base == "next" else ("failed", "it has no none"))


def test_a_repository_without_commits_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "origins" / "empty").mkdir(parents=True)
    git(tmp_path / "origins" / "empty", "init", "--quiet")
    every = [FleetRepository("empty", str(tmp_path / "origins" / "empty")), *repositories(tmp_path, ["a"])]
    run(tmp_path, every, RecordedEngine())
    assert states(tmp_path) == {"empty": "left out", "a": "proven"}
    assert rows(tmp_path)["empty"].reason == "its default branch has no commit yet"


@pytest.mark.parametrize(
    ("text", "asked", "has", "given"),
    [
        ('pl.Trainer(accelerator="gpu", devices=2)', None, True, 1),
        ('pl.Trainer(accelerator="gpu")', None, False, 0),
        ('pl.Trainer(accelerator="gpu")', 0, True, 0),
        ("pl.Trainer(gpus=0)", None, True, 0),
        ("pl.Trainer(gpus=[0, 1])", None, True, 1),
        ('parser.add_argument("--gpus", type=int)', None, True, 1),
        ("# 16 gpus are there: pl.Trainer()", None, True, 0),
        ("pl.Trainer()", 2, False, 2),
    ],
)
def test_a_proof_has_a_gpu_where_there_is_one_and_the_project_trains_on_it(
    tmp_path: Path, text: str, asked: int | None, has: bool, given: int
) -> None:
    every = repositories(tmp_path, ["a"], RepositoryOptions(gpus=asked))
    (Path(every[0].address) / "train.py").write_text(f"import pytorch_lightning as pl\n{text}\n")
    commit_all(Path(every[0].address))
    engine = RecordedEngine()
    engine.gpus = has
    run(tmp_path, every, engine)
    assert [(task.step, task.gpus) for task in engine.tasks] == [("plan", 0), ("prove", given)]
