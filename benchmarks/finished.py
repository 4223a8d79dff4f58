"""How much of what Lightning 2 refuses or ignores fixer rewrites in public projects, and how often all of it.

    python benchmarks/finished.py REPOSITORY ... [--list] [--keep FOLDER] [--write docs/finished.md]

Each repository is cloned, its last commit looked at by an oracle that shares no code with fixer's rules (`finishing/`:
`ast`, and reflection on the Lightning that runs this), rewritten by `fixer run --no-verify` with safe and with all
rewrites, and looked at again. `--list` names each violation that is left; `--keep` keeps what fixer made, to
judge it again where the oracle alone has changed. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.finishing.reasons import most_frequent
from benchmarks.finishing.runs import Row, counted, measured

MOST = 60
HEAD = (
    "repository", "violations", "rewritten safely", "with unsafe", "left, named", "left, missed", "new",
    "finished safely", "with unsafe",
)  # fmt: skip


def table(rows: Sequence[Row]) -> str:
    """One line a repository, and their sum."""
    lines = [f"| {' | '.join(HEAD)} |", f"|---|{'---:|' * 6}---|---|"]
    for row in rows:
        finished = [_finished(row, unsafe) for unsafe in (False, True)]
        lines.append(f"| {row.name} | {' | '.join(_cells([row]))} | {' | '.join(finished)} |")
    broken = [row for row in rows if row.before]
    shares = [f"{sum(row.finished(unsafe) for row in broken)} of {len(broken)}" for unsafe in (False, True)]
    return "\n".join([*lines, f"| **sum** | {' | '.join(_cells(rows))} | {' | '.join(shares)} |"])


def _cells(rows: Sequence[Row]) -> list[str]:
    before = sum(len(row.before) for row in rows)
    safely = sum(len(row.safely.left) for row in rows)
    unsafely = sum(len(row.unsafely.left) for row in rows)
    missed = sum(len(row.missed) for row in rows)
    new = sum(len({*row.safely.new, *row.unsafely.new}) for row in rows)
    shares = [f"{(before - left) / before:.0%}" if before else "" for left in (safely, unsafely)]
    return [str(before), *shares, str(safely - missed), str(missed), str(new)]


def _finished(row: Row, unsafe: bool) -> str:
    if not row.before and row.finished(unsafe):
        return "nothing to do"
    return "yes" if row.finished(unsafe) else "no"


def classes(rows: Sequence[Row]) -> str:
    """What is left, by class, most frequent first."""
    before = Counter[str]()
    left = [Counter[str](), Counter[str](), Counter[str]()]
    places = Counter[str]()
    for row in rows:
        before += counted(row.before)
        for each, found in zip(left, (row.safely.left, row.unsafely.left, row.missed), strict=True):
            each += counted(found)
        places += Counter(dict.fromkeys(counted(row.safely.left), 1))
    lines = [
        "| class | before | left safely | left with unsafe | missed | repositories |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, number in left[0].most_common(MOST):
        lines.append(f"| `{name}` | {before[name]} | {number} | {left[1][name]} | {left[2][name]} | {places[name]} |")
    return "\n".join(lines)


def listed(rows: Sequence[Row]) -> str:
    """Each violation that is left."""
    lines = []
    for row in rows:
        for title, found in (("missed", row.missed), ("new safely", row.safely.new), ("new", row.unsafely.new)):
            lines += [f"{row.name} {title}: {each}" for each in found]
        hidden = {*row.missed}
        unsafe = {*row.unsafely.left}
        for each in row.safely.left:
            if each not in hidden:
                lines.append(f"{row.name} {'left' if each in unsafe else 'left safely'}: {each}")
    return "\n".join(lines)


def page(rows: Sequence[Row]) -> str:
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    lightning = importlib.metadata.version("pytorch-lightning")
    return f"""\
# How often a branch is finished

Written by `benchmarks/finished.py`; do not edit.
{today}, Lightning {lightning}, {len(rows)} public repositories that use PyTorch Lightning, which nobody here wrote.

A branch is *finished* when nothing is left in its Python files and notebooks that Lightning {lightning} refuses or
silently ignores. What that is, is told by an oracle that shares no code with fixer's rules: it reads the code with
`ast`, asks the installed Lightning, by reflection, for names, signatures, members and values, and has a table of what
the classes of the releases 0.9 to 1.9 had. It looks at the tree before, at the branch that `fixer run --no-verify`
makes of it, and at the branch with `--unsafe-fixes`.

- A **violation** is a name that is not there, an argument or a value that is refused, a hook that is not called,
  refused or called with other arguments, or an attribute that is gone. Code that a check of the version or of an
  import keeps from running is none. Requirements, configurations and command lines are not judged. Metrics of
  torchmetrics are judged where the requirements of the rewritten tree install one that asks for tasks (0.11 and later).
- **left, named**: not rewritten safely, and a finding says so: at the line, within three lines of it where it speaks of
  the same name, or elsewhere in the file where it quotes that. **left, missed**: not a word of it.
- **new**: a violation that the rewrite brought along.
- **finished**: of the repositories that have violations, those without any after it.

{table(rows)}

## What is left, by class

{classes(rows)}

## Why it is left

The reasons that findings give most often, without what they say of one place: of those that are left to a person, and
of those that `--unsafe-fixes` rewrites.

{most_frequent([row.reasons for row in rows])}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    rows = []
    for repository in given.repositories:
        started = time.monotonic()
        rows.append(measured(repository.resolve(), given.keep))
        print(f"{rows[-1].name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if given.list:
        print(listed(rows), end="\n\n")
    if given.write:
        given.write.write_text(page(rows), encoding="utf-8")
    else:
        print(table(rows), classes(rows), sep="\n\n")


if __name__ == "__main__":
    main()
