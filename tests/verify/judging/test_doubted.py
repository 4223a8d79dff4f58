"""Verdicts that rest on what was made up alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.verify.judging.test_verdict import RAW, failed
from verify.evidence import Failure
from verify.judging.verdict import judge

MADE = replace(RAW, made=("a.csv (64 rows of text)",))
OF_DATA = "Total length of `Dataloader` across ranks is zero. Please make sure that it returns at least 1 batch."


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        (OF_DATA, "inconclusive"),
        ("Sum of input lengths does not equal the length of the input dataset!", "inconclusive"),
        ("index 7 is out of bounds for dimension 0 with size 2", "inconclusive"),
        ("Trainer.__init__() got an unexpected keyword argument 'gpus'", "repaired"),
    ],
)
def test_what_the_tree_before_does_not_take_of_made_up_data_is_no_repair(message: str, verdict: str) -> None:
    before = failed(failure=Failure("ValueError", message, "train.py:3"))
    assert judge(replace(before, made=MADE.made), MADE, ()).verdict == verdict
    assert judge(before, RAW, ()).verdict == "repaired"


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("`Dataloader` returned 0 length. Please make sure that it returns at least 1 batch", "inconclusive"),
        (OF_DATA, "inconclusive"),
        ("Trainer.__init__() got an unexpected keyword argument 'gpus'", "regressed"),
    ],
)
@pytest.mark.parametrize("made", [(), MADE.made])
def test_a_training_without_a_batch_is_no_regression_where_that_ended_the_tree_before(
    message: str, verdict: str, made: tuple[str, ...]
) -> None:
    before = replace(failed(failure=Failure("ValueError", message, "train.py:3")), made=made)
    after = replace(RAW, made=made, recording=replace(RAW.recording, optimizer_steps=0, losses=()))
    assert judge(before, after, ()).verdict == ("inconclusive" if made else verdict)


@pytest.mark.parametrize("made", [(), MADE.made])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"optimizer_steps": 0}, id="losses without a step"),
        pytest.param({"optimizer_steps": 0, "losses": (), "planned": (("batches", 4),)}, id="batches without a loss"),
    ],
)
@pytest.mark.parametrize("trained", [False, True])
def test_a_training_that_has_batches_and_does_nothing_with_them_is_a_regression(
    trained: bool, changes: dict[str, Any], made: tuple[str, ...]
) -> None:
    failure = Failure("ValueError", "max() arg is an empty sequence", "plot.py:3")
    before = replace(failed(failure=failure), made=made)
    before = replace(RAW, made=made, recording=replace(RAW.recording, failure=failure)) if trained else before
    after = replace(RAW, made=made, recording=replace(RAW.recording, **changes))
    assert judge(before, after, ()).verdict == "regressed"


def test_an_index_beyond_a_list_is_a_mistake_of_the_code() -> None:
    for message, verdict in [
        ("list index out of range", "regressed"),
        ("index out of range in self", "inconclusive"),
        ("Target 5 is out of bounds.", "inconclusive"),
    ]:
        after = replace(failed(failure=Failure("IndexError", message, "m.py:3")), made=MADE.made)
        assert judge(MADE, after, ()).verdict == verdict


def test_made_up_data_may_fill_no_batch_but_a_training_that_steps_no_more_is_a_regression() -> None:
    failure = Failure("TypeError", "Trainer.__init__() got an unexpected keyword argument 'gpus'", "train.py:3")
    before = replace(failed(failure=failure), made=MADE.made)
    idle = replace(MADE, recording=replace(RAW.recording, optimizer_steps=0, losses=()))
    assert judge(before, idle, ()).verdict == "inconclusive"
    assert judge(before, replace(idle, made=()), ()).verdict == "regressed"
    assert judge(MADE, idle, ()).verdict == "regressed"
