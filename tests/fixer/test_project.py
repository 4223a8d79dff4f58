"""Opening a project from a commit and from disk, and writing it out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixer import gitio
from fixer.errors import UsageError
from fixer.files import kind_of
from fixer.project import Project, export, open_commit, open_tree, written_on
from tests.fixer.git_repos import Repo

ODD_BYTES = {
    "crlf.py": b"x = 1\r\ny = 2\r\n",
    "bom.py": b"\xef\xbb\xbfx = 1\n",
    "latin.py": b"# -*- coding: latin-1 -*-\n# caf\xe9\n",
    "mixed.py": b"a = 1\rb = 2\nc = 3\r\n\x0c",
    "no_end.py": b"x = 1",
    "empty.py": b"",
    "nul.py": b"x\0y",
}


def paths(project: Project) -> list[str]:
    return [source.path for source in project.sources]


def contents(project: Project) -> dict[str, bytes]:
    return {source.path: source.data for source in project.sources}


def reasons(project: Project) -> dict[str, str]:
    return {item.path: item.reason for item in project.skipped}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.py", "python"),
        ("Requirements.txt", "requirements"),
        ("REQUIREMENTS-dev.txt", "requirements"),
        ("requirements.txt", "requirements"),
        ("dev-requirements-gpu.txt", "requirements"),
        ("requirements/base.txt", "requirements"),
        ("docs/requirements/base.txt", "requirements"),
        ("docs/list.txt", None),
        ("sub/pyproject.toml", "pyproject"),
        ("other.toml", None),
        ("a.ipynb", "notebook"),
        ("configs/a.yml", "yaml"),
        (".github/workflows/ci.yaml", "yaml"),
        ("Dockerfile", "dockerfile"),
        ("docker/Dockerfile.gpu", "dockerfile"),
        ("gpu.dockerfile", "dockerfile"),
        ("setup.cfg", "other"),
        ("configs/train.toml", "toml"),
        ("config.json", "json"),
        ("data/annotations.json", None),
        ("scripts/train.sh", "shell"),
        ("Makefile", "shell"),
        ("GNUmakefile", "shell"),
        ("jobs/train.slurm", "shell"),
        ("run.bat", "shell"),
        (".vscode/launch.json", "json"),
        ("README.md", "docs"),
        ("docs/usage.rst", "docs"),
        ("notes.md", None),
        ("README", None),
        ("py", None),
        (".py", "python"),
        ("notes/.ipynb_checkpoints/train-checkpoint.ipynb", None),
        (".ipynb_checkpoints/train-checkpoint.py", None),
        (".history/train_20260101.py", None),
        ("ipynb_checkpoints.py", "python"),
    ],
)
def test_kinds(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind


def test_a_commit_gives_its_sources_sorted(repo: Repo) -> None:
    project = open_commit(repo.path, None)
    assert project.root == repo.path
    assert project.base == repo.git("rev-parse", "HEAD")
    assert project.committed
    assert [(source.path, source.kind) for source in project.sources] == [
        ("requirements.txt", "requirements"),
        ("src/model.py", "python"),
        ("train.py", "python"),
    ]
    assert project.messages == ()
    assert project.skipped == ()


def test_another_base(repo: Repo) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.git("tag", "--annotate", "v1", "--message", "one")
    repo.commit({"train.py": b"new\n", "more.py": b""})
    for name in (first, first[:10], "v1", "HEAD~1", "main~1"):
        project = open_commit(repo.path, name)
        assert project.base == first
        assert "more.py" not in paths(project)
        assert contents(project)["train.py"] == b"import lightning\n"


def test_bytes_pass_through_unchanged(repo: Repo) -> None:
    repo.write({".gitattributes": b"* -text\n"})
    repo.commit(ODD_BYTES)
    for project in (open_commit(repo.path, None), open_tree(repo.path)):
        assert contents(project).items() >= ODD_BYTES.items()


def test_a_commit_is_read_without_line_end_conversion(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit({"crlf.py": b"x = 1\r\n"})
    assert contents(open_commit(repo.path, None))["crlf.py"] == b"x = 1\n"
    assert contents(open_tree(repo.path))["crlf.py"] == b"x = 1\r\n"


def test_code_was_written_when_python_was_last_committed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for day, path in (("2021-03-04", "a.py"), ("2022-05-06", "README.md")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00Z")
        repo.commit({path: b"x = 1\n"})
    assert written_on(open_commit(repo.path, None)) == "2021-03-04"
    assert written_on(open_tree(repo.path)) == "2021-03-04"


def test_uncommitted_work_is_left_out_and_said(repo: Repo) -> None:
    before = contents(open_commit(repo.path, None))
    repo.write(
        {"train.py": b"changed\n", "src/model.py": b"staged\n", "new.py": b"", "extra/a.py": b"", "extra/b.py": b""}
    )
    repo.git("add", "src/model.py")
    untouched = repo.fingerprint()
    project = open_commit(repo.path, None)
    assert contents(project) == before
    assert project.messages == (
        "uncommitted changes in 2 files are left out and stay as they are",
        "2 untracked files or folders are left out",
    )
    assert repo.fingerprint() == untouched


def test_a_tree_holds_what_git_does_not_ignore(repo: Repo) -> None:
    repo.write({".gitignore": b"build/\n", "build/a.py": b"", "new.py": b"new\n", "train.py": b"changed\n"})
    (repo.path / "src" / "model.py").unlink()
    untouched = repo.fingerprint()
    project = open_tree(repo.path)
    assert paths(project) == ["new.py", "requirements.txt", "train.py"]
    assert contents(project)["train.py"] == b"changed\n"
    assert project.base == repo.git("rev-parse", "HEAD")
    assert not project.committed
    assert repo.fingerprint() == untouched


def test_a_folder_inside_is_the_scope(repo: Repo) -> None:
    whole = paths(open_tree(repo.path))
    for project in (open_tree(repo.path / "src"), open_commit(repo.path / "src", None)):
        assert (project.root, project.scope, paths(project)) == (repo.path, "src", whole)
        assert project.in_scope("src/model.py")
        assert not project.in_scope("train.py")
        assert not project.in_scope("src2/model.py")


def test_a_file_inside_is_the_scope_even_when_ignored(repo: Repo) -> None:
    assert open_tree(repo.path / "train.py").scope == "train.py"
    assert open_commit(repo.path / "train.py", None).scope == "train.py"
    repo.write({".gitignore": b"local.py\n", "local.py": b"x\n"})
    project = open_tree(repo.path / "local.py")
    assert contents(project)["local.py"] == b"x\n"
    assert project.in_scope("local.py")


def test_a_relative_path_and_a_link_to_the_project(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(repo.path)
    assert open_tree(tmp_path / "link" / "src").scope == "src"
    monkeypatch.chdir(repo.path / "src")
    assert open_tree(Path()).scope == "src"
    assert open_commit(Path("model.py"), None).scope == "src/model.py"


def test_a_folder_outside_any_repository(tmp_path: Path) -> None:
    for name in ("a.py", "pkg/b.py", "pkg/env/c.py", ".hidden/d.py", "node_modules/e.py", "v/pyvenv.cfg", "v/lib/f.py"):
        place = tmp_path / "plain" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    (tmp_path / "plain" / "loop").symlink_to("..")
    project = open_tree(tmp_path / "plain")
    assert (project.root, project.base, project.scope) == (tmp_path / "plain", None, "")
    assert paths(project) == ["a.py", "pkg/b.py", "pkg/env/c.py"]
    assert list(reasons(project)) == ["loop"]


def test_a_single_file_outside_any_repository(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.py", "b.py", "deep/c.py"):
        (tmp_path / name).touch()
    project = open_tree(tmp_path / "a.py")
    assert (project.root, project.scope, paths(project)) == (tmp_path, "a.py", ["a.py", "b.py"])


def test_a_tree_without_the_git_program(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert paths(open_tree(repo.path)) == ["requirements.txt", "src/model.py", "train.py"]


def test_settings_are_those_of_the_same_tree_where_more_than_they_differ(repo: Repo) -> None:
    repo.commit({"pyproject.toml": b"\xef\xbb\xbf[tool.fixer]\r\nexclude = ['src']\r\n"})
    repo.write({"pyproject.toml": b"[tool.fixer]\nexclude = ['train.py']\n"})
    assert open_commit(repo.path, None).config.exclude == ("train.py",)
    repo.write({"pyproject.toml": b"[tool.fixer]\nexclude = ['train.py']\n[tool.black]\nline-length = 1\n"})
    assert open_commit(repo.path, None).config.exclude == ("src",)
    assert open_tree(repo.path).config.exclude == ("train.py",)
    assert "src/model.py" in paths(open_commit(repo.path, None))


def test_a_wrong_setting_is_an_error_of_use(repo: Repo) -> None:
    repo.commit({"pyproject.toml": b"[tool.fixer]\nslect = []\n"})
    with pytest.raises(UsageError, match="did you mean 'select'"):
        open_commit(repo.path, None)


def test_a_broken_pyproject_of_the_user_is_not(repo: Repo) -> None:
    repo.commit({"pyproject.toml": b"\xff\xfe[project\n"})
    assert "pyproject.toml" in paths(open_commit(repo.path, None))


def test_a_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    commit = side.commit({"side.py": b""})
    for project in (open_commit(side.path, None), open_tree(side.path)):
        assert (project.root, project.base) == (side.path, commit)
        assert "side.py" in paths(project)


def test_a_repository_is_found_by_git_as_without_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repo.git("submodule", "--quiet", "add", repo.path.as_uri(), "inner")
    (repo.path / "far" / "below").mkdir(parents=True)
    places = [repo.path, repo.path / "far/below", repo.path / "train.py", repo.path / "inner", tmp_path / "linked/src"]
    found = [gitio._plainly(place if place.is_dir() else place.parent) for place in places]
    monkeypatch.setattr(gitio, "_plainly", lambda start: None)
    assert found == [gitio.find_repository(place) for place in places]
    assert gitio.find_repository(tmp_path) is None


def test_export_writes_every_file_and_the_overlay(repo: Repo, tmp_path: Path) -> None:
    repo.write({"run.sh": b"#!/bin/sh\n", **ODD_BYTES})
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link.py").symlink_to("src/model.py")
    (repo.path / "out").symlink_to("../elsewhere")
    repo.commit({".gitattributes": b"* -text\n", "big.bin": bytes(10_000_000)})
    repo.write({"train.py": b"uncommitted\n"})
    project = open_commit(repo.path, None)
    there = tmp_path / "there"
    skipped = export(project, there, {"run.sh": b"#!/bin/bash\n", "new/added.py": b"new\n"})
    assert [item.path for item in skipped] == ["out"]
    assert (there / "train.py").read_bytes() == b"import lightning\n"
    assert (there / "notes.md").read_bytes() == b"notes\n"
    assert (there / "run.sh").read_bytes() == b"#!/bin/bash\n"
    assert os.access(there / "run.sh", os.X_OK)
    assert not os.access(there / "train.py", os.X_OK)
    assert (there / "new" / "added.py").read_bytes() == b"new\n"
    assert (there / "big.bin").stat().st_size == 10_000_000
    assert (there / "link.py").readlink() == Path("src/model.py")
    assert not (there / ".git").exists()
    for name, data in ODD_BYTES.items():
        assert (there / name).read_bytes() == data


def test_export_of_a_tree_writes_what_lies_on_disk(repo: Repo, tmp_path: Path) -> None:
    repo.write({"train.py": b"uncommitted\n", "new.md": b"new\n"})
    export(open_tree(repo.path), tmp_path / "there", {})
    assert (tmp_path / "there" / "train.py").read_bytes() == b"uncommitted\n"
    assert (tmp_path / "there" / "new.md").read_bytes() == b"new\n"


def test_export_outside_a_repository(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_bytes(b"a\n")
    (tmp_path / "plain" / "data.bin").write_bytes(b"\0")
    export(open_tree(tmp_path / "plain"), tmp_path / "there", {"a.py": b"b\n"})
    assert (tmp_path / "there" / "a.py").read_bytes() == b"b\n"
    assert (tmp_path / "there" / "data.bin").read_bytes() == b"\0"


def test_opening_is_the_same_from_any_clone(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--depth", "1", repo.path.as_uri(), str(tmp_path / "clone"))
    here, there = open_commit(repo.path, None), open_commit(tmp_path / "clone", None)
    assert (here.base, here.sources) == (there.base, there.sources)


def test_importing_does_not_import_gitpython() -> None:
    code = "import sys, fixer.project, fixer.branch; sys.exit('git' in sys.modules or 'tomlkit' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_variables_of_a_surrounding_git_are_not_followed(
    repo: Repo, new_repo: Callable[[str], Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repo("other")
    other.commit({"other.py": b""})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    assert "train.py" in paths(open_commit(repo.path, None))
    assert "train.py" in paths(open_tree(repo.path))
