"""Landing a result: commits built from the objects of the base, and one branch that names the last of them.

The index, HEAD and the work tree are not touched. Moving the branch is the last step and the only visible
one, so that a run that is killed leaves the repository as it was.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fixer.errors import UsageError
from fixer.gitio import REGULAR_MODES, GitError, Repository, find_repository
from fixer.ownership import EMAIL, is_fixers
from fixer.project import Project
from fixer.result import Commit

NOTES_REF = "refs/notes/fixer"

_NAME = "fixer"
_RULES = "--format=%(trailers:key=Fixer-Rule,valueonly,separator=%x2C)"
_STALE_S = 24 * 3600.0


@dataclass(frozen=True)
class PlannedCommit:
    """The work of one codemod, as one commit; `files` are new contents, relative to the step before."""

    code: str
    group: str
    subject: str
    body: str
    findings: tuple[str, ...]
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Landing:
    """Where a result is: the branch, its last commit, whether this run made or moved it, and its commits."""

    branch: str
    head: str
    created: bool
    commits: tuple[Commit, ...]
    message: str


def check_branch(project: Project, branch: str) -> None:
    """Refuse, before any work is done, a branch that could not be landed."""
    repository = _repository(project)
    _check_name(repository, branch)
    for folder in (repository.common_directory / "objects", repository.common_directory / "refs" / "heads"):
        if not os.access(folder, os.W_OK):
            raise _unwritable(repository, f"{folder} is read-only")


def check_free(project: Project, branch: str) -> None:
    """Refuse, before a result is proven, a branch that somebody works on."""
    _check_not_checked_out(_repository(project), branch)


def land(
    project: Project,
    branch: str,
    steps: Sequence[PlannedCommit],
    version: str,
    *,
    force: bool,
    dry_run: bool = False,
    sign: bool = False,
) -> Landing:
    """Put one commit a step on a branch that starts at the project's base.

    A step that changes nothing makes no commit. A branch that already holds the same files is left as it is. One that
    holds others is replaced where all its commits are fixer's, and moved with `force` only where they are not. A dry
    run leaves nothing in the repository. With `sign` commits are signed, where the repository's configuration signs.
    """
    repository, base = _repository(project), project.base or ""
    _check_name(repository, branch)
    signature = _signature(repository) if sign and not dry_run else ()
    with _workshop(repository, base, dry_run, signature) as workshop:
        tree, commits = _build(workshop, base, steps, version)
    if not commits:
        return Landing(branch, base, False, (), "nothing changed, so no branch was made")
    return _publish(repository, branch, base, tree, commits, force, dry_run, bool(signature))


def check_content(project: Project, branch: str, steps: Sequence[PlannedCommit], version: str) -> None:
    """Refuse, before any work is put into its proof, a result for which a branch with other content than fixer's would
    have to be moved. The proof may take rules out: a branch that holds fewer of them may turn out to be the same.
    """
    repository, ref = _repository(project), f"refs/heads/{branch}"
    old = repository.resolve(f"{ref}^{{commit}}")
    if old is None or is_fixers(repository, branch, old, project.base or ""):
        return
    with _workshop(repository, project.base or "", dry_run=True) as workshop:
        tree, _ = _build(workshop, project.base or "", steps, version)
    listing = repository.git("log", _RULES, f"{project.base}..{ref}").decode("utf-8", "replace")
    held = set(listing.split("\n")[:-1])
    fewer = held and held < {step.code for step in steps}
    if repository.resolve(f"{ref}^{{tree}}") != tree and not fewer:
        raise _taken(repository, branch)


def annotate(project: Project, commits: Sequence[Commit], text_by_commit: Mapping[str, str]) -> None:
    """Attach a text to each commit that has one, as a git note in `refs/notes/fixer`."""
    repository = _repository(project)
    texts = {commit.id: text_by_commit[commit.id] for commit in commits if commit.id in text_by_commit}
    if not texts:
        return
    old = repository.resolve(f"{NOTES_REF}^{{commit}}")
    with _workshop(repository, project.base or "", dry_run=False) as workshop:
        before = workshop.start(old) if old else None
        replaced = sorted(path for path in workshop.modes if path.replace("/", "") in texts)
        blobs = workshop.blobs([text.encode("utf-8", "replace") for text in texts.values()])
        removed = [("0", "0" * len(blobs[0]), path) for path in replaced]
        added = [("100644", blob, id) for id, blob in zip(texts, blobs, strict=True)]
        tree = workshop.change([*removed, *added])
        if tree != before:
            head = workshop.commit(tree, [old] if old else [], "Notes added by fixer\n")
            repository.git("update-ref", "--no-deref", "-m", "fixer: notes", NOTES_REF, head, old or "")


class _Workshop:
    """Builds objects with an index of its own, in the repository or, for a dry run, beside it."""

    def __init__(
        self, repository: Repository, folder: Path, base: str, dry_run: bool, signature: tuple[str, ...]
    ) -> None:
        self.modes: dict[str, str] = {}
        self._repository = repository
        self._folder = folder
        date = _date(repository.git("cat-file", "commit", base))
        self._environment = {
            "GIT_INDEX_FILE": os.fspath(folder / "index"),
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", _NAME), ("EMAIL", EMAIL), ("DATE", date))
            },
        }
        if dry_run:
            objects = folder / "objects"
            (objects / "info").mkdir(parents=True)
            (objects / "info" / "alternates").write_bytes(os.fsencode(repository.common_directory / "objects") + b"\n")
            self._environment["GIT_OBJECT_DIRECTORY"] = os.fspath(objects)
        self._sign = signature

    def start(self, commit: str) -> str:
        """Begin with the files of a commit; returns the id of its tree."""
        try:
            self._git("read-tree", commit)
        except GitError as error:
            root = self._repository.root
            raise UsageError(
                f"{root}: git cannot check out {commit}: {error.reason}; choose another commit with --base"
            ) from None
        self.modes = {entry.path: entry.mode for entry in self._repository.entries(commit)}
        return self._git("rev-parse", "--verify", f"{commit}^{{tree}}")

    def blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Store contents as they are and return their ids."""
        paths = [self._folder / f"blob-{number}" for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        listing = "".join(f"{path}\n" for path in paths).encode()
        return self._git("hash-object", "-w", "--no-filters", "--stdin-paths", data=listing).split()

    def change(self, entries: Sequence[tuple[str, str, str]]) -> str:
        """Put (mode, id, path) entries into the index, mode 0 removing one; returns the id of the tree."""
        lines = b"".join(f"{mode} {id}\t".encode() + os.fsencode(path) + b"\0" for mode, id, path in entries)
        self._git("update-index", "-z", "--index-info", data=lines)
        return self._git("write-tree", "--missing-ok")

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """Make a commit and return its id."""
        options = [part for parent in parents for part in ("-p", parent)]
        data = message.encode("utf-8", "replace")
        try:
            return self._git("commit-tree", tree, *options, *self._sign, "-F", "-", data=data)
        except GitError as error:
            if not self._sign:
                raise
            raise UsageError(
                f"{self._repository.root}: a commit cannot be signed, as commit.gpgSign asks: {error.reason}; "
                "fix the signing key, or switch it off with `git config commit.gpgSign false`"
            ) from None

    def _git(self, *arguments: str, data: bytes = b"") -> str:
        return self._repository.git(*arguments, data=data, environment=self._environment).decode().strip()


def _build(
    workshop: _Workshop, base: str, steps: Sequence[PlannedCommit], version: str
) -> tuple[str, tuple[Commit, ...]]:
    """The tree after the last step, and the commits that lead there."""
    tree, head = workshop.start(base), base
    commits: list[Commit] = []
    for step in steps:
        paths = sorted(step.files)
        blobs = workshop.blobs([step.files[path] for path in paths])
        modes = [_mode(workshop, path) for path in paths]
        before, tree = tree, workshop.change(list(zip(modes, blobs, paths, strict=True)))
        if tree != before:
            head = workshop.commit(tree, [head], _message(step, version))
            commits.append(Commit(head, step.code, step.group, _line(step.subject), step.findings))
    return tree, tuple(commits)


def _publish(
    repository: Repository,
    branch: str,
    base: str,
    tree: str,
    commits: tuple[Commit, ...],
    force: bool,
    dry_run: bool,
    signed: bool,
) -> Landing:
    """Make or move the branch, in one step that fails if somebody else moved it meanwhile."""
    ref, head = f"refs/heads/{branch}", commits[-1].id
    old = repository.resolve(ref)
    if old and repository.resolve(f"{ref}^{{tree}}") == tree and not (signed and not _is_signed(repository, old)):
        message = f"branch {branch} already holds this result"
        return Landing(branch, old, False, commits if old == head else (), message)
    _check_not_checked_out(repository, branch)
    if old and not force and not is_fixers(repository, branch, old, base):
        raise _taken(repository, branch)
    count = f"{len(commits)} commit{'s' * (len(commits) > 1)}"
    before = f", instead of {old[:12]}" if old else ""
    if dry_run:
        return Landing(branch, head, False, commits, f"branch {branch} would hold {count}{before}")
    with _writing(repository):
        repository.git("update-ref", "--no-deref", "-m", "fixer: run", ref, head, old or "")
    back = f"{before}, which `git branch NAME {old[:12]}` brings back" if old else ""
    return Landing(branch, head, True, commits, f"branch {branch} now holds {count}{back}" if old else "")


def _taken(repository: Repository, branch: str) -> UsageError:
    return UsageError(
        f"{repository.root}: branch '{branch}' exists and holds something else; "
        "choose another name with --branch, or replace it with --force"
    )


def _repository(project: Project) -> Repository:
    repository = find_repository(project.root)
    if repository is None or project.base is None:
        raise UsageError(f"{project.root}: not a commit of a git repository; run `git init` and commit first")
    return repository


def _check_name(repository: Repository, branch: str) -> None:
    """Refuse a name that git does not allow, and one that another branch stands in the way of."""
    ref = f"refs/heads/{branch}"
    if branch.startswith("-") or branch == "HEAD" or not _succeeds(repository, "check-ref-format", ref):
        raise UsageError(f"'{branch}' is not a name for a branch; choose another with --branch")
    parts = branch.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts))]
    below = repository.git("for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", f"{ref}/").decode()
    for other in [name for name in above if repository.resolve(f"refs/heads/{name}")] + below.split():
        raise UsageError(
            f"{repository.root}: branch '{other}' exists, so that git cannot "
            f"create '{branch}'; choose another with --branch"
        )


