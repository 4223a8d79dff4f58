"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from markdown_it import MarkdownIt

from codemods.rule import Rule, all_rules
from fixer.cli import app
from fixer.config import Config
from fixer.reports.rules import markdown
from fixer.reports.settings import table

ROOT = Path(__file__).parent.parent
PAGES = [page for pattern in ("*.md", "docs/*.md", "docs/howto/*.md") for page in sorted(ROOT.glob(pattern))]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_page_of_each_rule_is_up_to_date(rule: Rule) -> None:
    page = ROOT / "docs" / "rules" / f"{rule.code}.md"
    assert page.read_text(encoding="utf-8") == markdown(rule), "run `python docs/make_rules.py`"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_page_of_each_rule_shows_its_examples_whole(rule: Rule) -> None:
    shown = [token.content for token in MarkdownIt().parse(markdown(rule)) if token.type == "fence"]
    assert len(shown) == len(rule.examples)
    left = [example.before for example in rule.examples if example.before == example.after]
    assert shown[len(shown) - len(left) :] == left


def test_no_page_is_left_of_a_rule_that_is_gone() -> None:
    assert {page.stem for page in (ROOT / "docs" / "rules").glob("*.md")} == {rule.code for rule in all_rules()}


def test_readme_names_every_family() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(docs/rules.md)" in readme
    assert {rule.code[:3] for rule in all_rules()} == set(re.findall(r"^\| `([A-Z]{3})` \|", readme, re.MULTILINE))


def made(name: str) -> str:
    """What `docs/make_rules.py` writes as a page today."""
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page: str = getattr(module, name)()
    return page


@pytest.mark.parametrize(
    ("page", "function"), [("rules.md", "catalogue"), ("guide.md", "guide"), ("options.md", "options")]
)
def test_pages_made_of_all_rules_are_up_to_date(page: str, function: str) -> None:
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == made(function), "run `python docs/make_rules.py`"


def test_every_option_is_on_the_page_of_options() -> None:
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    said = {
        name: re.findall(r"`(--[a-z-]+)", part)
        for name, part in re.findall(r"^## `fixer ([\w -]+)`(.*?)(?=^## |\Z)", page, re.M | re.S)
    }
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    commands |= {f"fleet {name}": command for name, command in commands["fleet"].commands.items()}
    assert said.keys() == commands.keys()
    for name, command in commands.items():
        long = {option for item in command.params for option in item.opts if option.startswith("--")}
        assert set(said[name]) >= long - {"--help"}, name


def test_every_setting_is_on_the_page_of_settings() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    shown = table(Config(), {})
    assert [line.split()[0] for line in shown.splitlines() if f"`{line.split()[0]}`" not in page] == []


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees", ROOT / "docs"]
    done = subprocess.run([*command, tmp_path / "html"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "rules" / "TBP001.html").is_file()


def test_every_row_of_the_guide_has_an_end() -> None:
    rows = [line.split(" | ") for line in made("guide").splitlines() if re.match(r"\| [MGB]\d", line)]
    assert len(rows) == 326 + 36 + 22
    assert [row[0] for row in rows if row[-1].strip(" |") == ""] == []


def test_rules_answer_rows_that_there_are() -> None:
    known = set(re.findall(r"^\| ([MGB]\w+) \|", made("guide"), re.MULTILINE))
    assert {row for rule in all_rules() for row, _ in rule.rows()} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = 'pip install -c constraints.txt -e ".[dev]" && pytest -n auto'
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
