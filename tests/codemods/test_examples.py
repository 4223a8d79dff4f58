"""Every rule's own examples: what it changes, what it leaves alone, and that a second run changes nothing."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from codemods.rule import Example, Rule, all_rules, rule_of
from codemods.testing.examples import wrong

CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{index}")
    for rule in all_rules()
    for index, example in enumerate(rule.examples)
]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example) -> None:
    for path, text in [(example.path, example.before), (example.path, example.after), *example.files]:
        if path.endswith(".py"):
            assert ast.parse(text).body
    assert wrong(rule, example) is None


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_rule_declares_itself_whole(rule: Rule) -> None:
    assert rule.why and rule.summary and rule.versions and rule.triggers
    assert rule.fix == "manual" or any(example.before != example.after for example in rule.examples)
    assert any(example.before == example.after for example in rule.examples), "a rule shows a trap it leaves alone"


def test_a_rule_that_fails_as_it_looks_at_a_file_is_said_to() -> None:
    rule = rule_of("LIT101")
    failing = replace(rule, collect=lambda file: 1 / 0)
    failure = wrong(failing, rule.examples[-1])
    assert failure is not None and failure.what == "is not looked at" and "ZeroDivisionError" in failure.shown
