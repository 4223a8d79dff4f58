"""The life of a pull request, sentence by sentence, against a git server and an API over http."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.fixer.command import NEW, OLD, Ask
from tests.fixer.forges import BRANCH, bare, clone, commit, head
from tests.fixer.git_repos import Repo
from tests.fixer.world import World
from tests.support import git

MOVED = b"from pytorch_lightning.loggers.base import LightningLoggerBase\n\nprint(LightningLoggerBase)\n"


def test_a_first_run_opens_it(world: World) -> None:
    report = world.run()
    pull = world.pull()
    assert (pull.head, pull.base, pull.title) == (BRANCH, "main", "Move to Lightning 2.6.6")
    assert report["pull_request"].startswith(f"{world.address}/someone/project/")
    assert report["messages"][-1] == f"pull request opened: {report['pull_request']}"
    assert head(world.origin) == report["commits"][-1]["id"]
    assert "- [x] LIT101" in pull.body
    assert "+trainer = pl.Trainer(accelerator=" in pull.body
    assert f"fixer run . --target 2.6.6 --base {report['base']} --select=LIT101 --branch reproduced" in pull.body


def test_one_that_does_not_run_on_the_target_is_a_draft_until_it_does(world: World) -> None:
    left = OLD + b"print(trainer.amp_level)\n"
    world.commit(left)
    report = world.run()
    pull = world.pull()
    assert pull.draft and report["messages"][-1] == f"pull request opened as a draft: {report['pull_request']}"
    assert "### Not ready to merge: 1 place fails on Lightning 2.6.6" in pull.body and "`train.py:4`" in pull.body
    world.run()
    assert pull.draft and pull.writes == 0
    world.commit(OLD)
    said = world.run()["messages"][-1]
    assert not pull.draft and said.startswith("pull request updated and marked as ready for review: ")
    assert "### Ready to merge" in pull.body
    world.commit(left)
    assert world.run()["messages"][-1].startswith("pull request updated and made a draft: ") and pull.draft


def test_what_a_person_says_of_the_draft_stays(world: World) -> None:
    world.commit(OLD + b"print(trainer.amp_level)\n")
    world.run()
    pull = world.pull()
    pull.marked, pull.title = False, pull.title.removeprefix("Draft: ")
    world.commit(OLD + b"print(trainer.amp_level, 1)\n")
    world.run()
    assert pull.writes == 1 and not pull.draft


@pytest.mark.parametrize("world", ["github"], indirect=True)
def test_where_the_server_knows_no_drafts_or_keeps_them(world: World) -> None:
    world.api.drafts = False
    world.commit(OLD + b"print(trainer.amp_level)\n")
    report = world.run()
    assert report["messages"][-1].startswith("pull request opened: ") and not world.pull().draft
    assert "### Not ready" in world.pull().body
    world.pull().marked, world.api.graphql = True, False
    world.pull().body = world.pull().body.replace('"draft":false', '"draft":true')
    world.commit(OLD)
    for _ in range(2):
        assert "the server does not let fixer mark this as ready" in str(world.run()["messages"])
        assert world.pull().draft and "press the button yourself" in world.pull().body
    world.api.graphql = True
    world.run()
    assert not world.pull().draft and "press the button" not in world.pull().body


def test_the_commands_of_the_body_make_the_branch_again(world: World) -> None:
    world.commit(OLD.replace(b"trainer", b"bits = input()\ntrainer", 1).replace(b"gpus=0", b"gpus=bits"))
    report = world.run("--unsafe-fixes", "--ignore", "PIN")
    (command,) = re.findall(r"^fixer (run .*)$", world.pull().body, re.MULTILINE)
    repo = world.clone()
    world.monkeypatch.chdir(repo.path)
    assert world.ask(*shlex.split(command), "--no-verify").code == 0
    assert repo.git("rev-parse", "reproduced^{tree}") == git(world.origin, "rev-parse", f"{report['branch']}^{{tree}}")


def test_the_same_result_touches_nothing(world: World) -> None:
    far = b"# Notes.\n" * 5 + OLD
    world.commit(far)
    world.run()
    before = (head(world.origin), world.pull().body)
    commit(world.origin, {"notes.md": b"more\n"})
    world.commit(b"# More.\n" + far)
    report = world.run()
    assert report["messages"][-1] == f"pull request is up to date: {report['pull_request']}"
    assert (head(world.origin), world.pull().body) == before
    assert world.pull().writes == 0


def test_a_new_result_updates_branch_and_body(world: World) -> None:
    world.run()
    first = head(world.origin)
    base = world.commit(OLD + b"print(pl.Trainer(gpus=0))\n")
    report = world.run()
    assert report["messages"][-1] == f"pull request updated: {report['pull_request']}"
    assert first != head(world.origin) == report["commits"][-1]["id"]
    assert git(world.origin, "rev-parse", f"{BRANCH}^") == base
    assert '+print(pl.Trainer(accelerator="cpu"))' in world.pull().body
    assert world.pull().writes == 1


def test_commits_of_people_are_left_and_said_once(world: World) -> None:
    world.run()
    theirs = world.commit(NEW + b"# by hand\n", BRANCH)
    world.commit(OLD + b"print(pl.Trainer(gpus=0))\n")
    for _ in range(2):
        report = world.run()
        assert report["messages"][-1] == f"branch {BRANCH} of origin holds commits of people and is left as it is"
    (said,) = world.pull().comments
    assert f"This branch holds commits that fixer did not make ({theirs[:10]})" in said
    assert head(world.origin) == theirs
    assert world.pull().writes == 0


def test_closed_unmerged_is_not_offered_again_until_it_is_asked_for(world: World) -> None:
    world.run()
    world.pull().state = "closed"
    git(world.origin, "branch", "-D", BRANCH)
    commit(world.origin, {"notes.md": b"more\n"})
    report = world.run()
    assert (report["branch"], report["pull_request"]) == (None, None)
    assert "not offered again, since a pull request with the same was closed or taken back: LIT101 in 1 file" in str(
        report["messages"]
    )
    assert (len(world.api.requests), head(world.origin)) == (1, "")
    assert world.run("--force")["branch"] == BRANCH
    assert [one.state for one in world.api.requests] == ["closed", "open"]
    assert world.run()["branch"] == BRANCH


def test_what_is_new_is_offered_without_what_was_closed(world: World) -> None:
    world.run()
    world.pull().state = "closed"
    git(world.origin, "branch", "-D", BRANCH)
    commit(world.origin, {"more.py": OLD.replace(b"gpus=0", b"gpus=2")})
    report = world.run()
    assert [file["path"] for file in report["files"]] == ["more.py"]
    assert [one.state for one in world.api.requests] == ["closed", "open"]


def test_a_change_that_its_owner_reverted_is_not_offered_again(world: World) -> None:
    world.run()
    world.pull().state = "merged"
    git(world.origin, "update-ref", "refs/heads/main", BRANCH)
    git(world.origin, "branch", "-D", BRANCH)
    assert world.run()["files"] == []
    workspace = clone(world.origin, world.place / "workspace")
    workspace.git("revert", "--no-edit", "HEAD")
    workspace.git("push", "--quiet")
    report = world.run()
    assert (report["branch"], len(world.api.requests)) == (None, 1)
    assert "closed or taken back: LIT101" in str(report["messages"])


def test_where_nothing_is_left_to_do_it_is_closed_and_said(world: World) -> None:
    world.run()
    theirs, first = head(world.origin), world.pull()
    world.commit(NEW)
    world.run("--dry-run")
    assert first.state == "open"
    report = world.run()
    assert (first.state, report["branch"], report["pull_request"]) == ("closed", None, None)
    assert "pull request closed, since nothing is left to do: " in report["messages"][-1]
    (said,) = first.comments
    assert said.startswith("`main` needs none of these changes any more. So fixer closes this;")
    assert "+trainer = pl.Trainer(accelerator=" in first.body
    assert head(world.origin) == theirs
    assert world.run()["messages"] == []
    assert (first.writes, len(first.comments)) == (1, 1)
    world.commit(OLD)
    assert world.run()["branch"] == BRANCH
    assert [one.state for one in world.api.requests] == ["closed", "open"]


def test_where_nothing_is_left_to_do_commits_of_people_stay_open(world: World) -> None:
    world.run()
    theirs = world.commit(NEW + b"# by hand\n", BRANCH)
    world.commit(NEW)
    for _ in range(2):
        assert world.run()["messages"][-1].endswith("holds commits of people and is left as it is")
    (said,) = world.pull().comments
    assert "so it is left open: merge or close it." in said
    assert (world.pull().state, world.pull().writes, head(world.origin)) == ("open", 0, theirs)


def test_where_all_that_is_left_is_switched_off_it_is_closed_and_said(world: World) -> None:
    world.run()
    pull = world.pull()
    ticked, pull.body = pull.body, pull.body.replace("- [x]", "- [ ]")
    assert "closed, since all that is left is switched off in it" in world.run()["messages"][-1]
    (said,) = pull.comments
    assert said.startswith("All that `main` still needs is switched off in the check boxes above.")
    assert "needs none of these" not in said
    assert (pull.state, world.run()["messages"], len(pull.comments)) == ("closed", [], 1)
    pull.body = ticked.replace(ticked[ticked.index("<!-- fixer: {") :], pull.body[pull.body.index("<!-- fixer: {") :])
    assert world.run()["branch"] == BRANCH
    assert [one.state for one in world.api.requests] == ["closed", "open"]


def test_the_commands_of_a_report_leave_out_what_is_switched_off(world: World) -> None:
    world.commit(OLD + MOVED)
    settings = b'[tool.fixer]\nignore = ["PIN"]\n'
    commit(world.origin, {"pyproject.toml": settings})
    world.run()
    world.pull().body = world.pull().body.replace("- [x] LIT101", "- [ ] LIT101")
    repo = world.clone()
    said = world.say("--branch", BRANCH, "--output-file", f"markdown:{repo.path / 'report.md'}", repo=repo)
    assert {item["code"] for item in said.report()["commits"]} == {"LIT001"}
    told = (repo.path / "report.md").read_text()
    assert f"\nfixer run . --ignore=PIN,LIT101 --branch={BRANCH} --target 2.6.6\n" in told


@pytest.mark.parametrize("other", [["--select", "TBP"], ["--ignore", "LIT"], ["--unsafe-fixes"]])
def test_a_run_that_was_asked_for_something_else_does_not_close_it(world: World, other: list[str]) -> None:
    world.run()
    world.commit(NEW)
    assert "is left as it is, since it was made with other options" in world.run(*other)["messages"][-1]
    assert (world.pull().state, world.pull().writes, world.pull().comments) == ("open", 0, [])


def test_a_run_that_could_not_read_a_file_of_it_does_not_close_it(world: World) -> None:
    world.run()
    world.commit(OLD + b"<<<<<<< HEAD\n")
    assert "since it changes train.py, which was skipped: " in world.run()["messages"][-1]
    assert (world.pull().state, world.pull().writes, world.pull().comments) == ("open", 0, [])


def test_a_rule_switched_off_in_the_check_boxes_is_left_out(world: World) -> None:
    commit(world.origin, {"logger.py": MOVED})
    first = world.run()
    assert {commit["code"] for commit in first["commits"]} > {"LIT101"}
    pull = world.pull()
    pull.body = pull.body.replace("- [x] LIT101", "- [ ] LIT101").replace("\n", "\r\n")
    report = world.run()
    assert {commit["code"] for commit in report["commits"]} == {item["code"] for item in first["commits"]} - {"LIT101"}
    assert "gpus=0" in Repo(world.origin).show(BRANCH, "train.py").decode()
    assert "- [ ] LIT101" in pull.body
    before = head(world.origin)
    world.run()
    assert head(world.origin) == before
    pull.body = pull.body.replace("- [ ] LIT101", "- [x] LIT101")
    assert world.run()["commits"] == first["commits"]


def test_a_conflict_is_rebuilt_from_the_new_base(world: World) -> None:
    world.run()
    base = world.commit(OLD.replace(b"max_epochs=1", b"max_epochs=2"))
    conflict = Repo(clone(world.origin, world.place / "workspace").path)
    with pytest.raises(Exception, match="merge"):
        conflict.git("merge", f"origin/{BRANCH}")
    world.run()
    assert git(world.origin, "rev-parse", f"{BRANCH}^") == base
    assert b'accelerator="cpu", max_epochs=2' in Repo(world.origin).show(BRANCH, "train.py")


def test_several_runs_at_once_make_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from fixer.push import publish as real

    other = world.clone()

    def publish(*arguments: Any) -> Any:
        monkeypatch.setattr("fixer.pulls.offer.publish", real)
        world.run(repo=other)
        return real(*arguments)

    monkeypatch.setattr("fixer.pulls.offer.publish", publish)
    report = world.run()
    assert report["pull_request"].endswith("/1")
    assert world.pull().state == "open"
    assert head(world.origin) == other.git("rev-parse", BRANCH)


def test_templates_of_the_project(world: World) -> None:
    settings = b'[tool.fixer.pull-request]\ntitle = ".fixer/title"\nbody = ".fixer/body.md"\n'
    commit(
        world.origin,
        {
            "pyproject.toml": settings,
            ".fixer/title": b"chore: {{ codes | join('+') }}\n",
            ".fixer/body.md": b"{% for group in groups %}{{ group.name }}{% endfor %} by hand\n",
        },
    )
    world.run()
    assert world.pull().title == "chore: LIT101"
    assert re.fullmatch(r"lightning-2\.6\.6 by hand\n\n<!-- fixer: \{.*\} -->", world.pull().body)
    commit(world.origin, {".fixer/body.md": b"{{ result.__class__.__mro__ }}"})
    assert "[tool.fixer.pull-request] body: access to attribute '__class__'" in world.say().complaint()


def test_a_fork_offers_to_where_it_came_from(world: World, tmp_path: Path) -> None:
    fork = tmp_path / "forge" / "other" / "project.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(world.origin), str(fork))
    git(fork, "config", "http.receivepack", "true")
    repo = world.clone()
    repo.git("remote", "add", "fork", f"{world.address}/other/project.git")
    world.run("--push", "fork", repo=repo)
    assert head(fork) == repo.git("rev-parse", BRANCH)
    assert head(world.origin) == ""
    assert (world.pull().owner, world.pull().head, world.pull().base) == ("other", BRANCH, "main")
    assert world.run("--push", "fork", repo=repo)["messages"][-1].startswith("pull request is up to date")


def test_a_detached_head_of_ci_offers_to_the_branch_that_is_built(world: World) -> None:
    commit(world.origin, {"train.py": OLD + b"# develop\n"}, "develop", "origin/main")
    built = {
        "github": {"GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "develop"},
        "gitlab": {"CI_COMMIT_BRANCH": "develop"},
    }
    for variables, base in ((built[world.kind], "develop"), ({}, "main")):
        repo = world.clone()
        repo.git("switch", "--quiet", "--detach", "origin/develop")
        repo.git("branch", "--quiet", "-D", "main")
        with world.monkeypatch.context() as pipeline:
            for name, value in variables.items():
                pipeline.setenv(name, value)
            world.run(repo=repo)
        assert world.pull().base == base
        world.api.requests.clear()


def test_where_no_pull_request_can_be(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = clone(bare(tmp_path / "forge" / "project.git"), tmp_path / "here")
    assert "is not known as GitHub or GitLab" in ask("run", repo.path, "--no-verify", "--pr").complaint()
    repo.git("remote", "set-url", "origin", "https://github.com/someone/project.git")
    monkeypatch.setenv("PATH", os.path.dirname(os.path.realpath("/usr/bin/git")))  # noqa: PTH120
    assert (
        "--pr needs a token for github.com; set GH_TOKEN or GITHUB_TOKEN, or sign in with `gh auth login`"
        in ask("run", repo.path, "--no-verify", "--pr").complaint()
    )


def test_what_gh_says_is_no_token_where_no_server_would_take_it(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = clone(bare(tmp_path / "forge" / "project.git"), tmp_path / "here")
    repo.git("remote", "set-url", "origin", "https://github.com/someone/project.git")
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho gho_secret of you\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    said = ask("run", repo.path, "--no-verify", "--pr")
    assert "the token of `gh` holds a blank, a line end or another character that no token has" in said.complaint()
    assert "gho_secret" not in said.out + said.err
