"""A project on a stand-in for a forge, and fresh clones of it in which fixer is run."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fixer.command import Ask, Said
from tests.fixer.forge_api import Api, Request
from tests.fixer.forges import bare, clone, commit, served
from tests.fixer.git_repos import Repo
from tests.support import git

SECRET = "glpat-16C7e42F292c6912E7710c838347Ae178B4a"


@dataclass
class World:
    """A project on a forge, and fresh clones of it in which fixer is run."""

    ask: Ask
    kind: str
    origin: Path
    place: Path
    address: str
    api: Api
    monkeypatch: pytest.MonkeyPatch
    asked: list[tuple[str, str]]

    def clone(self) -> Repo:
        repo = clone(self.origin, self.place / f"clone-{len(list(self.place.iterdir()))}")
        repo.git("remote", "set-url", "origin", f"{self.address}/someone/project.git")
        return repo

    def say(self, *more: str, repo: Repo | None = None) -> Said:
        self.monkeypatch.setenv("GITHUB_TOKEN" if self.kind == "github" else "GITLAB_TOKEN", SECRET)
        where = (repo or self.clone()).path
        return self.ask("run", where, "--no-verify", "--pr", "--output-format", "json", *more)

    def run(self, *more: str, repo: Repo | None = None) -> Any:
        said = self.say(*more, repo=repo)
        assert said.code == 0, said
        return said.report()

    def pull(self) -> Request:
        (one,) = self.api.requests
        return one

    def commit(self, data: bytes, branch: str = "main") -> str:
        return commit(self.origin, {"train.py": data}, branch)


@contextmanager
def standing(kind: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A forge of a kind, "github" or "gitlab", for as long as the block lasts."""
    origin = bare(tmp_path / "forge" / "someone" / "project.git")
    heads = ("for-each-ref", "--format=%(refname:lstrip=2)")
    api = Api(SECRET, lambda owner: git(tmp_path / "forge" / owner / "project.git", *heads).split())
    user = "x-access-token" if kind == "github" else "oauth2"
    header = f"Basic {base64.b64encode(f'{user}:{SECRET}'.encode()).decode()}"
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "GH_", "CI"))]:
        monkeypatch.delenv(name)
    (tmp_path / "clones").mkdir()
    with served(tmp_path / "forge", header, api) as (address, asked):
        if kind == "github":
            monkeypatch.setenv("GITHUB_SERVER_URL", address)
            monkeypatch.setenv("GITHUB_API_URL", f"{address}/api/v3")
        else:
            monkeypatch.setenv("CI_SERVER_URL", address)
            monkeypatch.setenv("CI_API_V4_URL", f"{address}/api/v4")
        yield World(ask, kind, origin, tmp_path / "clones", address, api, monkeypatch, asked)
