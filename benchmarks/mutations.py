"""How many wrong rewrites the proof catches: mistakes put into what the rules make of small projects.

    python benchmarks/mutations.py [--old PYTHON] [--only FAMILY_OR_PROJECT ...] [--lent]
                                   [--write docs/proof-mutations.md]

The tree before runs on Lightning 1.9.5, which is built first where it is not kept yet (`--old` names an interpreter
that has it), the trees after on the Lightning that runs this. With `--lent` the projects that make their numbers
themselves find arrays made up by fixer in their place, and the others are left out. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.mutations.changes import BASELINE, PROJECTS, Project
from tests.mutations.judging import Files, judged
from tests.mutations.lent import lent
from tests.mutations.verdicts import CELLS, NEVER, VERDICTS
from verify.judging.verdict import Judgement

RIGHT = ("preserved", "repaired")
CAUGHT = ("changed", "regressed")
LONG = 160


@dataclass(frozen=True)
class Row:
    """One mistake: what the proof said of it, what it said of the right rewrite, and why no run could tell, where that
    is so."""

    project: Project
    mistake: str
    judgement: Judgement
    right: str
    unseen: str

    @property
    def caught(self) -> bool:
        return self.judgement.verdict in CAUGHT


def rows(projects: Sequence[Project], dressed: Callable[[Files], Files] = dict) -> Iterator[Row]:
    """Judge every mistake, in files `dressed` so. Raises SystemExit where a right rewrite is not said to be right."""
    for project in projects:
        before, after = dressed(project.before()), project.after()
        control, _ = judged(before, dressed(after), project.baseline)
        print(f"{project.family} {project.name}: {control.verdict}", file=sys.stderr, flush=True)
        if control.verdict not in RIGHT and project.changes:
            raise SystemExit(f"the right rewrite of {project.name} is said to be {control.verdict}: {control.reason}")
        for change in project.changes:
            found = judged(before, dressed(change.applied(after)), project.baseline)[0]
            yield Row(project, change.name, found, control.verdict, change.unseen)


def counts(found: Sequence[Row]) -> str:
    """How many are caught, by family and in all."""
    lines = ["| family | mistakes | caught | not passed (inconclusive) | missed |", "|---|---:|---:|---:|---:|"]
    families = dict.fromkeys(row.project.family for row in found)
    for name, mine in [*((name, [row for row in found if row.project.family == name]) for name in families),
                       ("all", list(found))]:  # fmt: skip
        caught = sum(row.caught for row in mine)
        unsure = sum(row.judgement.verdict == "inconclusive" for row in mine)
        lines.append(f"| {name} | {len(mine)} | {caught} | {unsure} | {len(mine) - caught - unsure} |")
    trained = [row for row in found if row.right == "preserved"]
    telling = [row for row in trained if row.caught or not row.unseen]
    alike = len(trained) - len(telling)
    shares = [
        f"Caught as *changed* or *regressed*: {_share(found)} of all;",
        f"{_share(trained)} of the {len(trained)} in projects that train before;",
        f"{_share(telling)} without the {alike} of these that do what the right rewrite does here.",
    ]
    return "\n".join([*lines, "", *shares])


def _share(found: Sequence[Row]) -> str:
    return f"{sum(row.caught for row in found) / max(1, len(found)):.1%}"


def table(found: Sequence[Row]) -> str:
    """Every mistake with the verdict and its reason."""
    lines = ["| family | project | mistake | verdict | what the proof says |", "|---|---|---|---|---|"]
    for row in found:
        reason = " ".join(row.judgement.reason.removeprefix("both train, with different numbers: ").split())
        reason = re.sub(r" \(/[^)]*\)?", "", re.sub(r"/\S*/(?=site-packages/)", "", reason))
        reason = reason if len(reason) <= LONG else f"{reason[: LONG - 1]}…"
        told = f"nothing differs: {row.unseen}" if row.unseen and not row.caught else reason
        cells = (row.project.family, row.project.name, row.mistake, row.judgement.verdict, told.replace("|", "\\|"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts() -> str:
    """The project for each verdict of each family, or that there can be none."""
    held = {(cell.family, cell.verdict): cell for cell in CELLS}
    families = dict.fromkeys(cell.family for cell in CELLS)
    lines = [f"| family | {' | '.join(VERDICTS)} |", f"|---|{'---|' * len(VERDICTS)}"]
    for family in families:
        cells = [held.get((family, verdict)) for verdict in VERDICTS]
        told = [f"{cell.name}{f': {cell.mistake}' if cell.mistake else ''}" if cell else "cannot be" for cell in cells]
        lines.append(f"| {family} | {' | '.join(told)} |")
    why = [f"- {family}, *{verdict}*: {reason}." for (family, verdict), reason in NEVER.items()]
    return "\n".join([*lines, "", *why])


def page(found: Sequence[Row]) -> str:
    """The whole page."""
    held = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pytorch-lightning", "torch"))
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    return f"""\
# What the proof catches

Written by `benchmarks/mutations.py`; do not edit.
{today}, {held} against pytorch-lightning {BASELINE} on the same torch, CPython {platform.python_version()}, on a CPU.

Each line is one mistake that a codemod could make, put by hand into what fixer's rules make of a small project
(`tests/mutations`), and judged as `fixer run` judges: by the harness, which runs the tree before on the old Lightning
and the wrong tree on the new one, and by the judge. Both run in processes that have loaded Lightning already. The right
rewrite of every project with a mistake was judged first: it is *preserved* or *repaired*.

{counts(found)}

A verdict of *inconclusive* lets nothing pass: the tree before does not train, so that its numbers cannot be compared,
and neither does the tree after, or not as a whole.

## A project for each verdict

What stands behind a colon is the mistake that was put into the right rewrite; `tests/verify/test_mutations.py` judges
each. MET's *preserved*, *changed* and *regressed* need a baseline with torchmetrics 0.10.3, and are judged here alone.

{verdicts()}

## Every mistake

{table(found)}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--old", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--write", type=Path)
    parser.add_argument("--lent", action="store_true")
    given = parser.parse_args()
    if given.old:
        os.environ[f"FIXER_TEST_PYTHON_{BASELINE.replace('.', '_')}"] = str(given.old.absolute())
    wanted = [each for each in PROJECTS if not given.only or {each.family, each.name} & set(given.only)]
    if given.lent:
        wanted = [each for each in wanted if lent(each.before()) != each.before()]
    text = page(list(rows(wanted, lent if given.lent else dict)))
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
