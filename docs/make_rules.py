"""Writes docs/rules/, one page a rule, docs/rules.md, a list of all, and docs/guide.md, which says what becomes of
each row of Lightning's upgrade guide: all from the rules themselves."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

from codemods.rule import Rule, all_rules
from fixer.reports.rules import markdown

DOCS = Path(__file__).parent
FOLDER = DOCS / "rules"
ENDS = {"safe": "rewritten", "unsafe": "rewritten with `--unsafe-fixes`", "manual": "found and explained"}
GUIDE = """\
# The upgrade guide, row by row

What becomes of each row of Lightning's upgrade guide (M), of breaking changes that it leaves out (G, with the number
of the pull request) and of what users report most (B). *Rewritten* is the best that can happen to a place: where the
code does not show enough it is a finding. Written by `python docs/make_rules.py` from the rules' own data.

| row | what | what becomes of it |
|---|---|---|
"""


def family(rule: Rule) -> str:
    """The folder of `codemods` that a rule stands in."""
    return str(rule.check.__module__).split(".")[1]


def catalogue() -> str:
    """The page that lists the rules, a table a family."""
    lines = ["# Rules", ""]
    for name in sorted({family(rule) for rule in all_rules()}):
        said = (importlib.import_module(f"codemods.{name}").__doc__ or "").strip().replace("\n", " ")
        lines += [f"## {said.rstrip('.')}", "", "| rule | best level | what it does |", "|---|---|---|"]
        lines += [
            f"| [{rule.code}](rules/{rule.code}.md) | {rule.fix} | {rule.summary} |"
            for rule in all_rules()
            if family(rule) == name
        ]
        lines.append("")
    return "\n".join(lines)


def answers() -> dict[str, list[tuple[str, str]]]:
    """For each row the rules that answer it, with what the best of its places becomes."""
    found: dict[str, list[tuple[str, str]]] = {}
    for rule in all_rules():
        for row, level in rule.rows():
            found.setdefault(row, []).append((rule.code, ENDS[level]))
    return found


def read(name: str) -> list[dict[str, str]]:
    """The rows of a table beside this file."""
    with (DOCS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def guide() -> str:
    """The page that goes through the upgrade guide."""
    found, notes = answers(), {row["id"]: row["note"] for row in read("guide_notes.csv")}
    lines = []
    for row in read("guide.csv"):
        ends = [f"[{code}](rules/{code}.md): {end}" for code, end in found.get(row["id"], [])]
        ends += [notes[row["id"]]] if row["id"] in notes else []
        what = row["what"].replace("|", "\\|")
        lines.append(f"| {row['id']} | {what} | {'; '.join(ends)} |")
    return GUIDE + "\n".join(lines) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for rule in all_rules():
        (FOLDER / f"{rule.code}.md").write_text(markdown(rule), encoding="utf-8")
    (DOCS / "rules.md").write_text(catalogue(), encoding="utf-8")
    (DOCS / "guide.md").write_text(guide(), encoding="utf-8")


if __name__ == "__main__":
    main()
