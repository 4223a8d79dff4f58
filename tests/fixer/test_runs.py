"""Kept runs: what was kept is what is shown, the oldest go, and what cannot be read is said."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fixer import runs
from fixer.errors import UsageError
from fixer.result import Result
from tests.fixer.command import Ask, Said, environment
from tests.fixer.reports.samples import CHECK, RESULTS, RUN
from verify.recorded import Started, keep


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("FIXER_RUNS", str(folder))
    return folder


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RESULTS)
def test_what_was_kept_is_what_comes_back(result: Result) -> None:
    name = runs.keep(result)
    assert repr(runs.load(name)) == repr(result)


def test_the_newest_is_shown_first_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "KEPT", 3)
    names = [runs.keep(RUN) for _ in range(5)]
    assert runs.runs() == names[:1:-1]
    runs.keep(CHECK)
    assert runs.load(None) == CHECK


def test_recordings_are_kept_with_a_run_and_go_with_it(
    own_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    records = tmp_path / "records"
    (tmp_path / "record.jsonl").write_text('{"event": "start"}\n')
    keep(records, (), [Started("after", {"mode": "train", "script": "a.py"}, tmp_path / "record.jsonl")])
    bare, name = runs.keep(RUN), runs.keep(RUN, records)
    place = own_folder / name / "records"
    assert (place / "after-a.py.jsonl").read_text() == '{"event": "start"}\n'
    shown = ask("report", name, "--output-format", "json")
    assert shown.err == f"recorded: 1 recordings in {place}, index.jsonl says what each is\n"
    assert (shown.report()["command"], ask("report", bare, "--output-format", "json").err) == ("run", "")
    (place / "index.jsonl").write_text("{")
    assert ask("report").err == f"recorded: in {place}; what each file is cannot be read\n"
    monkeypatch.setattr(runs, "KEPT", 1)
    runs.keep(CHECK)
    assert not place.exists()


def test_a_run_whose_recordings_cannot_be_kept_leaves_nothing(own_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "records" / "a.jsonl").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        runs.keep(RUN, tmp_path / "records")
    assert list(own_folder.iterdir()) == []


def test_a_run_is_found_by_how_its_name_begins(own_folder: Path) -> None:
    name = runs.keep(RUN)
    assert runs.load(name[:12]) == RUN
    with pytest.raises(UsageError, match=rf"no run is called 'zz'.*{name}"):
        runs.load("zz")


def test_without_a_run_it_says_how_to_make_one() -> None:
    with pytest.raises(UsageError, match=r"no run has been kept in .*; make one with `fixer run`"):
        runs.load(None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device is Linux's")
@pytest.mark.parametrize("place", ["/dev/full", "result.html"])
def test_a_run_is_kept_whatever_cannot_be_written(folder: Path, own_folder: Path, place: str) -> None:
    command = [sys.executable, "-m", "fixer", "run", "--no-verify", "--output-file", f"html:{place}"]
    with Path("/dev/full").open("wb") as out:
        done = subprocess.run(command, cwd=folder, env=environment({}), stdout=out, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.count(b"No space left on device")) == (2, 1)
    assert len(runs.runs()) == 1
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
    assert runs.load(None).error == said.report()["error"]


def test_a_run_for_whose_branch_there_is_no_space_is_kept(
    folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/tmp/fixer-git-x")

    monkeypatch.setattr("fixer.branch.land", full)
    said = ask("run", folder, "--no-verify", "--output-format=json")
    assert said.complaint() == "fixer: /tmp/fixer-git-x: No space left on device; mend that and try again"
    assert [file["path"] for file in said.report()["files"]] == ["train.py"]
    assert runs.load(None).error == said.report()["error"]


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
    (own_folder / runs.keep(replace(RUN, project="a b")) / "result.json").write_text("{")
    assert re.fullmatch(r"\S+-a-b-fixer-lightning-2.6.6  cannot be read\n", runs.listed())


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"command": "run", "base": 1}'])
def test_a_damaged_run_is_an_error_of_use(own_folder: Path, text: str) -> None:
    name = runs.keep(RUN)
    (own_folder / name / "result.json").write_text(text)
    with pytest.raises(UsageError, match="run fixer again to make it anew"):
        runs.load(name)


def test_a_kept_run_is_readable_by_its_owner_alone(own_folder: Path) -> None:
    assert (own_folder / runs.keep(RUN)).stat().st_mode & 0o077 == 0


def test_run_keeps_and_report_shows(folder: Path, ask: Ask, tmp_path: Path) -> None:
    ran = ask("run", folder, "--no-verify", "--output-format", "json")
    name, _, ended = ask("report", "--list").out.strip().partition("  ")
    assert re.fullmatch(rf"[0-9-]+-{folder.name}-fixer-lightning-2.6.6", name)
    assert ended == "`fixer/lightning-2.6.6`: 1 commit, 1 finding repaired; not proven."
    assert f"fixer report {name} --html FILE" in ran.err
    shown = ask("report", name, "--output-format", "json")
    assert shown.report() == ran.report()
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
    name = runs.keep(replace(RUN, duration_s=math.inf))
    assert runs.load(name).duration_s == math.inf
