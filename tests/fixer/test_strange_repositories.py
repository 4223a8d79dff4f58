"""Repositories in which files are missing, large or strange, and repositories that mean harm."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixer.branch import PlannedCommit, annotate, land
from fixer.errors import UsageError
from fixer.gitio import find_repository
from fixer.project import export, open_commit, open_tree
from tests.fixer.git_repos import Repo
from tests.fixer.test_bad_repositories import STEP, paths, reasons, refused, work_through

HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "prepare-commit-msg", "commit-msg"),
    *("post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite", "pre-auto-gc"),
    *("update", "post-update", "reference-transaction", "post-index-change", "fsmonitor-watchman"),
)


def script(place: Path, marker: Path, then: str = "cat") -> str:
    """A program that leaves a mark when it is run."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho $0 $@ >> {marker}\n{then}\n")
    place.chmod(0o755)
    return str(place)


# What is missing, large or strange


ABSENT = "its content is missing from this clone: check it out, or take a complete clone"


def test_a_missing_file_is_named(repo: Repo, tmp_path: Path) -> None:
    repo.forget("HEAD:src/model.py")
    repo.forget("HEAD:notes.md")
    project = open_commit(repo.path, None)
    assert paths(project) == ["requirements.txt", "train.py"]
    assert reasons(project) == {"src/model.py": ABSENT}
    left_out = export(project, tmp_path / "there", {})
    assert [item.path for item in left_out] == ["notes.md", "src/model.py"]
    assert land(project, "b", [STEP], "1", force=False).created


def test_a_corrupt_file_is_named(repo: Repo) -> None:
    name = repo.git("rev-parse", "HEAD:src/model.py")
    place = repo.path / ".git" / "objects" / name[:2] / name[2:]
    place.chmod(0o644)
    place.write_bytes(b"rubbish")
    project = open_commit(repo.path, None)
    assert paths(project) == ["requirements.txt", "train.py"]
    assert list(reasons(project)) == ["src/model.py"]


def test_a_missing_folder_is_an_error_of_use(repo: Repo) -> None:
    repo.forget("HEAD:src")
    assert "cannot read the files of" in refused(repo.path)


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit({f"many/file{number}.py": f"{number}\n".encode() for number in range(50)})
    place = tmp_path / "partial"
    repo.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", repo.path.as_uri(), str(place))
    partial, marker = Repo(place), tmp_path / "marker"
    partial.git("checkout", "HEAD", "--", "src", "requirements.txt")
    partial.git("config", "remote.origin.uploadpack", script(tmp_path / "upload-pack", marker, "exit 1"))
    absent = repo.git("rev-parse", "HEAD:train.py")
    found = find_repository(place)
    assert found is not None
    assert [blob.size for blob in found.blobs([(absent, 100)])] == [None]
    project = open_commit(place, None)
    assert paths(project) == ["requirements.txt", "src/model.py"]
    assert len(project.skipped) == 51
    assert set(reasons(project).values()) == {ABSENT}
    export(project, tmp_path / "there", {})
    open_tree(place)
    landing = land(project, "b", [STEP], "1", force=False)
    annotate(project, landing.commits, {landing.head: "trains"})
    assert landing.head == land(open_commit(repo.path, None), "b", [STEP], "1", force=False).head
    assert not marker.exists()


def test_large_files_are_named(repo: Repo, tmp_path: Path) -> None:
    files = {"large.py": b"#" * 10_000_000, "fits.py": b"#" * 1_000_000, "large.bin": bytes(60_000_000)}
    repo.commit({**files, "pictures.ipynb": b" " * 10_000_000})
    for project in (open_commit(repo.path, None), open_tree(repo.path)):
        assert {"fits.py", "pictures.ipynb"} <= {*paths(project)}
        assert reasons(project) == {"large.py": "10,000,000 bytes, over the limit of 1,000,000"}
        left_out = export(project, tmp_path / f"there-{project.committed}", {})
        assert [item.path for item in left_out] == ["large.bin"]


