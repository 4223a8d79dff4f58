"""What a fleet brings to its remotes: once each, as many at once as may be, and never what was refused."""

from __future__ import annotations

import shutil
import time as clock
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from codemods.engine.plan import Change
from fixer.fleet import driver
from fixer.fleet import state as state_of_fleets
from fixer.fleet.asked import FleetOptions, FleetRepository, RepositoryOptions
from fixer.fleet.deliveries import changes_of
from fixer.fleet.driver import RELEASED, Driver, FleetEnd
from fixer.fleet.failures import StepFailure
from fixer.fleet.manners import waits_for_hour
from fixer.fleet.state import opened
from fixer.fleet.words import Delivered
from fixer.gitio import find_repository
from fixer.result import Commit, Result
from fixer.tokens import Token, Tokens
from tests.fixer.command import OLD, Ask
from tests.fixer.fleet.organisation import SECRET, Organisation, in_process
from tests.fixer.fleet.stand_in import RecordedEngine, rows
from tests.fixer.forges import BRANCH, commit, head
from tests.fixer.git_repos import Repo
from tests.fixer.world import SECRET as PROJECT_SECRET
from tests.fixer.world import standing as standing_project
from tests.support import git

OFFER = RepositoryOptions(prove=False, deliver="pull-request")


def run(
    acme: Organisation,
    options: FleetOptions | None = None,
    each: RepositoryOptions = OFFER,
    *,
    again: bool = False,
    release: bool = False,
    names: str = "abc",
) -> FleetEnd:
    """One run of a fleet of the repositories of the organisation."""
    tokens = Tokens((Token("GITHUB_TOKEN", SECRET),))
    folder = acme.folder.parent / "state"
    with opened(folder, make=True) as state:
        state.enroll([one for one in acme.repositories(each) if one.name[-1] in names])
        if again:
            state.renew()
        if release:
            state.set_note(RELEASED, "yes")
        return Driver(folder, state, RecordedEngine(in_process), options or FleetOptions(), tokens, print).run()


def merge_one(acme: Organisation) -> None:
    """A person merges a pull request."""
    next(one for api in acme.apis.values() for one in api.requests if one.state == "open").state = "merged"


def states(acme: Organisation) -> dict[str, str]:
    return {name.removeprefix("acme/"): row.state for name, row in rows(acme.folder.parent).items()}


def test_each_repository_gets_one_pull_request_and_never_a_second(acme: Organisation, tmp_path: Path) -> None:
    labelled = replace(OFFER, labels=("lightning", "bot"))
    assert run(acme, each=labelled) == FleetEnd()
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}
    (pull,) = acme.api("b").requests
    assert (pull.head, pull.base, pull.labels, pull.draft) == (BRANCH, "main", ["lightning", "bot"], False)
    assert "<!-- fixer:rule LIT101 -->" in pull.body
    row = rows(tmp_path)["acme/b"]
    assert (row.state, row.pull_request) == ("delivered", f"{acme.address}/acme/b/pull/1")
    assert head(acme.folder / "acme" / "b.git") == row.head
    with opened(tmp_path / "state") as state:
        state.put("acme/a", state="planned", pull_request=None)
        state.begin("acme/a", "deliver")
        state.put("acme/b", state="planned", pull_request=None)
    run(acme, each=labelled)
    run(acme, each=labelled, again=True)
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}
    assert {one.writes for api in acme.apis.values() for one in api.requests} == {0}
    assert set(states(acme).values()) == {"delivered"}
    assert rows(tmp_path)["acme/a"].pull_request == f"{acme.address}/acme/a/pull/1"


