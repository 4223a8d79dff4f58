"""One cause, one finding: what is put together, what is not, and in which order it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.rule import all_rules
from fixer.reports.causes import causes
from fixer.reports.rule_text import rule_texts
from tests.fixer.reports.samples import FINDINGS, MANUAL, RULES, SAFE, UNSAFE


def test_what_a_rule_rewrites_is_one_cause_a_level() -> None:
    other = replace(SAFE, row="M018", message="`num_nodes` was removed", path="b.py")
    assert [len(cause.places) for cause in causes((SAFE, other, UNSAFE), RULES)] == [1, 2]


def test_what_a_rule_leaves_is_one_cause_for_each_thing_that_is_wrong() -> None:
    named = replace(MANUAL, message="`test_step` takes `hiddens`, which Lightning 2 no longer passes")
    wrong = replace(MANUAL, message="`hiddens` is read after the loop")
    found = causes((MANUAL, wrong, named), RULES)
    assert sorted(len(cause.places) for cause in found) == [1, 2]


def test_what_was_done_and_what_was_not_are_two() -> None:
    assert len(causes((SAFE, replace(SAFE, applied=False)), RULES)) == 2


def test_manual_comes_first_and_what_stops_before_all() -> None:
    stops = replace(SAFE, code="LIT110", path="z.py", stops=True)
    found = causes((SAFE, UNSAFE, MANUAL, stops), RULES)
    assert [(cause.first.fix, cause.effect) for cause in found] == [
        ("safe", "fails"),
        ("manual", "changes"),
        ("unsafe", "changes"),
        ("safe", "changes"),
    ]


def test_rules_that_warn_stop_nothing() -> None:
    warning = [rule for rule in all_rules() if rule.warns]
    assert warning and not any(rule.stops or rule.breaks_in for rule in warning)
    assert {code for code, rule in rule_texts().items() if rule.warns} == {rule.code for rule in warning}


def test_only_pages_are_linked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    made = replace(all_rules()[0], references=("javascript:alert(1)", "https://example.org/rule"))
    other = replace(all_rules()[1], references=("javascript:alert(1)",))
    monkeypatch.setattr("codemods.rule.all_rules", lambda: (made, other))
    assert [one.url for one in rule_texts().values()] == ["https://example.org/rule", None]


@given(st.lists(FINDINGS, max_size=8), st.randoms())
def test_every_place_is_in_one_cause_whatever_the_order(findings: list, random: object) -> None:  # type: ignore[type-arg]
    found = causes(findings, RULES)
    assert sorted(map(repr, (place for cause in found for place in cause.places))) == sorted(map(repr, findings))
    random.shuffle(findings)  # type: ignore[attr-defined]
    assert [set(cause.places) for cause in causes(findings, RULES)] == [set(cause.places) for cause in found]
