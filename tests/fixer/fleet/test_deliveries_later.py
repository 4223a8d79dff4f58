"""What becomes of a pull request that a fleet opened once its base, its settings or its repository have changed."""

from __future__ import annotations

from pathlib import Path

from fixer.fleet.asked import FleetOptions
from fixer.fleet.driver import FleetEnd
from tests.fixer.command import OLD
from tests.fixer.fleet.organisation import Organisation
from tests.fixer.fleet.stand_in import rows
from tests.fixer.fleet.test_deliveries import run, states
from tests.fixer.forges import BRANCH, commit, head
from tests.fixer.git_repos import Repo


def test_a_pull_request_follows_its_base(acme: Organisation, tmp_path: Path) -> None:
    run(acme)
    before = rows(tmp_path)["acme/a"]
    newest = commit(acme.folder / "acme" / "a.git", {"train.py": OLD + b"print(trainer)\n"})
    run(acme, again=True)
    row = rows(tmp_path)["acme/a"]
    assert (row.state, row.base) == ("delivered", newest), row
    assert row.head != before.head and head(acme.folder / "acme" / "a.git") == row.head
    assert acme.states() == {"a": ["open"], "b": ["open"], "c": ["open"]}
    assert [one.writes for api in acme.apis.values() for one in api.requests] == [1, 0, 0]


def test_what_was_closed_is_not_offered_again(acme: Organisation) -> None:
    run(acme)
    acme.api("a").requests[0].state = "closed"
    run(acme, again=True)
    assert acme.states()["a"] == ["closed"]
    row = rows(acme.folder.parent)["acme/a"]
    assert (row.state, row.reason) == ("closed", "the same was offered, and closed")


def test_a_pull_request_is_closed_once_nothing_is_left_to_change(acme: Organisation, tmp_path: Path) -> None:
    older = {"train.py": OLD, "pyproject.toml": b"[tool.fixer]\ntarget = '2.5.6'\n"}
    commit(acme.folder / "acme" / "a.git", older)
    run(acme)
    assert acme.api("a").requests[0].head == "fixer/lightning-2.5.6"
    for name in "ab":
        commit(acme.folder / "acme" / f"{name}.git", {"train.py": b"print(1)\n"})
    commit(acme.folder / "acme" / "b.git", {"mine.py": b""}, BRANCH)
    run(acme, again=True)
    assert acme.states() == {"a": ["closed"], "b": ["open"], "c": ["open"]}
    found = rows(tmp_path)
    url = f"{acme.address}/acme/a/pull/1"
    assert (found["acme/a"].state, found["acme/a"].pull_open) == ("left out", False)
    assert found["acme/a"].reason == f"pull request closed, since nothing is left to do: {url}"
    assert (found["acme/b"].state, found["acme/b"].pull_open) == ("left out", True)
    assert "holds commits of people and is left as it is" in found["acme/b"].reason
    writes = [one.writes for api in acme.apis.values() for one in api.requests]
    assert run(acme, FleetOptions(open_pull_requests=2)) == FleetEnd()
    assert [one.writes for api in acme.apis.values() for one in api.requests] == writes


def test_a_pull_request_is_closed_where_all_of_it_is_switched_off(acme: Organisation, tmp_path: Path) -> None:
    run(acme)
    (pull,) = acme.api("a").requests
    pull.body = pull.body.replace("[x]", "[ ]")
    run(acme, again=True)
    row = rows(tmp_path)["acme/a"]
    assert (acme.states()["a"], row.state, row.pull_open) == (["closed"], "left out", False)
    assert row.reason == f"pull request closed, since all that is left is switched off in it: {row.pull_request}"


def test_one_that_is_not_needed_any_more_is_not_said_to_be_switched_off(acme: Organisation, tmp_path: Path) -> None:
    run(acme)
    (pull,) = acme.api("a").requests
    pull.body = pull.body.replace("[x]", "[ ]")
    commit(acme.folder / "acme" / "a.git", {"train.py": b"print(1)\n"})
    run(acme, again=True)
    row = rows(tmp_path)["acme/a"]
    assert (acme.states()["a"], row.ignored is not None) == (["closed"], True)
    assert row.reason == f"pull request closed, since nothing is left to do: {row.pull_request}"


def test_settings_that_cannot_be_read_are_the_failure_of_their_repository(acme: Organisation, tmp_path: Path) -> None:
    run(acme)
    commit(acme.folder / "acme" / "a.git", {"pyproject.toml": b"[tool.fixer]\ntarget = 1\n"})
    run(acme, again=True)
    assert states(acme) == {"a": "failed", "b": "delivered", "c": "delivered"}
    assert "[tool.fixer] target" in rows(tmp_path)["acme/a"].reason


def test_what_is_switched_off_in_a_pull_request_is_made_anew_without_it(tmp_path: Path, acme: Organisation) -> None:
    two = b"import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=0, max_epochs=1, resume_from_checkpoint=None)\n"
    acme.apis = {"acme/a": acme.api("a")}
    commit(acme.folder / "acme" / "a.git", {"train.py": two, "requirements.txt": b"pytorch-lightning==1.9\n"})
    run(acme)
    (pull,) = acme.api("a").requests
    code = "LIT101"
    assert f"<!-- fixer:rule {code} -->" in pull.body and pull.body.count("<!-- fixer:rule") > 1
    box = next(line for line in pull.body.splitlines() if f"fixer:rule {code} " in line)
    pull.body = pull.body.replace(box, box.replace("[x]", "[ ]"))
    run(acme, again=True)
    assert acme.states() == {"a": ["open"]}
    row = rows(tmp_path)["acme/a"]
    assert (row.state, row.ignored) == ("delivered", (code,))
    assert b"gpus=0" in Repo(acme.folder / "acme" / "a.git").show(BRANCH, "train.py")
    box = box.replace("[x]", "[ ]")
    assert box in pull.body.splitlines()
    pull.body = pull.body.replace(box, box.replace("[ ]", "[x]"))
    run(acme, again=True)
    row = rows(tmp_path)["acme/a"]
    assert (row.state, row.ignored) == ("delivered", None)
    assert b"gpus=0" not in Repo(acme.folder / "acme" / "a.git").show(BRANCH, "train.py")
    assert f"- [x] {code}" in pull.body