def test_links_are_not_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.py").write_text("secret\n")
    for name, target in {
        "inside.py": "train.py",
        "src/up.py": "../train.py",
        "outside.py": "../secret/key.py",
        "absolute.py": str(tmp_path / "secret" / "key.py"),
        "folder": "../secret",
        "src/devious.py": "sub/../../../secret/key.py",
        "src/dangling.py": "nothing.py",
    }.items():
        (repo.path / name).symlink_to(target)
    repo.commit({})
    (repo.path / "src2").mkdir()
    for project in (open_commit(repo.path, None), open_tree(repo.path)):
        assert paths(project) == ["requirements.txt", "src/model.py", "train.py"]
        assert list(reasons(project)) == ["absolute.py", "folder", "outside.py", "src/devious.py"]
        there = tmp_path / f"there-{project.committed}"
        export(project, there, {})
        links = sorted(place.relative_to(there).as_posix() for place in there.rglob("*") if place.is_symlink())
        assert links == ["inside.py", "src/dangling.py", "src/up.py"]


def test_a_folder_replaced_by_a_link_is_not_read(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "model.py").write_text("secret\n")
    (repo.path / "src" / "model.py").unlink()
    (repo.path / "src").rmdir()
    (repo.path / "src").symlink_to(tmp_path / "secret")
    project = open_tree(repo.path)
    assert paths(project) == ["requirements.txt", "train.py"]
    assert list(reasons(project)) == ["src"]


def test_special_files_are_not_opened(repo: Repo) -> None:
    (repo.path / "train.py").unlink()
    os.mkfifo(repo.path / "train.py")
    project = open_tree(repo.path)
    assert reasons(project) == {"train.py": "not a regular file"}