def test_the_changes_of_a_branch_are_those_of_its_commits(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet")
    repo.commit({"a.py": b"1\n", "gone.py": b"x"})
    (tmp_path / "gone.py").unlink()
    ids = [repo.commit({"a.py": b"2\n", "\u00e9 b/c.py": b"new\n"}), repo.commit({"a.py": b"3\n"})]
    made = tuple(Commit(id, code, "", "", ()) for id, code in zip(ids, ("LIT001", "LIT101"), strict=True))
    result = Result("run", None, "2.6.6", commits=made)
    found = find_repository(tmp_path)
    assert found is not None
    assert set(changes_of(found, result)) == {
        Change("LIT001", "a.py", b"1\n", b"2\n"),
        Change("LIT001", "gone.py", b"x", b""),
        Change("LIT001", "\u00e9 b/c.py", b"", b"new\n"),
        Change("LIT101", "a.py", b"2\n", b"3\n"),
    }


@pytest.mark.parametrize("what", ["branch", "pull-request"])
def test_a_branch_with_commits_of_people_is_left_out(acme: Organisation, tmp_path: Path, what: Delivered) -> None:
    theirs = commit(acme.folder / "acme" / "a.git", {"mine.py": b"1\n"}, BRANCH, "origin/main")
    assert run(acme, each=replace(OFFER, deliver=what)) == FleetEnd()
    row = rows(tmp_path)["acme/a"]
    assert (row.state, row.pull_request, states(acme)["b"]) == ("left out", None, "delivered")
    assert row.reason == f"branch {BRANCH} there holds commit {theirs[:10]} of people, and is left as it is"
    assert acme.states()["a"] == [] and head(acme.folder / "acme" / "a.git") == theirs


def test_labels_that_are_refused_leave_the_pull_request_open(acme: Organisation, tmp_path: Path) -> None:
    acme.refused = ("POST", "/labels")
    assert run(acme, FleetOptions(open_pull_requests=1), replace(OFFER, labels=("lightning",))).stopped == ""
    assert sorted(acme.states().values()) == [[], [], ["open"]]
    (row,) = [row for row in rows(tmp_path).values() if row.state == "delivered"]
    assert row.pull_request and f"opened: {row.pull_request}; without its labels: GitHub answers 403" in row.reason


def test_what_becomes_of_a_pull_request_is_looked_up(acme: Organisation) -> None:
    run(acme)
    acme.api("a").requests[0].state = "merged"
    acme.api("b").requests[0].state = "closed"
    run(acme)
    assert states(acme) == {"a": "merged", "b": "closed", "c": "delivered"}


def test_a_merge_ends_what_had_failed_and_not_what_is_to_be_done_of_who_has_left(acme: Organisation) -> None:
    run(acme)
    with opened(acme.folder.parent / "state") as state:
        state.put("acme/a", state="failed", reason="no space left", kind="disk")
        state.put("acme/b", state="planned", reason="")
    for name in "abc":
        acme.api(name).requests[0].state = "merged"
    run(acme, names="a")
    assert states(acme) == {"a": "merged", "b": "left out", "c": "left out"}
    assert (rows(acme.folder.parent)["acme/a"].reason, rows(acme.folder.parent)["acme/a"].kind) == ("", "")
    with opened(acme.folder.parent / "state") as state:
        assert state.offered() == (3, 0)
        state.enroll(acme.repositories(OFFER))
        assert (state.row("acme/b").state, state.row("acme/c").state) == ("planned", "delivered")
    run(acme)
    assert states(acme)["c"] == "merged"


def test_a_look_that_fails_changes_nothing_of_its_repository(acme: Organisation) -> None:
    run(acme)
    before = {name: replace(row, changed=0) for name, row in rows(acme.folder.parent).items()}
    for api in acme.apis.values():
        api.token = "another"
    assert run(acme).stopped.startswith("3 repositories failed for one reason: GitHub answers 401")
    assert {name: replace(row, changed=0) for name, row in rows(acme.folder.parent).items()} == before
    with opened(acme.folder.parent / "state") as state:
        looks = [step for step in state.steps() if step.step == "look"]
    assert {(step.outcome, step.reason[:18]) for step in looks} == {("failed", "GitHub answers 401")}


def test_a_delivery_goes_where_its_repository_is_by_now(acme: Organisation, tmp_path: Path) -> None:
    run(acme, each=RepositoryOptions(prove=False))
    for clone in (tmp_path / "state" / "clones").glob("*/0/*"):
        git(clone, "config", "remote.origin.url", "http://127.0.0.1:9/gone.git")
    run(acme)
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}


def test_no_more_are_open_at_once_than_may_be(acme: Organisation) -> None:
    limited = FleetOptions(open_pull_requests=2)
    end = run(acme, limited)
    assert end.waits == "a pull request to be merged or closed: 2 are open, and no more than 2 may be"
    assert sorted(states(acme).values()) == ["delivered", "delivered", "planned"]
    run(acme, limited)
    assert sorted(states(acme).values()) == ["delivered", "delivered", "planned"]
    merge_one(acme)
    assert run(acme, limited).waits == ""
    assert sorted(states(acme).values()) == ["delivered", "delivered", "merged"]


