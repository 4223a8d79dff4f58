"""Opening a project: the files of a commit, or of a folder as it lies on disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fixer.config import Config
from fixer.errors import UsageError
from fixer.files import SourceKind, kind_of, walk, walk_flat
from fixer.gitio import GitError, Repository, find_repository, git_is_installed
from fixer.in_force import NAME, InForce, in_force, of_commit, on_disk
from fixer.result import Skipped
from fixer.tree import File, Item, read_commit, read_disk, write

SOURCE_LIMIT = 1_000_000
NOTEBOOK_LIMIT = 20_000_000
"""Notebooks hold the pictures that they show, beside little code."""
EXPORT_LIMIT = 50_000_000

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
}

_PARENT = re.compile(r"([^-].*)[~^]1?")


@dataclass(frozen=True)
class ProjectSource:
    """A file that some codemod reads. `path` is relative to the project's root, with forward slashes."""

    path: str
    kind: SourceKind
    data: bytes


@dataclass(frozen=True)
class Project:
    """What a command works on.

    `root` is the root of the repository, or the folder where there is none. `base` is the commit that
    was read or, for a work tree, the one that HEAD names; None where there is none. `scope` is what the
    user asked for: a file or folder below the root, "" for everything. `sources` are those of the whole
    project all the same, excluded ones too, since facts come from all of them. `committed` says whether
    files are those of `base` or those on disk. `about_settings`, which is among the messages, says where
    settings are from that are not those of the commit, and which were written and are not used.
    """

    root: Path
    base: str | None
    sources: tuple[ProjectSource, ...]
    skipped: tuple[Skipped, ...]
    config: Config
    messages: tuple[str, ...]
    scope: str = ""
    committed: bool = False
    about_settings: tuple[str, ...] = ()

    def in_scope(self, path: str) -> bool:
        """Whether the user asked for the file at a path."""
        return not self.scope or path == self.scope or path.startswith(f"{self.scope}/")


def open_commit(path: Path, base: str | None) -> Project:
    """The tracked files of a commit, HEAD unless `base` names another, whatever the work tree holds."""
    place = _existing(path)
    repository = find_repository(place)
    if repository is None:
        raise UsageError(f"{path}: not in a git repository; run `git init` there and commit your work first")
    _refuse_unfinished(repository)
    commit = _find_commit(repository, base)
    sources, skipped = _sort_out(read_commit(repository, commit, _is_source, _source_limit))
    settings = in_force(_pyproject(sources), on_disk(repository.root))
    about = (settings.message,) if settings.message else ()
    return Project(
        root=repository.root,
        base=commit,
        sources=sources,
        skipped=skipped,
        config=settings.config,
        messages=(*_left_out(repository, settings), *about),
        scope=_scope(place, repository.root),
        committed=True,
        about_settings=about,
    )


def open_tree(path: Path) -> Project:
    """The files on disk: those that git knows or does not ignore, or those of a folder outside git.

    Of a single file outside a repository, only the files beside it are read with it.
    """
    place = _existing(path)
    repository = find_repository(place) if git_is_installed() else None
    root = repository.root if repository else place if place.is_dir() else place.parent
    listed = _listed(repository, root, place)
    sources, skipped = _sort_out(read_disk(root, listed, _is_source, _source_limit))
    found = _pyproject(sources)
    return Project(
        root=root,
        base=repository.resolve("HEAD^{commit}") if repository else None,
        sources=sources,
        skipped=skipped,
        config=in_force(found, found).config,
        messages=(),
        scope=_scope(place, root),
    )


def open_settings(path: Path) -> Project:
    """The files on disk, with the settings that hold for `run`: those of the commit that HEAD names, where there is
    one, unless only they differ."""
    project = open_tree(path)
    repository = find_repository(project.root) if project.base and git_is_installed() else None
    if repository is None or project.base is None:
        return project
    settings = of_commit(repository, project.base)
    return replace(project, config=settings.config, about_settings=(settings.message,) if settings.message else ())


def export(project: Project, destination: Path, overlay: Mapping[str, bytes]) -> tuple[Skipped, ...]:
    """Write every file of the project to a folder, those of `overlay` instead of or besides its own.

    Files are those of the base commit, or those on disk where the project was opened from there. What was
    left out is returned: submodules, links that leave the tree, what is missing or too large.
    """
    repository = find_repository(project.root) if git_is_installed() else None
    if project.committed and project.base and repository:
        items = read_commit(repository, project.base, lambda _: True, lambda _: EXPORT_LIMIT)
    else:
        listed = _listed(repository, project.root, project.root / project.scope)
        items = read_disk(project.root, listed, lambda _: True, lambda _: EXPORT_LIMIT)
    return write(destination, items, overlay)


