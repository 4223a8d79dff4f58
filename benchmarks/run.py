"""What `fixer run --no-verify` costs beside `fixer check`, in processor seconds.

    python benchmarks/run.py REPOSITORY ...

Each is run once on one process in a fresh clone, with nothing remembered. A run may take 1.5 times a check, and 30 ms
for each file that it rewrites. Prints a Markdown table, the worst first. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMES, A_FILE = 1.5, 0.03


@dataclass(frozen=True)
class Costs:
    """What a repository costs: the seconds of a check and of a run, and how many files that rewrites."""

    name: str
    check: float
    run: float
    rewritten: int

    @property
    def share(self) -> float:
        """The part of what it may cost that a run does."""
        return self.run / (TIMES * self.check + A_FILE * self.rewritten)


def seconds(words: Sequence[str], repository: Path) -> tuple[float, int]:
    """What a command takes in a clone, and how many files it rewrites. Raises SystemExit where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        clone, report = Path(folder, "clone"), Path(folder, "report.json")
        subprocess.run(["git", "clone", "--quiet", repository, clone], check=True)
        command = [sys.executable, "-m", "fixer", *words, "--jobs=1", "--quiet", f"--output-file=json:{report}"]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(Path(folder, "cache"))}
        process = subprocess.Popen(command, cwd=clone, env=variables, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(words)} in {repository} ended with {process.returncode}")
        return usage.ru_utime + usage.ru_stime, len(json.loads(report.read_text())["files"])


def costs(repository: Path) -> Costs:
    """What a repository costs."""
    print(f"{repository.name} ...", file=sys.stderr)
    check, _ = seconds(["check"], repository)
    run, rewritten = seconds(["run", "--no-verify"], repository)
    return Costs(repository.name, check, run, rewritten)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    rows = [costs(each.resolve()) for each in parser.parse_args().repositories]
    print(
        "| | check, s | run, s | files rewritten | run / check | of what it may cost |\n|---|---:|---:|---:|---:|---:|"
    )
    for row in sorted(rows, key=lambda row: -row.share):
        ratio = row.run / row.check
        print(f"| {row.name} | {row.check:.2f} | {row.run:.2f} | {row.rewritten} | {ratio:.2f} | {row.share:.2f} |")


if __name__ == "__main__":
    main()
