"""What can be held of all that fixer says, by the page on messages (docs/messages.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from codemods.rule import Rule, all_rules, rule_of
from tests.catalogue import Raised, Written, once, raised, unfilled, written

LONGEST = {"message": 240, "reason": 640, "written": 380}
"""Characters that a message takes, a reason, and one string of the source."""
BANNED = (
    "a person", "anew", "as it goes", "aloud", "be told", "behind it", "came to it", "cannot be seen", "gone since",
    "hand on", "handed on", "hands on", "in a way of its own", "in front of", "is not seen", "is seen to", "it speaks",
    "left for a person", "mend", "nobody", "not followed", "not plain", "roundabout", "seen to be", "speaks of",
    "spoken of", "stands in", "stands beside", "stands under", "taken for", "taken to be", "there to keep",
    "what is counted", "what it means", "what shows it", "whichever", "without a word", "works out",
)  # fmt: skip
"""Phrases that a reader has to solve."""
OURS = re.compile(r"\b(?:codemods|verify|fixer)/(?!lightning-)\w|/site-packages/|\.py:\d+ in ")
RELEASE = re.compile(r"\b\d+\.(?:\d+|x)\b|\b(?:Lightning|NumPy|torch|transformers) \d|now\b|up to|any more|no longer")
ACTION = re.compile(
    r"\b(?:add|append|ask|build|call|change|check|choose|clip|compare|compute|count|delete|derive|detach|divide|do|fix|"
    r"freeze|give|go|keep|leave|log|look|loop|make|merge|move|name|override|pass|put|raise|read|record|remove|rename|"
    r"repair|replace|require|resume|return|run|save|set|split|start|step|stop|store|sum|take|update|use|write|zero)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"[(\[=.<@]|^(?:import|from|def|class|for|del)\b|^--")
"""What tells code to type from the name of a thing, of a text between backticks."""
NAME = re.compile(r"[a-z]{4,}")
NUMBER = re.compile(r"\d{2,}")


@cache
def all_raised() -> tuple[Raised, ...]:
    return tuple(once(raised()))


@cache
def all_written() -> tuple[Written, ...]:
    return tuple(written())


def flaws(found: Raised, rule: Rule) -> Iterator[str]:
    """What is wrong with the words of a finding."""
    both = f"{found.message} {found.reason}"
    if len(found.message) > LONGEST["message"] or len(found.reason) > LONGEST["reason"]:
        yield "too long"
    if OURS.search(both):
        yield "a path of fixer's own code"
    yield from (f"the phrase {phrase!r}" for phrase in BANNED if _has(phrase, both))
    if found.text and not _words(both) & _words(found.text):
        yield "no name of the code that it is about"
    if rule.breaks_in and not RELEASE.search(both):
        yield "no release"
    if found.fix == "manual" and not ACTION.search(found.reason):
        yield "nothing to do"
    if found.fix == "manual" and not any(CODE.search(each) for each in re.findall(r"`([^`]+)`", found.reason)):
        yield "no code to type"
    if not found.reason:
        yield "no reason"


def _words(text: str) -> set[str]:
    return {*NAME.findall(text.lower()), *NUMBER.findall(text.replace(".", ""))}


def _has(phrase: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def test_every_finding_says_what_is_wrong_since_when_and_what_to_do() -> None:
    found = {
        (item.code, item.message, item.reason, flaw)
        for item in all_raised()
        for flaw in flaws(item, rule_of(item.code))
    }
    assert sorted(found) == []


def test_no_message_in_the_source_has_to_be_solved() -> None:
    found = [(one.path, one.line, phrase) for one in all_written() for phrase in BANNED if _has(phrase, one.text)]
    assert found == []


def test_what_a_message_leaves_open_is_filled_in() -> None:
    assert list(unfilled()) == []


def test_no_message_in_the_source_is_too_long_or_names_a_file_of_ours() -> None:
    pages = "\n".join(rule.why for rule in all_rules())
    long = [one for one in all_written() if len(one.text) > LONGEST["written"]]
    assert [one for one in long if one.text.partition("{...}")[0] not in pages] == []
    assert [one for one in all_written() if OURS.search(one.text)] == []


@pytest.mark.parametrize(
    ("found", "flaw"),
    [
        (Raised("LIT101", "manual", "`gpus=` " * 40, "write devices= (2.0)", "gpus"), "too long"),
        (Raised("LIT101", "manual", "`gpus=`, see codemods/rules/trainer", "write devices= (2.0)", "gpus"), "a path"),
        (
            Raised("LIT101", "manual", "`gpus=` of Trainer", "its value is not seen: write devices= (2.0)", "gpus"),
            "the",
        ),
        (Raised("LIT101", "manual", "an old argument", "write 2.0 here", "Trainer(gpus=1)"), "no name"),
        (Raised("LIT101", "manual", "`gpus=` of Trainer was removed", "write devices=", "gpus"), "no release"),
        (
            Raised("LIT101", "manual", "`gpus=` was removed in Lightning 2.0", "its value differs", "gpus"),
            "nothing to do",
        ),
        (
            Raised("LIT101", "manual", "`gpus=` was removed in Lightning 2.0", "write the devices", "gpus"),
            "no code to type",
        ),
        (Raised("LIT101", "safe", "`gpus=` was removed in Lightning 2.0", "", "gpus"), "no reason"),
    ],
)
def test_each_flaw_is_found(found: Raised, flaw: str) -> None:
    assert [each for each in flaws(found, rule_of(found.code)) if each.startswith(flaw)]


def test_the_catalogue_has_the_messages_of_every_rule() -> None:
    assert {rule.code for rule in all_rules()} - {item.code for item in all_raised()} == set()
    assert len(all_written()) > 2000
