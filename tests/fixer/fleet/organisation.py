"""An organisation on a stand-in for GitHub: many repositories over http, each with pull requests of its own."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fixer.cli import start
from fixer.fleet.asked import FleetRepository, RepositoryOptions
from fixer.fleet.tasks import LOG, PAGE, REPORT, RUNS, FleetTask, TaskOutcome
from tests.fixer.forge_api import Answer, Api
from tests.fixer.forges import bare, served
from tests.support import git

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
_PATH = re.compile(r"/api/v3/repos/([^/]+/[^/]+)")


@dataclass
class Organisation:
    """The repositories of an organisation; `busy` is how many of the next questions are answered by "too many", `more`
    what is listed besides, `refused` a method and how paths end which the token may not ask for."""

    folder: Path
    apis: dict[str, Api] = field(default_factory=dict)
    address: str = ""
    busy: int = 0
    asked: list[str] = field(default_factory=list)
    more: list[dict[str, Any]] = field(default_factory=list)
    refused: tuple[str, str] | None = None

    def add(self, name: str, files: Mapping[str, bytes] | None = None) -> Path:
        """A repository with one commit."""
        self.register(name)
        return bare(self.folder / "acme" / f"{name}.git", files)

    def register(self, name: str) -> None:
        """A repository that is there already."""
        branches = partial(_branches, self.folder / "acme" / f"{name}.git")
        self.apis[f"acme/{name}"] = Api(SECRET, branches, f"acme/{name}")

    def api(self, name: str) -> Api:
        """The pull requests of a repository."""
        return self.apis[f"acme/{name}"]

    def states(self) -> dict[str, list[str]]:
        """The states of all pull requests."""
        return {path.partition("/")[2]: [one.state for one in api.requests] for path, api in self.apis.items()}

    def repositories(self, options: RepositoryOptions) -> list[FleetRepository]:
        """All of them, as a fleet names them."""
        return [FleetRepository(path, f"{self.address}/{path}.git", options) for path in self.apis]

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Answer:
        """What the server says."""
        self.asked.append(f"{method} {path}")
        if self.busy:
            self.busy -= 1
            return 429, {"message": "You have exceeded a secondary rate limit."}
        if path in ("/api/v3/orgs/acme/repos", "/api/v3/users/someone/repos"):
            return 200, [*(self._listed(path.partition("/")[2]) for path in self.apis), *map(self._more, self.more)]
        if path == "/api/v3/users/someone":
            return 200, {"login": "someone", "url": f"{self.address}{path}"}
        if self.refused and method == self.refused[0] and path.endswith(self.refused[1]):
            return 403, {"message": "Resource not accessible by personal access token"}
        match = _PATH.match(path)
        if match is None or match[1] not in self.apis:
            return 404, {"message": "Not Found", "documentation_url": "", "status": "404"}
        api = self.apis[match[1]]
        api.address = self.address
        return api.answer(method, path, query, body, headers)

    def _listed(self, name: str) -> dict[str, Any]:
        """A repository in a list: https://docs.github.com/rest/repos/repos"""
        address = f"{self.address}/acme/{name}.git"
        return {"id": 1, "full_name": f"acme/{name}", "clone_url": address, "archived": False, "fork": False}

    def _more(self, held: dict[str, Any]) -> dict[str, Any]:
        return {**self._listed(held["name"]), **held}


def _branches(origin: Path, owner: str) -> list[str]:
    """The branches of a repository."""
    return git(origin, "for-each-ref", "--format=%(refname:lstrip=2)").split()


@contextmanager
def standing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str] = (), secret: str = SECRET
) -> Iterator[Organisation]:
    """An organisation for as long as the block lasts."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "GH_", "CI"))]:
        monkeypatch.delenv(name)
    made = Organisation(tmp_path / "forge")
    for name in names:
        made.add(name)
    header = f"Basic {base64.b64encode(f'x-access-token:{SECRET}'.encode()).decode()}"
    with served(made.folder, header, made) as (address, _):
        monkeypatch.setenv("GITHUB_SERVER_URL", address)
        monkeypatch.setenv("GITHUB_API_URL", f"{address}/api/v3")
        monkeypatch.setenv("GITHUB_TOKEN", secret)
        yield made


def in_process(task: FleetTask) -> TaskOutcome:
    """Does a task in this process, where fixer and its rules are loaded already."""
    folder = Path(task.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG).touch()
    before = os.environ.get("FIXER_RUNS")
    os.environ["FIXER_RUNS"] = str(folder / RUNS)
    try:
        files = (f"--output-file=json:{folder / REPORT}", f"--output-file=html:{folder / PAGE}")
        code = start(["run", task.clone, "--quiet", "--jobs=1", *files, *task.arguments])
    finally:
        os.environ.pop("FIXER_RUNS")
        if before is not None:
            os.environ["FIXER_RUNS"] = before
    return TaskOutcome(code, 0.1, 0.1)