def test_what_is_looked_at_again_keeps_its_open_pull_request_and_opens_no_other(acme: Organisation) -> None:
    limited = FleetOptions(open_pull_requests=1)
    run(acme, limited)
    (offered,) = (name for name, pulls in acme.states().items() if pulls)
    newest = commit(acme.folder / "acme" / f"{offered}.git", {"train.py": OLD + b"print(trainer)\n"})
    assert "1 are open, and no more than 1 may be" in run(acme, limited, again=True).waits
    assert sorted(acme.states().values()) == [[], [], ["open"]] and acme.states()[offered] == ["open"]
    row = rows(acme.folder.parent)[f"acme/{offered}"]
    assert (row.state, row.base) == ("delivered", newest)
    assert head(acme.folder / "acme" / f"{offered}.git") == row.head


def test_one_that_was_merged_meanwhile_gives_no_right_to_open_another(acme: Organisation) -> None:
    limited = FleetOptions(open_pull_requests=1)
    run(acme, limited)
    (offered,) = (name for name, pulls in acme.states().items() if pulls)
    commit(acme.folder / "acme" / f"{offered}.git", {"train.py": OLD + b"print(trainer)\n"})
    acme.api(offered).requests[0].state = "merged"
    run(acme, limited, again=True)
    assert sum(pulls.count("open") for pulls in acme.states().values()) == 1


def test_an_open_pull_request_counts_and_holds_up_another_one_from_a_new_branch(acme: Organisation) -> None:
    limited, other = FleetOptions(open_pull_requests=1), replace(OFFER, target="2.5.6")
    run(acme, limited)
    (offered,) = (name for name, pulls in acme.states().items() if pulls)
    end = run(acme, limited, other)
    assert "1 are open, and no more than 1 may be" in end.waits or "1 repositories to be merged" in end.waits
    row = rows(acme.folder.parent)[f"acme/{offered}"]
    assert sorted(acme.states().values()) == [[], [], ["open"]] and row.pull_open
    assert (
        row.reason == f"its pull request from {BRANCH} is to be merged or closed before one from {row.branch} is opened"
    )
    assert run(acme, each=other).waits == "pull requests of fixer's in 1 repositories to be merged or closed"
    assert acme.states()[offered] == ["open"]
    acme.api(offered).requests[0].state = "merged"
    assert run(acme, each=other) == FleetEnd()
    assert acme.states()[offered] == ["merged", "open"]
    row = rows(acme.folder.parent)[f"acme/{offered}"]
    assert (row.state, row.pull_branch, row.pull_request) == (
        "delivered",
        row.branch,
        f"{acme.address}/acme/{offered}/pull/2",
    )


def test_a_run_that_was_killed_as_it_opened_a_pull_request_loses_no_place(acme: Organisation) -> None:
    limited = FleetOptions(open_pull_requests=1, canary=1)
    run(acme, limited)
    (offered,) = (name for name, pulls in acme.states().items() if pulls)
    with opened(acme.folder.parent / "state") as state:
        state.put(f"acme/{offered}", state="planned", pull_request=None, pull_open=False, pull_branch=None)
        state.begin(f"acme/{offered}", "deliver")
        state.recover()
        assert state.offered() == (1, 1)
    run(acme, limited)
    assert sorted(acme.states().values()) == [[], [], ["open"]]
    row = rows(acme.folder.parent)[f"acme/{offered}"]
    assert (row.state, row.pull_open, row.pull_branch) == ("delivered", True, BRANCH)


def test_a_run_that_was_killed_before_it_opened_a_pull_request_opens_it(acme: Organisation) -> None:
    run(acme, each=RepositoryOptions(prove=False))
    with opened(acme.folder.parent / "state") as state:
        state.enroll(acme.repositories(OFFER))
        state.begin("acme/b", "deliver")
    run(acme, FleetOptions(open_pull_requests=1))
    assert sum(pulls.count("open") for pulls in acme.states().values()) == 1
    assert sorted(states(acme).values()) == ["delivered", "planned", "planned"]


