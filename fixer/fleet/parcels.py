"""What travels where a node does not see the fleet's folder: a clone there, what came of it back, and the environments
of proofs, which one node has built, to the next one that has a proof to make."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fixer.fleet.clones import clone_at
from fixer.fleet.tasks import FleetTask, TaskOutcome, run_task
from fixer.gitio import GitError

_KEPT = ("*.json", "*.html", "*.txt", "runs/*/*/result.json")
_MADE = ("refs/heads/*", "refs/notes/*")
_LIMIT = 64 * 2**20


@dataclass(frozen=True)
class Carried:
    """How a task ended elsewhere: what it wrote, the commits that it made, as a bundle of git's, and the environments
    that it used there."""

    outcome: TaskOutcome
    files: dict[str, bytes]
    commits: bytes
    environments: tuple[str, ...]


def run_here(task: FleetTask) -> TaskOutcome | None:
    """Does a task where the fleet's folder is; None where its clone is not seen."""
    return run_task(task) if Path(task.clone).is_dir() else None


def run_apart(task: FleetTask, clone: bytes, environments: Mapping[str, Callable[[], bytes]]) -> Carried:
    """Does a task in a copy of its clone, with the environments that others have built and this node has not."""
    began = time.time()
    for name, fetch in environments.items() if task.step == "prove" else ():
        take_environment(name, fetch)
    with tempfile.TemporaryDirectory(prefix="fixer-fleet-") as folder:
        place, out = Path(folder) / Path(task.clone).name, Path(folder) / "task"
        unpacked(clone, place)
        outcome = run_task(replace(task, clone=str(place), folder=str(out)))
        found = (path for pattern in _KEPT for path in out.glob(pattern) if path.is_file() and not path.is_symlink())
        files = {str(path.relative_to(out)): path.read_bytes() for path in found if path.stat().st_size <= _LIMIT}
        return Carried(outcome, files, _bundled(place), tuple(environments_here(began)))


def brought_back(task: FleetTask, carried: Carried) -> TaskOutcome:
    """Puts what came of a task where it would have been written here."""
    folder = Path(task.folder)
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in carried.files.items():
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            raise OSError(f"{name}: leads out of the folder of its task")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    if carried.commits:
        bundle = folder / "commits"
        bundle.write_bytes(carried.commits)
        git, refs = clone_at(Path(task.clone)), [f"+{ref}:{ref}" for ref in _MADE]
        git.git("fetch", "--quiet", "--no-tags", str(bundle), *refs, environment={"GIT_ALLOW_PROTOCOL": "file"})
    return carried.outcome


def packed(folder: Path) -> bytes:
    """A folder with all that is in it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.add(folder, ".", filter=_of_nobody)
    return stream.getvalue()


def _of_nobody(found: tarfile.TarInfo) -> tarfile.TarInfo:
    """A file that belongs to whom it is written out by."""
    found.uid = found.gid = 0
    found.uname = found.gname = ""
    return found


def unpacked(data: bytes, folder: Path) -> None:
    """Writes out what `packed` made: of a clone of the driver's, or of an environment of another node."""
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        if hasattr(tarfile, "fully_trusted_filter"):  # else it warns, or leaves out links of an environment
            archive.extraction_filter = tarfile.fully_trusted_filter
        archive.extractall(folder)


def environments_here(since: float = 0.0) -> list[str]:
    """The finished environments of this node that were used since a time: each use marks them."""
    from verify.environments.building import MARKER, cache_folder

    found = cache_folder().glob(f"*/{MARKER}")
    return sorted(place.parent.name for place in found if place.stat().st_mtime >= since)


def pack_environment(name: str) -> bytes:
    """An environment of this node."""
    from verify.environments.building import cache_folder

    return packed(cache_folder() / name)


def take_environment(name: str, fetch: Callable[[], bytes]) -> None:
    """Has an environment here that another node has built; what goes wrong leaves it to be built."""
    from verify.environments.building import MARKER, cache_folder

    cache = cache_folder()
    if (cache / name / MARKER).is_file():
        return
    fetched = cache / f".fetched-{uuid.uuid4().hex}"
    with suppress(Exception):
        unpacked(fetch(), fetched)
        os.utime(fetched / MARKER)
        fetched.rename(cache / name)  # fails where another task was first
    shutil.rmtree(fetched, ignore_errors=True)


def _bundled(place: Path) -> bytes:
    """The commits that were made in a clone, with the branches and notes that lead to them; nothing where none were."""
    bundle = place.parent / "commits"
    made = ("--branches", "--glob=refs/notes", "--not", "HEAD")
    with suppress(GitError):  # an empty bundle is refused
        clone_at(place).git("bundle", "create", "--quiet", str(bundle), *made)
    return bundle.read_bytes() if bundle.is_file() else b""
