"""Whose the commits of a branch are: fixer's own can be made again, those of people cannot."""

from __future__ import annotations

from fixer.gitio import GitError, Repository

EMAIL = "noreply@fixer.invalid"
_DEPTH = "200"
_FORMAT = "--format=%H%x00%ae%x00%ce%x00%(trailers:key=Fixer-Rule,valueonly,separator=%x2C)"


def first_foreign(repository: Repository, head: str) -> str | None:
    """The first commit from a head backwards that fixer did not make, or that somebody rewrote; None: none is."""
    listing = repository.git("log", "--first-parent", "-n", _DEPTH, _FORMAT, head).decode("utf-8", "replace")
    for line in filter(None, listing.split("\n")):
        commit, author, committer, rule = line.split("\0")
        if (author, committer) != (EMAIL, EMAIL) or not rule:
            return commit
    return None


def may_move(repository: Repository, branch: str, base: str) -> bool:
    """Whether all that a branch here holds was made by fixer, or is in the base or on another branch as well."""
    head = repository.resolve(f"refs/heads/{branch}")
    return head is None or foreign_on(repository, branch, head, base) is None


def is_fixers(repository: Repository, branch: str, head: str, base: str) -> bool:
    """Whether a branch with this head ends with commits of fixer's, and nothing that it holds besides would be lost."""
    if first_foreign(repository, head) == head:
        return False
    return foreign_on(repository, branch, head, base) is None


def foreign_on(repository: Repository, branch: str, head: str, base: str) -> str | None:
    """The last commit on a branch that fixer did not make and that is neither in the base nor on another branch."""
    start = first_foreign(repository, head)
    if start is None or is_within(repository, start, base):
        return None
    holders = repository.git("for-each-ref", "--contains", start, "--format=%(refname)").decode().split()
    return None if any(not name.endswith(f"/{branch}") for name in holders) else start


def is_within(repository: Repository, commit: str, other: str) -> bool:
    """Whether a commit is another one or an ancestor of it."""
    try:
        repository.git("merge-base", "--is-ancestor", commit, other)
    except GitError:
        return False
    return True
