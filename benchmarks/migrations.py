"""Twenty migrations with a known answer, the whole way: what `fixer run` and `fixer verify A..B` say of each.

    python benchmarks/migrations.py [--only PROJECT ...]

Each project of tests/migrations becomes a git repository. A rule that puts the right (or the wrong) program in the
place of the old one takes the place of fixer's rules, beside those of the requirements, so that `run` proves just
that change; `verify` gets the same two trees as commits. Ends with 1 where a verdict is wrong or the two do not agree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from codemods.code.source import PythonFile
from codemods.finding import Span
from codemods.lightning.facts import Facts
from codemods.lightning.pins import reach
from codemods.rule import Match, Rule, TextEdit, all_rules, select_rules
from fixer import settings
from fixer.comparison import ComparedTrees, compare
from fixer.pipeline import RunOptions, run
from fixer.result import Result
from fixer.settings import SharedOptions
from tests.migrations.cases import MIGRATIONS, Kind, Migration
from tests.support import commit_all, git

TARGET = "2.6.6"


@dataclass(frozen=True)
class Row:
    """One migration: what is right to say of it, and what each command said."""

    migration: Migration
    kind: Kind
    said: tuple[str, str]
    reason: str

    @property
    def expected(self) -> str:
        return "preserved" if self.kind == "right" else self.migration.verdict

    @property
    def right(self) -> bool:
        return set(self.said) == {self.expected}


def replacement(old: str, new: str) -> Rule:
    """A rule that knows one program and what becomes of it."""

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        if file.text == old:
            edit = TextEdit(0, len(old), new)
            yield Match(Span(1, 0, 1, 0), "It is another program", "safe", "As asked.", edits=(edit,))

    return Rule(
        code="MIG001", name="migration", summary="One program in the place of another", why="To see what a proof says.",
        fix="safe", versions="all", triggers=(b"pytorch_lightning",), check=check, examples=(), needs=TARGET,
        breaks_in="2.0.0",
    )  # fmt: skip


def judged(migration: Migration, kind: Kind, folder: Path) -> Row:
    """Take one migration through both commands."""
    files = migration.files("before", migration.release)
    write(folder, files)
    base = commit_all(folder)
    own = replacement(files["train.py"], migration.text(kind))
    rules = (own, *select_rules(("PIN",), ()))
    chosen = mock.patch.object(settings, "select_rules", lambda select, ignore: rules)
    known = mock.patch.object(reach, "all_rules", lambda: (own, *all_rules()))
    with chosen, known:
        ran = run(SharedOptions(folder), RunOptions(), quiet)
    write(folder, migration.files(kind, TARGET))
    made = commit_all(folder)
    git(folder, "checkout", "--quiet", base)
    compared = compare(
        ComparedTrees.named([str(folder), f"{base}..{made}"], None, None), False, None, None, None, (), quiet
    )
    return Row(migration, kind, (worst(ran), worst(compared)), compared.evidence[0].reason)


def worst(result: Result) -> str:
    """The one verdict of a result: that of the group that holds the program."""
    order = ("regressed", "changed", "inconclusive", "repaired", "preserved")
    return min((item.verdict for item in result.evidence), key=order.index, default="none")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def quiet(message: object) -> None:
    """Progress is not shown."""


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| project | written for | what was done | right to say | `run` | `verify A..B` |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        done = "the right migration" if row.kind == "right" else row.migration.mistake
        lines.append(
            f"| {row.migration.name} | {row.migration.release} | {done} | {row.expected} | {row.said[0]} "
            f"| {row.said[1]} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    chosen = [each for each in MIGRATIONS if not asked.only or each.name in asked.only]
    rows = []
    kinds: tuple[Kind, ...] = ("right", "wrong")
    for migration in chosen:
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(judged(migration, kind, Path(folder).resolve()))
            row = rows[-1]
            mark = "" if row.right else f"  WRONG: {row.reason}"
            print(f"{migration.name} {kind}: {' and '.join(row.said)}{mark}", file=sys.stderr, flush=True)
    print(table(rows))
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
