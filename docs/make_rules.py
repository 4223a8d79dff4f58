"""Writes docs/rules/, one page a rule, from the rules themselves."""

from __future__ import annotations

from pathlib import Path

from codemods.rule import all_rules
from fixer.reports.rules import markdown

FOLDER = Path(__file__).parent / "rules"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for rule in all_rules():
        (FOLDER / f"{rule.code}.md").write_text(markdown(rule), encoding="utf-8")


if __name__ == "__main__":
    main()
