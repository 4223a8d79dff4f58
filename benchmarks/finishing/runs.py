"""What `fixer` makes of a repository, safely and with all rewrites, and how many violations that leaves."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.finishing import compare
from benchmarks.finishing.files import Violation
from benchmarks.finishing.oracle import violations
from benchmarks.finishing.reasons import Reason, reasons
from benchmarks.finishing.required import is_list
from fixer.reports.json_report import each_place

ROOT = Path(__file__).resolve().parent.parent.parent
BRANCH = "finished"
SIDES: dict[str, tuple[str, ...]] = {"safely": (), "unsafely": ("--unsafe-fixes",)}
JUDGED = (".py", ".ipynb")


@dataclass(frozen=True)
class Row:
    """One repository: its violations before, what safe and what all rewrites leave of them and bring along, those that
    safe ones leave without a finding, and why findings are not rewritten safely."""

    name: str
    before: tuple[Violation, ...]
    safely: compare.Left
    unsafely: compare.Left
    missed: tuple[Violation, ...]
    reasons: Counter[Reason] = field(default_factory=Counter)

    def finished(self, unsafe: bool) -> bool:
        side = self.unsafely if unsafe else self.safely
        return not side.left and not side.new


def measured(repository: Path, keep: Path | None = None) -> Row:
    """Judges the last commit of a repository and what fixer makes of it; what it made is kept in a folder where there
    is one, and is judged again where it is there already. Raises SystemExit where fixer fails."""
    with tempfile.TemporaryDirectory() as folder:
        place = (keep or Path(folder)) / repository.name
        if not (place / "unsafely.json").exists():
            _rewrite(repository, place)
        return _judged(repository.name.replace("+", "/"), place)


def _rewrite(repository: Path, place: Path) -> None:
    """The trees before and after, and what each run said."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        _git(Path(folder), "clone", "--quiet", "--no-hardlinks", str(repository), str(clone))
        _export(clone, "HEAD", place / "before")
        for side, options in SIDES.items():
            said = _run(clone, Path(folder), options)
            _export(clone, BRANCH if said["branch"] else "HEAD", place / side)
            (place / f"{side}.json").write_text(json.dumps({"findings": each_place(said), "skipped": said["skipped"]}))


def _judged(name: str, place: Path) -> Row:
    before = violations(place / "before", required_by=place / "safely")
    sides, given = [], Counter[Reason]()
    for side in SIDES:
        said = json.loads((place / f"{side}.json").read_text())
        left = compare.left(before, violations(place / side), place / "before", place / side)
        asked = compare.named(said["findings"], (each["path"] for each in said["skipped"]))
        sides.append((left, tuple(each for each in left.left if not asked(each))))
        given = given or reasons(said["findings"])
    (safely, missed), (unsafely, _) = sides
    return Row(name, tuple(before), safely, unsafely, missed, given)


def _run(clone: Path, place: Path, options: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "fixer", "run", str(clone), "--no-verify", "--force", "--branch", BRANCH]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(place / "state")}
    done = subprocess.run(
        [*command, "--output-format", "json", *options], capture_output=True, text=True, env=environment, cwd=place
    )
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"fixer failed on {clone}: {done.stderr}") from None
    if report["error"]:
        raise SystemExit(f"fixer failed on {clone}: {report['error']}")
    return report


def _export(clone: Path, revision: str, to: Path) -> None:
    """The files of a revision that the oracle reads."""
    done = subprocess.run(["git", "-C", str(clone), "archive", revision], capture_output=True, check=True)
    to.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        members = [each for each in archive if each.isfile() and _is_looked_at(each.name)]
        archive.extractall(to, members, filter="data")


def _is_looked_at(name: str) -> bool:
    return name.endswith(JUDGED) or is_list(PurePosixPath(name))


def _git(place: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=place, check=True, capture_output=True)


def counted(found: Sequence[Violation]) -> Counter[str]:
    return Counter(f"{each.kind}: {each.what}" for each in found)