def test_submodules_are_named_and_left_alone(repo: Repo, new_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    inner = new_repo("inner")
    inner.commit({"inner.py": b""})
    repo.git("submodule", "--quiet", "add", str(inner.path), "vendored")
    repo.commit({})
    marker = tmp_path / "marker"
    Repo(repo.path / "vendored").git("config", "core.fsmonitor", script(tmp_path / "monitor", marker))
    (repo.path / "nested").mkdir()
    Repo(repo.path / "nested").git("init", "--quiet")
    Repo(repo.path / "nested").commit({"nested.py": b""})
    work_through(repo, tmp_path / "there")
    assert list(reasons(open_commit(repo.path, None))) == ["vendored"]
    assert list(reasons(open_tree(repo.path))) == ["nested/", "vendored"]
    assert not marker.exists()


def test_odd_names(repo: Repo, tmp_path: Path) -> None:
    deep = "/".join(["d"] * 120)
    repo.write({"new\nline.py": b"1\n", 'tab\tand "quote.py': b"2\n", "unicodé.py": b"3\n"})
    (repo.path / deep).mkdir(parents=True)
    (repo.path / deep / "x.py").touch()
    (Path(os.fsdecode(os.fsencode(repo.path) + b"/bad\xff.py"))).touch()
    repo.commit({})
    for project in (open_commit(repo.path, None), open_tree(repo.path)):
        assert {"new\nline.py", 'tab\tand "quote.py', "unicodé.py"} <= set(paths(project))
        assert reasons(project) == {
            "bad\\xff.py": "its name is not UTF-8",
            f"{deep}/x.py": "it lies more than 100 folders deep",
        }
        export(project, tmp_path / f"there-{project.committed}", {})
    step = PlannedCommit("A", "g", "s", "", (), {"unicodé.py": b"4\n", "new\nline.py": b"5\n"})
    head = land(open_commit(repo.path, None), "b", [step], "1", force=False).head
    assert repo.show(head, "unicodé.py") == b"4\n"
    assert repo.show(head, "new\nline.py") == b"5\n"


# What means harm


def hostile_tree(repo: Repo) -> str:
    """A commit with entries that lead out of the tree, into git's folder and to one name twice."""

    def tree(*lines: str) -> str:
        return repo.git("mktree", "--missing", data="\n".join(lines).encode())

    blob = repo.git("hash-object", "-w", "--stdin", data=b"evil\n")
    link = repo.git("hash-object", "-w", "--stdin", data=b"/tmp")
    file = tree(f"100644 blob {blob}\tevil.py")
    top = tree(
        f"040000 tree {file}\t..",
        f"040000 tree {file}\t.git",
        f"040000 tree {file}\t.GIT",
        f"100644 blob {blob}\tfine.py",
        f"100644 blob {blob}\t{'n' * 300}.py",
        f"120000 blob {link}\tescape",
    )
    return repo.git("commit-tree", top, "-m", "evil")


def test_paths_that_leave_the_tree(repo: Repo, tmp_path: Path) -> None:
    repo.git("update-ref", "HEAD", hostile_tree(repo))
    project = open_commit(repo.path, None)
    assert paths(project) == ["fine.py", f"{'n' * 300}.py"]
    assert sorted(reasons(project)) == ["../evil.py", ".GIT/evil.py", ".git/evil.py", "escape"]
    there = tmp_path / "outer" / "there"
    left_out = export(project, there, {})
    assert [place.name for place in there.iterdir()] == ["fine.py"]
    assert [place.name for place in (tmp_path / "outer").iterdir()] == ["there"]
    assert len(left_out) == 5
    with pytest.raises(UsageError, match=r"git cannot check out .* invalid path .* choose another commit"):
        land(project, "b", [PlannedCommit("A", "g", "s", "", (), {"fine.py": b"x"})], "1", force=False)


def test_no_hook_is_run(repo: Repo, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for name in HOOKS:
        script(repo.path / ".git" / "hooks" / name, marker)
        script(tmp_path / "hooks" / name, marker)
    work_through(repo, tmp_path / "there")
    repo.git("update-ref", "-d", "refs/heads/fixer/work", "refs/heads/fixer/work")
    marker.unlink()
    repo.git("-c", f"core.hooksPath={os.devnull}", "config", "core.hooksPath", str(tmp_path / "hooks"))
    work_through(repo, tmp_path / "there-too")
    assert not marker.exists()


def test_no_configured_program_is_run(repo: Repo, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    evil = script(tmp_path / "evil", marker)
    repo.commit({".gitattributes": b"* filter=evil diff=evil merge=evil\n*.txt filter=a=b\n"})
    for key in (
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a=b.clean", "filter.a=b.smudge"),
        *("diff.evil.command", "diff.evil.textconv", "diff.external", "merge.evil.driver", "core.fsmonitor"),
        *("core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "credential.helper"),
        *("gpg.program", "uploadpack.packObjectsHook", "sequence.editor", "interactive.diffFilter"),
        *("core.alternateRefsCommand", "pager.status", "pager.ls-tree", "trailer.x.command"),
    ):
        repo.git("config", key, evil)
    for key in (
        "filter.evil.required",
        "commit.gpgSign",
        "core.untrackedCache",
        "core.splitIndex",
        "log.showSignature",
    ):
        repo.git("config", key, "true")
    repo.git("config", "alias.status", f"!{evil}")
    repo.write({"train.py": b"import lightninG\n", "requirements.txt": b"torcH\n"})
    for name in ("src/model.py", "notes.md"):
        os.utime(repo.path / name, (1, 1))
    before = repo.fingerprint()
    work_through(repo, tmp_path / "there")
    assert not marker.exists()
    assert repo.fingerprint() == before
    assert open_commit(repo.path, None).messages == (
        "uncommitted changes in 2 files are left out and stay as they are",
    )


def test_replaced_objects_are_not_followed(repo: Repo) -> None:
    other = repo.git("hash-object", "-w", "--stdin", data=b"replaced\n")
    repo.git("replace", repo.git("rev-parse", "HEAD:train.py"), other)
    data = {source.path: source.data for source in open_commit(repo.path, None).sources}
    assert data["train.py"] == b"import lightning\n"


def test_a_work_tree_elsewhere_is_not_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.py").touch()
    repo.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert f"keeps its files in {tmp_path / 'elsewhere'}" in refused(repo.path)
    with pytest.raises(UsageError, match=r"core\.worktree"):
        open_tree(repo.path)


def test_a_date_that_git_does_not_take(repo: Repo) -> None:
    raw = repo.git("cat-file", "commit", "HEAD").encode() + b"\n"
    lines = [
        b"committer A <a> 99999999999999999999 +0000" if x.startswith(b"committer") else x for x in raw.split(b"\n")
    ]
    commit = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=b"\n".join(lines))
    repo.git("update-ref", "HEAD", commit)
    landing = land(open_commit(repo.path, None), "b", [STEP], "1", force=False)
    assert repo.git("log", "-1", "--format=%ct", landing.head) == "0"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are not those of POSIX")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root can read everything")
def test_a_file_that_may_not_be_read(repo: Repo) -> None:
    (repo.path / "train.py").chmod(0)
    try:
        assert reasons(open_tree(repo.path)) == {"train.py": "cannot be read: Permission denied"}
    finally:
        (repo.path / "train.py").chmod(stat.S_IRUSR | stat.S_IWUSR)
