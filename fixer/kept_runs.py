"""The folders of kept runs, by project: which there are, and which go when there are too many."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from pathlib import Path

from fixer.errors import UsageError
from fixer.gitio import find_repository, git_is_installed

KEPT = 30
DAYS = 30
ROOM = 2 * 2**30
"""Bytes of all runs together; recordings go before the runs that they belong to."""
RESULT = "result.json"
RECORDS = "records"
GONE = "gone.jsonl"
_PROJECT = "project.json"
_MOMENT = "%Y%m%d-%H%M%S-%f"
_REMEMBERED = 1000
_OLD = f"kept are the last {KEPT} runs of a project, and all of the last {DAYS} days"
_ROOM = f"all kept runs together needed more than {ROOM // 2**30} GiB"


@dataclass(frozen=True)
class Identity:
    """Which project a run is of: its name, where its git directory is, which all its work trees share, and its first
    commit, so that another repository in the same place is another project. `first` is "" where that is not known."""

    name: str
    place: str
    first: str = ""

    @property
    def key(self) -> str:
        """The name of its folder."""
        digest = blake2b(repr((self.place, self.first)).encode(errors="surrogateescape"), digest_size=8).hexdigest()
        return f"{_plain(self.name)[:30]}-{digest}"


DEMO = Identity("demo", "demo")


@dataclass(frozen=True)
class KeptRun:
    """A kept run: its folder, whose name begins with the moment at which it was kept."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def kept_at(self) -> datetime:
        return moment_of(self.name) or datetime.min.replace(tzinfo=timezone.utc)


def root() -> Path:
    """Where runs are kept: `FIXER_RUNS`, or a folder of the user's state."""
    from platformdirs import user_state_path

    named = os.environ.get("FIXER_RUNS")
    return Path(named) if named else user_state_path("fixer") / "runs"


def identity(path: Path) -> Identity:
    """The project that a path lies in: its repository, or the folder itself where there is none."""
    place = path.resolve()
    try:
        repository = find_repository(place) if git_is_installed() else None
    except UsageError:
        repository = None
    if repository is None:
        return Identity(place.name, str(place))
    common = repository.common_directory
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    shallow = (common / "shallow").exists()
    found = b"" if shallow else repository.git(
        "rev-list", "--first-parent", "--max-parents=0", "-n", "1", "HEAD", "--", accept=(0, 128)
    )  # fmt: skip
    return Identity(name, str(common), found.decode("ascii", "replace").strip())


def runs_of(project: Identity) -> list[KeptRun]:
    """The runs of a project that are kept, the newest first."""
    return _runs_in(root() / project.key)


def projects() -> dict[str, list[KeptRun]]:
    """The kept runs of each project, by where it lies, the newest first; of those that were kept before runs were kept
    by project, by ""."""
    top = root()
    found = {"": _runs_in(top)}
    for folder in sorted(top.iterdir()) if top.is_dir() else ():
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            place = str(json.loads((folder / _PROJECT).read_text(encoding="ascii"))["place"])
            found[place.removesuffix("/.git")] = [*found.get(place.removesuffix("/.git"), ()), *_runs_in(folder)]
    return {place: runs for place, runs in found.items() if runs}


def _runs_in(folder: Path) -> list[KeptRun]:
    if not folder.is_dir():
        return []
    found = [KeptRun(one) for one in folder.iterdir() if (one / RESULT).is_file()]
    return sorted(found, key=lambda run: run.name, reverse=True)


def new_folder(project: Identity, what: str) -> Path:
    """A folder that did not exist before, named after the moment and what the run was of."""
    top = root() / project.key
    top.mkdir(parents=True, exist_ok=True, mode=0o700)
    (top / _PROJECT).write_text(json.dumps(asdict(project)), encoding="ascii")
    place = top / f"{datetime.now(timezone.utc).strftime(_MOMENT)}-{_plain(f'{project.name[:30]}-{what}')[:80]}"
    place.mkdir(mode=0o700)
    return place


def make_room(room: int = ROOM) -> None:
    """Remove what is neither of the last days nor among a project's last runs; then, while all runs together need more
    than there is room for, the oldest recordings and after them the oldest runs. The newest run stays."""
    left: list[KeptRun] = []
    then = datetime.now(timezone.utc) - timedelta(days=DAYS)
    for runs in projects().values():
        left += [run for number, run in enumerate(runs) if number < KEPT or run.kept_at >= then]
        for run in runs:
            if run not in left:
                _remove(run, run.folder, _OLD)
    left.sort(key=lambda run: run.name)
    size = {run: _size(run.folder) for run in left}
    for run in left[:-1]:
        if sum(size.values()) > room and (run.folder / RECORDS).is_dir():
            _remove(run, run.folder / RECORDS, _ROOM)
            size[run] = _size(run.folder)
    for run in left[:-1]:
        if sum(size.values()) > room:
            _remove(run, run.folder, _ROOM)
            size[run] = 0
    _tidy()


def why_gone(name: str) -> str | None:
    """When and why a run went, or all runs whose names begin so did; None where none did that is known of."""
    return next((_told(line) for line in _gone() if line["what"] == "run" and line["run"].startswith(name)), None)


def why_without_recordings(run: KeptRun) -> str | None:
    """When and why the recordings of a run that is still there went."""
    return next((_told(line) for line in _gone() if line["run"] == run.name), None)


def moment_of(name: str) -> datetime | None:
    """The moment with which a run's name begins."""
    found = re.match(r"\d{8}-\d{6}-\d{6}", name)
    try:
        return datetime.strptime(found[0], _MOMENT).replace(tzinfo=timezone.utc) if found else None
    except ValueError:
        return None


def _tidy() -> None:
    """Remove what killed runs left, and the folders of projects of which nothing is kept, once they are a day old."""
    then = datetime.now(timezone.utc) - timedelta(days=1)
    for folder in root().iterdir():
        if (folder / _PROJECT).is_file():
            inside = [one for one in folder.iterdir() if one.is_dir()]
            for one in inside:
                if not (one / RESULT).is_file() and (moment_of(one.name) or then) < then:
                    shutil.rmtree(one, ignore_errors=True)
            if not inside and folder.stat().st_mtime < then.timestamp():
                shutil.rmtree(folder, ignore_errors=True)


def _remove(run: KeptRun, folder: Path, why: str) -> None:
    """Remove a run, or its recordings, and write down that it went."""
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    line = {"run": run.name, "what": "run" if folder == run.folder else RECORDS, "day": today, "why": why}
    with contextlib.suppress(OSError):
        lines = [*_gone(), line][-_REMEMBERED:]
        new = root() / f".{GONE}.{os.getpid()}"
        new.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="ascii")
        new.replace(root() / GONE)
    shutil.rmtree(folder, ignore_errors=True)


def _gone() -> list[dict[str, str]]:
    with contextlib.suppress(OSError, ValueError):
        lines = [json.loads(line) for line in (root() / GONE).read_text(encoding="ascii").splitlines()]
        return [line for line in lines if isinstance(line, dict) and {"run", "what", "day", "why"} <= line.keys()]
    return []


def _told(line: dict[str, str]) -> str:
    return f"removed on {line['day']}, since {line['why']}"


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(place, name).lstat().st_size
    return total


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")
