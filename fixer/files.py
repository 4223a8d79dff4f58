"""Which files of a project are read: their kinds, the paths that are trusted, and the files on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

SourceKind = Literal[
    "python",
    "requirements",
    "pyproject",
    "notebook",
    "yaml",
    "json",
    "toml",
    "shell",
    "docs",
    "dockerfile",
    "lock",
    "other",
]

_SUFFIXES: dict[str, SourceKind] = {
    ".py": "python",
    ".ipynb": "notebook",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".sh": "shell",
    ".bash": "shell",
    ".zsh": "shell",
    ".slurm": "shell",
    ".sbatch": "shell",
    ".pbs": "shell",
    ".bat": "shell",
    ".dockerfile": "dockerfile",
}
_NAMES: dict[str, SourceKind] = {
    "pyproject.toml": "pyproject",
    "setup.cfg": "other",
    "Pipfile": "other",
    "Dockerfile": "dockerfile",
    "poetry.lock": "lock",
    "pdm.lock": "lock",
    "uv.lock": "lock",
    "Pipfile.lock": "lock",
    "Makefile": "shell",
    "makefile": "shell",
    "GNUmakefile": "shell",
    "justfile": "shell",
    "launch.json": "json",
    "tasks.json": "json",
    ".python-version": "other",
    "runtime.txt": "other",
    "tox.ini": "other",
}
_LISTS = ("requirement", "constraint")
_BY_WORD: dict[str, tuple[SourceKind, tuple[str, ...]]] = {
    ".json": ("json", ("conf", "cfg", "train", "param", "setting", "option", "experiment")),
    ".toml": ("toml", ("conf", "cfg", "train", "param", "setting", "option", "experiment")),
    ".md": ("docs", ("readme", "doc", "train", "start", "usage", "guide", "tutorial", "example")),
    ".rst": ("docs", ("readme", "doc", "train", "start", "usage", "guide", "tutorial", "example")),
}
"""Kinds of files that are read only where a word of their path says that they may be about the program: a project can
hold thousands that are data."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})
_COPIES = frozenset({".ipynb_checkpoints", ".virtual_documents", ".history"})
"""Folders in which Jupyter and editors keep earlier states of files: nobody's source, also where git tracks them."""
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_DEEPEST = 100


def kind_of(path: str) -> SourceKind | None:
    """The kind of source that a path names, or None for a file that no codemod reads."""
    folder, _, name = path.rpartition("/")
    if not _COPIES.isdisjoint(folder.split("/")):
        return None
    if known := _NAMES.get(name):
        return known
    suffix = name[name.rfind(".") :] if "." in name else ""
    if known := _SUFFIXES.get(suffix):
        return known
    kind, words = _BY_WORD.get(suffix, ("other", ()))
    if any(word in path.lower() for word in words):
        return kind
    if suffix in (".txt", ".in") and any(
        word in part for word in _LISTS for part in (name.lower(), folder.rpartition("/")[2])
    ):
        return "requirements"
    return "dockerfile" if name.startswith("Dockerfile.") else None


def path_problem(path: str) -> str | None:
    """Why a path is not followed: it leaves its tree or leads into a git directory, or cannot be shown."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return "its path leaves the project"
    if len(parts) > _DEEPEST:
        return f"it lies more than {_DEEPEST} folders deep"
    if not path.isascii() and any("\udc80" <= character <= "\udcff" for character in path):
        return "its name is not UTF-8"
    return None


def link_is_safe(path: str, target: str) -> bool:
    """Whether a symbolic link at `path` leads into its own tree, even through other such links."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return not target.startswith("/") and ups <= path.count("/") and ".." not in parts[ups:]


def shown(path: str) -> str:
    """A path as it can be printed."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def walk(root: Path) -> Iterator[str]:
    """The files below a folder outside any repository, relative to it; symbolic links are named, not followed.

    Hidden folders, virtual environments, caches and installed packages are left out.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as scan:
                entries = list(scan)
        except OSError:
            continue
        if folder and any(entry.name in _ENVIRONMENT_MARKS for entry in entries):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS:
                folders.append(path)


def walk_flat(root: Path) -> Iterator[str]:
    """The files that lie directly in a folder."""
    return (entry.name for entry in root.iterdir() if entry.is_symlink() or not entry.is_dir())