def _check_not_checked_out(repository: Repository, branch: str) -> None:
    listing = repository.git("worktree", "list", "--porcelain").decode("utf-8", "replace")
    place = ""
    for line in listing.splitlines():
        key, _, value = line.partition(" ")
        if key == "worktree":
            place = value
        elif key == "branch" and value == f"refs/heads/{branch}":
            raise UsageError(
                f"branch '{branch}' is checked out in {place}; choose another with --branch, or check out another"
            )


def _succeeds(repository: Repository, *arguments: str) -> bool:
    try:
        repository.git(*arguments)
    except GitError:
        return False
    return True


def _mode(workshop: _Workshop, path: str) -> str:
    mode = workshop.modes.get(path, REGULAR_MODES[0])
    if mode not in REGULAR_MODES:
        raise ValueError(f"{path} is not a regular file in the base commit")
    return mode


def _signature(repository: Repository) -> tuple[str, ...]:
    """The option that signs a commit, where the repository's configuration signs commits: by the user's key, whoever
    the commit names."""

    def configured(key: str, *how: str) -> str:
        return repository.git("config", *how, key, accept=(0, 1)).decode("utf-8", "replace").strip()

    if configured("commit.gpgSign", "--type=bool") != "true":
        return ()
    if key := configured("user.signingKey"):
        return (f"--gpg-sign={key}",)
    if configured("gpg.format") in ("", "openpgp"):
        return (f"--gpg-sign={configured('user.name')} <{configured('user.email')}>",)
    return ("--gpg-sign",)


