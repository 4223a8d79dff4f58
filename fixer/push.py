"""Pushing the branch: never over commits of people, and never showing a token to anybody but its server.

What the remote's branch holds is looked up in a repository of its own, so that a shallow or partial clone stays
what it is; the push itself is a lease on what was seen, so that of two runs at once one gives way.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fixer.errors import UsageError
from fixer.forge import ForgeRepository, may_show_token, place_of, without_user
from fixer.gitio import GitError, Repository, settings
from fixer.ownership import first_foreign, is_within
from fixer.tokens import NAMES, Tokens

ALIAS = "fixer-push-target"
"""What a remote is called for git, so that nothing the repository says of it holds."""
_PROTOCOLS = "file:git:http:https:ssh"
_PASSED_ON = ("GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_PROXY_SSL_", "GIT_HTTP_")
_CONNECTION = r"^(http|credential|url|protocol|core\.sshcommand|core\.gitproxy)(\.|$)"
_NOBODY = ("could not read Username", "could not read Password", "Authentication failed")
_DEPTH = "200"
_WHOLE = "2147483647"


@dataclass(frozen=True)
class Remote:
    """A remote to push to: its name, where it lies, the variables by which git gets there, and the name of the token
    that is shown there ("" for none)."""

    repository: Repository
    name: str
    address: str
    place: ForgeRepository | None
    tokens: Tokens
    variables: tuple[tuple[str, str], ...] = field(repr=False)
    shown: str

    def git(
        self,
        *arguments: str,
        inside: Repository | None = None,
        more: Sequence[tuple[str, str]] = (),
        accept: tuple[int, ...] = (0,),
    ) -> str:
        """Runs a git command that speaks to the remote. Raises UsageError, without a token in it."""
        passed = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
        variables = {**passed, "GIT_ALLOW_PROTOCOL": _PROTOCOLS, "GIT_NO_LAZY_FETCH": "0"}
        try:
            said = (inside or self.repository).git(
                *arguments, environment={**variables, **settings([*more, *self.variables])}, accept=accept
            )
        except GitError as error:
            reason = self.tokens.hidden(error.reason).replace(ALIAS, self.name)
            raise UsageError(f"{self.name} ({self.address}): {reason}; {self._advice(reason)}") from None
        return os.fsdecode(said)

    def _advice(self, reason: str) -> str:
        """What to do about what git said."""
        if self.place is None or not any(words in reason for words in _NOBODY):
            return "see `git remote -v`, and your rights there"
        if self.shown:
            return f"the token in {self.shown} is not accepted there: is it still valid, and may it see the repository?"
        names = NAMES[self.place.kind]
        held = next((token.name for token in self.tokens.held if token.name in names), "")
        if held:
            return f"{held} is shown to {self.place.server} alone, and this address is not there: see `git remote -v`"
        return f"set {' or '.join(names)}, or give git a credential for it"


@dataclass(frozen=True)
class RemoteBranch:
    """What a remote's branch holds: its last commit (None where there is no branch), and the first commit on it,
    from the end, that fixer did not make and that is nowhere else (None: all of it may be replaced), and its files;
    and the branch that the remote's HEAD names."""

    head: str | None
    of_people: str | None = None
    tree: str | None = None
    default: str | None = None


def find_remote(repository: Repository, name: str, tokens: Tokens) -> Remote:
    """The remote of a name. Raises UsageError where there is none."""
    url = os.fsdecode(repository.git("remote", "get-url", "--push", "--", name, accept=(0, 2, 128))).rstrip("\n")
    if not url:
        names = repository.git("remote").decode("utf-8", "replace").split()
        there = f"there are {', '.join(names)}" if names else "add one with `git remote add`"
        raise UsageError(f"{repository.root}: no remote is called '{name}'; {there}")
    return remote_at(repository, name, url, tokens)


def remote_at(repository: Repository, name: str, url: str, tokens: Tokens) -> Remote:
    """The remote at an address."""
    place = place_of(url)
    token = tokens.of(place.kind) if place and may_show_token(url, place) else None
    bare = without_user(url)
    variables = [(f"remote.{ALIAS}.url", bare if token else url)]
    if token:
        variables += [(f"http.{bare}.extraHeader", ""), (f"http.{bare}.extraHeader", token.header())]
    return Remote(repository, name, bare, place, tokens, tuple(variables), token.name if token else "")


def default_branch(remote: Remote) -> str | None:
    """The branch that the remote's HEAD names."""
    return _listed(remote)[0]


