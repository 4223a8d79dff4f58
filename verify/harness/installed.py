"""Lets a project find the version of its own distribution, which it asks for as if it was installed.

Runs in the target's interpreter, beside the harness. The project is not installed: its files are run where they lie.
Both trees get the same.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from typing import Any


class Own(DistributionFinder):
    """Finds, behind all other finders, the distribution of a project by its `name`; `used` is told when it is asked
    for."""

    def __init__(self, name: str, version: str, root: Path, used: dict[str, None]) -> None:
        self.name, self.version, self.root, self.used = name, version, root, used

    def find_spec(self, *_: Any) -> None:
        """No module is found here."""

    def find_distributions(self, context: Any = None) -> Iterator[Distribution]:
        """The distribution, where it is asked for by its name."""
        if context is not None and context.name and _plain(context.name) == _plain(self.name):
            self.used[f"{self.name} {self.version}"] = None
            yield _OwnDistribution(self)


class _OwnDistribution(Distribution):
    def __init__(self, own: Own) -> None:
        self._own = own

    def read_text(self, filename: str) -> str | None:
        """The name and the version, which are all that is known."""
        head = f"Metadata-Version: 2.1\nName: {self._own.name}\nVersion: {self._own.version}\n"
        return head if filename == "METADATA" else None

    def locate_file(self, path: str | os.PathLike[str]) -> Any:
        """A file of the project."""
        return self._own.root / path


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def install(own: Any, root: Path, used: dict[str, None]) -> None:
    """Put the finder in place for a project with a name and a version."""
    if own:
        sys.meta_path.append(Own(own[0], own[1], root, used))
