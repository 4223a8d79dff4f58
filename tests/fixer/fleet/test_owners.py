"""Whom CODEOWNERS names: the lines are those of GitHub's and GitLab's own pages, and their traps."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixer.fleet.owners import Owners, owners_in, owners_of
from fixer.gitio import Repository
from tests.fixer.git_repos import Repo

GITHUB = """
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com @writer
apps/ @octocat
/scripts/ @doctocat @octocat
**/logs @loggers
/apps/github
"""


@pytest.mark.parametrize(
    ("path", "people", "teams"),
    [
        ("train.py", ("global-owner1", "global-owner2"), ()),
        ("web/deep/a.js", ("js-owner",), ()),
        ("main.go", (), ()),
        ("notes.txt", (), ("octocats",)),
        ("build/logs/deep/a.py", ("loggers",), ()),
        ("docs/a.md", ("writer",), ()),
        ("docs/build-app/a.md", ("global-owner1", "global-owner2"), ()),
        ("a/docs/b.md", ("global-owner1", "global-owner2"), ()),
        ("deep/apps/a.py", ("octocat",), ()),
        ("apps/github/a.py", (), ()),
        ("scripts/a.py", ("doctocat", "octocat"), ()),
        ("deploy/logs/a.py", ("loggers",), ()),
        ("logs", ("loggers",), ()),
    ],
)
def test_the_last_line_that_matches_says_whose_it_is(
    path: str, people: tuple[str, ...], teams: tuple[str, ...]
) -> None:
    assert owners_of(GITHUB, [path]) == Owners(people, teams)


def test_each_section_has_owners_of_its_own() -> None:
    text = "* @all\n[Docs] @writer\ndocs/\n*.md @editor\n^[Data][2]\n/with\\ space.py @acme/data/team\n[d]ev.py @odd\n"
    assert owners_of(text, ["docs/a.txt"]) == Owners(("all", "writer"))
    assert owners_of(text, ["a.md", "with space.py"]) == Owners(("all", "editor"), ("team",))
    assert owners_of("", ["a"]) == owners_of("/elsewhere @x", ["a"]) == Owners()


def test_it_lies_where_its_server_looks_first(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.git("init", "--quiet")
    first = repo.commit(
        {"CODEOWNERS": b"* @root\n", "docs/CODEOWNERS": b"* @docs\n", ".gitlab/CODEOWNERS": b"* @lab\n"}
    )
    found = Repository(tmp_path, tmp_path / ".git", tmp_path / ".git")
    assert owners_in(found, first, "github", ["a"]) == owners_in(found, first, "gitlab", ["a"]) == Owners(("root",))
    (tmp_path / "CODEOWNERS").unlink()
    then = repo.commit({".github/CODEOWNERS": b"* @hub\n"})
    assert owners_in(found, then, "github", ["a"]) == Owners(("hub",))
    assert owners_in(found, then, "gitlab", ["a"]) == Owners(("docs",))
