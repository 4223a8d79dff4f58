"""The repositories of an organisation, as servers tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fixer.errors import UsageError
from fixer.fleet.organisations import repositories_of
from fixer.fleet.state import opened
from fixer.tokens import Token, Tokens
from tests.fixer.command import Ask
from tests.fixer.fleet.organisation import SECRET, Organisation, standing
from tests.fixer.forge_api import Answer
from tests.fixer.forges import served

TOKENS = Tokens((Token("GITHUB_TOKEN", SECRET), Token("GITLAB_TOKEN", SECRET)))


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with standing(tmp_path, monkeypatch, ["a", "b"]) as made:
        made.more = [{"name": "old", "archived": True}, {"name": "copy", "fork": True}]
        yield made


def test_all_but_archived_ones_and_forks(acme: Organisation) -> None:
    found = repositories_of("github:acme", TOKENS)
    assert found == [(f"acme/{name}", f"{acme.address}/acme/{name}.git") for name in "ab"]
    assert repositories_of("github:someone", TOKENS) == found
    assert "GET /api/v3/users/someone/repos" in acme.asked


def test_a_fleet_of_an_organisation_with_the_options_of_a_file(acme: Organisation, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "FLEET.toml").write_text(
        f'[defaults]\nprove = false\n[[repository]]\naddress = "{acme.address}/acme/b.git"\nselect = ["AMP"]\n'
    )
    state = tmp_path / "state"
    said = ask("fleet", "run", tmp_path / "FLEET.toml", "--org", "github:acme", "--state", state)
    assert said.code == 0, said
    with opened(state) as held:
        assert {row.name: (row.state, row.options.select) for row in held.rows()} == {
            "acme/a": ("planned", None),
            "acme/b": ("left out", ("AMP",)),
        }


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("acme", "give github:NAME or gitlab:GROUP"),
        ("github:", "give github:NAME or gitlab:GROUP"),
        ("gitea:acme", "give github:NAME or gitlab:GROUP"),
        ("github:nobody", "GitHub answers 404"),
    ],
)
def test_what_cannot_be_asked(acme: Organisation, ask: Ask, tmp_path: Path, what: str, told: str) -> None:
    said = ask("fleet", "run", "--org", what, "--state", tmp_path / "state")
    assert f"--org {what}: " in said.complaint() and told in said.complaint()
    assert not (tmp_path / "state").exists()


class Group:
    """A group on a stand-in for GitLab."""

    address = ""

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Answer:
        if headers.get("PRIVATE-TOKEN") != SECRET:
            return 401, {"message": "401 Unauthorized"}
        if path != "/api/v4/groups/acme%2Fml/projects":
            return 404, {"message": "404 Group Not Found"}
        assert query["include_subgroups"] == "True" or query["include_subgroups"] == "true"

        def one(name: str, **more: Any) -> dict[str, Any]:
            url = f"{self.address}/acme/ml/{name}.git"
            return {
                "id": 1,
                "path_with_namespace": f"acme/ml/{name}",
                "http_url_to_repo": url,
                "empty_repo": False,
                **more,
            }

        return 200, [one("a"), one("deep/b"), one("fork", forked_from_project={"id": 9}), one("empty", empty_repo=True)]


def test_a_group_with_those_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path, None, Group()) as (address, _):
        monkeypatch.setenv("CI_SERVER_URL", address)
        monkeypatch.setenv("CI_API_V4_URL", f"{address}/api/v4")
        found = repositories_of("gitlab:acme/ml", TOKENS)
        assert found == [(f"acme/ml/{name}", f"{address}/acme/ml/{name}.git") for name in ("a", "deep/b")]
        with pytest.raises(UsageError, match=r"--org gitlab:none: GitLab answers 404"):
            repositories_of("gitlab:none", TOKENS)
        with pytest.raises(UsageError, match=r"--org gitlab:acme/ml: GitLab answers 401"):
            repositories_of("gitlab:acme/ml", Tokens((Token("GITLAB_TOKEN", "another"),)))


def test_an_address_that_a_server_makes_up_is_not_taken(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    acme.more = [{"name": "evil", "clone_url": "ext::sh -c x"}]
    with pytest.raises(UsageError, match="no path and no address"):
        repositories_of("github:acme", TOKENS)
