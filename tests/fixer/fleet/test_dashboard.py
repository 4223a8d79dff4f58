"""The issue that says how a fleet stands: one, kept up, and left alone where people close it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fixer.errors import UsageError
from fixer.fleet.asked import FleetOptions, FleetRepository, RepositoryOptions
from fixer.fleet.dashboard import TITLE, body, keep_up, mark_of
from fixer.fleet.driver import DASHBOARD
from fixer.fleet.state import FleetRow, opened
from fixer.tokens import Token, Tokens
from tests.fixer.command import Ask
from tests.fixer.fleet.organisation import SECRET, standing
from tests.fixer.fleet.stand_in import RecordedEngine, ended, repositories, run
from tests.fixer.world import SECRET as PROJECT_SECRET
from tests.fixer.world import standing as standing_project

MARK = mark_of("1")


def row(name: str, **values: object) -> FleetRow:
    asked = FleetRepository(name, f"https://github.com/{name}", RepositoryOptions(deliver="pull-request"))
    plain = FleetRow(asked, "queued", "", "", "", 0, None, None, "", False, None, None, "", 0.0)
    return replace(plain, **values)  # type: ignore[arg-type]


def test_what_is_open_failed_and_waiting_is_listed_and_nobody_is_called() -> None:
    rows = [
        row(
            "acme/a",
            state="delivered",
            pull_open=True,
            pull_request="https://github.com/acme/a/pull/1",
            verdict="repaired",
        ),
        row("acme/b", state="failed", reason="<img src=x> @everyone see acme/c#1 and `x`"),
        row("acme/b2", state="planned"),
        row("acme/c", state="proven", pull_request="javascript:alert(1)"),
        *(row(f"acme/m{number:02}", state="merged") for number in range(45)),
    ]
    text = body(rows, "its hour: deliveries are made 09:00-17:00", MARK)
    assert text.startswith(f"{MARK}\n\n49 repositories: 1 planned, 1 proven, 1 delivered, 45 merged, 1 failed.")
    assert "The rest waits for its hour: deliveries are made 09:00-17:00." in text
    assert "## Open\n\n- [acme/a](https://github.com/acme/a/pull/1); repaired\n" in text
    assert "## Waiting to be delivered\n\n- acme/c\n" in text and "javascript" not in text
    assert "<img" not in text and "@everyone" not in text and "c#1" not in text
    assert text.endswith("- and 5 more")


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_one_issue_is_opened_and_kept_up(kind: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing_project(kind, ask, tmp_path, monkeypatch) as world:
        tokens = Tokens((Token("GITHUB_TOKEN" if kind == "github" else "GITLAB_TOKEN", PROJECT_SECRET),))
        address = f"{world.address}/someone/project.git"
        number, said = keep_up(address, None, f"{MARK}\none", MARK, tokens)
        assert said == f"dashboard opened: {world.address}/someone/project/{'-/' * (kind == 'gitlab')}issues/900"
        assert keep_up(address, number, f"{MARK}\none", MARK, tokens)[1].startswith("dashboard is up to date")
        assert keep_up(address, None, f"{MARK}\ntwo", MARK, tokens)[1].startswith("dashboard updated")
        (issue,) = world.api.issues
        assert (issue.title, issue.body, issue.writes) == (TITLE, f"{MARK}\ntwo", 1)
        issue.state = "closed"
        assert "is left as it is, since it was closed" in keep_up(address, number, f"{MARK}\nthree", MARK, tokens)[1]
        assert len(world.api.issues) == 1 and world.api.requests == []
        with pytest.raises(UsageError, match="needs a token; set"):
            keep_up(address, number, "", MARK, Tokens())


def test_a_run_ends_with_its_dashboard_and_fails_not_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch, ["a"]) as acme:
        options = FleetOptions(dashboard=f"{acme.address}/acme/a.git")
        every, said = repositories(tmp_path, ["x"]), list[str]()
        assert run(tmp_path, every, RecordedEngine(ended), options, said).stopped == ""
        assert said[-1].startswith("the dashboard is not up to date: ") and "needs a token" in said[-1]
        for word in ("opened", "up to date"):
            run(tmp_path, every, RecordedEngine(ended), options, said, Tokens((Token("GITHUB_TOKEN", SECRET),)))
            assert f"dashboard {'is ' * (word != 'opened')}{word}: {acme.address}/acme/a/issues/900" == said[-1]
        with opened(tmp_path / "state") as state:
            assert state.note(DASHBOARD) == f"{options.dashboard} 900"


def test_each_fleet_has_an_issue_of_its_own_and_finds_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch, ["a"]) as acme:
        options, tokens = FleetOptions(dashboard=f"{acme.address}/acme/a.git"), Tokens((Token("GITHUB_TOKEN", SECRET),))
        folders, said = (tmp_path / "one", tmp_path / "two"), list[str]()
        for folder in folders:
            run(folder, repositories(folder, ["x"]), RecordedEngine(ended), options, said, tokens)
        with opened(folders[0] / "state") as state:
            state.set_note(DASHBOARD, None)
        run(folders[0], repositories(folders[0], ["x"]), RecordedEngine(ended), options, said, tokens)
        assert said[-1] == f"dashboard is up to date: {acme.address}/acme/a/issues/900"
        first, second = acme.api("a").issues
        assert first.body.splitlines()[0] != second.body.splitlines()[0]
