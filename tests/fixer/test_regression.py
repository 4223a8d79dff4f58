"""Codemods that are wrong on purpose: what breaks the program does not land, and the rest does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from codemods import rule as rules
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule
from fixer import settings
from fixer.demo import write_demo
from tests.fixer.command import Ask, asking
from tests.support import git

BRANCH = "fixer/lightning-2.6.6"


@pytest.fixture
def ask(capsysbinary: pytest.CaptureFixture[bytes], own_home: None) -> Ask:
    return asking(capsysbinary)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    (tmp_path / "demo").mkdir()
    write_demo(tmp_path / "demo")
    return tmp_path / "demo"


def wrong(old: str, new: str) -> Rule:
    """A rule that puts one expression in the place of another."""

    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == old and isinstance(node.ctx, ast.Load):
                edit = NodeEdit(node, lambda _: cst.parse_expression(new))
                yield Match(file.span(node), f"`{old}` is not liked", "safe", "Certainly.", edits=(edit,))

    return Rule(
        code="BAD001",
        name="wrong",
        summary="What was right becomes wrong",
        why="To see that it does not land.",
        fix="safe",
        versions="all",
        triggers=(old.encode(),),
        check=check,
        examples=(),
    )


def use(monkeypatch: pytest.MonkeyPatch, bad: Rule) -> None:
    """Puts a rule among those of fixer."""
    choose = rules.select_rules

    def chosen(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Rule, ...]:
        return (*choose(select, ignore), bad)

    monkeypatch.setattr(settings, "select_rules", chosen)


def by_code(report: Any) -> dict[str, dict[str, Any]]:
    return {item["code"]: item for item in report["findings"]}


def verdicts(report: Any) -> dict[str, str]:
    return {item["group"]: item["verdict"] for item in report["evidence"]}


def test_a_codemod_that_breaks_the_program_does_not_land(ask: Ask, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, wrong("F.mse_loss", "F.undefined_loss"))
    said = ask("run", demo, "--output-format", "json")
    report = said.report()
    assert said.code == 1
    found = verdicts(report)
    assert found.pop("BAD001") == "regressed"
    assert {name: verdict.removesuffix(" in part") for name, verdict in found.items()} == {
        BRANCH.removeprefix("fixer/"): "preserved"
    }
    assert report["branch"] == BRANCH
    assert [commit["code"] for commit in report["commits"]] == ["LIT101", "LIT201", "TBP001", "PIN001"]
    bad = by_code(report)["BAD001"]
    assert (bad["applied"], bad["fix"]) == (False, "manual")
    assert "AttributeError" in bad["reason"] and "train.py:" in bad["reason"]
    assert all(item["applied"] for item in report["findings"] if item["code"] != "BAD001")
    assert "undefined_loss" not in git(demo, "show", f"{BRANCH}:train.py")


def test_a_codemod_that_changes_the_numbers_is_said_to(ask: Ask, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, wrong("self.lr", "2 * vars(self)['lr']"))
    said = ask("run", demo, "--require", "same", "--output-format", "json")
    report = said.report()
    assert said.code == 1
    assert set(verdicts(report).values()) == {"changed"}
    assert (report["branch"], len(report["commits"])) == (BRANCH, 5)
    assert "learning rate" in report["evidence"][0]["reason"]
    told = [fact["text"] for fact in report["evidence"][0]["facts"] if fact["kind"] == "explained by"]
    assert told and told[0].startswith("BAD001 at train.py:")
