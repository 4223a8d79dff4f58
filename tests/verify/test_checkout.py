"""The copy that a tree is run in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.checkout import check_out

ASKS = "import subprocess\n\nsha = subprocess.check_output(['git', 'rev-parse', 'HEAD'])\n"


def git(folder: Path, *words: str) -> str:
    bare = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *words], cwd=folder, env=bare, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("asks", [ASKS, "import git\n", "import os\nos.popen('cd . && git describe').read()\n"])
def test_where_code_asks_git_the_copy_is_a_clean_repository(asks: str, tmp_path: Path) -> None:
    root = tree(tmp_path / "project", train=asks)
    (root / ".gitignore").write_text("*.csv\n")
    (root / "rows.csv").write_text("1,2\n")
    check_out(root, tmp_path / "copy", ["train.py"])
    assert git(tmp_path / "copy", "status", "--porcelain", "--ignored") == ""
    assert git(tmp_path / "copy", "ls-files").split() == [".gitignore", "rows.csv", "train.py"]
    assert git(tmp_path / "copy", "rev-list", "--count", "--all").strip() == "1"
    assert git(tmp_path / "copy", "remote") == ""
    assert not (tmp_path / "copy" / ".git" / "hooks").exists()
    assert not (root / ".git").exists()


def test_the_same_files_are_the_same_commit(tmp_path: Path) -> None:
    root = tree(tmp_path / "project", train=ASKS)
    for name in ("one", "two"):
        check_out(root, tmp_path / name, ["train.py"])
    assert git(tmp_path / "one", "rev-parse", "HEAD") == git(tmp_path / "two", "rev-parse", "HEAD")


@pytest.mark.parametrize("text", ["import torch\n", "url = 'https://github.com/a/b.git'\n"])
def test_where_nothing_asks_git_there_is_none(text: str, tmp_path: Path) -> None:
    check_out(tree(tmp_path / "project", train=text), tmp_path / "copy", ["train.py"])
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["train.py"]


def test_nothing_that_a_tree_brings_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters and hooks are settings, and settings come from nobody but git itself."""
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[filter "own"]\n\tclean = touch {tmp_path}/ran && cat\n[core]\n\thooksPath = {tmp_path}/hooks\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    root = tree(tmp_path / "project", train=ASKS)
    (root / ".gitattributes").write_text("*.py filter=own\n")
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "pre-commit").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "hooks" / "pre-commit").chmod(0o755)
    check_out(root, tmp_path / "copy", ["train.py"])
    assert git(tmp_path / "copy", "rev-list", "--count", "HEAD").strip() == "1"
    assert not (tmp_path / "ran").exists()
