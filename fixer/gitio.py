"""The git program, called so that nothing a repository brings along is run.

Hooks, filters, the file-system monitor and fetches are off in every call, optional locks are not taken
and the variables by which a surrounding git names its own repository are dropped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fixer.errors import UsageError

REGULAR_MODES = ("100644", "100755")
LINK_MODE = "120000"
SUBMODULE_MODE = "160000"

_OVERRIDES = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "i18n.commitEncoding=UTF-8",
    "submodule.recurse=false",
)
_PASSED_ON = ("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_PARTIAL_KEYS = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"
_FILTER_KEYS = r"^filter\..*\.(clean|smudge|process|required)$"
_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_MESSAGE = re.compile(r"\.?\s+(?=(?:fatal|error|warning|hint|remote): )")
"""Where a message of git's ends and the next one begins; each may have several lines."""
_CHUNK = 1 << 20


class GitError(UsageError):
    """A git command that failed; `reason` is what git said."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class TreeEntry:
    """One file of a commit's tree."""

    mode: str
    id: str
    path: str


@dataclass(frozen=True)
class Blob:
    """An object's content; `size` is None when the object is missing, `data` when it is too large."""

    id: str
    size: int | None
    data: bytes | None


@dataclass(frozen=True)
class Repository:
    """A repository with a work tree: `root` is that tree, `directory` its git directory."""

    root: Path
    directory: Path
    common_directory: Path

    def git(
        self,
        *arguments: str,
        data: bytes = b"",
        environment: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (0,),
    ) -> bytes:
        """Run a git command in the root with `data` on its standard input and return what it writes."""
        done = subprocess.run(self._command(*arguments), input=data, capture_output=True, env=_environment(environment))
        if done.returncode not in accept:
            signal = f"it was ended from outside by signal {-done.returncode}" if done.returncode < 0 else ""
            raise self._error(arguments[0], done.stderr or signal.encode())
        return done.stdout

    def resolve(self, revision: str) -> str | None:
        """The id of the object that a revision names, or None."""
        found = self.git("rev-parse", "--verify", "--quiet", revision, accept=(0, 1, 128))
        id = found.decode("utf-8", "replace").strip()
        return id if _ID.fullmatch(id) else None

    def entries(self, tree: str) -> list[TreeEntry]:
        """The files of a commit or tree, submodules and symbolic links among them."""
        try:
            listing = self.git("ls-tree", "-r", "-z", "--full-tree", tree)
        except GitError as error:
            message = f"{self.root}: cannot read the files of {tree}: {error.reason}; use a complete clone"
            raise GitError(message, error.reason) from error
        entries = []
        for line in listing.split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, id = head.decode().split(" ")
                entries.append(TreeEntry(mode, id, os.fsdecode(path)))
        return entries

    def work_files(self) -> Iterator[str]:
        """The files on disk that are tracked, or neither tracked nor ignored, as paths from the root."""
        listing = self.git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        return (os.fsdecode(path) for path in listing.split(b"\0") if path)

    def missing(self, tree: str) -> frozenset[str]:
        """The objects of a tree that a partial clone lacks; asking for one by one would try to fetch them."""
        if not self._configured(_PARTIAL_KEYS):
            return frozenset()
        listing = self.git("rev-list", "--objects", "--no-walk", "--missing=print", f"{tree}^{{tree}}")
        return frozenset(line[1:].decode() for line in listing.split(b"\n") if line.startswith(b"?"))

    def blobs(self, asked: Iterable[tuple[str, int]]) -> Iterator[Blob]:
        """Read objects in the order asked for, one in memory at a time; none that has more bytes than asked for."""
        waiting = list(asked)
        while waiting:
            done = 0
            for blob in self._batch(waiting):
                yield blob
                done += 1
            if done < len(waiting):
                yield Blob(waiting[done][0], None, None)
                done += 1
            waiting = waiting[done:]

    def _batch(self, asked: list[tuple[str, int]]) -> Iterator[Blob]:
        """Read objects until the first one at which git gives up, as it does on a corrupt one."""
        with tempfile.TemporaryFile() as request:
            request.write("".join(f"{id}\n" for id, _ in asked).encode())
            request.seek(0)
            process = subprocess.Popen(
                self._command("cat-file", "--batch", "--buffer"),
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=_CHUNK,
                env=_environment(),
            )
            assert process.stdout is not None
            try:
                for id, limit in asked:
                    blob = _read_blob(process.stdout, id, limit)
                    if blob is None:
                        return
                    yield blob
            finally:
                process.stdout.close()
                process.kill()
                process.wait()

    def status(self, besides: Collection[str] = ()) -> tuple[int, int]:
        """How many tracked files differ from HEAD, and how many untracked files or folders there are, besides those
        that are named."""
        listing = self.git(
            *("status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"),
            "--ignore-submodules=all",
            environment=self._filters_off(),
        )
        lines = [line for line in listing.split(b"\0") if line and os.fsdecode(line[3:]) not in besides]
        untracked = sum(line.startswith(b"??") for line in lines)
        return len(lines) - untracked, untracked

    def _filters_off(self) -> dict[str, str]:
        """Variables that empty every configured filter, for the commands that would run one."""
        keys = self._configured(_FILTER_KEYS)
        return settings([(key, "false" if key.endswith(".required") else "") for key in keys])

    def _configured(self, pattern: str) -> list[str]:
        keys = self.git("config", "-z", "--name-only", "--get-regexp", pattern, accept=(0, 1))
        return sorted({os.fsdecode(key) for key in keys.split(b"\0") if key})

    def _command(self, *arguments: str) -> list[str]:
        settings = [part for setting in _OVERRIDES for part in ("-c", setting)]
        return ["git", "--no-pager", "-C", os.fspath(self.root), *settings, *arguments]

    def _error(self, verb: str, stderr: bytes) -> GitError:
        lines = " ".join(filter(None, stderr.decode("utf-8", "replace").split("\n")))
        reason = _MESSAGE.sub("; ", lines).strip("; ").removesuffix(".")
        return GitError(f"{self.root}: git {verb} failed: {reason or 'it gave no reason'}", reason)


