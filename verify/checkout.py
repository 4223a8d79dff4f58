"""The place that a tree is run in: a copy that looks as its owner's own checkout does."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

SPARED = (".git", "__pycache__", ".venv", "venv", "node_modules")
"""What is not copied."""
_SECONDS = 60.0
_GIT = re.compile(
    rb"""["']git\b|\bgit (?:rev-parse|describe|log|status|diff|show|branch)|^\s*(?:import|from) git\b""", re.M
)
_WHO = {"NAME": "fixer", "EMAIL": "fixer@localhost", "DATE": "2000-01-01T00:00:00+0000"}


def check_out(root: Path, into: Path, sources: Iterable[str]) -> None:
    """Copies a tree. Where one of its Python `sources` speaks to git, the copy is a repository: clean, of one commit,
    without a remote and without hooks, so that `git rev-parse HEAD` and its like answer."""
    shutil.copytree(root, into, symlinks=True, ignore=shutil.ignore_patterns(*SPARED))
    if any(_GIT.search((root / path).read_bytes()) for path in sources):
        with contextlib.suppress(OSError, subprocess.SubprocessError):  # no git here: none for the project either
            _commit(into)


def _commit(folder: Path) -> None:
    """Makes a repository of a folder, by no configuration but git's own: nothing that the tree brings is run."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()}
    bare = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ.get("PATH", os.defpath)}
    for words in (
        ["init", "--quiet", "--template=", "--initial-branch=main"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--no-verify", "--allow-empty", "--message=The tree that is run"],
    ):
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *words]
        subprocess.run(command, cwd=folder, env={**bare, **who}, check=True, capture_output=True, timeout=_SECONDS)
