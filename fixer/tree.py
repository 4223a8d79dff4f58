"""The files of a tree: read from a commit or from disk, and written out elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fixer.files import link_is_safe, path_problem, shown
from fixer.gitio import LINK_MODE, REGULAR_MODES, SUBMODULE_MODE, Repository
from fixer.result import Skipped

_LEAVING_LINK = "a symbolic link that leaves the project"
_SUBMODULE = "a submodule or a repository of its own"
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_UNUSABLE_NAME = {errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL}


@dataclass(frozen=True)
class File:
    """A regular file of a tree."""

    path: str
    data: bytes
    executable: bool


@dataclass(frozen=True)
class Link:
    """A symbolic link that leads into its own tree."""

    path: str
    target: str


Item = File | Link | Skipped


def read_commit(
    repository: Repository, commit: str, wanted: Callable[[str], bool], limit: Callable[[str], int]
) -> Iterator[Item]:
    """The files of a commit whose path is wanted, and every link, submodule and path that is not followed. `limit` says
    how large the file at a path may be."""
    missing = repository.missing(commit)
    readable = []
    for entry in repository.entries(commit):
        if problem := path_problem(entry.path):
            yield Skipped(shown(entry.path), problem)
        elif entry.mode == SUBMODULE_MODE:
            yield Skipped(entry.path, _SUBMODULE)
        elif entry.mode != LINK_MODE and not (entry.mode in REGULAR_MODES and wanted(entry.path)):
            continue
        elif entry.id in missing:
            yield _absent(entry.path)
        else:
            readable.append(entry)
    blobs = repository.blobs([(entry.id, limit(entry.path)) for entry in readable])
    for entry, blob in zip(readable, blobs, strict=True):
        if blob.size is None:
            yield _absent(entry.path)
        elif blob.data is None:
            yield _too_large(entry.path, blob.size, limit(entry.path))
        elif entry.mode == LINK_MODE:
            yield _link(entry.path, os.fsdecode(blob.data))
        else:
            yield File(entry.path, blob.data, entry.mode == "100755")


def read_disk(
    root: Path, paths: Iterable[str], wanted: Callable[[str], bool], limit: Callable[[str], int]
) -> Iterator[Item]:
    """The same for files on disk. None is read through a symbolic link, and what is not there is left out."""
    real_folders = {"": True}
    for path in paths:
        if problem := path_problem(path.rstrip("/")):
            yield Skipped(shown(path), problem)
        elif _is_real_folder(root, path.rpartition("/")[0], real_folders):
            item = _read_file(root, path, wanted, limit(path))
            if item is not None:
                yield item


def write(destination: Path, items: Iterable[Item], overlay: Mapping[str, bytes]) -> tuple[Skipped, ...]:
    """Write files and links below a folder, those of `overlay` instead of or besides them.

    What was not written is returned. Links come last, so that nothing is written through one.
    """
    skipped: list[Skipped] = []
    links: list[Link] = []
    new = dict(overlay)
    for item in items:
        if isinstance(item, Skipped):
            skipped.append(item)
        elif isinstance(item, Link):
            links.append(item)
        else:
            data = new.pop(item.path, item.data)
            skipped += _write(destination, replace(item, data=data))
    for path, data in new.items():
        skipped += _write(destination, File(path, data, executable=False))
    for link in links:
        if link.path not in overlay:
            skipped += _write(destination, link)
    return tuple(sorted((item for item in skipped if item.path not in overlay), key=lambda item: item.path))


def _read_file(root: Path, path: str, wanted: Callable[[str], bool], limit: int) -> Item | None:
    place = f"{root}/{path}"
    try:
        status = os.lstat(place)
        if stat.S_ISLNK(status.st_mode):
            return _link(path, os.fspath(Path(place).readlink()))
        if stat.S_ISDIR(status.st_mode):
            return Skipped(path, _SUBMODULE)
        if not wanted(path):
            return None
        if not stat.S_ISREG(status.st_mode):
            return Skipped(path, "not a regular file")
        if status.st_size > limit:
            return _too_large(path, status.st_size, limit)
        with os.fdopen(os.open(place, _READ), "rb", buffering=0) as file:
            return File(path, file.read(), bool(status.st_mode & stat.S_IXUSR))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror or error}")


def _is_real_folder(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether no part of a folder's path is a symbolic link; each folder is asked about once."""
    if folder not in known:
        above = _is_real_folder(root, folder.rpartition("/")[0], known)
        known[folder] = above and not Path(root, folder).is_symlink()
    return known[folder]


def _link(path: str, target: str) -> Item:
    return Link(path, target) if link_is_safe(path, target) else Skipped(path, _LEAVING_LINK)


def _absent(path: str) -> Skipped:
    return Skipped(path, "its content is missing from this clone: check it out, or take a complete clone")


def _too_large(path: str, size: int, limit: int) -> Skipped:
    return Skipped(path, f"{size:,} bytes, over the limit of {limit:,}")


def _write(destination: Path, item: File | Link) -> list[Skipped]:
    """Write one item; a name that cannot be written here, or is there twice, leaves only itself out."""
    place = destination / item.path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(item, Link):
            place.symlink_to(item.target)
        else:
            place.write_bytes(item.data)
            place.chmod(0o755 if item.executable else 0o644)
    except OSError as error:
        if error.errno not in _UNUSABLE_NAME:
            raise
        return [Skipped(item.path, f"cannot be written: {error.strerror}")]
    return []