def settings(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Variables that give git settings for one command, out of sight of other processes; they come last."""
    first = os.environ.get("GIT_CONFIG_COUNT", "0")
    start = int(first) if first.isdigit() else 0
    variables = {"GIT_CONFIG_COUNT": str(start + len(pairs))}
    for number, (key, value) in enumerate(pairs, start):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def git_is_installed() -> bool:
    """Whether there is a git program to call."""
    return shutil.which("git") is not None


def find_repository(path: Path) -> Repository | None:
    """The repository that a file or folder lies in, or None; a bare one is an error of use."""
    if not git_is_installed():
        raise UsageError("the git program is not on the PATH; install git (https://git-scm.com)")
    start = path if path.is_dir() else path.parent
    if found := _plainly(start):
        return found
    import git

    try:
        with git.Repo(start, search_parent_directories=True, expand_vars=False) as repository:
            directory, common, root = repository.git_dir, repository.common_dir, repository.working_tree_dir
    except git.InvalidGitRepositoryError:
        return None
    except Exception as error:
        raise UsageError(f"{path}: cannot open the repository: {error}; look at its .git/config") from error
    if root is None:
        raise UsageError(f"{path}: a bare repository has no files to work on; clone it, then use the clone")
    found = Repository(Path(root).resolve(), Path(directory).resolve(), Path(common).resolve())
    _check_readable(found)
    return found


def _plainly(start: Path) -> Repository | None:
    """The repository around a folder, where git tells it and keeps its files around it; None where it is to be looked
    for, to say what is wrong with it."""
    try:
        told = Repository(start, start, start).git(
            "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"
        )
    except GitError:
        return None
    places = [start / os.fsdecode(line) for line in told.splitlines()]
    if len(places) != 3 or not (places[0] / ".git").exists():
        return None
    root, directory, common = (place.resolve() for place in places)
    return Repository(root, directory, common)


def _check_readable(repository: Repository) -> None:
    """Ask git itself whether it reads the repository, and whether that is the one that was found."""
    root = repository.root
    try:
        top = os.fsdecode(repository.git("rev-parse", "--show-toplevel")).rstrip("\n")
    except GitError as error:
        if "dubious ownership" in error.reason:
            raise UsageError(
                f"{root}: the repository belongs to another user and git refuses to read it; "
                f"if you trust it, run: git config --global --add safe.directory {root}"
            ) from error
        raise UsageError(
            f"{root}: git cannot read the repository: {error.reason}; repair it or clone it afresh"
        ) from error
    if Path(top).resolve() != root:
        raise UsageError(f"{root}: the repository keeps its files in {top} (core.worktree); run fixer there")


def _environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_PASSED_ON)
    }
    return {**inherited, **_ENVIRONMENT, **(extra or {})}


def _read_blob(stream: IO[bytes], id: str, limit: int) -> Blob | None:
    """The next object of `cat-file --batch`, or None when the stream ends before it does."""
    header = stream.readline()
    if not header.endswith(b"\n"):
        return None
    match = re.fullmatch(rb"[0-9a-f]+ [a-z]+ ([0-9]+)\n", header)
    if match is None:
        return Blob(id, None, None)
    size = int(match[1])
    data = stream.read(size) if size <= limit else None
    left = 1 if data is not None else size + 1
    while left:
        chunk = stream.read(min(left, _CHUNK))
        if not chunk:
            return None
        left -= len(chunk)
    return Blob(id, size, data)