def _is_signed(repository: Repository, commit: str) -> bool:
    return b"\ngpgsig" in repository.git("cat-file", "commit", commit).partition(b"\n\n")[0]


def _message(step: PlannedCommit, version: str) -> str:
    trailers = {"Fixer-Rule": step.code, "Fixer-Group": step.group, "Fixer-Version": version}
    last = "\n".join(f"{key}: {_line(value)}" for key, value in trailers.items())
    parts = (_line(step.subject), step.body.replace("\0", "").strip(), last)
    return "\n\n".join(part for part in parts if part) + "\n"


def _line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())


def _date(commit: bytes) -> str:
    """The committer's date of a raw commit, in git's own form."""
    header = commit.partition(b"\n\n")[0]
    found = re.search(rb"^committer .*> ([0-9]{1,11}) ([+-][0-9]{4})$", header, re.MULTILINE)
    return f"@{found[1].decode()} {found[2].decode()}" if found else "@0 +0000"


@contextmanager
def _workshop(repository: Repository, base: str, dry_run: bool, signature: tuple[str, ...] = ()) -> Iterator[_Workshop]:
    """A workshop in a temporary folder, which is removed with what earlier, killed runs left of theirs."""
    place = Path(tempfile.gettempdir())
    for left in place.glob("fixer-git-*"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - _STALE_S:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="fixer-git-") as folder, _writing(repository):
        yield _Workshop(repository, Path(folder), base, dry_run, signature)


@contextmanager
def _writing(repository: Repository) -> Iterator[None]:
    """Say of a git command that failed that the repository could not be written to."""
    try:
        yield
    except GitError as error:
        raise _unwritable(repository, error.reason) from error


def _unwritable(repository: Repository, reason: str) -> UsageError:
    return UsageError(
        f"{repository.root}: cannot write to the repository: {reason}; make it writable, or use a clone of it"
    )