def written_on(project: Project) -> str | None:
    """The ISO day of the last commit up to the base that touched Python code; None where there is none."""
    repository = find_repository(project.root) if project.base and git_is_installed() else None
    if repository is None or project.base is None:
        return None
    found = repository.git("log", "-1", "--format=%cs", project.base, "--", "*.py", accept=(0, 128))
    return found.decode("ascii", "replace").strip() or None


def _existing(path: Path) -> Path:
    """The file or folder that a path leads to. Raises UsageError where that is none, or lies outside the project that
    a symbolic link on the way belongs to: its repository or, for a file, its folder."""
    try:
        path.stat()
        place = path.resolve()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: {reason}; give a file or folder that is there") from error
    for link in [part for part in (path.absolute(), *path.absolute().parents) if part.is_symlink()]:
        repository = find_repository(link.parent.resolve()) if git_is_installed() else None
        home = repository.root if repository else link.parent.resolve() if link.is_file() else None
        if home and not place.is_relative_to(home):
            raise UsageError(f"{path}: a symbolic link leads out of {home}, to {place}; give that path itself")
    return place


def _scope(place: Path, root: Path) -> str:
    scope = place.relative_to(root).as_posix()
    return "" if scope == "." else scope


def _is_source(path: str) -> bool:
    return kind_of(path) is not None


def _source_limit(path: str) -> int:
    return NOTEBOOK_LIMIT if kind_of(path) == "notebook" else SOURCE_LIMIT


def _refuse_unfinished(repository: Repository) -> None:
    for mark, operation in _UNFINISHED.items():
        if (repository.directory / mark).exists():
            raise UsageError(
                f"{repository.root}: a `git {operation}` is under way; finish it, or end it with "
                f"`git {operation} --abort`, and run fixer again"
            )


def _find_commit(repository: Repository, base: str | None) -> str:
    if base in (None, "HEAD") and repository.resolve("HEAD") is None:
        raise UsageError(f"{repository.root}: the repository has no commits; commit your work first")
    if base is None:
        commit = repository.resolve("HEAD^{commit}")
    else:
        commit = None if base.startswith("-") else repository.resolve(f"{base}^{{commit}}")
    child = _PARENT.fullmatch(base or "")
    if commit is None and child and repository.resolve(f"{child[1]}^{{commit}}"):
        raise UsageError(f"{repository.root}: '{child[1]}' has no parent here; name another with --base")
    if commit is None:
        name = "HEAD" if base is None else base
        raise UsageError(f"{repository.root}: no commit is named '{name}'; see `git log --all`, or fetch it")
    return commit


def _left_out(repository: Repository, settings: InForce) -> tuple[str, ...]:
    """What of the work tree is not read. A file that is nothing but settings, which hold, is."""
    try:
        changed, untracked = repository.status({NAME} if settings.of_work_tree else frozenset())
    except GitError as error:
        return (f"fixer cannot tell whether there are uncommitted changes: {error.reason}",)
    messages = []
    if changed:
        messages.append(f"uncommitted changes in {_count(changed, 'file')} are left out and stay as they are")
    if untracked:
        names = _count(untracked, "untracked file or folder", "untracked files or folders")
        messages.append(f"{names} {'is' if untracked == 1 else 'are'} left out")
    return tuple(messages)


def _listed(repository: Repository | None, root: Path, place: Path) -> list[str]:
    """The files of the project on disk, and `place` itself where it is a file, ignored or not."""
    if repository:
        found = repository.work_files()
    elif place.is_file():
        found = walk_flat(root)
    else:
        found = walk(root)
    asked = {_scope(place, root)} if place.is_file() else set()
    return sorted({*found, *asked})


def _sort_out(items: Iterable[Item]) -> tuple[tuple[ProjectSource, ...], tuple[Skipped, ...]]:
    """The sources, and what was skipped."""
    sources: list[ProjectSource] = []
    skipped: list[Skipped] = []
    for item in items:
        if isinstance(item, Skipped):
            skipped.append(item)
        elif isinstance(item, File) and (kind := kind_of(item.path)):
            sources.append(ProjectSource(item.path, kind, item.data))
    return (
        tuple(sorted(sources, key=lambda source: source.path)),
        tuple(sorted(skipped, key=lambda item: item.path)),
    )


def _pyproject(sources: Iterable[ProjectSource]) -> bytes | None:
    return next((source.data for source in sources if source.path == NAME), None)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