def test_no_more_are_open_in_one_repository_than_may_be(acme: Organisation) -> None:
    origin, one = acme.folder / "acme" / "a.git", FleetOptions(open_per_repository=1)
    commit(origin, {"notes.md": b""}, "fixer/lightning-2.5.0", "origin/main")
    other = acme.api("a").add("acme", "fixer/lightning-2.5.0", "main", "Older", "")
    assert run(acme, one).waits == "pull requests of fixer's in 1 repositories to be merged or closed"
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}
    row = rows(acme.folder.parent)["acme/a"]
    assert (row.state, row.reason) == (
        "planned",
        "1 of fixer's pull requests are open there, and no more than 1 may be",
    )
    other.state = "merged"
    assert run(acme, one) == FleetEnd()
    assert acme.states() == {"a": ["merged", "open"], "b": ["open"], "c": ["open"]}


def test_the_first_ones_are_delivered_and_the_rest_after_a_word(acme: Organisation) -> None:
    careful = FleetOptions(canary=1)
    assert "a word: 1 are delivered for a look" in run(acme, careful).waits
    assert sorted(acme.states().values()) == [[], [], ["open"]]
    merge_one(acme)
    assert "a word" in run(acme, careful).waits
    assert run(acme, careful, release=True).waits == ""
    assert sorted(acme.states().values()) == [["merged"], ["open"], ["open"]]


@pytest.mark.parametrize(
    ("hours", "hour", "waits"),
    [("09:00-17:00", 8, True), ("09:00-17:00", 9, False), ("09:00-17:00", 17, True), ("22:00-06:00", 23, False),
     ("22:00-06:00", 5, False), ("22:00-06:00", 12, True), ("00:00-24:00", 23, False)],
)  # fmt: skip
def test_deliveries_have_their_hours(hours: str, hour: int, waits: bool) -> None:
    said = waits_for_hour(FleetOptions(hours=hours), datetime(2026, 1, 1, hour))
    assert said == (f"its hour: deliveries are made {hours}" if waits else "")


def test_outside_of_its_hours_a_fleet_delivers_nothing(acme: Organisation) -> None:
    later = (datetime.now().hour + 2) % 24
    hours = f"{later:02}:00-{(later + 1) % 24:02}:00"
    assert run(acme, FleetOptions(hours=hours), names="a").waits == f"its hour: deliveries are made {hours}"
    assert acme.states()["a"] == [] and states(acme) == {"a": "planned"}
    assert run(acme, FleetOptions(hours="00:00-24:00"), names="a") == FleetEnd()
    assert acme.states()["a"] == ["open"]


def test_a_branch_is_pushed_without_a_pull_request(acme: Organisation) -> None:
    run(acme, each=RepositoryOptions(prove=False))
    assert not any(head(acme.folder / "acme" / f"{name}.git") for name in "abc")
    run(acme, each=RepositoryOptions(prove=False, deliver="branch"))
    assert acme.states() == {"a": [], "b": [], "c": []}
    assert all(head(acme.folder / "acme" / f"{name}.git") for name in "abc")
    assert states(acme) == dict.fromkeys("abc", "delivered")
    run(acme)
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}
    with opened(acme.folder.parent / "state") as state:
        assert {step.tries for step in state.steps() if step.step == "plan"} == {1}


def test_a_server_that_asks_to_wait_is_waited_for(acme: Organisation) -> None:
    acme.busy = 2
    began = datetime.now()
    run(acme)
    assert (datetime.now() - began).total_seconds() > 2
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}


def test_a_token_that_is_not_taken_stops_the_fleet(acme: Organisation) -> None:
    run(acme, each=RepositoryOptions(prove=False))
    for api in acme.apis.values():
        api.token = "another"
    end = run(acme)
    assert end.stopped.startswith("3 repositories failed for one reason: GitHub answers 401; the token needs")
    assert set(states(acme).values()) == {"planned"}
    for api in acme.apis.values():
        api.token = SECRET
    assert run(acme) == FleetEnd()
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}


