"""The documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codemods.rule import Rule, all_rules
from fixer.reports.rules import markdown

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_page_of_each_rule_is_up_to_date(rule: Rule) -> None:
    page = ROOT / "docs" / "rules" / f"{rule.code}.md"
    assert page.read_text(encoding="utf-8") == markdown(rule), "run `python docs/make_rules.py`"


def test_no_page_is_left_of_a_rule_that_is_gone() -> None:
    assert {page.stem for page in (ROOT / "docs" / "rules").glob("*.md")} == {rule.code for rule in all_rules()}


def test_readme_names_every_rule() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"[{rule.code}](docs/rules/{rule.code}.md)" in readme for rule in all_rules())


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = 'pip install -c constraints.txt -e ".[dev]" && pytest -n auto'
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
