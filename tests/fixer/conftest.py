"""Git repositories to try things on, apart from the settings of whoever runs the tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixer.plugins import TRUST
from tests.fixer.command import Ask, asking, old_project
from tests.fixer.git_repos import Repo
from tests.fixer.plugin_projects import planted_in
from tests.fixer.world import World, standing

HOME = str(Path.home())
FOREIGN = ("GIT_", "GITHUB_EVENT_", "GITHUB_WORKSPACE", "CI_MERGE_REQUEST_", "CI_PROJECT_DIR", TRUST)
SETTINGS = """
[user]
  name = A
  email = a@example.org
[init]
  defaultBranch = main
[protocol.file]
  allow = always
"""


@pytest.fixture(autouse=True)
def own_git_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of the machine, and of the CI that they run in, out of the tests."""
    home = tmp_path_factory.mktemp("home")
    settings = home / ".gitconfig"
    settings.write_text(SETTINGS)
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def new_repo(tmp_path: Path) -> Callable[[str], Repo]:
    """Makes an empty repository in a folder of the given name."""

    def make(name: str) -> Repo:
        path = tmp_path / name
        path.mkdir(parents=True)
        repo = Repo(path)
        repo.git("init", "--quiet")
        return repo

    return make


@pytest.fixture
def repo(new_repo: Callable[[str], Repo]) -> Repo:
    """A repository with one commit of a small project."""
    made = new_repo("project")
    made.commit(
        {
            "train.py": b"import lightning\n",
            "src/model.py": b"class Model: ...\n",
            "requirements.txt": b"torch\n",
            "notes.md": b"notes\n",
        }
    )
    return made


@pytest.fixture
def own_home(own_git_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """For proofs: the environments kept at home serve again."""
    monkeypatch.setenv("HOME", HOME)


@pytest.fixture
def ask(capsysbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """The command line, in this process."""
    return asking(capsysbinary)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a project that one rule repairs."""
    return old_project(tmp_path / "project")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository whose rules leave a file `ran` beside it."""
    return planted_in(tmp_path / "project")


@pytest.fixture(params=["github", "gitlab"])
def world(request: pytest.FixtureRequest, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A project on a stand-in for GitHub, and on one for GitLab."""
    with standing(request.param, ask, tmp_path, monkeypatch) as made:
        yield made
