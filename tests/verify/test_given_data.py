"""A folder of data for both trees, and what was made up and is kept: neither leads elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixer.errors import UsageError
from fixer.project import open_commit
from fixer.proof import proof_options
from tests.support import commit_all
from verify.given_data import copy_of, keep_made


def test_links_code_and_what_git_keeps_are_left_out(tmp_path: Path) -> None:
    data, secret = tmp_path / "data", tmp_path / "secret"
    for folder in (data / "inner", data / ".git", data / "pytorch_lightning", secret):
        folder.mkdir(parents=True)
    (secret / "key").write_text("mine")
    (data / "a.csv").write_text("x")
    (data / "inner" / "b.csv").write_text("x")
    (data / ".git" / "config").write_text("token")
    (data / "pytorch_lightning" / "__init__.py").write_text("")
    (data / "key").symlink_to(secret / "key")
    (data / "folder").symlink_to(secret)
    (data / "itself").symlink_to(data)
    place = Path(copy_of(data, tmp_path / "home"))
    found = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
    assert found == ["a.csv", "inner/b.csv"]


def test_what_was_made_up_is_kept_without_links(tmp_path: Path) -> None:
    home, kept, secret = tmp_path / "home", tmp_path / "kept", tmp_path / "secret"
    for folder in (home / "made" / "data", secret):
        folder.mkdir(parents=True)
    (secret / "key").write_text("mine")
    (home / "made" / "data" / "a.csv").write_text("x")
    (home / "made" / "data" / "key").symlink_to(secret / "key")
    (home / "made" / "folder").symlink_to(secret)
    keep_made(home / "record.jsonl", kept)
    assert [path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()] == ["data/data/a.csv"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "made").symlink_to(secret)
    keep_made(other / "record.jsonl", tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("tiny", None),
        ("nowhere", "is no folder"),
        ("../outside", "leaves the project"),
        ("/", "leaves"),
        (".", "is more than data"),
        (".git", "is more than data"),
    ],
)
def test_the_settings_name_a_folder_of_the_project(named: str, said: str | None, tmp_path: Path) -> None:
    root = tmp_path / "p"
    for folder in (root, tmp_path / "outside"):
        folder.mkdir()
    (root / "pyproject.toml").write_text(f'[tool.fixer.verify]\ndata = "{named}"\n')
    commit_all(root)
    (root / "tiny").mkdir()
    project = open_commit(root, "HEAD")
    if said is None:
        assert proof_options(project, None, None, ()).data == root / "tiny"
        return
    with pytest.raises(UsageError, match=said):
        proof_options(project, None, None, ())
