"""`run --push`: what reaches the remote, what is never overwritten there, and what nobody else gets to see."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from fixer.forge import ForgeRepository, may_show_token, place_of
from tests.fixer.command import NEW, OLD, Ask
from tests.fixer.forges import BRANCH, bare, clone, commit, head, served
from tests.fixer.git_repos import Repo
from tests.support import git

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return bare(tmp_path / "forge" / "someone" / "project.git")


def pushed(ask: Ask, repo: Repo, *more: str) -> str:
    said = ask("run", repo.path, "--no-verify", "--push", "origin", *more)
    assert said.code == 0, said
    return said.out


def signing(repo: Repo, folder: Path) -> None:
    """Has a repository sign commits by a new key."""
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (folder / "signers").write_text(f"* {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("commit.gpgSign", "true"),
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(folder / "signers")),
    ):
        repo.git("config", name, value)


def test_the_branch_reaches_the_remote(ask: Ask, origin: Path, tmp_path: Path) -> None:
    repo = clone(origin, tmp_path / "here")
    before, settings = repo.fingerprint(), (repo.path / ".git" / "config").read_bytes()
    assert f"branch {BRANCH} pushed to origin" in pushed(ask, repo)
    assert head(origin) == repo.git("rev-parse", BRANCH)
    assert Repo(origin).show(BRANCH, "train.py") == NEW
    assert (repo.fingerprint(), (repo.path / ".git" / "config").read_bytes()) == (before, settings)


def test_a_second_run_pushes_nothing(ask: Ask, origin: Path, tmp_path: Path) -> None:
    pushed(ask, clone(origin, tmp_path / "one"))
    before = head(origin)
    assert f"origin already holds branch {BRANCH}" in pushed(ask, clone(origin, tmp_path / "two"))
    assert head(origin) == before


def test_the_same_files_in_other_commits_are_not_pushed(ask: Ask, origin: Path, tmp_path: Path) -> None:
    pushed(ask, clone(origin, tmp_path / "one"))
    before = head(origin)
    repo = clone(origin, tmp_path / "two")
    signing(repo, tmp_path)
    assert f"origin already holds branch {BRANCH}" in pushed(ask, repo)
    assert before == head(origin) != repo.git("rev-parse", BRANCH)


@pytest.mark.parametrize("options", [[], ["--depth=1"], ["--filter=blob:none"]])
def test_what_fixer_made_is_replaced_after_the_base_moved(
    ask: Ask, origin: Path, tmp_path: Path, options: list[str]
) -> None:
    pushed(ask, clone(origin, tmp_path / "one"))
    base = commit(origin, {"train.py": b"# more\n" + OLD})
    repo = clone(f"file://{origin}", tmp_path / "two", *options)
    pushed(ask, repo)
    assert git(origin, "rev-parse", f"{BRANCH}^") == base
    assert Repo(origin).show(BRANCH, "train.py") == b"# more\n" + NEW
    assert repo.git("rev-parse", "--is-shallow-repository") == str("--depth=1" in options).lower()
    base = commit(origin, {"notes.md": b"notes\n"})
    repo.git("pull", "--quiet")
    pushed(ask, repo)
    assert git(origin, "rev-parse", f"{BRANCH}^") == base


@pytest.mark.parametrize("options", [[], ["--depth=1"]])
def test_commits_of_people_are_never_overwritten(ask: Ask, origin: Path, tmp_path: Path, options: list[str]) -> None:
    pushed(ask, clone(origin, tmp_path / "one"))
    theirs = commit(origin, {"train.py": NEW + b"# by hand\n"}, BRANCH)
    commit(origin, {"train.py": b"# more\n" + OLD})
    repo = clone(f"file://{origin}", tmp_path / "two", *options)
    said = ask("run", repo.path, "--no-verify", "--force", "--push", "origin", "--output-format", "json")
    assert f"holds commit {theirs[:10]}, which fixer did not make; it is left as it is" in said.complaint()
    assert said.report()["branch"] == BRANCH
    assert head(origin) == theirs


def test_a_commit_that_was_rewritten_by_a_person_is_theirs(ask: Ask, origin: Path, tmp_path: Path) -> None:
    pushed(ask, clone(origin, tmp_path / "one"))
    workspace = clone(origin, tmp_path / "workspace")
    workspace.git("switch", "--quiet", BRANCH)
    workspace.git("commit", "--quiet", "--amend", "--no-edit")
    workspace.git("push", "--quiet", "--force")
    theirs = head(origin)
    commit(origin, {"train.py": b"# more\n" + OLD})
    said = ask("run", clone(origin, tmp_path / "two").path, "--no-verify", "--push", "origin")
    assert "which fixer did not make" in said.complaint()
    assert head(origin) == theirs


def test_a_local_branch_with_commits_of_people_is_refused(ask: Ask, origin: Path, tmp_path: Path) -> None:
    repo = clone(origin, tmp_path / "one")
    pushed(ask, repo)
    repo.git("switch", "--quiet", BRANCH)
    theirs = repo.commit({"train.py": NEW + b"# by hand\n"})
    repo.git("switch", "--quiet", "main")
    assert "exists and holds something else" in ask("run", repo.path, "--no-verify", "--push", "origin").complaint()
    assert repo.git("rev-parse", BRANCH) == theirs


def test_a_protected_branch_loses_nothing(ask: Ask, origin: Path, tmp_path: Path) -> None:
    hook = origin / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    repo = clone(origin, tmp_path / "here")
    said = ask("run", repo.path, "--no-verify", "--push", "origin", "--output-format", "json")
    assert "pre-receive hook declined" in said.complaint()
    assert "the branch is complete here" in said.complaint()
    assert said.report()["branch"] == BRANCH
    assert repo.show(BRANCH, "train.py") == NEW
    assert head(origin) == ""


def test_a_remote_that_cannot_be_reached_loses_nothing(
    ask: Ask, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIXER_RUNS", str(tmp_path / "runs"))
    repo = clone(origin, tmp_path / "here")
    repo.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
    said = ask("run", repo.path, "--no-verify", "--push", "origin", "--output-format", "json")
    assert f"origin ({tmp_path / 'gone.git'}): " in said.complaint()
    assert "see `git remote -v`" in said.complaint() and "; ;" not in said.complaint()
    assert said.report()["branch"] == BRANCH
    assert [finding["code"] for finding in said.report()["findings"]] == ["LIT101"]
    assert repo.show(BRANCH, "train.py") == NEW
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_an_address_of_a_remote_is_told_without_its_password(ask: Ask, folder: Path) -> None:
    repo = Repo(folder)
    repo.git("remote", "add", "origin", "ssh://me:secret@[bad/project.git")
    for words in (("init",), ("run", "--no-verify", "--push", "origin")):
        said = ask(words[0], folder, *words[1:]).complaint()
        assert "the address of a remote cannot be read" in said and "secret" not in said
    repo.git("remote", "set-url", "origin", "ssh://me:secret@127.0.0.1:port/project.git")
    said = ask("run", folder, "--no-verify", "--push", "origin").complaint()
    assert "origin (ssh://me@127.0.0.1:port/project.git): " in said and "secret" not in said


def test_a_run_that_is_overtaken_gives_way(
    ask: Ask, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fixer import push

    seen = push.look
    overtaken = []

    def look(*arguments: object) -> push.RemoteBranch:
        found = seen(*arguments)  # type: ignore[arg-type]
        overtaken.append(commit(origin, {"train.py": b"theirs\n"}, BRANCH, "origin/main"))
        return found

    monkeypatch.setattr("fixer.delivery.look", look)
    said = ask("run", clone(origin, tmp_path / "here").path, "--no-verify", "--push", "origin")
    assert "stale info" in said.complaint()
    assert [head(origin)] == overtaken


def test_two_runs_at_once_make_one_branch(
    ask: Ask, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fixer import push

    other = clone(origin, tmp_path / "other")
    real = push.look

    def look(*arguments: object) -> push.RemoteBranch:
        found = real(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr("fixer.delivery.look", real)
        pushed(ask, other)
        return found

    monkeypatch.setattr("fixer.delivery.look", look)
    pushed(ask, clone(origin, tmp_path / "here"))
    assert head(origin) == other.git("rev-parse", BRANCH)


def test_a_detached_head_is_pushed_from(ask: Ask, origin: Path, tmp_path: Path) -> None:
    repo = clone(origin, tmp_path / "here")
    repo.git("switch", "--quiet", "--detach")
    repo.git("branch", "--quiet", "-D", "main")
    pushed(ask, repo)
    assert head(origin) == repo.git("rev-parse", BRANCH)


def test_a_remote_that_is_not_there(ask: Ask, origin: Path, tmp_path: Path) -> None:
    repo = clone(origin, tmp_path / "here")
    assert "no remote is called 'fork'; there are origin" in ask("run", repo.path, "--push", "fork").complaint()
    repo.git("remote", "set-url", "origin", str(tmp_path / "nowhere"))
    assert "origin (" in ask("run", repo.path, "--no-verify", "--push", "origin").complaint()


def test_large_files_and_submodules_stay_as_they_are(ask: Ask, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
    part = bare(tmp_path / "forge" / "part.git")
    origin = bare(tmp_path / "forge" / "project.git", {"train.py": OLD, "data.bin": pointer})
    workspace = clone(origin, tmp_path / "workspace")
    workspace.write({".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    workspace.git("submodule", "--quiet", "add", str(part), "part")
    workspace.git("-c", "filter.lfs.clean=cat", "commit", "--quiet", "--all", "--message", "Parts")
    workspace.git("push", "--quiet")
    pushed(ask, clone(origin, tmp_path / "here"))
    changed = git(origin, "diff", "--name-only", "main", BRANCH)
    assert changed == "train.py"
    assert Repo(origin).show(BRANCH, "data.bin") == pointer


def test_commits_are_signed_where_the_configuration_signs(ask: Ask, origin: Path, tmp_path: Path) -> None:
    repo = clone(origin, tmp_path / "here")
    signing(repo, tmp_path)
    assert ask("run", repo.path, "--no-verify").code == 0
    assert repo.git("log", "-1", "--format=%G?", BRANCH) == "N"
    pushed(ask, repo)
    assert repo.git("log", "-1", "--format=%G?", BRANCH) == "G"
    assert head(origin) == repo.git("rev-parse", BRANCH)
    repo.git("config", "user.signingKey", str(tmp_path / "lost"))
    repo.git("branch", "-D", BRANCH)
    said = ask("run", repo.path, "--no-verify", "--push", "origin")
    assert "a commit cannot be signed, as commit.gpgSign asks" in said.complaint()


def test_over_http_the_token_is_shown_to_the_server_alone(
    ask: Ask, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = f"Basic {base64.b64encode(f'x-access-token:{SECRET}'.encode()).decode()}"
    with served(tmp_path / "forge", header) as (address, asked):
        repo = clone(origin, tmp_path / "here")
        repo.git("remote", "set-url", "origin", f"{address}/someone/project.git")
        repo.git("config", f"http.{address}/.extraheader", "Authorization: Basic b2xk")
        monkeypatch.setenv("GITHUB_SERVER_URL", address)
        monkeypatch.setenv("GITHUB_TOKEN", SECRET)
        pushed(ask, repo)
        assert head(origin) == repo.git("rev-parse", BRANCH)
        assert {shown for _, shown in asked} == {header}
        assert "GITHUB_TOKEN" not in os.environ
        monkeypatch.setenv("GITHUB_TOKEN", "another")
        said = ask("run", repo.path, "--no-verify", "--push", "origin")
        assert "Authentication failed" in said.complaint() or "could not read Username" in said.complaint()
        assert "the token in GITHUB_TOKEN is not accepted there" in said.complaint()
        assert "another" not in said.err
        asked.clear()
        monkeypatch.setenv("GITHUB_SERVER_URL", "http://127.0.0.1:1")
        monkeypatch.setenv("GITHUB_TOKEN", SECRET)
        ask("run", repo.path, "--no-verify", "--push", "origin")
        assert {shown for _, shown in asked} == {"Basic b2xk"}


def test_a_token_that_is_not_shown_at_an_address_is_not_asked_for(
    ask: Ask, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path / "forge", "Basic b2xk") as (address, asked):
        repo = clone(origin, tmp_path / "here")
        repo.git("remote", "set-url", "origin", f"{address}/someone/project.git")
        monkeypatch.setenv("GITHUB_SERVER_URL", address.replace("http:", "https:"))
        said = ask("run", repo.path, "--no-verify", "--push", "origin")
        assert "set GH_TOKEN or GITHUB_TOKEN, or give git a credential" in said.complaint()
        monkeypatch.setenv("GITHUB_TOKEN", SECRET)
        said = ask("run", repo.path, "--no-verify", "--push", "origin")
        own = address.replace("http:", "https:")
        assert f"GITHUB_TOKEN is shown to {own} alone, and this address is not there" in said.complaint()
        assert {shown for _, shown in asked} == {""} and SECRET not in said.err


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (
            "https://github.com/a/b.git",
            ForgeRepository("github", "https://github.com", "https://api.github.com", "a/b"),
        ),
        ("git@github.com:a/b", ForgeRepository("github", "https://github.com", "https://api.github.com", "a/b")),
        (
            "ssh://git@gitlab.com:22/a/b/c.git",
            ForgeRepository("gitlab", "https://gitlab.com", "https://gitlab.com/api/v4", "a/b/c"),
        ),
        (
            "https://x:y@gitlab.com/a/b.git",
            ForgeRepository("gitlab", "https://gitlab.com", "https://gitlab.com/api/v4", "a/b"),
        ),
        ("https://github.com.example.org/a/b", None),
        ("https://example.org/github.com/b", None),
        ("/srv/github.com/a.git", None),
        ("file:///github.com/a.git", None),
    ],
)
def test_where_a_remote_lies(url: str, place: ForgeRepository | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_SERVER_URL", "GITHUB_API_URL", "CI_SERVER_URL", "CI_API_V4_URL"):
        monkeypatch.delenv(name, raising=False)
    assert place_of(url) == place


def test_a_server_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_SERVER_URL", "https://git.example.org:8443")
    monkeypatch.setenv("CI_API_V4_URL", "https://api.example.org/api/v4")
    place = place_of("https://git.example.org:8443/a/b.git")
    assert place == ForgeRepository("gitlab", "https://git.example.org:8443", "https://api.example.org/api/v4", "a/b")
    assert may_show_token("https://git.example.org:8443/a/b.git", place)
    assert not may_show_token("http://git.example.org:8443/a/b.git", place)
    assert not may_show_token("https://git.example.org/a/b.git", place)
