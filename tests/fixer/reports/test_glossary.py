"""What the words of the reports mean: each has an answer that fits a screen, and a code of a rule wins over none."""

from __future__ import annotations

from typing import get_args

import pytest

from codemods.finding import Fix
from codemods.rule import all_rules
from fixer.errors import UnknownRule
from fixer.reports.glossary import WORDS, entry
from fixer.reports.rules import page
from verify.evidence import Outcome, Rung


@pytest.mark.parametrize("word", [*WORDS, *get_args(Fix), *get_args(Rung)])
def test_a_word_has_an_answer_that_fits_a_screen(word: str) -> None:
    lines = page(word).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 90
    assert entry(word.upper()) == page(word)


def test_undo_names_the_command() -> None:
    assert "`fixer undo`" in page("undo")


def test_every_verdict_is_explained() -> None:
    said = page("verdict")
    verdicts = [verdict.removesuffix(" in part") for verdict in get_args(Outcome)]
    assert [verdict for verdict in verdicts if verdict not in " ".join(said.split())] == []


def test_codes_are_no_words_and_what_is_neither_is_refused_with_the_words() -> None:
    assert not [rule.code for rule in all_rules() if entry(rule.code)]
    with pytest.raises(UnknownRule, match=r"words that are explained: baseline, .*undo"):
        page("quux")
