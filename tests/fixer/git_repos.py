"""A git repository to try things on."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repo:
    """A git repository on disk and the few commands that the tests give it."""

    path: Path

    def git(self, *arguments: str, data: bytes = b"") -> str:
        """Run git in the repository and return what it writes, without the last line end."""
        done = subprocess.run(["git", *arguments], cwd=self.path, input=data, capture_output=True, check=True)
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, files: dict[str, bytes]) -> None:
        """Write files below the repository's root."""
        for name, data in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def commit(self, files: dict[str, bytes], message: str = "Change") -> str:
        """Write files and commit all there is; returns the commit's id."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def show(self, revision: str, path: str) -> bytes:
        """A file of a revision, byte for byte."""
        arguments = ["git", "cat-file", "blob", f"{revision}:{path}"]
        return subprocess.run(arguments, cwd=self.path, capture_output=True, check=True).stdout

    def forget(self, revision: str) -> None:
        """Delete the loose object that a revision names."""
        name = self.git("rev-parse", revision)
        (self.path / ".git" / "objects" / name[:2] / name[2:]).unlink()

    def fingerprint(self) -> dict[str, str]:
        """What must not change: HEAD, the index and every file of the work tree with its mode."""
        kept = [self.path / ".git" / "HEAD", self.path / ".git" / "index"]
        tree = (place for place in self.path.rglob("*") if ".git" not in place.relative_to(self.path).parts)
        return {str(place): _digest(place) for place in (*kept, *tree)}


def _digest(place: Path) -> str:
    if place.is_symlink():
        return f"link {place.readlink()}"
    if not place.is_file():
        return "none" if not place.exists() else "folder"
    return f"{place.stat().st_mode} {hashlib.sha256(place.read_bytes()).hexdigest()}"
