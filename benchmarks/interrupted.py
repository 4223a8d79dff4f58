"""A proof that is interrupted at random points: what each leaves.

    python benchmarks/interrupted.py PROJECT [--times 10] [--within 60] [--seed 1] [--budget 2m]

Runs `fixer run` on a copy of a git repository and interrupts it, as Ctrl-C does, after a random part of so many
seconds. Each time it must end with 130 and valid JSON, leave the repository and the temporary folder as they were,
and, where the proof had begun, say what is known so far and keep it for `fixer report`. Prints a table; ends with 1
where one of these does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

FIXER = (sys.executable, "-m", "fixer")


@dataclass(frozen=True)
class Row:
    """One interruption: when, what fixer was doing, what it said is known, and what does not hold."""

    seconds: float
    doing: str
    known: str
    wrong: tuple[str, ...]


def interrupted(project: Path, seconds: float, budget: str, home: Path) -> Row:
    """Interrupt a run after some seconds."""
    temporary, runs = home / "tmp", home / "runs"
    temporary.mkdir(parents=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "FIXER_RUNS": str(runs)}
    before = state(project)
    command = [*FIXER, "run", str(project), "--budget", budget, "--output-format", "json"]
    started = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=(home / "progress").open("wb"),
        env=environment,
        start_new_session=True,
    )
    out = b""
    try:
        out, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGINT)
        out, _ = started.communicate(timeout=120)
    lines = (home / "progress").read_text(encoding="utf-8").splitlines()
    if started.returncode != 130:
        return Row(seconds, "was through", "", () if started.returncode in (0, 1) else (f"exit {started.returncode}",))
    doing = next((line for line in reversed(lines) if not line.startswith(("fixer:", "kept:"))), "")
    evidence = json.loads(out)["evidence"]
    known = "; ".join(f"{item['verdict']}: {item['reason']}" for item in evidence)
    proof = any(line.startswith("proof: ") for line in lines)
    report = subprocess.run(
        [*FIXER, "report", "--output-format", "json"], cwd=project, env=environment, capture_output=True, check=False
    )
    kept = json.loads(report.stdout)["evidence"] if report.returncode == 0 else None
    wrong = [
        text
        for text, holds in (
            ("the repository differs", state(project) == before),
            ("something is left in TMPDIR", not list(temporary.glob("fixer-*"))),
            ("nothing is said of the proof", bool(evidence) or not proof),
            ("`fixer report` does not show it", kept == evidence or not proof),
            ("a traceback", not any("Traceback" in line for line in lines)),
        )
        if not holds
    ]
    return Row(seconds, doing, known, tuple(wrong))


def state(project: Path) -> str:
    """The references and the work tree of a repository."""
    asked = (("for-each-ref",), ("status", "--porcelain"), ("rev-parse", "HEAD"))
    told = [subprocess.run(["git", *each], cwd=project, capture_output=True, text=True, check=True) for each in asked]
    return "".join(each.stdout for each in told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--within", type=float, default=60.0, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", default="2m")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        copy = folder / "project"
        subprocess.run(["git", "clone", "--quiet", str(asked.project.resolve()), str(copy)], check=True)
        print("| after, s | while | known so far | does not hold |\n|---:|---|---|---|", flush=True)
        for number in range(asked.times):
            row = interrupted(copy, chance.uniform(0.3, asked.within), asked.budget, folder / f"home{number}")
            rows.append(row)
            print(f"| {row.seconds:.1f} | {row.doing} | {row.known} | {', '.join(row.wrong)} |", flush=True)
            time.sleep(0.5)
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
