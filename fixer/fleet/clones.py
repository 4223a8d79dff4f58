"""The clones of a fleet: one a repository, kept and fetched, without history where the server allows that.

Nothing that a repository brings is run: hooks and filters are off, submodules stay out, and files of Git LFS stay
pointers.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from fixer.errors import UsageError
from fixer.fleet.asked import FleetRepository
from fixer.fleet.failures import StepFailure, failure_of, is_around
from fixer.gitio import GitError, Repository, settings
from fixer.push import ALIAS, Remote, remote_at
from fixer.tokens import Tokens

_AS_IS = [
    ("filter.lfs.smudge", ""),
    ("filter.lfs.process", ""),
    ("filter.lfs.required", "false"),
    ("core.autocrlf", "false"),
    ("advice.detachedHead", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
]
_GONE = ".gone-"
_SHALLOW = "does not support shallow"
_HEAD = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?|ref: refs/.+")
_REWRITTEN = r"^url\..*\.insteadof$"
_WHERE = ("HOME", "XDG_CONFIG_HOME", *(f"GIT_CONFIG_{name}" for name in ("GLOBAL", "SYSTEM", "NOSYSTEM", "COUNT")))


def place_of_clone(top: Path, repository: FleetRepository, copy: int) -> Path:
    """Where the clone of a repository is; one that a killed run was working in is never used again, so it has a
    number."""
    return top / "clones" / repository.key / str(copy) / repository.folder


def fetched(place: Path, repository: FleetRepository, tokens: Tokens) -> str | None:
    """Brings a clone to where its remote is, made anew where there is none, or where it cannot be brought there: the
    commit that is checked out, None where there is none yet. Branches that were made of an earlier one go: without
    history they could not be told from those of people. Raises StepFailure."""
    was_there = is_there(place)
    try:
        return _tried(place, repository, tokens)
    except StepFailure as failure:
        if is_around(failure.kind):
            raise
        discard(place)
        if not was_there:
            raise
    return _tried(place, repository, tokens)


def _tried(place: Path, repository: FleetRepository, tokens: Tokens) -> str | None:
    try:
        return _fetched(place, repository, tokens)
    except GitError as error:
        raise failure_of(tokens.hidden(error.reason or str(error)), repository.address) from None
    except UsageError as error:
        raise failure_of(tokens.hidden(str(error)), repository.address) from None
    except OSError as error:
        raise failure_of(f"{error.filename or place}: {error.strerror or error}", repository.address) from None


def _fetched(place: Path, repository: FleetRepository, tokens: Tokens) -> str | None:
    git = clone_at(place)
    if is_there(place) and _origin(git) != repository.address:
        discard(place)
    is_new = not is_there(place)
    if is_new:
        place.mkdir(parents=True, exist_ok=True)
        git.git("init", "--quiet", "--template=")
        _name_origin(place, repository.address)
    remote = remote_of(place, repository, tokens)
    wanted = f"refs/heads/{repository.options.base}" if repository.options.base else "HEAD"
    command = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
    ref = f"+{wanted}:refs/fleet/base"
    try:
        remote.git(*command, "--depth=1", ALIAS, ref, more=_AS_IS)
    except UsageError as error:
        if "find remote ref" in str(error) or "empty repository" in str(error):
            if repository.options.base is None:
                return None
            raise StepFailure(f"it has no {repository.options.base}") from None
        if _SHALLOW not in str(error):
            raise
        remote.git(*command, ALIAS, ref, more=_AS_IS)
    git.git("checkout", "--quiet", "--force", "--detach", "refs/fleet/base", environment=settings(_AS_IS))
    for ref in () if is_new else git.git("for-each-ref", "--format=%(refname)", "refs/heads").decode().split():
        git.git("update-ref", "--no-deref", "-d", ref)
    return _head(place) or git.resolve("HEAD^{commit}")


def is_there(place: Path) -> bool:
    """Whether there is a clone: what git itself takes for a repository, and does not look for one around it."""
    inside = place / ".git"
    return (inside / "objects").is_dir() and (inside / "refs").is_dir() and bool(_HEAD.fullmatch(_head_file(place)))


def clone_at(place: Path) -> Repository:
    """The clone at a place, without asking git whether there is one."""
    return Repository(place, place / ".git", place / ".git")


def remote_of(place: Path, repository: FleetRepository, tokens: Tokens) -> Remote:
    """Where a clone is fetched from and pushed to: the address as it is asked for now, and as the user's own settings
    of git rewrite it."""
    address, git = repository.address, clone_at(place)
    if _rewrites(tuple(os.environ.get(name) for name in _WHERE)):
        address = os.fsdecode(git.git("ls-remote", "--get-url", "--", address)).rstrip("\n")
    return remote_at(git, "origin", address, tokens)


@lru_cache(maxsize=8)
def _rewrites(where: tuple[str | None, ...]) -> bool:
    """Whether the user's settings of git, which are where these variables say, rewrite addresses."""
    root = Path(os.sep)
    return bool(Repository(root, root, root).git("config", "--get-regexp", _REWRITTEN, accept=(0, 1)))


def _head_file(place: Path) -> str:
    try:
        return (place / ".git" / "HEAD").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return ""


def _head(place: Path) -> str | None:
    """The commit that is checked out, where the file says it."""
    said = _head_file(place)
    return said if said and not said.startswith("ref:") else None


def _name_origin(place: Path, address: str) -> None:
    """Writes down where a new clone is from, as `git remote add` does."""
    quoted = address.replace("\\", "\\\\").replace('"', '\\"')
    text = f'[remote "origin"]\n\turl = "{quoted}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    with (place / ".git" / "config").open("ab") as config:
        config.write(os.fsencode(text))


def _origin(git: Repository) -> str:
    """The address that a clone was made from."""
    return os.fsdecode(git.git("config", "--local", "remote.origin.url", accept=(0, 1))).rstrip("\n")


def discard(place: Path) -> None:
    """Takes a clone away, also from under a process that still works in it."""
    folder = place.parent
    gone = folder.with_name(f"{_GONE}{uuid.uuid4().hex}")
    with suppress(OSError):
        folder.replace(gone)
        shutil.rmtree(gone, ignore_errors=True)


def tidy(top: Path) -> None:
    """Takes away what a run left that was killed while it discarded a clone."""
    for gone in (top / "clones").glob(f"*/{_GONE}*"):
        shutil.rmtree(gone, ignore_errors=True)
