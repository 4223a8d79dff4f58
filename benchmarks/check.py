"""How long `fixer check` takes over a checkout, beside what no tool can go below and beside its peers.

    python benchmarks/check.py CHECKOUT [--runs 7] [--peers] [--peer-runs 3] [--cache FOLDER]

Prints a Markdown table. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
PEERS = {
    "TorchFix 0.7.0, its own choice of processes": ("torchfix==0.7.0", ("torchfix", ".")),
    "Fixit 2.2.1, its own choice of processes": ("fixit==2.2.1", ("fixit", "lint", ".")),
}
FLOOR = """\
import ast, json, sys
paths, parsed, triggers = json.load(sys.stdin)
triggers = [item.encode() for item in triggers]
for path in paths:
    with open(path, "rb") as file:
        data = file.read()
    if path in parsed or any(item in data for item in triggers) and path.endswith(".py"):
        ast.parse(data)
"""


@dataclass(frozen=True)
class Run:
    """One process from start to end: seconds on the clock, and of all cores with its children."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Row:
    """The medians of a command's runs; `megabytes` is the most that its processes held together."""

    name: str
    wall: float
    cpu: float
    megabytes: float


def timed(command: Sequence[str], folder: Path, given: bytes) -> Run:
    """Runs a command. Raises SystemExit where it ends otherwise than with 0 (nothing found) or 1 (findings)."""
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)[:200]} ended with {process.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime)


def peak(command: Sequence[str], folder: Path, given: bytes) -> float:
    """The most resident memory, in MB, of a command and its children together, looked at every 5 ms.

    Pages that a forked child shares with its parent count twice. A run of its own, since looking takes time.
    """
    process = psutil.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    feeder = threading.Thread(target=process.communicate, args=(given,))
    feeder.start()
    most = 0
    while feeder.is_alive():
        most = max(most, _resident(process))
        time.sleep(0.005)
    return most / 1e6


def _resident(process: psutil.Process) -> int:
    total = 0
    try:
        for item in (process, *process.children(recursive=True)):
            total += item.memory_info().rss
    except psutil.Error:
        pass
    return total


def measure(
    name: str, command: Sequence[str], folder: Path, runs: int, given: bytes = b"", forgets: Path | None = None
) -> Row:
    """The medians of some runs, after one that warms the file cache and is measured for memory. `forgets` is removed
    before each of them."""
    print(f"{name} ...", file=sys.stderr)
    done = []
    for index in range(runs + 1):
        if forgets:
            shutil.rmtree(forgets, ignore_errors=True)
        if index:
            done.append(timed(command, folder, given))
        else:
            megabytes = peak(command, folder, given)
    return Row(name, statistics.median(run.wall for run in done), statistics.median(run.cpu for run in done), megabytes)


def floors(tree: Path) -> tuple[tuple[int, int, int], bytes, bytes]:
    """How many files fixer reads, how many of them hold a trigger and how many it parses, and what the two
    floors are given: the files to read and those to parse."""
    sys.path.insert(0, str(ROOT))
    from codemods.engine.scan import scan
    from codemods.engine.triggers import triggered
    from fixer.project import open_tree
    from fixer.settings import SharedOptions, options_for, sources_of

    asked = SharedOptions(tree, jobs=1)
    project = open_tree(tree)
    options, sources = options_for(asked, project), sources_of(project)
    paths = [source.path for source in sources]
    rules = [rule for rule in options.rules if "python" in rule.kinds and not rule.last]
    hits = [source for source in sources if source.kind == "python" and triggered(source, rules)]
    triggers = sorted({text.decode() for rule in rules for text in rule.triggers})
    parsed = dict.fromkeys(sorted(scan(sources, options).facts.files))
    counts = (len(paths), len(hits), len(parsed))
    return counts, json.dumps([paths, {}, triggers]).encode(), json.dumps([paths, parsed, triggers]).encode()


def install(requirement: str, cache: Path) -> Path:
    """The folder of the commands of a virtual environment that holds a peer, made where it is not there yet."""
    home = cache / requirement.replace("==", "-")
    commands = home / "bin"
    if not (home / "done").exists():
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([commands / "python", "-m", "pip", "install", "--quiet", requirement], check=True)
        (home / "done").touch()
    return commands


def table(rows: Sequence[Row], floor: Row) -> str:
    """The rows as Markdown, with how many times the floor each took."""
    lines = [
        "| | wall, s | CPU, s | wall / floor | CPU / floor | peak memory, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.name} | {row.wall:.2f} | {row.cpu:.2f} | {row.wall / floor.wall:.1f} | {row.cpu / floor.cpu:.1f} "
        f"| {row.megabytes:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description="Time `fixer check` over a checkout.")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--peers", action="store_true", help="also TorchFix and Fixit, which take minutes")
    parser.add_argument("--peer-runs", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "fixer-benchmarks")
    asked = parser.parse_args()
    tree: Path = asked.checkout.resolve()
    (read, hits, parsed), narrow, wide = floors(tree)
    python, fixer = [sys.executable], [sys.executable, "-m", "fixer"]
    rows = [
        measure(
            f"read {read} files, parse the {hits} with a trigger", [*python, "-c", FLOOR], tree, asked.runs, narrow
        ),
        measure(f"floor: read {read} files, parse {parsed}", [*python, "-c", FLOOR], tree, asked.runs, wide),
    ]
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_CACHE_HOME"] = home
        for jobs in ("1", "2"):
            command = [*fixer, "check", str(tree), "--jobs", jobs]
            rows.append(measure(f"`fixer check --jobs {jobs}`", command, ROOT, asked.runs, forgets=Path(home, "fixer")))
        rows.append(measure("`fixer check --jobs 1`, again", [*command[:-1], "1"], ROOT, asked.runs))
    rows.append(measure("`fixer --help`", [*fixer, "--help"], ROOT, asked.runs))
    for name, (requirement, peer) in PEERS.items() if asked.peers else ():
        commands = install(requirement, asked.cache)
        rows.append(measure(name, [str(commands / peer[0]), *peer[1:]], tree, asked.peer_runs))
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores\n")
    print(table(rows, rows[1]))


if __name__ == "__main__":
    main()
