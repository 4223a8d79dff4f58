"""An installer that notes what it is asked for, and how one is shut in for such tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from verify.environments.installer import Installer
from verify.sandbox.containment import Containment

CONTAINED = Containment("limits")
FOLDERS = (sys.prefix, sys.base_prefix, *sys.path)


class Recorded(Installer):
    """Notes what is asked for; lists of more than two extras and dated `rare` cannot be installed."""

    def create(self, folder: Path, python: Path) -> str | None:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / "bin" / "python").chmod(0o755)
        return None

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        with (folder / "asked.txt").open("a") as stream:
            stream.write(json.dumps(list(requirements)) + "\n")
        dated = requirements[0].startswith("--exclude-newer=")
        return "no" if {"rare", "numpy"} <= set(requirements) or (dated and "rare" in requirements) else None

    def loads(self, folder: Path, module: str, first: str = "") -> bool:
        return True

    def says(self, folder: Path, code: str, *args: str) -> str:
        return ""

    def remove(self, folder: Path, name: str) -> None:
        with (folder / "removed.txt").open("a") as stream:
            stream.write(f"{name}\n")