def test_a_delivery_that_failed_is_made_again_without_another_plan(acme: Organisation, tmp_path: Path) -> None:
    acme.refused = ("POST", "/pulls")
    del acme.apis["acme/c"]
    run(acme)
    assert states(acme) == {"a": "failed", "b": "failed"}
    acme.refused = None
    shutil.rmtree(next((tmp_path / "state" / "clones").glob("acme-b-*")))
    with opened(tmp_path / "state") as state:
        assert state.retry([]) == ["acme/a", "acme/b"]
    run(acme)
    assert states(acme) == {"a": "delivered", "b": "failed"}
    assert rows(tmp_path)["acme/b"].reason == "its clone is missing; `fixer fleet retry` makes it again"
    with opened(tmp_path / "state") as state:
        state.retry([])
    run(acme)
    assert states(acme) == {"a": "delivered", "b": "delivered"}
    with opened(tmp_path / "state") as state:
        assert {step.repository: step.tries for step in state.steps() if step.step == "plan"} == {
            "acme/a": 1, "acme/b": 2,
        }  # fmt: skip


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_labels_are_given_on_both_forges(kind: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing_project(kind, ask, tmp_path, monkeypatch) as world:
        name = "GITHUB_TOKEN" if kind == "github" else "GITLAB_TOKEN"
        tokens = Tokens((Token(name, PROJECT_SECRET),))
        one = FleetRepository("project", f"{world.address}/someone/project.git", replace(OFFER, labels=("x", "y")))
        with opened(tmp_path / "state", make=True) as state:
            state.enroll([one])
            end = Driver(tmp_path / "state", state, RecordedEngine(in_process), FleetOptions(), tokens, print).run()
        assert end == FleetEnd() and world.pull().labels == ["x", "y"]
        assert rows(tmp_path)["project"].state == "delivered"


@pytest.mark.parametrize(("kind", "asked"), [("github", ["ada", "bob", "team ml"]), ("gitlab", ["3", "3"])])
def test_the_owners_of_the_changed_files_are_asked_once(
    kind: str, asked: list[str], ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with standing_project(kind, ask, tmp_path, monkeypatch) as world:
        commit(world.origin, {"CODEOWNERS": b"*.py @ada @bob @acme/ml\n*.md @nobody\n"})
        name = "GITHUB_TOKEN" if kind == "github" else "GITLAB_TOKEN"
        tokens = Tokens((Token(name, PROJECT_SECRET),))
        one = FleetRepository("project", f"{world.address}/someone/project.git", replace(OFFER, ask_owners=True))
        for _ in range(2):
            with opened(tmp_path / "state", make=True) as state:
                state.enroll([one])
                state.renew()
                Driver(tmp_path / "state", state, RecordedEngine(in_process), FleetOptions(), tokens, print).run()
        assert world.pull().reviewers == asked
        assert rows(tmp_path)["project"].state == "delivered"


def test_a_review_that_may_not_be_asked_for_leaves_the_pull_request_open(acme: Organisation, tmp_path: Path) -> None:
    commit(acme.folder / "acme" / "a.git", {"CODEOWNERS": b"* @ada\n"})
    acme.refused = ("POST", "/requested_reviewers")
    run(acme, each=replace(OFFER, ask_owners=True), names="ab")
    assert states(acme) == {"a": "delivered", "b": "delivered"}
    assert "; without its reviewers: GitHub answers 403" in rows(tmp_path)["acme/a"].reason
    assert "reviewers" not in rows(tmp_path)["acme/b"].reason


def test_no_more_is_delivered_within_an_hour_than_may_be(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    run(acme, each=RepositoryOptions(prove=False))
    hour, seen = [0.0], list[int]()

    def pause(seconds: float) -> None:
        seen.append(sum(map(len, acme.states().values())))
        hour[0] += 1800

    monkeypatch.setattr(driver, "time", SimpleNamespace(time=lambda: clock.time() + hour[0], sleep=pause))
    monkeypatch.setattr(state_of_fleets, "time", SimpleNamespace(time=lambda: clock.time() + hour[0]))
    assert run(acme, FleetOptions(deliveries_per_hour=2)) == FleetEnd()
    assert seen == [2, 2] and acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}


def test_a_pull_request_is_for_the_default_branch_wherever_the_fleet_is_run(
    acme: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_REF_TYPE", "branch")
    monkeypatch.setenv("GITHUB_REF_NAME", "release")
    for name in "ab":
        commit(acme.folder / "acme" / f"{name}.git", {"notes.md": b""}, "release", "origin/main")
    run(acme, names="a")
    run(acme, each=replace(OFFER, base="release"), names="b")
    assert [acme.api(name).requests[0].base for name in "ab"] == ["main", "release"]


def test_a_commit_that_is_gone_is_not_passed_over(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet")
    repo.commit({"a.py": b"1\n"})
    there = Commit(repo.commit({"a.py": b"2\n"}), "LIT001", "", "", ())
    found = find_repository(tmp_path)
    assert found is not None
    with pytest.raises(StepFailure, match="a commit of its branch is missing"):
        list(changes_of(found, Result("run", None, "2.6.6", commits=(there, Commit("1" * 40, "LIT101", "", "", ())))))
