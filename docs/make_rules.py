"""Writes docs/rules/, one page a rule, docs/rules.md, a list of all, docs/guide.md, which says what becomes of each
row of Lightning's upgrade guide, and docs/options.md: all from the rules and the commands themselves."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from codemods.rule import Rule, all_rules
from fixer.cli import app
from fixer.reports.rules import markdown

DOCS = Path(__file__).parent
FOLDER = DOCS / "rules"
GUIDE_ROWS = DOCS.parent / "fixer" / "reports" / "guide.csv"
ENDS = {"safe": "rewritten", "unsafe": "rewritten with `--unsafe-fixes`", "manual": "found and explained"}
GUIDE = """\
# The upgrade guide, row by row

What becomes of each row of Lightning's upgrade guide (M), of breaking changes that it leaves out (G, with the number
of the pull request) and of what users report most (B). *Rewritten* is the best that can happen to a place: where the
code does not show enough it is a finding. Written by `python docs/make_rules.py` from the rules' own data.

| row | what | what becomes of it |
|---|---|---|
"""

OPTIONS = """\
# Commands and options

Written by `python docs/make_rules.py` from the commands themselves; `fixer COMMAND --help` says the same. What is given
here wins over [`[tool.fixer]`](settings.md). How each command ends: [exit codes](exit-codes.md).
"""


def family(rule: Rule) -> str:
    """The folder of `codemods` that a rule stands in."""
    return str(rule.check.__module__).split(".")[2]


def catalogue() -> str:
    """The page that lists the rules, a table a family."""
    lines = ["# Rules", ""]
    for name in sorted({family(rule) for rule in all_rules()}):
        said = (importlib.import_module(f"codemods.rules.{name}").__doc__ or "").strip().replace("\n", " ")
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


def read(place: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def guide() -> str:
    """The page that goes through the upgrade guide."""
    found, notes = answers(), {row["id"]: row["note"] for row in read(DOCS / "guide_notes.csv")}
    lines = []
    for row in read(GUIDE_ROWS):
        ends = [f"[{code}](rules/{code}.md): {end}" for code, end in found.get(row["id"], [])]
        ends += [notes[row["id"]]] if row["id"] in notes else []
        what = row["what"].replace("|", "\\|")
        lines.append(f"| {row['id']} | {what} | {'; '.join(ends)} |")
    return GUIDE + "\n".join(lines) + "\n"


def options() -> str:
    """The page of all commands with their arguments and options."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    lines = [OPTIONS]
    for name, command in _flat(commands, ""):
        lines += [f"## `fixer {name}`", "", command.help, ""]
        rows = [row for parameter in command.params if (row := "".join(_row(parameter)))]
        lines += ["| | |", "|---|---|", *rows, ""] if rows else []
    return "\n".join(lines)


def _flat(commands: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Each command by its name, those of a group behind it."""
    for name, command in commands.items():
        yield f"{before}{name}", command
        yield from _flat(getattr(command, "commands", {}), f"{before}{name} ")


def _row(parameter: Any) -> Iterator[str]:
    """One line of the table of a command; the choices of an option stand with what it does."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
    elif parameter.name == "help":
        return
    else:
        value = "" if parameter.is_flag else f" {parameter.metavar or 'CHOICE'}"
        name = "`, `".join(f"{option}{value}" for option in parameter.opts)
    choices = ", ".join(f"`{choice}`" for choice in getattr(parameter.type, "choices", ()))
    told = (parameter.help or "").replace("|", "\\|")
    yield f"| `{name.replace('|', chr(92) + '|')}` | {told}{f' One of {choices}.' if choices else ''} |"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for rule in all_rules():
        (FOLDER / f"{rule.code}.md").write_text(markdown(rule), encoding="utf-8")
    (DOCS / "rules.md").write_text(catalogue(), encoding="utf-8")
    (DOCS / "guide.md").write_text(guide(), encoding="utf-8")
    (DOCS / "options.md").write_text(options(), encoding="utf-8")


if __name__ == "__main__":
    main()
