"""The clones of a fleet: where they are from, and what is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixer.fleet.asked import FleetRepository
from fixer.fleet.clones import fetched, is_there, remote_of
from fixer.tokens import Token, Tokens
from tests.fixer.fleet.organisation import SECRET, standing
from tests.support import commit_all, git


@pytest.mark.parametrize("name", ["plain", 'odd "name"\\', "\u00e9 x"])
def test_a_clone_names_where_it_is_from(tmp_path: Path, name: str) -> None:
    origin, place = tmp_path / name, tmp_path / "clone"
    origin.mkdir()
    (origin / "a.py").write_text("1\n")
    made = commit_all(origin)
    assert fetched(place, FleetRepository("a", str(origin)), Tokens()) == made == git(place, "rev-parse", "HEAD")
    assert git(place, "remote", "get-url", "origin") == str(origin)
    assert git(place, "config", "remote.origin.fetch") == "+refs/heads/*:refs/remotes/origin/*"
    (origin / "a.py").write_text("2\n")
    newest = commit_all(origin)
    (place / "kept").touch()
    assert fetched(place, FleetRepository("a", str(origin)), Tokens()) == newest and (place / "kept").exists()


def test_a_folder_in_another_repository_is_no_clone(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    place = tmp_path / "clone"
    for part in ("objects", "refs"):
        assert not is_there(place)
        (place / ".git" / part).mkdir(parents=True)
    for text in ("", "rubbish\n", "ref: elsewhere\n"):
        (place / ".git" / "HEAD").write_text(text)
        assert not is_there(place)
    for text in ("ref: refs/heads/main\n", f"{'0' * 40}\n"):
        (place / ".git" / "HEAD").write_text(text)
        assert is_there(place)
        assert git(place, "rev-parse", "--show-toplevel") == str(place)


def test_addresses_are_those_that_the_users_git_makes_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing(tmp_path, monkeypatch, ["a"]) as acme:
        settings = tmp_path / "gitconfig"
        settings.write_text(f'[url "{acme.address}/"]\n\tinsteadOf = git@example.org:\n')
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
        one, tokens = FleetRepository("a", "git@example.org:acme/a.git"), Tokens((Token("GITHUB_TOKEN", SECRET),))
        assert fetched(tmp_path / "clone", one, tokens)
        remote = remote_of(tmp_path / "clone", one, tokens)
        assert (remote.address, remote.shown) == (f"{acme.address}/acme/a.git", "GITHUB_TOKEN")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        assert remote_of(tmp_path / "clone", one, tokens).address == "git@example.org:acme/a.git"
