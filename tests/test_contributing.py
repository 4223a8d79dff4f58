"""The rule that CONTRIBUTING.md adds is a whole one: one file, found by its name, and its examples hold."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import codemods
import codemods.rules.trainer
from codemods.rule import OthersRules, Rule, all_rules, own_rules, take_others
from tests.codemods.support import run_rules

GUIDE = Path(__file__).parent.parent / "CONTRIBUTING.md"


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rule]:
    match = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    (tmp_path / "lit102.py").write_text(match.group(1), encoding="utf-8")
    monkeypatch.setattr(codemods.rules.trainer, "__path__", [*codemods.rules.trainer.__path__, str(tmp_path)])
    _forget()
    yield next(rule for rule in all_rules() if rule.code == "LIT102")
    _forget()
    sys.modules.pop("codemods.rules.trainer.lit102", None)


def _forget() -> None:
    own_rules.cache_clear()
    take_others(OthersRules())


def test_the_rule_is_found_and_its_examples_hold(added: Rule) -> None:
    for example in added.examples:
        made = run_rules({example.path: example.before}, added)
        assert made.bugs == ()
        assert len(made.findings) == 1
        assert made.final().get(example.path, example.before.encode()).decode() == example.after
