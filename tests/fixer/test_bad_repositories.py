"""Repositories that cannot be worked with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fixer.branch import PlannedCommit, annotate, check_branch, land
from fixer.errors import UsageError
from fixer.project import Project, export, open_commit, open_tree
from tests.fixer.git_repos import Repo

STEP = PlannedCommit("TBP001", "tbptt", "Cut hidden states", "Why.", (), {"train.py": b"one\n"})


def paths(project: Project) -> list[str]:
    return [source.path for source in project.sources]


def reasons(project: Project) -> dict[str, str]:
    return {item.path: item.reason for item in project.skipped}


def refused(path: Path, base: str | None = None) -> str:
    with pytest.raises(UsageError) as error:
        open_commit(path, base)
    assert "\n" not in str(error.value).strip()
    return str(error.value)


def work_through(repo: Repo, there: Path) -> None:
    """Everything that fixer does with a repository."""
    project = open_commit(repo.path, None)
    open_tree(repo.path)
    export(project, there, {})
    check_branch(project, "fixer/work")
    land(project, "fixer/work", [STEP], "1", force=False, dry_run=True)
    landing = land(project, "fixer/work", [STEP], "1", force=False)
    annotate(project, landing.commits, {landing.head: "trains"})
    assert repo.git("rev-parse", "fixer/work") == landing.head


@pytest.mark.parametrize("name", ["nothing", "n" * 300, "nul\0", "file/below"])
def test_a_path_that_is_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert "give a file or folder that is there" in refused(tmp_path / name)
    with pytest.raises(UsageError, match="give a file or folder that is there"):
        open_tree(tmp_path / name)


def test_not_a_repository(tmp_path: Path) -> None:
    assert "not in a git repository" in refused(tmp_path)


def test_a_repository_without_commits(new_repo: Callable[[str], Repo]) -> None:
    repo = new_repo("empty")
    repo.write({"train.py": b""})
    assert "no commits; commit your work first" in refused(repo.path)
    project = open_tree(repo.path)
    assert (project.base, paths(project)) == (None, ["train.py"])
    with pytest.raises(UsageError, match="not a commit"):
        land(project, "b", [STEP], "1", force=False)


def test_a_bare_repository(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    assert "a bare repository has no files to work on" in refused(tmp_path / "bare.git")
    with pytest.raises(UsageError, match="bare repository"):
        open_tree(tmp_path / "bare.git")


def test_without_the_git_program(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "install git" in refused(repo.path)


@pytest.mark.parametrize(
    "base", ["nothing", "", "-x", "--all", "HEAD:train.py", "HEAD^{tree}", "HEAD~9", "0" * 40, "a..b", "^HEAD"]
)
def test_a_base_that_is_no_commit(repo: Repo, base: str) -> None:
    assert f"no commit is named '{base}'" in refused(repo.path, base)


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick", "revert"])
def test_an_operation_under_way(repo: Repo, operation: str) -> None:
    base = repo.git("rev-parse", "HEAD")
    ours = repo.commit({"train.py": b"ours\n"})
    repo.commit({"train.py": b"ours, again\n"})
    repo.git("checkout", "--quiet", "-b", "other", base)
    repo.commit({"train.py": b"theirs\n"})
    other = {"revert": base}.get(operation, "main" if operation in ("merge", "rebase") else ours)
    if operation == "revert":
        repo.git("checkout", "--quiet", "main")
        other = ours
    with pytest.raises(subprocess.CalledProcessError):
        repo.git(operation, other)
    assert f"a `git {operation}` is under way; finish it, or end it with `git {operation} --abort`" in refused(
        repo.path
    )
    assert "train.py" in paths(open_tree(repo.path))


def test_patches_being_applied(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"train.py": b"patched\n"})
    patch = repo.git("format-patch", "-1", "--stdout")
    (tmp_path / "one.patch").write_text(f"{patch}\n")
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("am", "--quiet", str(tmp_path / "one.patch"))
    assert "`git am --abort`" in refused(repo.path)


def test_a_bisection_is_no_hindrance(repo: Repo) -> None:
    repo.commit({"a.py": b""})
    repo.commit({"b.py": b""})
    repo.git("bisect", "start", "HEAD", "HEAD~2")
    assert "a.py" in paths(open_commit(repo.path, None))


def test_a_detached_head(repo: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "--quiet", "--detach")
    work_through(repo, tmp_path / "there")


def test_a_shallow_clone(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"more.py": b""})
    repo.git("clone", "--quiet", "--depth", "1", repo.path.as_uri(), str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    assert shallow.git("rev-parse", "--is-shallow-repository") == "true"
    work_through(shallow, tmp_path / "there")
    assert "'HEAD' has no parent here; name another with --base" in refused(shallow.path, "HEAD~1")


def test_a_broken_head(repo: Repo) -> None:
    repo.forget("HEAD")
    assert "no commit is named 'HEAD'" in refused(repo.path)


@pytest.mark.parametrize("text", ["[core\n", "\0\xff", "[core]\nrepositoryformatversion = 99\n"])
def test_a_broken_configuration(repo: Repo, text: str) -> None:
    (repo.path / ".git" / "config").write_text(text, encoding="latin-1")
    assert str(repo.path) in refused(repo.path)
    with pytest.raises(UsageError, match="repository"):
        open_tree(repo.path)


def test_a_git_file_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(UsageError):
        open_commit(tmp_path, None)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_user(repo: Repo) -> None:
    for place in (repo.path, repo.path / ".git"):
        os.chown(place, 12345, 12345)
    assert f"run: git config --global --add safe.directory {repo.path}" in refused(repo.path)
    with pytest.raises(UsageError, match=r"safe\.directory"):
        open_tree(repo.path)
    repo.git("config", "--global", "--add", "safe.directory", str(repo.path))
    assert "train.py" in paths(open_commit(repo.path, None))


def test_a_repository_that_cannot_be_written_to(repo: Repo, tmp_path: Path) -> None:
    repo.git("repack", "-a", "-d", "--quiet")
    repo.git("prune-packed")
    objects = repo.path / ".git" / "objects"
    for number in range(256):
        folder = objects / f"{number:02x}"
        if folder.is_dir():
            folder.rmdir()
        folder.touch()
    project = open_commit(repo.path, None)
    export(project, tmp_path / "there", {})
    assert land(project, "b", [STEP], "1", force=False, dry_run=True).commits
    with pytest.raises(UsageError, match=r"cannot write to the repository: .*; make it writable"):
        land(project, "b", [STEP], "1", force=False)


def test_a_read_only_repository_is_refused_before_the_work(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_commit(repo.path, None)
    access = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: "objects" not in str(place) and access(place, mode))
    with pytest.raises(UsageError, match=r"objects is read-only; make it writable"):
        check_branch(project, "b")


def test_a_reference_that_cannot_be_written(repo: Repo) -> None:
    (repo.path / ".git" / "refs" / "heads" / "b.lock").touch()
    with pytest.raises(UsageError, match=r"cannot write to the repository: .*b\.lock"):
        land(open_commit(repo.path, None), "b", [STEP], "1", force=False)
