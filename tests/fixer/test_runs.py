"""Kept runs: what was kept is what is shown, the oldest go, and what cannot be read is said."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fixer import kept_runs, runs
from fixer.errors import UsageError
from fixer.kept_runs import Identity
from fixer.result import Result
from tests.fixer.command import OLD, Ask, Said, environment, old_project
from tests.fixer.reports.samples import CHECK, RESULTS, RUN
from tests.support import commit_all, git
from verify.judging.recorded import Started, keep

HERE, ELSEWHERE = Identity("project", "/here/.git", "a1"), Identity("other", "/elsewhere/.git", "b2")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("FIXER_RUNS", str(folder))
    return folder


def shown(name: str | None) -> Result:
    """A run of the project that these tests are of, as it was kept."""
    return runs.load(runs.found(name, HERE))


def place_of(name: str) -> Path:
    (found,) = [run.folder for all in kept_runs.projects().values() for run in all if run.name == name]
    return found


def of(folder: Path) -> Result:
    """The last run of a project."""
    return runs.load(runs.found(None, kept_runs.identity(folder)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RESULTS)
def test_what_was_kept_is_what_comes_back(result: Result) -> None:
    name = runs.keep(result, HERE)
    assert repr(shown(name)) == repr(result)


def back_then(run: runs.KeptRun, days: float) -> runs.KeptRun:
    """A run as if it had been kept so many days ago."""
    moment = (datetime.now(timezone.utc) - timedelta(days=days)).strftime("%Y%m%d-%H%M%S-%f")
    return runs.KeptRun(run.folder.rename(run.folder.with_name(moment + run.name[len(moment) :])))


def test_all_of_the_last_days_and_the_last_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "KEPT", 2)
    for days in (31, 32, 33, 5, 6):
        runs.keep(RUN, HERE)
        back_then(runs.found(None, HERE), days)
    runs.keep(CHECK, HERE)
    ages = [(datetime.now(timezone.utc) - run.kept_at).days for run in kept_runs.runs_of(HERE)]
    assert ages == [0, 5, 6]
    assert shown(None) == CHECK


def test_thirty_runs_of_a_project_are_kept_however_old_and_however_many_others_have() -> None:
    runs.keep(RUN, HERE)
    old = back_then(runs.found(None, HERE), 400)
    for _ in range(35):
        runs.keep(CHECK, ELSEWHERE)
    assert runs.load(runs.found(old.name, HERE)) == RUN
    assert shown(None) == RUN
    assert len(kept_runs.runs_of(ELSEWHERE)) == 35


def test_recordings_go_first_where_there_is_no_room_and_it_is_said(tmp_path: Path, ask: Ask, folder: Path) -> None:
    records = tmp_path / "records"
    (tmp_path / "record.jsonl").write_text('{"event": "start"}\n' * 1000)
    keep(records, (), [Started("after", {"mode": "train", "script": "a.py"}, tmp_path / "record.jsonl")])
    names = [runs.keep(RUN, project, records) for project in (HERE, ELSEWHERE, HERE)]
    total = sum(kept_runs._size(run.folder) for runs_of in kept_runs.projects().values() for run in runs_of)
    kept_runs.make_room(total - 1)
    shows = [ask("report", name, "--output-format", "json") for name in names]
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    gone = f"recorded: removed on {today}, since all kept runs together needed more than 2 GiB\n"
    assert [said.code for said in shows] == [0, 0, 0]
    assert [said.err == gone for said in shows] == [True, False, False]
    kept_runs.make_room(1)
    said = ask("report", names[0])
    assert said.complaint() == (
        f"fixer: the run {names[0]} is not there: removed on {today}, since all kept runs together needed more than "
        "2 GiB; run fixer again to create it"
    )
    assert ask("report", names[2]).code == 0, "the newest stays"


def test_a_run_that_went_says_when_and_why(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.keep(RUN, HERE)
    old = back_then(runs.found(None, HERE), 31)
    monkeypatch.setattr(kept_runs, "KEPT", 1)
    runs.keep(CHECK, HERE)
    told = "since kept are the last 30 runs of a project, and all of the last 30 days; run fixer again to create it"
    assert told in ask("report", old.name, "--html", "page.html").complaint()
    assert not Path("page.html").exists()
    never = "20200101-000000-000000-project-run"
    told = f"the run {never} is not there: not in {kept_runs.root()}, where runs are kept for 30 days, and the last 30"
    assert told in ask("report", never).complaint()


def test_a_report_is_of_this_project_and_never_of_another(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = old_project(tmp_path / "one"), old_project(tmp_path / "two")
    first = ask("run", one, "--no-verify", "--output-format", "json").report()
    ask("run", two, "--no-verify", "--branch", "mine")
    (two / "sub").mkdir()
    monkeypatch.chdir(one)
    assert ask("report", "--output-format", "json").report() == first
    monkeypatch.chdir(two / "sub")
    assert ask("report", "--output-format", "json").report()["branch"] == "mine"
    assert "-one-" not in ask("report", "--list").out
    monkeypatch.chdir(tmp_path)
    told = ask("report").complaint()
    assert f"no run of {tmp_path} is kept; make one with `fixer run`; of others there are" in told
    assert f"{one} (" in told and f"{two} (" in told
    assert ask("report", "--list").out == "" and f"no run of {tmp_path} is kept" in ask("report", "--list").err
    name = runs.found(None, kept_runs.identity(one)).name
    assert ask("report", name, "--output-format", "json").report() == first


def test_work_trees_of_a_repository_are_one_project_and_what_takes_its_place_is_another(tmp_path: Path) -> None:
    folder, side = old_project(tmp_path / "project"), tmp_path / "side"
    git(folder, "worktree", "add", "--quiet", "-b", "side", str(side))
    git(tmp_path, "clone", "--quiet", str(folder), str(tmp_path / "clone"))
    mine = kept_runs.identity(folder)
    assert kept_runs.identity(side) == mine
    assert kept_runs.identity(tmp_path / "clone").key != mine.key
    (folder / "more.py").write_text("")
    commit_all(folder)
    assert kept_runs.identity(folder) == mine
    folder.rename(tmp_path / "away")
    old_project(tmp_path / "project", {"train.py": b"# of another\n" + OLD})
    assert kept_runs.identity(tmp_path / "project").key != mine.key
    assert kept_runs.identity(tmp_path).first == ""


def test_runs_that_were_kept_before_projects_were_are_shown_by_name(own_folder: Path) -> None:
    runs.keep(RUN, HERE)
    run = runs.found(None, HERE)
    old = run.folder.rename(own_folder / run.name)
    with pytest.raises(UsageError, match="no run of /here is kept"):
        runs.found(None, HERE)
    assert runs.found(old.name, HERE).folder == old
    assert runs.load(runs.found(old.name[:15], HERE)) == RUN


def test_what_killed_runs_left_goes_after_a_day(own_folder: Path) -> None:
    runs.keep(RUN, HERE)
    run = runs.found(None, HERE)
    for days in (0, 2):
        runs.keep(RUN, HERE)
        (back_then(runs.found(None, HERE), days).folder / "result.json").unlink()
    kept_runs.make_room()
    assert len([one for one in run.folder.parent.iterdir() if one.is_dir()]) == 2


def test_recordings_are_kept_with_a_run(own_folder: Path, tmp_path: Path, ask: Ask) -> None:
    records = tmp_path / "records"
    (tmp_path / "record.jsonl").write_text('{"event": "start"}\n')
    keep(records, (), [Started("after", {"mode": "train", "script": "a.py"}, tmp_path / "record.jsonl")])
    bare, name = runs.keep(RUN, HERE), runs.keep(RUN, HERE, records)
    place = own_folder / HERE.key / name / "records"
    assert (place / "after-a.py.jsonl").read_text() == '{"event": "start"}\n'
    said = ask("report", name, "--output-format", "json")
    assert said.err == f"recorded: 1 recordings in {place}, index.jsonl says what each is\n"
    assert (said.report()["command"], ask("report", bare, "--output-format", "json").err) == ("run", "")
    (place / "index.jsonl").write_text("{")
    assert ask("report", name).err == f"recorded: in {place}; what each file is cannot be read\n"


def test_a_run_whose_recordings_cannot_be_kept_leaves_nothing(own_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "a.jsonl").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError):
        runs.keep(RUN, HERE, tmp_path / "records")
    assert [one.name for one in (own_folder / HERE.key).iterdir()] == ["project.json"]


def test_a_run_is_found_by_how_its_name_begins(own_folder: Path) -> None:
    name = runs.keep(RUN, HERE)
    assert shown(name[:12]) == RUN
    with pytest.raises(UsageError, match=rf"no run is called 'zz'.*{name}"):
        runs.found("zz", HERE)


def test_without_a_run_it_says_how_to_make_one() -> None:
    with pytest.raises(UsageError, match=r"no run of /here is kept; make one with `fixer run`$"):
        runs.found(None, HERE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device is Linux's")
@pytest.mark.parametrize("place", ["/dev/full", "result.html"])
def test_a_run_is_kept_whatever_cannot_be_written(folder: Path, own_folder: Path, place: str) -> None:
    command = [sys.executable, "-m", "fixer", "run", "--no-verify", "--output-file", f"html:{place}"]
    with Path("/dev/full").open("wb") as out:
        done = subprocess.run(command, cwd=folder, env=environment({}), stdout=out, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.count(b"No space left on device")) == (2, 1)
    assert len(kept_runs.runs_of(kept_runs.identity(folder))) == 1
    assert (folder / place).exists()


def test_a_run_whose_branch_cannot_be_made_is_kept(folder: Path, ask: Ask, tmp_path: Path) -> None:
    lock = folder / ".git/refs/heads/fixer/lightning-2.6.6.lock"
    lock.parent.mkdir()
    lock.touch()
    said = ask("run", folder, "--no-verify", "--output-format=json", "--output-file", f"html:{tmp_path / 'page.html'}")
    told = said.complaint()
    assert "File exists. Another git process seems to be running in this repository" in told
    assert said.report()["error"] == told.removeprefix("fixer: ")
    assert [file["path"] for file in said.report()["files"]] == ["train.py"]
    assert (said.report()["branch"], said.report()["commits"]) == (None, [])
    assert "train.py" in (tmp_path / "page.html").read_text()
    assert of(folder).error == said.report()["error"]


def test_a_run_for_whose_branch_there_is_no_space_is_kept(
    folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/tmp/fixer-git-x")

    monkeypatch.setattr("fixer.branch.land", full)
    said = ask("run", folder, "--no-verify", "--output-format=json")
    assert said.complaint() == "fixer: /tmp/fixer-git-x: No space left on device; fix that and try again"
    assert [file["path"] for file in said.report()["files"]] == ["train.py"]
    assert of(folder).error == said.report()["error"]


def test_a_run_whose_notes_cannot_be_written_names_its_branch(
    folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise UsageError("the notes are locked")

    monkeypatch.setattr("fixer.branch.annotate", locked)
    said = ask("run", folder, "--no-verify", "--output-format=json")
    assert "the notes are locked" in said.complaint()
    assert said.report()["branch"] == "fixer/lightning-2.6.6"


def test_runs_that_cannot_be_read_are_listed_as_such(own_folder: Path) -> None:
    (place_of(runs.keep(RUN, Identity("a b", "/here"))) / "result.json").write_text("{")
    assert re.fullmatch(r"\S+-a-b-fixer-lightning-2.6.6  cannot be read\n", runs.listed(Identity("a b", "/here")))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"command": "run", "base": 1}'])
def test_a_damaged_run_is_an_error_of_use(own_folder: Path, text: str) -> None:
    name = runs.keep(RUN, HERE)
    (place_of(name) / "result.json").write_text(text)
    with pytest.raises(UsageError, match="run fixer again to create it"):
        shown(name)


def test_a_kept_run_is_readable_by_its_owner_alone(own_folder: Path) -> None:
    assert place_of(runs.keep(RUN, HERE)).stat().st_mode & 0o077 == 0


def test_run_keeps_and_report_shows(folder: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    ran = ask("run", folder, "--no-verify", "--output-format", "json")
    name, _, ended = ask("report", "--list").out.strip().partition("  ")
    assert re.fullmatch(rf"[0-9-]+-{folder.name}-fixer-lightning-2.6.6", name)
    assert (
        ended
        == "`fixer/lightning-2.6.6`: 1 commit, 1 finding repaired; not proven; ready to merge as far as fixer knows."
    )
    assert f"fixer report {name} --html FILE" in ran.err
    again = ask("report", name, "--output-format", "json")
    assert again.report() == ran.report()
    page = tmp_path / "page.html"
    assert ask("report", "--html", page) == Said(0, "", "")
    assert "<!doctype html>" in page.read_text()


def test_a_folder_that_cannot_be_written_does_not_fail_the_run(
    folder: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FIXER_RUNS", str(tmp_path / "file" / "runs"))
    ran = ask("run", folder, "--no-verify")
    assert ran.code == 0
    assert "the run is not kept" in ran.err


def test_results_go_to_several_files_at_once(folder: Path, ask: Ask, tmp_path: Path) -> None:
    sarif, quality = tmp_path / "a.sarif", tmp_path / "b.json"
    said = ask("check", folder, "--output-file", f"sarif:{sarif}", "--output-file", f"gitlab:{quality}")
    assert said.code == 1 and "LIT101" in said.out
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert [entry["check_name"] for entry in json.loads(quality.read_text())] == ["LIT101"]


@pytest.mark.parametrize("given", ["report.html", "pdf:report.pdf", "html:", "html:no/such/folder/x.html"])
def test_a_file_that_cannot_be_written_is_said_before_any_work(folder: Path, ask: Ask, given: str) -> None:
    assert f"--output-file {given}" in ask("check", folder, "--output-file", given).complaint()


def test_numbers_that_json_has_no_word_for_are_kept(own_folder: Path) -> None:
    name = runs.keep(replace(RUN, duration_s=math.inf), HERE)
    assert shown(name).duration_s == math.inf