def head_of(remote: Remote, branch: str) -> str | None:
    """The last commit of a branch of the remote, now."""
    return _listed(remote, branch)[1]


def look(remote: Remote, branch: str, base: str) -> RemoteBranch:
    """What the branch of the remote holds now, seen from the commit that a new one would start at."""
    default, head = _listed(remote, branch)
    if head is None:
        return RemoteBranch(None, default=default)
    with _apart(remote.repository) as scratch:
        local = _local_settings(remote.repository)

        def fetch(depth: str, *refs: str) -> None:
            remote.git(
                *("fetch", "--quiet", "--no-tags", f"--depth={depth}", "--filter=tree:0", ALIAS, *refs),
                inside=scratch,
                more=local,
            )

        fetch(_DEPTH, f"+refs/heads/{branch}:refs/heads/seen")
        head = scratch.resolve("refs/heads/seen") or head
        start = first_foreign(scratch, head)
        if start is None or is_within(remote.repository, start, base):
            return RemoteBranch(head, tree=_tree_of(scratch, head), default=default)
        fetch(_WHOLE, "+HEAD:refs/heads/main", f"+refs/heads/{branch}:refs/heads/seen")
        lost = None if is_within(scratch, start, "refs/heads/main") else start
        return RemoteBranch(head, lost, _tree_of(scratch, head), default)


def push(remote: Remote, branch: str, head: str, seen: RemoteBranch) -> str | None:
    """Puts a commit on the remote's branch, if that still is as it was seen; the reason where it was refused."""
    ref = f"refs/heads/{branch}"
    said = remote.git(
        *("push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--signed=no"),
        *(f"--force-with-lease={ref}:{seen.head or ''}", ALIAS, f"{head}:{ref}"),
        accept=(0, 1),
    )
    refused = [line.split("\t")[-1] for line in said.splitlines() if line.startswith("!")]
    return None if "Done" in said.splitlines() and not refused else remote.tokens.hidden("; ".join(refused))


def publish(remote: Remote, branch: str, head: str, seen: RemoteBranch) -> tuple[str, str | None]:
    """Pushes a commit as the branch: what was done, and what went wrong where something did."""
    where = f"{remote.name} ({remote.address})"
    if head == seen.head or (seen.tree and seen.tree == _tree_of(remote.repository, head)):
        return f"{remote.name} already holds branch {branch}", None
    if seen.of_people:
        return "", (
            f"{where}: branch '{branch}' holds commit {seen.of_people[:10]}, which fixer did not make; it is left as "
            "it is: merge it, delete the branch there, or choose another name with --branch"
        )
    refused = push(remote, branch, head, seen)
    if refused is None:
        return f"branch {branch} pushed to {remote.name}", None
    if head_of(remote, branch) == head:
        return f"{remote.name} already holds branch {branch}: another run pushed it", None
    return "", (
        f"{where} refused branch '{branch}': {refused}; the branch is complete here and nothing there was changed: "
        "push it with the rights that are needed, or choose another name with --branch"
    )


def _listed(remote: Remote, branch: str = "") -> tuple[str | None, str | None]:
    """The branch that the remote's HEAD names, and the last commit of a branch, now."""
    ref, named = f"refs/heads/{branch}", "ref: refs/heads/"
    listing = remote.git("ls-remote", "--symref", ALIAS, "HEAD", *([ref] if branch else []))
    pairs = [(value, name) for value, _, name in (line.partition("\t") for line in listing.splitlines())]
    symbols = (value.removeprefix(named) for value, name in pairs if name == "HEAD" and value.startswith(named))
    return next(symbols, None), next((value for value, name in pairs if name == ref), None)


def _tree_of(repository: Repository, commit: str) -> str:
    return repository.git("cat-file", "commit", commit).split(b"\n", 1)[0].removeprefix(b"tree ").decode()


def _local_settings(repository: Repository) -> list[tuple[str, str]]:
    """The repository's own settings that say how a server is reached."""
    listing = repository.git("config", "--local", "--includes", "-z", "--get-regexp", _CONNECTION, accept=(0, 1))
    pairs = (os.fsdecode(line).partition("\n") for line in listing.split(b"\0") if line)
    return [(key, value) for key, _, value in pairs]


@contextmanager
def _apart(repository: Repository) -> Iterator[Repository]:
    """An empty repository, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="fixer-git-") as folder:
        place = Path(folder)
        scratch = Repository(place, place, place)
        form = repository.git("rev-parse", "--show-object-format").decode().strip()
        scratch.git("init", "--quiet", "--bare", "--template=", f"--object-format={form}")
        yield scratch
