"""An edit that changes nothing of what a program does changes nothing of what a rule finds in it."""

from __future__ import annotations

import os
from itertools import chain

from codemods.testing.neutral import EDITS
from codemods.testing.neutrality import EVERY, EditOutcome, Fired, edited, outcome
from tests.codemods.exceptions import LOST, LOWER, UNSURE
from tests.codemods.support import fired_examples

STEP = 1 if os.environ.get("FIXER_NEUTRAL") else 16
"""Every which case is tried; all of them where FIXER_NEUTRAL is set."""
KEPT = 0.97
"""How many of a sample keep their level at least; which cases it has moves with each new example."""
PAIRS = (
    "walrus + print",
    "nullcontext + second name",
    "annotate + assert type",
    "try finally + logging",
    "if true + tuple",
    "keyword variable + import alias",
    "cast + one turn",
    "suppress nothing + chained",
    "helper function + print",
    "self name + if not false",
    "getattr + except raise",
    "global constant + split call",
)


def outcomes(cases: list[tuple[Fired, str]]) -> list[EditOutcome]:
    return [outcome(case, edit, line, files) for case, edit in cases for line, files in edited(case, edit)]


def is_known(item: EditOutcome) -> bool:
    """Whether one of the edits that were made is an exception."""
    return any((item.fired.name, edit) in LOST for edit in item.edit.split(" + "))


def is_lower(item: EditOutcome) -> bool:
    """Whether it is right that the level drops under one of the edits that were made."""
    if not UNSURE.keys().isdisjoint(item.edit.split(" + ")):
        return True
    edits = chain.from_iterable(LOWER.get(item.fired.name, {}).values())
    return not set(edits).isdisjoint(item.edit.split(" + "))


def test_nothing_vanishes_and_levels_stay() -> None:
    every = outcomes([(case, edit) for case in fired_examples() for edit in (*EVERY, *PAIRS)][::STEP])
    lost = [item for item in every if item.kind in ("vanished", "crashed")]
    assert [(item.fired.name, item.edit) for item in lost if not is_known(item)] == []
    judged = [item for item in every if item.kind == "kept" or not is_lower(item)]
    assert sum(item.kind == "kept" for item in judged) >= KEPT * len(judged) > 100


def test_there_are_twenty_kinds_of_edit_and_each_is_made() -> None:
    made = {edit for case in fired_examples()[::5] for edit in EDITS if any(edited(case, edit))}
    assert len(made) > 20


def test_an_exception_says_why() -> None:
    assert all(LOST.values()) and all(why for reasons in LOWER.values() for why in reasons)
    for reasons in LOWER.values():
        edits = [*chain.from_iterable(reasons.values())]
        assert len(edits) == len(set(edits))


def test_an_exception_still_happens() -> None:
    cases = {case.name: case for case in fired_examples()}
    lower = {(name, edit) for name, reasons in LOWER.items() for edit in chain(*reasons.values())}
    expected = {**dict.fromkeys(LOST, frozenset({"vanished"})), **dict.fromkeys(lower, frozenset({"level", "told"}))}
    made = {pair: {item.kind for item in outcomes([(cases[pair[0]], pair[1])])} for pair in expected}
    assert [(pair, kinds) for pair, kinds in made.items() if expected[pair].isdisjoint(kinds)] == []
