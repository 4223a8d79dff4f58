"""Every rule's own examples: what it changes, what it leaves alone, and that a second run changes nothing."""

from __future__ import annotations

import ast

import pytest

from codemods.rule import Example, Rule, all_rules
from tests.codemods.support import run_rules

CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{index}")
    for rule in all_rules()
    for index, example in enumerate(rule.examples)
]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example) -> None:
    files = {example.path: example.before, **dict(example.files)}
    used = all_rules() if rule.last else (rule,)
    made = run_rules(files, *used, unsafe=rule.fix == "unsafe", pins=example.pins)
    assert made.bugs == ()
    after = made.final().get(example.path, example.before.encode()).decode()
    assert after == example.after


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_second_run_changes_nothing(rule: Rule, example: Example) -> None:
    files = {example.path: example.before, **dict(example.files)}
    unsafe = rule.fix == "unsafe"
    first = run_rules(files, rule, unsafe=unsafe, pins=example.pins)
    after = {path: first.final().get(path, text.encode()) for path, text in files.items()}
    assert run_rules(after, rule, unsafe=unsafe, pins=example.pins).changes == ()


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_examples_parse(rule: Rule, example: Example) -> None:
    for path, text in [(example.path, example.before), (example.path, example.after), *example.files]:
        if path.endswith(".py"):
            assert ast.parse(text).body


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_rule_declares_itself_whole(rule: Rule) -> None:
    assert rule.why and rule.summary and rule.versions and rule.triggers
    assert rule.fix == "manual" or any(example.before != example.after for example in rule.examples)
    assert any(example.before == example.after for example in rule.examples), "a rule shows a trap it leaves alone"
