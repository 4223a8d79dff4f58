"""What a proof that is not through has finished so far, kept for `fixer run --continue`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fixer import __version__
from fixer.project import Project
from verify.environments.building import cache_folder

KEPT_DAYS = 30
_STATE = "state.json"
NOTHING = "nothing to continue: no run of this commit with these settings was cut short; the whole proof starts again"


@dataclass(frozen=True)
class ProofState:
    """Where the runs of a proof are kept while it is not through, and whether there are any of an earlier one."""

    folder: Path
    is_there: bool

    def close(self, *, is_through: bool) -> None:
        """Forget what is kept, where the proof is through."""
        if is_through:
            shutil.rmtree(self.folder, ignore_errors=True)


def states() -> Path:
    """Where the states of proofs are kept, each in a folder of its own."""
    return cache_folder().parent / "proofs"


def open_state(project: Project, final: Mapping[str, bytes], how: object, *, go_on: bool) -> ProofState:
    """The state of the proof of a plan, which brings `final`: that of the last run where it is to go on, else an empty
    one. A folder that cannot be written keeps nothing."""
    place = states() / _key(project, final, how)
    with contextlib.suppress(OSError):
        _prune(states())
        if not go_on:
            shutil.rmtree(place, ignore_errors=True)
        there = any(path.is_dir() for path in place.glob("[0-9a-f]*")) if place.is_dir() else False
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        told = {"project": str(project.root.resolve()), "base": project.base, "fixer": __version__}
        (place / _STATE).write_text(json.dumps(told), encoding="utf-8")
        return ProofState(place, there)
    return ProofState(place, False)


def _key(project: Project, final: Mapping[str, bytes], how: object) -> str:
    """What the proof is of: project, base, fixer's version, settings and every file of the plan."""
    files = [[path, hashlib.sha256(data).hexdigest()] for path, data in sorted(final.items())]
    told = [
        str(project.root.resolve()),
        project.base,
        __version__,
        repr(replace(project.config.verify, budget=None)),
        repr(how),
        files,
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def _prune(root: Path) -> None:
    """Forget what nobody came back to."""
    for place in root.iterdir() if root.is_dir() else ():
        if (place / _STATE).is_file() and time.time() - (place / _STATE).stat().st_mtime > KEPT_DAYS * 86400:
            shutil.rmtree(place, ignore_errors=True)
