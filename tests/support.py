"""Git repositories for tests, untouched by the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "someone",
    "GIT_AUTHOR_EMAIL": "someone@example.invalid",
    "GIT_COMMITTER_NAME": "someone",
    "GIT_COMMITTER_EMAIL": "someone@example.invalid",
}


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints; it must succeed."""
    done = subprocess.run(
        ("git", "-C", str(folder), *arguments), check=True, capture_output=True, env={**os.environ, **IDENTITY}
    )
    return done.stdout.decode().strip()


def commit_all(folder: Path) -> str:
    """Makes the folder a repository if it is none, commits all of it, and returns the commit's id."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "state")
    return git(folder, "rev-parse", "HEAD")
