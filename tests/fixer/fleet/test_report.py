"""The report of a fleet: what is counted, and that nothing of a repository can do anything in a page or a sheet."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from fixer.fleet.asked import FleetRepository
from fixer.fleet.report import as_csv, as_html, as_json, of_fleet
from fixer.fleet.state import FindingCount, opened
from tests.fixer.command import Ask
from tests.fixer.fleet.stand_in import RecordedEngine, ended, finding, repositories, run

EVIL = '</script><img src=x onerror="alert(1)">\u202e'


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Three repositories: one proven with something left by hand, one that failed, one that needs nothing."""

    def answer(task):  # type: ignore[no-untyped-def]
        if task.repository == "b":
            return ended(task, 2, error=f"=cmd {EVIL}")
        left = finding("TBP001", applied=False, stops=True, reason=f"by hand {EVIL}")
        if task.repository == "c":
            return ended(task, files=[], commits=[], findings=[left])
        return ended(task, findings=[finding(), finding(), left, left])

    run(tmp_path, repositories(tmp_path, ["a", "b", "c"]), RecordedEngine(answer))
    return tmp_path / "state"


def test_what_is_counted(fleet: Path) -> None:
    with opened(fleet) as state:
        report = of_fleet(state, fleet)
    document = json.loads(as_json(report))
    assert document["states"] == {"proven": 1, "failed": 1, "left out": 1}
    assert document["verdicts"] == {"repaired": 1}
    assert document["rules"] == [
        {"code": "TBP001", "repaired_in": 0, "repaired": 0, "left_in": 2, "left": 3},
        {"code": "LIT101", "repaired_in": 1, "repaired": 2, "left_in": 0, "left": 0},
    ]
    (reason,) = document["reasons"]
    assert (reason["repositories"], reason["places"], reason["stops"]) == (2, 3, 2)
    one, failed, _ = document["repositories"]
    assert (one["name"], one["state"], one["repaired"], one["left"], one["stops"]) == ("a", "proven", 2, 2, 1)
    assert one["seconds"] == 1.0 and one["cpu"] == 0.5 and one["page"].endswith(".html")
    assert (failed["state"], failed["page"], failed["tries"]) == ("failed", None, 1)


def test_a_sheet_takes_nothing_for_a_formula(fleet: Path) -> None:
    with opened(fleet) as state:
        lines = list(csv.DictReader(io.StringIO(as_csv(of_fleet(state, fleet)))))
    assert [line["name"] for line in lines] == ["a", "b", "c"]
    assert lines[1]["reason"].startswith("'=cmd")


def test_nothing_of_a_repository_does_anything_in_the_page(fleet: Path, tmp_path: Path) -> None:
    with opened(fleet) as state:
        state.enroll([FleetRepository(EVIL, "https://example.org/a"), *repositories(tmp_path, ["a", "b", "c"])])
        state.put("a", pull_request="javascript:alert(1)")
        state.put("b", pull_request="https://example.org/pull/1")
        page = as_html(of_fleet(state, fleet), tmp_path)
    assert "<img" not in page and "javascript:alert" not in page and "\u202e" not in page
    assert page.count("<script") == page.count("</script>") == 2
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    rows = json.loads(data)
    assert [row["link"] for row in rows] == [None, None, "https://example.org/pull/1", None]
    assert rows[1]["page"].startswith("state/pages/a-") and (tmp_path / rows[1]["page"]).is_file()
    assert "http" not in page.replace(data, "").replace("Content-Security-Policy", "").replace("http-equiv", "")


def test_reports_are_written_and_printed(fleet: Path, ask: Ask, tmp_path: Path) -> None:
    files = [part for kind in ("html", "csv", "json") for part in (f"--{kind}", tmp_path / f"fleet.{kind}")]
    assert ask("fleet", "report", "--state", fleet, *files).code == 0
    assert (tmp_path / "fleet.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "fleet.csv").read_text().startswith("name,address,state,verdict,")
    printed = ask("fleet", "report", "--state", fleet)
    assert printed.out == (tmp_path / "fleet.json").read_text()
    assert "there is no folder" in ask("fleet", "report", "--state", fleet, "--html", "none/x").complaint()


def test_a_table_for_programs_has_a_row_a_repository(fleet: Path, ask: Ask, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    assert ask("fleet", "report", "--state", fleet, "--parquet", tmp_path / "fleet.parquet").code == 0
    rows = parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    told = json.loads(ask("fleet", "report", "--state", fleet).out)["repositories"]
    assert rows == told and {type(rows[0][name]) for name in ("ready", "cpu", "tries")} == {bool, float, int}


def test_a_table_for_programs_needs_its_library(
    fleet: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = ask("fleet", "report", "--state", fleet, "--parquet", tmp_path / "fleet.parquet")
    assert "--parquet needs pyarrow; run `pip install 'fixer[parquet]'`" in said.complaint()


def test_a_page_of_five_thousand_repositories(tmp_path: Path) -> None:
    every = [FleetRepository(f"acme/r{number}", f"https://example.org/acme/r{number}") for number in range(5000)]
    with opened(tmp_path, make=True) as state:
        state.enroll(every)
        state.end("acme/r7", "plan", "done", {}, findings=[FindingCount("acme/r7", "LIT101", "", True, 1, False)])
        page = as_html(of_fleet(state, tmp_path), tmp_path)
    assert len(page) < 2_000_000 and "Fleet of 5000 repositories" in page and page.count("acme/r") == 5000
